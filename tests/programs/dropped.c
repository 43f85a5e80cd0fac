// A function that is not given all of its parameters, as an optimizer has it.

__attribute__((noinline)) static void dropped(const char *text, long unused, long last) {
    __asm__ volatile("" : : "r"(text), "r"(last) : "memory");
}

int main(int argc, char **argv) {
    (void)argv;
    dropped("text", argc * 6L, argc * 7L);
    return 0;
}
