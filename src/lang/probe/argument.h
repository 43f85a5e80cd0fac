#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "lang/event/event_format.h"

namespace gpufs {

// What an argument of a dynamic probe reads, in the kernel's syntax (kprobetrace.rst and
// uprobetracer.rst of its documentation): "%di", "+8(%si)", "+0(+16(%bp))", "$retval", "\5".
struct Fetch {
    enum class From {
        in_register,    // %NAME
        stack_address,  // $stack
        stack_word,     // $stackN
        result,         // $retval
        argument,       // $argN
        comm,           // $comm
        memory,         // @ADDRESS, @SYMBOL[+|-OFFSET] in the kernel; @+FILEOFFSET in a program
        constant,       // \NUMBER
        text,           // \"TEXT"
        typed,          // by the kernel's type information: "filp->f_flags", "$arg*"
    };
    From from = From::constant;
    std::string name;         // of the register; the text of memory, text and typed
    std::int64_t number = 0;  // N, or NUMBER
    // Reads memory at what came before plus the offset, innermost first.
    struct Step {
        std::int64_t offset = 0;
        bool is_user = false;  // written "+u8(...)"
    };
    std::vector<Step> steps;
};

// NAME=FETCH:TYPE, taken apart; the kernel calls it argN where it has no NAME.
struct ArgumentParts {
    std::string_view name, fetch, type;     // `name` and `type` may be empty
    std::size_t fetch_at = 0, type_at = 0;  // where they begin in the text
};
ArgumentParts split_argument(std::string_view text);

// The longest name of an argument that the kernel takes (MAX_ARG_NAME_LEN).
constexpr std::size_t kLongestArgumentName = 31;

struct ProbeArgument {
    Fetch fetch;
    Field field;  // of the event's records; its offset means nothing
};

// Where a probe is, as far as it decides which arguments it takes.
struct ProbeSide {
    bool is_user = false;
    bool is_return = false;
    bool is_inside = false;  // behind the first instruction of a function
};

// The arguments of one probe, each at its span of `source`. Throws SourceError for what no kernel
// takes on this architecture: at a register, a variable or a type that is none, a text that is not
// read from memory, a name that is taken.
std::vector<ProbeArgument> parse_probe_arguments(const SourceText& source,
                                                 const std::vector<Span>& words, ProbeSide side);

}  // namespace gpufs
