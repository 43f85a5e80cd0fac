#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace gpufs {

// What a probe reads, by names of the program: "count", "req->len", "*head.next",
// "ns::table[3].id".
struct VariablePath {
    std::string variable;  // with its namespaces; "this->" may be left out of members
    Span variable_at;
    struct Step {
        enum class Kind {
            member,   // .NAME
            through,  // ->NAME
            element,  // [N]
            target,   // a '*' in front of all
        };
        Kind kind = Kind::member;
        std::string name;
        std::int64_t number = 0;
        Span at;
    };
    std::vector<Step> steps;  // in the order in which they are taken

    std::string field;  // its name in records: given, or that of the last member or the variable
    std::string type;   // as the kernel calls it; empty: the program's own
    Span at, type_at;   // of the whole word; of the type

    // "req->len", without name and type.
    std::string to_text(const SourceText& source) const;
    Span expression_at;
};

// Whether an argument names a variable of the program, and reads nothing of the kernel's syntax
// (%REG, @MEMORY, $VARIABLE, \CONSTANT, +OFFSET(...)), also behind "NAME=".
bool is_variable_path(std::string_view argument);

// [NAME=]PATH[:TYPE]. Throws SourceError, at its place.
VariablePath parse_variable_path(const SourceText& source, Span at);

}  // namespace gpufs
