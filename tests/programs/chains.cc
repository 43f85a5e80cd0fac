// A program that knows its own stacks. It walks random chains of calls, writes down each chain, and
// makes a system call at its end, getpriority(2), at which a tracer takes the stack.
//
//   chains SEED COUNT [PLUGIN]
//
// It begins when a line, or the end, comes on its standard input. For each chain it prints a line:
// the functions, outermost first, "step0 step3 on_signal step7". A PLUGIN is a library that has a
// step of its own.

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#define STEP extern "C" __attribute__((noinline, noclone))

namespace {

struct Walk {
    explicit Walk(std::uint64_t seed) : state(seed) {}
    unsigned random(unsigned below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<unsigned>(state >> 33) % below;
    }

    std::uint64_t state;
    unsigned left = 0;
    std::string chain;
};

thread_local Walk* walk = nullptr;
using Plugin = long (*)(long (*)(long), long);
Plugin plugin = nullptr;

// What a function does behind a call, so that it is no tail call.
long keep(long value) {
    asm volatile("" : "+r"(value));
    return value;
}

void enter(const char* name) {
    walk->chain += ' ';
    walk->chain += name;
}

}  // namespace

STEP long go_on(long x);

STEP long leaf(long x) {
    enter("leaf");
    std::puts(walk->chain.c_str() + 1);
    std::fflush(stdout);
    return keep(getpriority(PRIO_PROCESS, 0)) + x;
}

// Frames of many shapes: saved registers, large locals, a variable array, an aligned one.
STEP long plain(long x) {
    enter("plain");
    return keep(go_on(x + 1)) + 1;
}
STEP long saves(long x) {
    enter("saves");
    long a = keep(x), b = keep(x + 1), c = keep(x + 2), d = keep(x + 3), e = keep(x + 4);
    const long y = go_on(x);
    return keep(a) + keep(b) * keep(c) - keep(d) + keep(e) + y;
}
STEP long large(long x) {
    enter("large");
    std::array<volatile long, 500> room;
    room[static_cast<std::size_t>(x & 255)] = x;
    return keep(go_on(x)) + room[static_cast<std::size_t>(x & 255)];
}
STEP long variable(long x) {
    enter("variable");
    auto* room = static_cast<volatile long*>(__builtin_alloca(64 + 8 * (x & 31)));
    room[x & 7] = x;
    return keep(go_on(x)) + room[x & 7];
}
STEP long aligned(long x) {
    enter("aligned");
    alignas(64) std::array<volatile long, 16> room;
    room[static_cast<std::size_t>(x & 15)] = x;
    asm volatile("" : : "r"(&room) : "memory");
    return keep(go_on(x)) + room[static_cast<std::size_t>(x & 15)];
}
STEP long both(long x) {  // aligned and variable: its frame hangs on another register
    enter("both");
    alignas(64) std::array<volatile long, 8> room;
    auto* more = static_cast<volatile long*>(__builtin_alloca(64 + 8 * (x & 31)));
    room[static_cast<std::size_t>(x & 7)] = x;
    more[x & 7] = x;
    asm volatile("" : : "r"(&room) : "memory");
    return keep(go_on(x)) + room[static_cast<std::size_t>(x & 7)] + more[x & 7];
}
STEP long recurses(long x) {
    enter("recurses");
    if (walk->left == 0 || walk->random(3) == 0) return keep(go_on(x)) + 1;
    --walk->left;
    return keep(recurses(x + 1)) + 1;
}
// A tail call: it is not in the stack, and not in the chain.
STEP long jumps(long x) {
    return go_on(x + 3);
}
STEP long throws(long x) {
    enter("throws");
    try {
        if (keep(x) != 0x7fffffff) throw x;
        return 0;
    } catch (long thrown) {
        return keep(go_on(thrown)) + 1;
    }
}
STEP void on_signal(int) {
    enter("on_signal");
    keep(go_on(1));
}
STEP long signals(long x) {
    enter("signals");
    std::raise(SIGUSR1);
    return keep(x);
}
// The handler runs on a stack of its own.
STEP void on_fault(int, siginfo_t*, void* context) {
    enter("on_fault");
    keep(go_on(1));
    mcontext_t& at = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined __x86_64__
    at.gregs[REG_RIP] += 2;
#else
    at.pc += 4;
#endif
}
STEP long faults(long x) {
    enter("faults");
#if defined __x86_64__
    asm volatile("ud2" : : : "memory");
#else
    asm volatile("udf 0" : : : "memory");
#endif
    return keep(x);
}
STEP long in_plugin(long x) {
    enter("in_plugin");
    if (!plugin) return keep(go_on(x)) + 1;
    enter("plugin_step");
    return keep(plugin(go_on, x)) + 1;
}
STEP int compare(const void* a, const void*) {
    const long x = *static_cast<const long*>(a);
    if (x < 0) return 0;
    enter("compare");
    keep(go_on(x));
    *const_cast<long*>(static_cast<const long*>(a)) = -1;
    return 0;
}
// Through a function of libc.
STEP long sorts(long x) {
    enter("sorts");
    long pair[2] = {x & 0xffff, -1};
    qsort(pair, 2, sizeof *pair, compare);
    return keep(pair[0]);
}

STEP long go_on(long x) {
    enter("go_on");
    if (walk->left == 0) return keep(leaf(x)) + 1;
    --walk->left;
    constexpr std::array<long (*)(long), 12> kSteps{plain,   saves,   large,    variable,
                                                    aligned, both,    recurses, jumps,
                                                    throws,  signals, faults,   in_plugin};
    const unsigned which = walk->random(kSteps.size() + 1);
    if (which == kSteps.size()) return keep(sorts(x)) + 1;
    return keep(kSteps[which](x)) + 1;
}

STEP void walk_all(std::uint64_t seed, unsigned count) {
    Walk own(seed);
    walk = &own;
    static thread_local std::array<char, 1 << 18> handler_stack;
    stack_t alternate{};
    alternate.ss_sp = handler_stack.data();
    alternate.ss_size = handler_stack.size();
    sigaltstack(&alternate, nullptr);
    for (unsigned i = 0; i < count; ++i) {
        own.chain.clear();
        own.left = own.random(12);
        enter("walk_all");
        keep(go_on(static_cast<long>(i & 0xff)));
    }
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    std::getchar();
    if (argc > 3) {
        void* const library = dlopen(argv[3], RTLD_NOW);
        plugin = library ? reinterpret_cast<Plugin>(dlsym(library, "plugin_step")) : nullptr;
        if (!plugin) return 1;
    }
    struct sigaction on {};
    on.sa_handler = on_signal;
    on.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &on, nullptr);
    struct sigaction fault {};
    fault.sa_sigaction = on_fault;
    fault.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGILL, &fault, nullptr);
    const std::uint64_t seed = std::strtoull(argv[1], nullptr, 10);
    const auto count = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
    std::thread(walk_all, seed, count / 2).join();
    walk_all(seed + 1, count - count / 2);
}
