#include "kernel/elf/usdt_probe.h"

namespace gpufs::test {
namespace {

[[gnu::section(".probes"), gnu::used]] volatile unsigned short semaphore = 0;

}  // namespace

// The note is three words (place, base, semaphore) and three strings; its owner is "stapsdt", its
// type 3: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.
[[gnu::noinline]] void fire_usdt_probe(int value) {
    asm volatile(
        "990: nop\n"
        ".pushsection .note.stapsdt, \"\", \"note\"\n"
        ".balign 4\n"
        ".4byte 992f-991f, 994f-993f, 3\n"
        "991: .asciz \"stapsdt\"\n"
        "992: .balign 4\n"
        "993: .8byte 990b, _.stapsdt.base, %c1\n"
        ".asciz \"gpufs_test\"\n"
        ".asciz \"probe\"\n"
        ".asciz \"-4@%0\"\n"
        "994: .balign 4\n"
        ".popsection\n"
        ".ifndef _.stapsdt.base\n"
        ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
        ".weak _.stapsdt.base\n"
        ".hidden _.stapsdt.base\n"
        "_.stapsdt.base: .space 1\n"
        ".size _.stapsdt.base, 1\n"
        ".popsection\n"
        ".endif\n" ::"nor"(value),
        "i"(&semaphore));
}

int usdt_listeners() {
    return semaphore;
}

}  // namespace gpufs::test
