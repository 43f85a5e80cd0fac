#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace gpufs {

struct EventFormat;
struct Field;

// The comparison operators of a tracefs filter. `bit_and` is true when any of the value's bits is
// set. `glob` matches a whole text with a pattern: * ? [a-z] [!a-z], \ takes the next character
// literally; a leading ! inverts the pattern.
enum class CompareOp { eq, ne, lt, le, gt, ge, bit_and, glob };
std::string_view to_text(CompareOp op);

// A value as the user wrote it. Its meaning depends on the field it is compared with.
struct Literal {
    enum class Kind {
        number,    // 2, -1, 0x1f, 017 (octal): `magnitude` and `is_negative`
        text,      // "quoted", 'quoted' or bare: `text` without quotes
        cpu_list,  // CPUS{0-3,7}: `text` is the list
    };
    Kind kind = Kind::number;
    std::string text;  // for a number: as written, so that 0x1f stays 0x1f; may be empty
    std::uint64_t magnitude = 0;
    bool is_negative = false;  // -0 is 0: not negative
    bool is_quoted = false;
    Span span;

    // The number as 64 bits in two's complement.
    std::uint64_t bits() const { return is_negative ? 0 - magnitude : magnitude; }
};

// FIELD OP VALUE. `suffix` follows the field's name: "ustring", "function" or empty.
struct Predicate {
    std::string field;
    Span field_span;
    std::string suffix;
    Span suffix_span;  // with its dot
    CompareOp op = CompareOp::eq;
    Span op_span;
    Literal value;
};

struct ExprNode {
    enum class Kind { predicate, all_of, any_of, negation };
    Kind kind = Kind::predicate;
    Predicate predicate;          // Kind::predicate only
    std::vector<ExprNode> terms;  // two or more for all_of and any_of, one for negation
};

// Compares meaning only: spans, quotes and the base of numbers are ignored.
bool operator==(const ExprNode& a, const ExprNode& b);

// A condition in the tracefs filter grammar:
//
//   prev_state == 2 && next_comm ~ "kworker*" || !(common_pid == 1)
//
//   any_of    = all_of { "||" all_of }
//   all_of    = unary { "&&" unary }
//   unary     = "!" unary | "(" any_of ")" | predicate
//   predicate = FIELD [ ".ustring" | ".function" ] OP VALUE
//   OP        = "==" | "!=" | "<" | "<=" | ">" | ">=" | "&" | "~"
//   VALUE     = NUMBER | "text" | 'text' | text | "CPUS{" LIST "}"
//
// `!` in front of a predicate negates the whole predicate, as in the kernel. A field may carry
// .ustring (a char pointer into user memory) or .function (an address, compared with the extent of
// the function that has this name or holds this address). CPU, COMM and the common_* fields are
// known for every event. Unlike the kernel, this grammar accepts text without quotes and refuses
// comparisons with numbers that the field cannot have, which are always true or always false.
//
// One tree, several uses: text for tracefs, an evaluator over decoded records, BPF instructions.
struct Expression {
    SourceText source;  // for messages; its name is the option that gave the text
    ExprNode root;
};

// Throws SourceError with a caret at the first thing that cannot be parsed. `a && (b && c)` is one
// all_of of three. Parentheses and ! may nest 64 deep. Time is linear in the text.
Expression parse_expression(SourceText source);

// The field names used, each once, in order, without CPU, COMM and common_*: the names that tell
// which events an expression applies to.
std::vector<std::string> fields_of(const Expression& expression);

// Checks every predicate against the event: the field exists, the operator suits its type, the
// value fits its width and sign, texts are within the kernel's limits. Throws SourceError, with a
// "did you mean".
void check_expression(const Expression& expression, const EventFormat& event);

// The condition as one line of text for the kernel's filter parser, for this event: strings quoted
// and parentheses added only where needed. Throws what check_expression throws.
//
// parse_expression() of the result gives an equal tree, except for patterns that the kernel matches
// wrongly and that are rewritten to an equivalent (kernel/trace/trace_events_filter.c, seen
// on 6.18):
//   "7*"    a pattern that begins with a digit is compared letter by letter   -> "[7]*"
//   "*ash"  in a char[N], the end of the array is compared, not of the text   -> "**ash"
//   "*as*"  in a char[N], stale bytes behind the text's end are searched too  -> "**as*"
std::string to_filter(const Expression& expression, const EventFormat& event);

// What a filter compares when it names a field; the kernel decides it from the declared type
// (filter_assign_type()).
struct Subject {
    enum class Kind {
        integer,       // 1, 2, 4 or 8 bytes; an array of that size (__u8 saddr[4]) is one number
        text,          // characters in the record
        text_pointer,  // the address of characters, in kernel memory or, with .ustring, in user
                       // memory
        cpumask,       // a set of CPUs in the record
        cpu,           // CPU, cpu, common_cpu: the CPU that made the record
        comm,          // COMM, comm: the name of the task that made the record, at most 15 bytes
        opaque,        // larger arrays, structs: a filter cannot compare them
    };
    Kind kind = Kind::opaque;
    const Field* field = nullptr;  // null for cpu and comm
};

// Looks up a name as the kernel does: the event's own field first, then CPU and COMM. Absent when
// there is no such field.
std::optional<Subject> find_subject(const EventFormat& event, std::string_view name);

// Parses a CPU list: [i] is true for CPU i, up to the highest in the list. Accepts numbers, ranges
// and strides, "0-3,7" and "0-15:2/4" (2 of every 4), with commas or spaces; CPUs up to 8191.
// Absent when the text is not such a list or the list is empty. ("all" and "N" depend on the
// machine and are refused.)
std::optional<std::vector<bool>> parse_kernel_cpu_list(std::string_view list);

}  // namespace gpufs
