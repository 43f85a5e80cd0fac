// A library for chains.cc: a step that is there only once it is loaded.
extern "C" __attribute__((noinline)) long plugin_step(long (*go_on)(long), long x) {
    const long y = go_on(x + 1);
    return y + x;
}
