#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/cat.h"
#include "base/hex.h"
#include "base/kernel_abi.h"
#include "base/suggest.h"
#include "base/text.h"
#include "lang/event/event_format.h"
#include "lang/event/printed_label.h"
#include "lang/expr/expr.h"

namespace gpufs {
namespace {

using Kind = Subject::Kind;

// MAX_FILTER_STR_VAL - 1 in the kernel.
constexpr std::size_t kMaxText = 255;
constexpr std::size_t kMaxComm = kCommBytes - 1;

bool is_equality(CompareOp op) {
    return op == CompareOp::eq || op == CompareOp::ne;
}
bool begins_with_digit(std::string_view text) {
    return !text.empty() && text[0] >= '0' && text[0] <= '9';
}
bool is_number_size(std::size_t n) {
    return n == 1 || n == 2 || n == 4 || n == 8;
}

// The range of an integer field of this size and sign.
struct Range {
    std::uint64_t lowest, highest;  // lowest in two's complement
    bool is_signed;

    bool holds(const Literal& v) const {
        if (v.is_negative) return is_signed && v.magnitude <= 0 - lowest;
        return v.magnitude <= highest;
    }
};
Range range_of(const Field& field) {
    if (field.type == "bool") return {0, 1, false};
    const auto bits = field.size * 8;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
    if (!field.is_signed) return {0, all, false};
    return {0 - (all / 2 + 1), all / 2, true};
}
// The kernel compares CPU as an int.
constexpr Range kCpuRange{0 - (std::uint64_t{1} << 31), 0x7fffffff, true};

std::string in_decimal(std::uint64_t bits, bool is_signed) {
    return is_signed ? cat(static_cast<std::int64_t>(bits)) : cat(bits);
}

// The number for which the event's print format prints `word` for this field, as in
// __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }). Empty when there is none.
std::string number_named(const EventFormat& event, std::string_view field, std::string_view word) {
    const std::string_view format = event.print_format;
    const std::string name = cat(", \"", word, "\" }");
    const std::string record = cat("REC->", field);
    for (std::size_t at = 0; (at = format.find(name, at)) != format.npos; ++at) {
        const auto open = format.rfind('{', at);
        const auto list = format.rfind("__print_", at);
        if (open == format.npos || list == format.npos || open < list) continue;
        const std::string_view table = format.substr(list, open - list);
        const auto use = table.find(record);
        if (use == table.npos) continue;
        const auto behind = table.substr(use + record.size(), 1);
        if (behind != "," && behind != " " && behind != ")") continue;

        std::string_view number = trim(format.substr(open + 1, at - open - 1));
        int base = 10;
        if (number.starts_with("0x")) {
            base = 16;
            number.remove_prefix(2);
        }
        std::uint64_t value = 0;
        const auto end = number.data() + number.size();
        if (const auto r = std::from_chars(number.data(), end, value, base);
            r.ec == std::errc() && r.ptr == end)
            return cat(value);
    }
    // Task states for formats without a table, and R, which no table contains.
    constexpr std::string_view kStates = "RSDTtXZPI";  // 0, then bit by bit (since Linux 4.14)
    if (field.ends_with("state") && word.size() == 1)
        if (const auto bit = kStates.find(word); bit != kStates.npos)
            return cat(bit == 0 ? 0u : 1u << (bit - 1));
    return {};
}

class Checker {
public:
    Checker(const Expression& expression, const EventFormat& event)
        : source_(expression.source), event_(event) {}

    void check(const ExprNode& node) const {
        for (const ExprNode& term : node.terms) check(term);
        if (node.kind == ExprNode::Kind::predicate) check(node.predicate);
    }

private:
    void check(const Predicate& p) const {
        const auto subject = find_subject(event_, p.field);
        if (!subject) fail_unknown(p);
        if (p.suffix == "function") return check_function(p, *subject);
        if (p.suffix == "ustring" && subject->kind != Kind::text_pointer)
            fail(p.suffix_span,
                 cat("'", p.field, "' is ", described(*subject), ", no address of a text"),
                 "leave out .ustring");
        switch (subject->kind) {
            case Kind::integer:
                return check_integer(p, *subject->field);
            case Kind::text:
            case Kind::text_pointer:
            case Kind::comm:
                return check_text(p, *subject);
            case Kind::cpumask:
                return check_cpumask(p);
            case Kind::cpu:
                return check_cpu(p);
            case Kind::opaque:
                fail(p.field_span, cat("'", p.field, "' (", described(*subject),
                                       ") cannot be compared: it is no number and no text"));
        }
    }

    void check_integer(const Predicate& p, const Field& field) const {
        if (p.op == CompareOp::glob)
            fail(p.op_span,
                 cat("'", p.field, "' is a number (", field.declaration(), "); ~ compares text"),
                 "compare with == != < <= > >= or &");
        if (p.value.kind == Literal::Kind::cpu_list) {
            check_cpus_of_number(p);
            // The kernel would truncate a CPU number that the field cannot hold.
            const std::size_t highest = require_cpus(p).size() - 1;
            if (field.size == 1 && highest > 0xff)
                fail(p.value.span, cat("CPU ", highest, " does not fit in '", p.field, "' (",
                                       field.declaration(), ')'));
            return;
        }
        if (p.value.kind == Literal::Kind::text) fail_text_for_number(p, field.declaration());
        const Range range = range_of(field);
        if (!range.holds(p.value)) fail_range(p, field, range);
        if (p.op == CompareOp::lt && !range.is_signed && p.value.magnitude == 0)
            fail_below_zero(p, field, range);
    }

    void check_cpu(const Predicate& p) const {
        if (p.op == CompareOp::glob)
            fail(p.op_span, cat("'", p.field, "' is a number; ~ compares text"),
                 "compare with == != < <= > or >=");
        if (p.value.kind == Literal::Kind::cpu_list) return check_cpus_of_number(p);
        if (p.value.kind == Literal::Kind::text) fail_text_for_number(p, "int");
        // filter_pred_cpu() does not implement &: it would always be false.
        if (p.op == CompareOp::bit_and)
            fail(p.op_span, cat("'", p.field, "' has no bits to test: & wants a list of CPUs"),
                 cat("for example ", p.field, " & CPUS{0-3}"));
        if (!kCpuRange.holds(p.value))
            fail(p.value.span, cat(spelled(p.value), " is no CPU"), "CPUs are counted from 0");
    }

    // For a number against a set of several CPUs only & makes sense.
    void check_cpus_of_number(const Predicate& p) const {
        const auto cpus = require_cpus(p);
        if (!is_equality(p.op)) return;
        if (std::ranges::count(cpus, true) > 1)
            fail(p.op_span, cat("one number never equals several CPUs"),
                 p.op == CompareOp::eq ? cat("write ", p.field, " & CPUS{", p.value.text, '}')
                                       : cat("write !(", p.field, " & CPUS{", p.value.text, "})"));
    }

    void check_cpumask(const Predicate& p) const {
        if (p.value.kind != Literal::Kind::cpu_list)
            fail(p.value.span,
                 cat("'", p.field, "' is a set of CPUs; ", described(p.value), " is none"),
                 cat("for example ", p.field, " & CPUS{0-3}"));
        require_cpus(p);
    }

    std::vector<bool> require_cpus(const Predicate& p) const {
        if (!is_equality(p.op) && p.op != CompareOp::bit_and)
            fail(p.op_span, cat("CPUs are compared with & == or !=, not with ", to_text(p.op)));
        auto cpus = parse_kernel_cpu_list(p.value.text);
        if (!cpus) fail(p.value.span, cat("'", p.value.text, "' is not a list of CPUs"));
        return *cpus;
    }

    void check_text(const Predicate& p, const Subject& subject) const {
        if (!is_equality(p.op) && p.op != CompareOp::glob)
            fail(p.op_span, cat("'", p.field, "' is text (", described(subject),
                                "): text is compared with == != or ~"));
        if (p.value.kind == Literal::Kind::cpu_list)
            fail(p.value.span, cat("'", p.field, "' is text (", described(subject), "), no CPU"));
        if (p.value.kind == Literal::Kind::number)
            fail(p.value.span,
                 cat("'", p.field, "' is text (", described(subject), "), ", spelled(p.value),
                     " is a number"),
                 subject.kind == Kind::text_pointer
                     ? "the kernel compares the text, not its address"
                     : cat("write \"", spelled(p.value), '"'));
        const std::string& text = p.value.text;
        if (text.find('"') != text.npos && text.find('\'') != text.npos)
            fail(p.value.span, "a text cannot have both kinds of quotes in it",
                 "compare with ~ and write ? for one kind");
        // to_filter() may make a pattern two bytes longer.
        const bool is_pattern = p.op == CompareOp::glob;
        const std::size_t most = is_pattern ? kMaxText - 2 : kMaxText;
        if (text.size() > most)
            fail(p.value.span, cat(is_pattern ? "a pattern" : "a text", " has at most ", most,
                                   " bytes; this one has ", text.size()));
        if (is_equality(p.op)) check_length(p, subject);
        // A kernel-memory read of a user address fails, and the comparison is then always false.
        if (subject.kind == Kind::text_pointer && event_.system == "syscalls" && p.suffix.empty())
            fail(p.field_span,
                 cat("'", p.field, "' is a text in the memory of the calling program"),
                 cat("write ", p.field, ".ustring"));
    }

    // Refuses a text longer than the field. Task names are cut to 15 bytes, and the user may have
    // seen the full name elsewhere.
    void check_length(const Predicate& p, const Subject& subject) const {
        const std::string& text = p.value.text;
        const bool is_array =
            subject.kind == Kind::text && !subject.field->is_dynamic() && subject.field->size > 0;
        const bool is_task_name =
            subject.kind == Kind::comm ||
            (is_array && subject.field->size == kCommBytes && p.field.ends_with("comm"));
        if (is_task_name && text.size() > kMaxComm)
            fail(p.value.span,
                 cat("the name of a task has at most ", kMaxComm, " bytes; this one has ",
                     text.size()),
                 cat("the kernel cuts it: write \"", text.substr(0, kMaxComm), '"'));
        if (is_array && text.size() > subject.field->size)
            fail(p.value.span, cat("a text of ", text.size(), " bytes does not fit in '", p.field,
                                   "' (", described(subject), ")"));
    }

    void check_function(const Predicate& p, const Subject& subject) const {
        if (subject.kind != Kind::integer || subject.field->size != sizeof(long))
            fail(p.suffix_span, cat("'", p.field, "' is ", described(subject), ", no address"),
                 "leave out .function");
        if (!is_equality(p.op))
            fail(p.op_span, cat("a function is compared with == or !=, not with ", to_text(p.op)));
        if (p.value.kind == Literal::Kind::cpu_list)
            fail(p.value.span, "a function's name or an address was expected");
        if (p.value.kind == Literal::Kind::number) {
            if (p.value.is_negative) fail(p.value.span, cat(spelled(p.value), " is no address"));
            return;
        }
        // The kernel takes everything up to the next space as the name.
        const auto ends = p.value.text.find_first_of(" \t\n\v\f\r\"'()");
        if (p.value.text.empty() || ends != p.value.text.npos || begins_with_digit(p.value.text))
            fail(p.value.span, cat("'", p.value.text, "' cannot be the name of a function"));
    }

    [[noreturn]] void fail_unknown(const Predicate& p) const {
        std::vector<std::string> own = event_.field_names();
        std::vector<std::string> known = own;
        for (const Field& field : event_.fields)
            if (field.is_common) known.push_back(field.name);
        for (const char* name : {"CPU", "COMM", "cpu", "comm"}) known.emplace_back(name);
        std::string hint = did_you_mean(p.field, known);
        if (const std::string field = field_printed_as(event_, p.field); !field.empty())
            hint = cat("its field '", field, "' is printed as ", p.field, "=");
        if (p.field == "uid" || p.field == "cgroup")
            hint = cat("of the running task it is a key: 'gpufs count EVENT by ", p.field, "'");
        if (hint.empty())
            hint = own.empty() ? "it has no fields of its own; there are common_pid, CPU and COMM"
                               : cat("its fields are ", join(own, ", "));
        fail(p.field_span, cat(event_.full_name(), " has no field '", p.field, "'"), hint);
    }

    [[noreturn]] void fail_text_for_number(const Predicate& p, std::string_view type) const {
        const std::string& text = p.value.text;
        const bool is_number_like = begins_with_digit(text.substr(text.starts_with('-') ? 1 : 0));
        if (p.value.is_quoted && is_number_like)
            fail(p.value.span,
                 cat("'", p.field, "' is a number (", type, "), ", quoted(text), " is text"),
                 cat("write ", text, " without quotes"));
        if (is_number_like) {
            const bool is_octal = text[0] == '0' && text.size() > 1 &&
                                  text.find_first_not_of("0123456789") == text.npos;
            if (is_octal)
                fail(p.value.span, cat("'", text, "' is no number: a 0 in front makes it octal"),
                     cat("write ",
                         text.substr(std::min(text.find_first_not_of('0'), text.size() - 1))));
            fail(p.value.span, cat("'", text, "' is no number"),
                 "numbers are whole and without a unit: 12, -12, 0x1f, 017 (octal)");
        }
        std::string hint;
        if (const auto number = number_named(event_, p.field, text); !number.empty())
            hint = cat(text, " is ", number, ": write ", p.field, ' ', to_text(p.op), ' ', number);
        else if (event_.find(text))
            hint = "a field is compared with a value, not with another field";
        fail(p.value.span,
             cat("'", p.field, "' is a number (", type, "), ", quoted(text), " is text"), hint);
    }

    // A probe's argument has no sign unless its definition says so.
    static std::string typed_hint(const Field& field) {
        return cat("make the probe with a type for it: ", field.name, "=...:s32 for an int, ",
                   field.name, "=...:s64 for a long");
    }

    [[noreturn]] void fail_range(const Predicate& p, const Field& field, const Range& range) const {
        const auto bits = field.size * 8;
        std::string hint;
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
        if (!range.is_signed && p.value.is_negative && is_dynamic_probe(event_)) {
            hint = typed_hint(field);
        } else if (range.is_signed && !p.value.is_negative && p.value.magnitude <= all) {
            // For example 0xffffffff for an int: offer the signed number with these bits.
            const std::uint64_t extended = p.value.magnitude | ~all;
            hint = cat("as ", bits, " bits with a sign this is ", in_decimal(extended, true));
        } else if (!range.is_signed && p.value.is_negative && range.highest == all &&
                   p.value.magnitude <= all / 2 + 1) {
            hint = cat("as ", bits, " bits without a sign this is ", hex(p.value.bits() & all));
            // An `int` argument of a system call arrives in a 64-bit register whose upper half the
            // caller may set to anything.
            if (event_.system == "syscalls" && bits == 64 && p.value.magnitude <= 1u << 31)
                hint = cat("a register may hold it as ", hex(p.value.bits() & 0xffffffff),
                           " or as ", hex(p.value.bits()));
        }
        fail(p.value.span,
             cat(spelled(p.value), " does not fit in '", p.field, "' (", field.declaration(),
                 "): it holds ", in_decimal(range.lowest, range.is_signed), " to ", range.highest),
             hint);
    }

    [[noreturn]] void fail_below_zero(const Predicate& p, const Field& field,
                                      const Range& range) const {
        // As fail_range() says, the upper half of an argument's register may be anything.
        const bool is_argument = event_.system == "syscalls" && field.size == 8;
        fail({p.field_span.begin, p.value.span.end},
             cat("this never holds: '", p.field, "' (", field.declaration(), ") holds 0 to ",
                 range.highest),
             is_dynamic_probe(event_)
                 ? typed_hint(field)
                 : cat("without a sign, numbers below 0 are the largest: write ", p.field, " > ",
                       hex(is_argument ? 0x7fffffff : range.highest / 2)));
    }

    static std::string quoted(const std::string& text) { return cat('"', text, '"'); }
    static std::string spelled(const Literal& value) {
        if (!value.text.empty()) return value.text;
        return cat(value.is_negative ? "-" : "", value.magnitude);
    }
    static std::string described(const Literal& value) {
        return value.kind == Literal::Kind::text ? quoted(value.text) : spelled(value);
    }
    static std::string described(const Subject& subject) {
        if (subject.field) return subject.field->declaration();
        return subject.kind == Kind::cpu ? "the number of a CPU" : "the name of a task";
    }

    [[noreturn]] void fail(Span at, std::string_view message, std::string_view hint = {}) const {
        throw SourceError(source_, at, message, hint);
    }

    const SourceText& source_;
    const EventFormat& event_;
};

}  // namespace

std::optional<Subject> find_subject(const EventFormat& event, std::string_view name) {
    const Field* field = event.find(name);
    if (!field) {
        if (name == "CPU" || name == "cpu" || name == "common_cpu")
            return Subject{Kind::cpu, nullptr};
        if (name == "COMM" || name == "comm") return Subject{Kind::comm, nullptr};
        return std::nullopt;
    }
    const auto says = [&](std::string_view word) {
        return field->type.find(word) != field->type.npos;
    };
    // The kernel treats every array whose type contains "char" as text, `unsigned char addr[6]`
    // too.
    if (field->is_array && says("char")) return Subject{Kind::text, field};
    if (field->is_dynamic())
        return Subject{says("cpumask_t") ? Kind::cpumask : Kind::opaque, field};
    if (field->is_pointer && field->is_string) return Subject{Kind::text_pointer, field};
    return Subject{is_number_size(field->size) ? Kind::integer : Kind::opaque, field};
}

std::optional<std::vector<bool>> parse_kernel_cpu_list(std::string_view list) {
    constexpr std::string_view kSpaces = " \t\n\v\f\r";
    std::vector<bool> cpus;
    std::size_t at = 0;
    const auto number = [&]() -> std::optional<std::size_t> {
        std::size_t value = 0;
        const char* const end = list.data() + list.size();
        const auto [stop, error] = std::from_chars(list.data() + at, end, value);
        if (error != std::errc() || value >= kMaxCpus) return std::nullopt;
        at = static_cast<std::size_t>(stop - list.data());
        return value;
    };
    const auto take = [&](char c) {
        const bool is_there = at < list.size() && list[at] == c;
        if (is_there) ++at;
        return is_there;
    };

    for (;;) {
        while (at < list.size() && (list[at] == ',' || kSpaces.find(list[at]) != kSpaces.npos))
            ++at;
        if (at == list.size()) break;
        const auto first = number();
        if (!first) return std::nullopt;
        // FIRST-LAST:USED/GROUP; the later parts are optional.
        std::size_t last = *first, used = 1, group = 1;
        if (take('-')) {
            const auto n = number();
            if (!n || *n < *first) return std::nullopt;
            last = *n;
            if (take(':')) {
                const auto of = number();
                if (!of || !take('/')) return std::nullopt;
                const auto every = number();
                if (!every || *every == 0 || *of > *every) return std::nullopt;
                used = *of;
                group = *every;
            }
        }
        const bool ends =
            at == list.size() || list[at] == ',' || kSpaces.find(list[at]) != kSpaces.npos;
        if (!ends) return std::nullopt;
        for (std::size_t cpu = *first; cpu <= last; ++cpu) {
            if ((cpu - *first) % group >= used) continue;
            if (cpus.size() <= cpu) cpus.resize(cpu + 1);
            cpus[cpu] = true;
        }
    }
    if (cpus.empty()) return std::nullopt;
    return cpus;
}

void check_expression(const Expression& expression, const EventFormat& event) {
    Checker(expression, event).check(expression.root);
}

}  // namespace gpufs
