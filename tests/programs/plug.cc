// A library that needs no other.

__attribute__((noinline)) static int plug_hidden(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

// Line 9 is where it begins.
extern "C" int plug_work(int x) {
    return plug_hidden(x) + 1;
}
