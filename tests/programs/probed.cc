// A program whose functions and static probes (USDT) tests look into. For each number N on its
// standard input it calls work(N, "text", {N + 1000, "request"}) and answers with what that
// returns, 2 * N.

#include <cstdio>
#include <cstdlib>

#include "static_probe.h"

struct Request {
    long id;
    const char* name;
};

extern "C" {

volatile int counted = 7;  // has its value in the file

[[gnu::section(".probes"), gnu::used]] volatile unsigned short listeners = 0;

// The arguments are computed, and the probe is passed, only while somebody listens.
void listened(int n, const char* text) {
    if (listeners > 0) {
        STATIC_PROBE("probed", "listened", "listeners", "-4@%0 8@%1", "r"(n), "r"(text));
        STATIC_PROBE("probed", "listened", "listeners", "-4@%0 8@%1", "r"(n + 1), "r"(text));
    }
}

void passed(int n) {
    STATIC_PROBE("probed", "passed", "0", "-4@%0 -4@$7 -4@%1", "m"(n), "m"(n));
    STATIC_PROBE("probed", "dozen", "0",
                 "1@$0 1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 -4@%0", "r"(n));
    STATIC_PROBE("probed", "of__sizes", "0", "-4@%0", "r"(n));
    STATIC_PROBE("probed", "of__sizes", "0", "8@%0", "r"(long{n}));
#if defined __aarch64__
    STATIC_PROBE("probed", "of__forms", "0", "-4@[%1] 8f@d0 8@[%0, %0, lsl 3]", "r"(long{n}),
                 "r"(&counted));
#else
    STATIC_PROBE("probed", "of__forms", "0", "-4@counted(%%rip) 8f@%%xmm0 8@(%0,%0,8)",
                 "r"(long{n}));
#endif
}

[[gnu::noinline]] int work(int n, const char* text, Request* request) {
    // What nobody has read yet, no probe can read.
    asm volatile("" ::"r"(request), "r"(text[0]));
    listened(n, text);
    passed(n);
    return 2 * n;
}

// A function in two places of the file.
[[gnu::noinline]] int worker_a(int n) {
    return n + 1;
}
[[gnu::noinline]] int worker_b(int n) {
    return n + 2;
}

}  // extern "C"

// Of C++, two of them of one name.
namespace shop {
class Till {
public:
    [[gnu::noinline]] int add(int n) { return sum_ += n; }

private:
    int sum_ = 0;
};
[[gnu::noinline]] int twice(int n) {
    return 2 * n;
}
[[gnu::noinline]] long twice(long n, const char*) {
    return 2 * n;
}
// Of which there is only what compilers call a copy that they made for some callers.
[[gnu::noinline]] int sold(int n) asm("_ZN4shop4soldEi.isra.0");
int sold(int n) {
    return n + 3;
}
}  // namespace shop

int main() {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    char line[64];
    shop::Till till;
    while (std::fgets(line, sizeof line, stdin)) {
        const int n = std::atoi(line);
        Request request{n + 1000L, "request"};
        worker_a(n);
        worker_b(n);
        till.add(n);
        shop::twice(n);
        shop::twice(long{n}, line);
        shop::sold(n);
        std::printf("%d\n", work(n, "text", &request));
    }
}
