// Variables that each thread has of its own, at a line that prints what they are: of a program, and,
// where it is compiled as a library that the program is given, of that. A line of output is
// "told NAME=VALUE …".
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct own_pair {
    long first;
    short cells[3];
};

__thread int number = 7;
static __thread struct own_pair pair = {1, {2, 3, 4}};
static __thread char text[12] __attribute__((aligned(64))) = "init";

__attribute__((noinline)) static void tell(int who) {
    printf(  // told
        "told who=%d number=%d pair.cells[2]=%d text=\"%s\"\n", who, number, pair.cells[2], text);
}

static void *run(void *argument) {
    const int who = (int)(long)argument;
    number += who;
    pair.first = who;
    pair.cells[2] = (short)(-100 * who);
    snprintf(text, sizeof text, "thread %d", who);
    tell(who);
    return NULL;
}

void run_threads(void) {
    run((void *)0L);
    for (long who = 1; who < 4; ++who) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, (void *)who) != 0) return;
        pthread_join(thread, NULL);
    }
}

#ifndef LIBRARY
int main(int argc, char **argv) {
    void (*what)(void) = run_threads;
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (!library) return 1;
        what = (void (*)(void))dlsym(library, "run_threads");
    }
    usleep(1000);  // arm64's kernel knows where a thread has its own once that was off the CPU
    what();
    return 0;
}
#endif
