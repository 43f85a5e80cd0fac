#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lang/event/syscall_arguments.h"

namespace gpufs {

// A system call as programs tell it: a value of ValueType::Kind::syscall_record. It carries the
// call's signature, so that nothing else is needed to print it.
struct SyscallRecord {
    static constexpr std::size_t kTexts = 2;
    // So many bytes of a text are told; with one more, it was cut.
    static constexpr std::size_t kTextBytes = 255;
    static constexpr std::int32_t kUnread = -1;
    enum State : std::uint32_t {
        returned = 1,  // there is a result
        compat = 2,    // of a 32-bit program: the number is none of ours
    };

    SyscallSignature signature;
    // Two more than there are: an index that is masked with 7 stays inside.
    std::uint64_t arguments[SyscallSignature::kMost + 2] = {};
    std::int64_t result = 0;
    std::int32_t number = 0;
    std::uint32_t state = 0;
    // Of the arguments signature.texts. At the end of a record, what is behind them is not sent.
    std::int32_t text_bytes[kTexts] = {kUnread, kUnread};
    char texts[kTexts][kTextBytes + 9] = {};
};

// What the parts are called behind a member of the type: "call.result".
struct SyscallRecordPart {
    std::string_view name;
    std::size_t offset, bytes;
};
inline constexpr SyscallRecordPart kSyscallRecordParts[] = {
    {"signature", offsetof(SyscallRecord, signature), sizeof(SyscallRecord::signature)},
    {"arguments", offsetof(SyscallRecord, arguments), sizeof(SyscallRecord::arguments)},
    {"result", offsetof(SyscallRecord, result), sizeof(SyscallRecord::result)},
    {"number", offsetof(SyscallRecord, number), sizeof(SyscallRecord::number)},
    {"state", offsetof(SyscallRecord, state), sizeof(SyscallRecord::state)},
    {"text_bytes", offsetof(SyscallRecord, text_bytes), sizeof(SyscallRecord::text_bytes)},
    {"first", offsetof(SyscallRecord, texts), sizeof(SyscallRecord::texts) / 2},
    {"second", offsetof(SyscallRecord, texts) + sizeof(SyscallRecord::texts) / 2,
     sizeof(SyscallRecord::texts) / 2},
};

}  // namespace gpufs
