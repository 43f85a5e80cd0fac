// blocker SECONDS: what the demonstration hunts. Its main loop is late because it starts a helper
// with vfork(2): the parent sleeps in D state, uninterruptibly, until the child execs, and the
// child takes its time before it does.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void start_helper() {
    constexpr unsigned kSlowUs = 120'000;
    const pid_t child = ::vfork();
    if (child == 0) {
        ::usleep(kSlowUs);
        ::execl("/bin/true", "true", static_cast<char*>(nullptr));
        ::_exit(127);
    }
    ::waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 2;
    for (int i = 0; i < seconds * 4; ++i) {
        ::usleep(130'000);
        start_helper();
    }
}
