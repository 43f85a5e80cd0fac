// A daemon with a timer that is late twice: it waits, uninterruptibly, for a helper that it starts
// with vfork(2). It says what it measured in each round, in ns.
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void start_helper(void) {
    const pid_t child = vfork();
    if (child == 0) {
        usleep(150000);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static long last_ns;

__attribute__((noinline)) static void timer_expired(int round) {
    const long current_ns = now_ns();
    const long tv_diff = current_ns - last_ns;
    printf("round %d: %ld\n", round, tv_diff);  // late
    last_ns = current_ns;
}

int main(void) {
    last_ns = now_ns();
    for (int round = 0; round < 12; ++round) {
        if (round == 5 || round == 9) start_helper();
        usleep(2000);
        timer_expired(round);
    }
}
