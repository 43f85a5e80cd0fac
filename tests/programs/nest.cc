// A program whose functions are asked for by address. It obeys lines on its standard input and
// answers each with one line.

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace nest {

constexpr int kInnerLine = __LINE__ + 2;
template <class T>
__attribute__((noinline)) T inner(T x) {
    asm volatile("" : "+r"(x));
    return x;
}

__attribute__((noinline)) int outer(int x) {
    return inner<int>(x) + 1;
}

}  // namespace nest

namespace {

void answer_address(const void* at) {
    std::printf("%lx\n", reinterpret_cast<unsigned long>(at));
}

// Code of no file, with a name in a JIT compiler's list.
void make_code() {
    void* const code =
        ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
    if (std::FILE* const list = std::fopen(path.c_str(), "w")) {
        std::fprintf(list, "%lx 40 Lmade;::at run time\n", reinterpret_cast<unsigned long>(code));
        std::fclose(list);
    }
    answer_address(code);
}

void load(const char* path) {
    void* const library = ::dlopen(path, RTLD_NOW);
    answer_address(library ? ::dlsym(library, "plug_work") : nullptr);
}

// "ADDRESS TIMES", of a function of a library.
void call(const char* text) {
    char* times = nullptr;
    const auto function = reinterpret_cast<int (*)(int)>(std::strtoul(text, &times, 0));
    for (long left = std::strtol(times, nullptr, 0); left > 0; --left) function(1);
    std::puts("called");
}

// The answer is its id. It lives as long as this one.
void start_copy() {
    const pid_t parent = ::getpid(), child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (::getppid() == parent) ::pause();
        ::_exit(0);
    }
    std::printf("%d\n", child);
}

void enter(const char* directory) {
    const bool is_in = ::unshare(CLONE_NEWNS) == 0 && ::chroot(directory) == 0 && ::chdir("/") == 0;
    std::puts(is_in ? "in" : "failed");
}

void serve(char** argv);

// The main thread ends; another one answers when it has, and goes on.
void leave(char** argv) {
    std::thread([argv] {
        const std::string stat = "/proc/" + std::to_string(::getpid()) + "/stat";
        char state = '?';
        while (state != 'Z') {
            ::usleep(1000);
            std::FILE* const file = std::fopen(stat.c_str(), "r");
            if (!file || std::fscanf(file, "%*d %*s %c", &state) != 1) state = '?';
            if (file) std::fclose(file);
        }
        std::puts("left");
        serve(argv);
        ::_exit(0);
    }).detach();
    ::syscall(SYS_exit, 0);
}

void serve(char** argv) {
    char line[4096];
    while (std::fgets(line, sizeof line, stdin)) {
        line[std::strcspn(line, "\n")] = '\0';
        char* const word = std::strchr(line, ' ') ? std::strchr(line, ' ') + 1 : line;
        if (std::strcmp(line, "inner") == 0) {
            answer_address(reinterpret_cast<void*>(&nest::inner<int>));
        } else if (std::strcmp(line, "outer") == 0) {
            answer_address(reinterpret_cast<void*>(&nest::outer));
        } else if (std::strcmp(line, "line") == 0) {
            std::printf("%d\n", nest::kInnerLine);
        } else if (std::strcmp(line, "code") == 0) {
            make_code();
        } else if (std::strcmp(line, "fork") == 0) {
            start_copy();
        } else if (std::strncmp(line, "load ", 5) == 0) {
            load(word);
        } else if (std::strncmp(line, "call ", 5) == 0) {
            call(word);
        } else if (std::strncmp(line, "enter ", 6) == 0) {
            enter(word);
        } else if (std::strncmp(line, "exec ", 5) == 0) {
            ::execl(word, argv[0], nullptr);
            std::puts("failed");
        } else if (std::strncmp(line, "exec-in-thread ", 15) == 0) {
            std::thread([&] { ::execl(word, argv[0], nullptr); }).join();
            std::puts("failed");
        } else if (std::strcmp(line, "leave") == 0) {
            leave(argv);
        }
    }
}

}  // namespace

int main(int, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::setvbuf(stdin, nullptr, _IONBF, 0);  // what follows "exec" is for the next program
    serve(argv);
}
