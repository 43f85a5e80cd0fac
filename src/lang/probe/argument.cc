#include "lang/probe/argument.h"

#include <algorithm>
#include <utility>

#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "lang/probe/field_type.h"
#include "lang/program/function_fields.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

// Of kernel/trace/trace_probe.h.
constexpr std::size_t kMostArguments = 128;

// Fields that the kernel itself adds to events of probes, and to all.
constexpr std::string_view kTakenNames[] = {
    "common_type", "common_flags", "common_preempt_count", "common_pid",        "common_tgid",
    "__probe_ip",  "__probe_func", "__probe_ret_ip",       "__probe_vaddr_func"};

constexpr std::string_view kUserText = "ustring";

class ArgumentReader {
public:
    ArgumentReader(const SourceText& source, Span at, ProbeSide side)
        : source_(source),
          at_(at),
          side_(side),
          text_(std::string_view(source.text).substr(at.begin, at.end - at.begin)) {}

    ProbeArgument read(std::size_t number) {
        const ArgumentParts parts = split_argument(text_);
        ProbeArgument made;
        if (parts.fetch.empty())
            fail(0, text_.size(), cat("'", text_, "' reads nothing"),
                 "write NAME=FETCH:TYPE, such as bytes=%dx:u64");
        made.fetch = fetch(parts);
        const bool is_text =
            made.fetch.from == Fetch::From::comm || made.fetch.from == Fetch::From::text;
        const bool has_type = !parts.type.empty();
        const std::string_view type = has_type ? parts.type : is_text ? "string" : "x64";
        const Span type_at = has_type ? span(parts.type_at, parts.type.size()) : at_;
        made.field = field_of_type(type, source_, type_at);
        check_type(made.fetch, type, type_at);
        if (type.starts_with(kUserText) && !made.fetch.steps.empty())
            made.fetch.steps.back().is_user = true;
        made.field.name = parts.name.empty() ? cat("arg", number) : std::string(parts.name);
        check_name(made.field.name, parts);
        return made;
    }

private:
    Fetch fetch(const ArgumentParts& parts) {
        Fetch made;
        // The outermost comes first.
        std::string_view text = parts.fetch;
        std::size_t at = parts.fetch_at;
        while (!text.empty() && (text[0] == '+' || text[0] == '-')) {
            const auto open = text.find('(');
            if (open == text.npos || !text.ends_with(')'))
                fail(at, text.size(), cat("'", text, "' reads no memory"),
                     "write OFFSET(FETCH), such as +8(%di)");
            made.steps.push_back(step(text.substr(0, open), at));
            text = text.substr(open + 1, text.size() - open - 2);
            at += open + 1;
        }
        std::ranges::reverse(made.steps);
        innermost(made, text, at);
        return made;
    }

    // "+8", "-0x10", "+u0".
    Fetch::Step step(std::string_view text, std::size_t at) {
        Fetch::Step made;
        Scan scan(text);
        const bool is_negative = scan.take("-");
        if (!is_negative) scan.take("+");
        made.is_user = scan.take("u");
        const auto number = take_number(scan);
        if (!number || !scan.at_end())
            fail(at, text.size(), cat("'", text, "' is no offset"), "such as +8 or -0x10");
        made.offset = is_negative ? -*number : *number;
        return made;
    }

    // Without a sign.
    static std::optional<std::int64_t> take_number(Scan& scan) {
        const bool is_hex = scan.take("0x");
        const auto number = scan.take_number<std::uint64_t>(is_hex ? 16 : 10);
        if (!number || *number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
        return static_cast<std::int64_t>(*number);
    }

    void innermost(Fetch& made, std::string_view text, std::size_t at) {
        using From = Fetch::From;
        const std::string_view rest = text.substr(std::min<std::size_t>(1, text.size()));
        if (text.starts_with('%')) {
            made.from = From::in_register;
            made.name = checked_register(rest, at + 1);
        } else if (text.starts_with('$')) {
            variable(made, rest, at);
        } else if (text.starts_with('@')) {
            made.from = From::memory;
            made.name = rest;
            check_memory(rest, at);
        } else if (text.starts_with('\\')) {
            constant(made, rest, at);
        } else if (!text.empty() && (is_word_start(text[0]) || text[0] == '*') && !side_.is_user) {
            made.from = From::typed;
            made.name = text;
        } else {
            fail(at, std::max<std::size_t>(text.size(), 1),
                 cat("'", text, "' is nothing a probe can read"),
                 side_.is_user
                     ? "a register (%di), memory (+8(%si)), a variable ($comm), a constant "
                       "(\\5); of the program's own names a probe knows none"
                     : "a register (%di), memory (+8(%si)), a variable ($comm), a constant "
                       "(\\5)");
        }
    }

    std::string checked_register(std::string_view name, std::size_t at) {
        if (is_tracefs_register(name)) return std::string(name);
        const auto offset = register_of_operand(std::string(name));
        std::string hint;
        if (const auto whole = offset ? tracefs_register(*offset) : std::nullopt) {
            hint = cat("the kernel calls the whole register %", *whole,
                       "; a type takes its lower part: %", *whole, ":u32");
        } else {
            hint = cat("this machine has ", join(tracefs_registers(), " "));
        }
        fail(at, std::max<std::size_t>(name.size(), 1),
             cat("'", name, "' is no register of this machine"), hint);
    }

    void variable(Fetch& made, std::string_view name, std::size_t at) {
        using From = Fetch::From;
        Scan scan(name);
        if (name == "comm" || name == "COMM") {
            made.from = From::comm;
        } else if (name == "retval") {
            made.from = From::result;
            if (!side_.is_return)
                fail(at, name.size() + 1, "$retval is there only when a function returns",
                     "a probe at the return begins with 'r': 'r FUNCTION …'");
        } else if (name == "arg*") {
            made.from = From::typed;
            made.name = "$arg*";
            check_argument(at, name.size() + 1, 1);
        } else if (scan.take("stack")) {
            made.from = scan.at_end() ? From::stack_address : From::stack_word;
            if (!scan.at_end()) made.number = number_behind(scan, name, at);
        } else if (scan.take("arg")) {
            made.from = From::argument;
            made.number = number_behind(scan, name, at);
            if (made.number == 0) fail(at, name.size() + 1, "arguments are counted from $arg1");
            check_argument(at, name.size() + 1, static_cast<std::size_t>(made.number));
        } else {
            const std::vector<std::string> known = {"comm", "retval", "stack", "arg1"};
            const std::string near = closest(name, known);
            fail(at, name.size() + 1, cat("'$", name, "' is no variable of a probe"),
                 near.empty() ? "there are $argN, $retval, $stack, $stackN and $comm"
                              : cat("did you mean '$", near, "'?"));
        }
    }

    std::int64_t number_behind(Scan& scan, std::string_view name, std::size_t at) {
        const auto number = scan.take_number<unsigned>();
        if (!number || !scan.at_end())
            fail(at, name.size() + 1, cat("'$", name, "' is no variable of a probe"),
                 "there are $argN, $retval, $stack, $stackN and $comm");
        return *number;
    }

    // `number` counts from 1.
    void check_argument(std::size_t at, std::size_t size, std::size_t number) {
        const std::vector<Field> in_registers = function_fields(ProbeTarget::Kind::uprobe);
        const auto name = number <= in_registers.size()
                              ? tracefs_register(in_registers[number - 1].offset)
                              : std::nullopt;
        if (side_.is_user)
            fail(
                at, size, "the kernel knows the arguments of its own functions only",
                name ? cat("where a program's function begins, $arg", number, " is %", *name) : "");
        if (side_.is_inside) fail(at, size, "arguments are known only where the function begins");
    }

    void check_memory(std::string_view text, std::size_t at) {
        const bool is_symbol = !text.empty() && is_word_start(text[0]);
        if (text.empty()) fail(at, 1, "'@' needs an address behind it");
        if (is_symbol && side_.is_user)
            fail(at, text.size() + 1, "the kernel does not know the names of a program's variables",
                 "@+OFFSET reads a variable by its offset in the file");
        if (text[0] == '+' && !side_.is_user)
            fail(at, text.size() + 1, "the kernel has no file: @+OFFSET is for programs");
        if (is_symbol) return;
        Scan scan(text);
        scan.take("+");
        const bool is_hex = scan.take("0x");
        if (!scan.take_number<std::uint64_t>(is_hex ? 16 : 10) || !scan.at_end())
            fail(at, text.size() + 1, cat("'@", text, "' is no address"), "such as @0x404010");
    }

    void constant(Fetch& made, std::string_view text, std::size_t at) {
        if (text.starts_with('"')) {
            made.from = Fetch::From::text;
            made.name = text;
            if (text.size() < 2 || !text.ends_with('"'))
                fail(at, text.size() + 1, "the text has no '\"' at its end");
            return;
        }
        Scan scan(text);
        const bool is_negative = scan.take("-");
        const auto number = take_number(scan);
        if (!number || !scan.at_end())
            fail(at, text.size() + 1, cat("'\\", text, "' is no constant"),
                 "such as \\5 or \\-0x10");
        made.number = is_negative ? -*number : *number;
    }

    void check_type(const Fetch& fetch, std::string_view type, Span type_at) {
        using From = Fetch::From;
        const bool is_kernel_text = type.starts_with("symbol") || type.starts_with("symstr");
        if (side_.is_user && is_kernel_text)
            throw SourceError(source_, type_at, cat("'", type, "' names places in the kernel"),
                              "in a program, x64 shows the address");
        if (fetch.from == From::comm && !is_text_type(type))
            throw SourceError(source_, type_at, cat("$comm is a text, not ", type),
                              "$comm alone, or $comm:string");
        const bool is_in_memory = !fetch.steps.empty() || fetch.from == From::memory ||
                                  fetch.from == From::typed || fetch.from == From::text ||
                                  fetch.from == From::comm;
        const bool needs_memory = (is_text_type(type) && !is_kernel_text) || type.ends_with(']');
        if (needs_memory && !is_in_memory) {
            const ArgumentParts parts = split_argument(text_);
            throw SourceError(
                source_, type_at, cat("'", type, "' is read from memory"),
                cat("where ", parts.fetch, " has its address: +0(", parts.fetch, "):", type));
        }
    }

    void check_name(std::string_view name, const ArgumentParts& parts) {
        const std::size_t size = std::max<std::size_t>(parts.name.size(), 1);
        if (!is_word_start(name[0]) || !std::ranges::all_of(name, is_word_char))
            fail(0, size, cat("'", name, "' cannot name an argument"),
                 "letters, digits and '_', with no digit first");
        if (name.size() > kLongestArgumentName)
            fail(0, size, cat("a name has at most ", kLongestArgumentName, " characters"));
        if (std::ranges::count(kTakenNames, name) > 0)
            fail(0, size, cat("'", name, "' is a field of every such event"), "take another name");
    }

    // Positions count from the begin of the argument.
    Span span(std::size_t at, std::size_t size) const {
        return {at_.begin + at, at_.begin + at + size};
    }
    [[noreturn]] void fail(std::size_t at, std::size_t size, std::string_view message,
                           std::string_view hint = {}) const {
        throw SourceError(source_, span(at, size), message, hint);
    }

    const SourceText& source_;
    Span at_;
    ProbeSide side_;
    std::string_view text_;
};

}  // namespace

ArgumentParts split_argument(std::string_view text) {
    ArgumentParts parts;
    // No fetch begins with a word and an '='.
    const auto equals = text.find('=');
    const bool has_name =
        equals != text.npos && std::ranges::all_of(text.substr(0, equals), is_word_char);
    if (has_name) {
        parts.name = text.substr(0, equals);
        parts.fetch_at = equals + 1;
    }
    parts.fetch = text.substr(parts.fetch_at);
    // The ':' in front of a type comes after the last parenthesis, or behind a text.
    const auto closing = parts.fetch.find_last_of(")\"");
    const auto colon = parts.fetch.rfind(':');
    if (colon != parts.fetch.npos && (closing == parts.fetch.npos || colon > closing)) {
        parts.type_at = parts.fetch_at + colon + 1;
        parts.type = parts.fetch.substr(colon + 1);
        parts.fetch = parts.fetch.substr(0, colon);
    }
    return parts;
}

std::vector<ProbeArgument> parse_probe_arguments(const SourceText& source,
                                                 const std::vector<Span>& words, ProbeSide side) {
    std::vector<ProbeArgument> arguments;
    std::set<std::string> names;
    for (const Span at : words) {
        if (arguments.size() == kMostArguments)
            throw SourceError(source, at,
                              cat("a probe has at most ", kMostArguments, " arguments"));
        arguments.push_back(ArgumentReader(source, at, side).read(arguments.size() + 1));
        const std::string& name = arguments.back().field.name;
        if (!names.insert(name).second)
            throw SourceError(source, at, cat("there is an argument '", name, "' already"));
    }
    return arguments;
}

}  // namespace gpufs
