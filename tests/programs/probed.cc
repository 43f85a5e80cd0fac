// A program whose functions and static probes (USDT) tests look into. For each number N on its
// standard input it calls work(N, "text", {N + 1000, "request"}) and answers with what that
// returns, 2 * N.

#include <cstdio>
#include <cstdlib>

struct Request {
    long id;
    const char* name;
};

extern "C" {

volatile int counted = 7;  // has its value in the file

[[gnu::section(".probes"), gnu::used]] volatile unsigned short listeners = 0;

// A static probe as systemtap's sys/sdt.h makes them; `counter` is the address of its semaphore, or
// 0.
#define STATIC_PROBE(name, counter, arguments, ...)                                 \
    asm volatile(                                                                   \
        "990: nop\n"                                                                \
        ".pushsection .note.stapsdt, \"\", \"note\"\n"                              \
        ".balign 4\n"                                                               \
        ".4byte 992f-991f, 994f-993f, 3\n"                                          \
        "991: .asciz \"stapsdt\"\n"                                                 \
        "992: .balign 4\n"                                                          \
        "993: .8byte 990b, _.stapsdt.base, " counter                                \
        "\n"                                                                        \
        ".asciz \"probed\"\n"                                                       \
        ".asciz \"" name                                                            \
        "\"\n"                                                                      \
        ".asciz \"" arguments                                                       \
        "\"\n"                                                                      \
        "994: .balign 4\n"                                                          \
        ".popsection\n"                                                             \
        ".ifndef _.stapsdt.base\n"                                                  \
        ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
        ".weak _.stapsdt.base\n"                                                    \
        ".hidden _.stapsdt.base\n"                                                  \
        "_.stapsdt.base: .space 1\n"                                                \
        ".size _.stapsdt.base, 1\n"                                                 \
        ".popsection\n"                                                             \
        ".endif\n" ::__VA_ARGS__)

// The arguments are computed, and the probe is passed, only while somebody listens.
void listened(int n, const char* text) {
    if (listeners > 0) {
        STATIC_PROBE("listened", "listeners", "-4@%0 8@%1", "r"(n), "r"(text));
        STATIC_PROBE("listened", "listeners", "-4@%0 8@%1", "r"(n + 1), "r"(text));
    }
}

void passed(int n) {
    STATIC_PROBE("passed", "0", "-4@%0 -4@$7 -4@%1", "m"(n), "m"(n));
    STATIC_PROBE("of__sizes", "0", "-4@%0", "r"(n));
    STATIC_PROBE("of__sizes", "0", "8@%0", "r"(long{n}));
#if defined __x86_64__
    STATIC_PROBE("of__forms", "0", "-4@counted(%%rip) 8f@%%xmm0 8@(%0,%0,8)", "r"(long{n}));
#endif
}

[[gnu::noinline]] int work(int n, const char* text, Request* request) {
    asm volatile("" ::"r"(request));
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

int main() {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    char line[64];
    while (std::fgets(line, sizeof line, stdin)) {
        const int n = std::atoi(line);
        Request request{n + 1000L, "request"};
        worker_a(n);
        worker_b(n);
        std::printf("%d\n", work(n, "text", &request));
    }
}
