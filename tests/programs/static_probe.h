#pragma once

// A static probe (USDT) as systemtap's sys/sdt.h makes them, in an asm statement whose operands are
// the last arguments (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
// `counter` is the address of the probe's semaphore, or 0; `arguments` is as the note has it:
// "-4@%0 8@%1". All but the operands are texts.
#define STATIC_PROBE(provider, name, counter, arguments, ...)                       \
    asm volatile(                                                                   \
        "990: nop\n"                                                                \
        ".pushsection .note.stapsdt, \"\", \"note\"\n"                              \
        ".balign 4\n"                                                               \
        ".4byte 992f-991f, 994f-993f, 3\n"                                          \
        "991: .asciz \"stapsdt\"\n"                                                 \
        "992: .balign 4\n"                                                          \
        "993: .8byte 990b, _.stapsdt.base, " counter                                \
        "\n"                                                                        \
        ".asciz \"" provider                                                        \
        "\"\n"                                                                      \
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
