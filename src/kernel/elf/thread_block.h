#pragma once

#include <cstdint>
#include <string>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// What a program or library tells of where the block of its thread-local variables is, in each
// thread that runs it.
struct ThreadBlock {
    enum class Kind {
        at_pointer,  // `number` bytes behind the thread pointer
        by_offset,   // the word at the address `number`, as linked, is how far a variable is behind
                     // the thread pointer; this one is `inside` bytes behind the block's begin
        by_module,   // the word at `number` is the module's number in the dynamic thread vector
        by_descriptor,  // the word at `number` is as of by_offset or, where the loader found no
                        // place beside the program's block, the address of a module's number
        unknown,        // for `trouble`
    };
    Kind kind = Kind::unknown;
    std::int64_t number = 0;
    std::int64_t inside = 0;
    std::int64_t vector_at = 0;  // of by_module and by_descriptor: how far behind the thread
                                 // pointer the dynamic thread vector's address is
    std::string trouble;
};

// Of a program its segment tells (the psABIs: x86-64 has variant II, arm64 variant I), of a library
// what its code looks up: words that the dynamic loader fills in.
ThreadBlock find_thread_block(const ElfFile& file);

}  // namespace gpufs
