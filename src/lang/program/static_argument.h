#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// Where a static probe (USDT) has one of its arguments, by the note in the file:
// "-4@%edi", "8@-16(%rbp)", "4@$7", "8@8(%rax,%rcx,4)"; on arm64 "8@x19", "4@[x29, 24]",
// "8@[x0, x1, lsl 3]", "-4@5".
struct StaticArgument {
    enum class Kind {
        constant,     // `number`
        in_register,  // the low `bytes` of the register at `base`
        in_memory,    // at base + index * scale + number, of the process
        unknown,      // another form: a global variable (`symbol`), a floating-point register
    };
    Kind kind = Kind::unknown;
    std::size_t bytes = 8;  // 1, 2, 4 or 8
    bool is_signed = false;
    // In struct pt_regs, in bytes.
    std::optional<std::size_t> base, index;
    std::int64_t scale = 1, number = 0;
    // Of "-4@40+CheckpointStats(%rip)": the variable at `number` behind which it is.
    std::string symbol;
    std::string text;  // as the note has it

    // Is it at the same place?
    bool operator==(const StaticArgument&) const = default;
};

// All arguments of a note, in order.
std::vector<StaticArgument> parse_static_arguments(std::string_view text);

// The name in the file's notes: people write "query-start" for query__start. In a shell pattern,
// not within brackets.
std::string static_probe_name(std::string_view name);

// Which argument a name means: "arg12" is 12. Absent for other names.
std::optional<std::size_t> static_argument_number(std::string_view name);

}  // namespace gpufs
