// Variables of all kinds, at lines that print what they are: what a probe of such a line records is
// compared with it. A line of output is "LINE NAME=VALUE NAME=VALUE …", as tracefs writes values.
#include <stdio.h>
#include <stdlib.h>

enum state { IDLE, BUSY = 4, BROKEN = -2 };

struct part {
    int id;
    const char *label;
};

struct request {
    long len;
    char name[16];
    struct part parts[3];
    struct request *next;
    unsigned low : 3, mid : 7;
    unsigned long wide : 40;
    enum state state;
    union {
        int whole;
        unsigned char bytes[4];
    };
    short table[2][3];
    double ratio;
};

long shared_total = 5;
static unsigned char own_flags = 0x81;
static const char *own_text = "own";
struct part shared_parts[2] = {{11, "eleven"}, {12, "twelve"}};

static int depth;

#define NOINLINE __attribute__((noinline))
// What the compiler must keep, because it cannot know what looks at it.
#define USED(x) __asm__ volatile("" : : "r"(x) : "memory")

static inline __attribute__((always_inline)) long twice(long value) {  // twice
    long result = value * 2;  // doubled
    USED(result);
    return result;
}

NOINLINE static long work(struct request *req, int n, const char *text) {  // begin
    long sum = n * 3L;
    unsigned char small = (unsigned char)(n + 250);
    short negative = (short)(-n);
    _Bool is_odd = n & 1;
    struct part local = {n + 100, text};
    USED(&local);
    printf(  // work
        "work n=%d text=\"%s\" len=%ld name=\"%s\" id=%d label=\"%s\" next_len=%ld low=%u mid=%u "
           "wide=%lu state=%d whole=%d bytes={0x%x,0x%x,0x%x,0x%x} cell=%d\n",
           n, text, req->len, req->name, req->parts[2].id, req->parts[1].label, req->next->len,
           req->low, req->mid, (unsigned long)req->wide, req->state, req->whole, req->bytes[0],
           req->bytes[1], req->bytes[2], req->bytes[3], req->table[1][2]);
    sum += req->len;
    USED(sum);
    printf(  // later
        "later sum=%ld small=%u negative=%d is_odd=%u local_id=%d total=%ld flags=%u own=\"%s\" "
           "part=%d\n",
           sum, small, negative, is_odd, local.id, shared_total, own_flags, own_text,
           shared_parts[1].id);
    shared_total += twice(sum);  // doubles
    return sum + small + negative + is_odd;
}

NOINLINE static long gone(long a, long b) {
    const long unused = 7;
    USED(a + b);
    return a + unused;  // gone
}

NOINLINE static long climb(long left) {
    ++depth;
    if (left == 0) return depth;  // climb
    const long below = climb(left - 1);
    return below + left;
}

struct pair {
    int first;
    long second;
};

NOINLINE static void tell(const int *table, long i) {
    printf("computed twice=%ld cell=%d first=%d second=%ld narrow=%u minus=%d\n", 2 * i + 1, table[i],
           (int)i - 7, 3 * i, (unsigned char)(i * 100), (short)(i * -20000));
}

static const int digits[8] = {3, 1, 4, 1, 5, 9, 2, 6}, no_digits[8];

// Where the compiler optimizes, these variables are in no register and in no memory: only what they
// are computed from is.
NOINLINE static long computed(const int *table, long i) {
    const long twice = 2 * i + 1;
    const int *cell = &table[i];
    const struct pair both = {(int)i - 7, 3 * i};
    const unsigned char narrow = (unsigned char)(i * 100);
    const short minus = (short)(i * -20000);
    USED(i);  // computed
    tell(table, i);
    return i;
}

// llvm-dwp 19 does not end where there are some more kinds of entries (SHORT).
#ifndef SHORT
NOINLINE static int below(int n) {
    USED(n);
    return -n - 1;
}

// Inlined where it is called, and also there by itself, which nobody calls.
static inline __attribute__((always_inline)) long folded(long value) {  // folds
    long result = value * 3;
    USED(result);
    return result;
}
long (*volatile never_called)(long) = folded;
#endif

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 3;
    struct request second = {.len = 77}, first = {.next = &second};
    long all = 0;
    for (int i = 0; i < rounds; ++i) {
        first.len = 10L * i - 5;
        snprintf(first.name, sizeof first.name, "request %d", i);
        for (int k = 0; k < 3; ++k) first.parts[k] = (struct part){k * 10 + i, k ? "label" : "zero"};
        first.low = (unsigned)i & 7;
        first.mid = (unsigned)i * 5 & 127;
        first.wide = 0x1234567890 + (unsigned long)i;
        first.state = i % 2 ? BUSY : BROKEN;
        first.whole = i * 0x01020304;
        first.table[1][2] = (short)(-i - 1);
        first.ratio = i / 2.0;
        all += work(&first, i, i % 2 ? "odd" : "even");
        all += gone(i, all) + climb(i);
#ifndef SHORT
        all += folded(i) + below(i);
#endif
        all += computed(argc > 9 ? no_digits : digits, i & 7);
    }
    return all == 0;
}
