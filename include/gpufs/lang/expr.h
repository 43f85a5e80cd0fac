#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpufs/base/source.h"

namespace gpufs {

struct EventFormat;

// Comparison of a field with a value, in the words of a tracefs filter.
enum class CompareOp { eq, ne, lt, le, gt, ge, bit_and, glob };
std::string_view to_text(CompareOp op);

// A value as the user wrote it. What it means depends on the field it is compared with.
struct Literal {
    enum class Kind {
        number,    // 2, -1, 0x1f: `magnitude` and `is_negative`
        text,      // "quoted", 'quoted' or bare: `text` without quotes
        cpu_list,  // CPUS{0-3,7}: `text` is the list
    };
    Kind kind = Kind::number;
    std::string text;
    std::uint64_t magnitude = 0;
    bool is_negative = false;
    bool is_quoted = false;
    Span span;
};

// FIELD OP VALUE. `suffix` is what stood behind the field's name: "ustring", "function" or nothing.
struct Predicate {
    std::string field;
    Span field_span;
    std::string suffix;
    Span suffix_span;
    CompareOp op = CompareOp::eq;
    Span op_span;
    Literal value;
};

struct ExprNode {
    enum class Kind { predicate, all_of, any_of, negation };
    Kind kind = Kind::predicate;
    Predicate predicate;            // Kind::predicate only
    std::vector<ExprNode> terms;    // two or more for all_of and any_of, one for negation
};

// A condition in the tracefs filter grammar:
//
//   prev_state == 2 && next_comm ~ "kworker*" || !(common_pid == 1)
//
// Operators: && || ! ( ) over FIELD OP VALUE, where OP is == != < <= > >= & ~. A field may carry
// .ustring (a char pointer into user memory) or .function (an address, compared with a symbol).
// CPU, COMM and the common_* fields are known for every event.
//
// One tree, several uses: text for tracefs, an evaluator over decoded records, BPF instructions.
struct Expression {
    SourceText source;  // for messages: the name is the option the text came from
    ExprNode root;
};

// Throws SourceError with a caret at what cannot be parsed.
Expression parse_expression(SourceText source);

// The field names used, each once, in order, without CPU, COMM and common_*: what identifies the
// event an expression is about.
std::vector<std::string> fields_of(const Expression& expression);

// Checks every predicate against the event: the field exists, the operator suits its type, the value
// fits its width and sign, text fits where the kernel compares text. Throws SourceError, with a
// "did you mean".
void check_expression(const Expression& expression, const EventFormat& event);

// The text that the kernel's filter parser reads back to the same condition for this event; strings
// quoted as needed, parentheses only where needed.
std::string to_filter(const Expression& expression, const EventFormat& event);

}  // namespace gpufs
