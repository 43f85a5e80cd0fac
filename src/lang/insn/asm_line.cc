#include "lang/insn/asm_line.h"

#include <algorithm>
#include <charconv>

#include "base/cat.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "lang/insn/names.h"
#include "lang/insn/tokens.h"

namespace gpufs {
namespace {

// Steps over blanks.
void skip_blanks(Scan& scan) {
    scan.take_all([](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

// Steps over digits; false when there are none.
bool take_digits(Scan& scan) {
    return !scan.take_all(is_digit).empty();
}

// "R0=...", "R1_w=...", "fp-8=...", and, in front of them, "frame1: ".
bool begins_states(std::string_view text) {
    Scan scan(text);
    if (scan.take("frame") && take_digits(scan) && scan.take(":")) return true;
    scan = Scan(text);
    if (!(scan.take("R") || scan.take("fp-")) || !take_digits(scan)) return false;
    if (scan.take("_")) scan.take_all(is_word_start);
    return scan.take("=");
}

// Lines without an instruction that any log of log_level 2 may contain (kernel/bpf/verifier.c and
// log.c up to 6.18).
bool is_log_talk(std::string_view text) {
    for (const std::string_view start :
         {"Live regs before insn:", "mark_precise: ", "cur state: ", "old state: ",
          "returning from callee:", "verification time ", "stack depth ", "propagating r",
          "regs=", "last_idx ", "parent didn't have regs=", "parent already had regs=", "SCC "})
        if (text.starts_with(start)) return true;
    Scan scan(text);
    if (scan.take("func#") && take_digits(scan) && scan.take(" @")) return true;
    scan = Scan(text);
    if (scan.take("from ") && take_digits(scan) && scan.take(" to ") && take_digits(scan))
        return true;
    scan = Scan(text);
    if (scan.take("to caller at ") && take_digits(scan)) return true;
    scan = Scan(text);
    if (scan.take("processed ") && take_digits(scan) && scan.take(" insns")) return true;
    scan = Scan(text);
    return scan.take("(") && take_digits(scan) &&
           (scan.take(") frame ") || scan.take(") live stack "));
}

// Skips the marks of the log's table of live registers, "..2.......", if an opcode follows.
bool skip_live_marks(Scan& scan) {
    Scan ahead = scan;
    if (ahead.take_all([](char c) { return c == '.' || is_digit(c); }).size() != 10) return false;
    if (!ahead.take(" (")) return false;
    scan.take_all([](char c) { return c != '('; });
    return true;
}

// Skips the number of the loop that this table prints in front of the index.
void skip_loop_number(Scan& scan) {
    Scan ahead = scan;
    if (!take_digits(ahead) || !ahead.take(" ")) return;
    skip_blanks(ahead);
    const Scan index = ahead;
    if (!take_digits(ahead) || !ahead.take(": ") || !skip_live_marks(ahead)) return;
    scan = index;
}

// The offset of the states that a log of log_level 1 prints behind a jump: "goto pc+2 6: R0=3
// R10=fp0".
std::size_t find_states(std::string_view text) {
    for (std::size_t at = 0; (at = text.find(": ", at + 1)) != text.npos;) {
        if (!begins_states(text.substr(at + 2))) continue;
        std::size_t index = at;
        while (index > 0 && is_digit(text[index - 1])) --index;
        if (index > 0 && text[index - 1] == ' ') return index;
    }
    return text.npos;
}

// The bytes that `bpftool prog dump xlated opcodes` prints below an instruction.
bool is_hex_bytes(std::string_view text) {
    Scan scan(text);
    std::size_t pairs = 0;
    while (!scan.at_end()) {
        if (scan.take_all(is_hex_digit).size() != 2) return false;
        ++pairs;
        skip_blanks(scan);
    }
    return pairs == 8 || pairs == 16;
}

// bpftool's heading of a function: "int handler(struct ctx * ctx):".
bool is_function_heading(std::string_view text) {
    return text.ends_with("):") && text.find('(') > 0 && text.find(' ') < text.find('(');
}

// The verifier's reason for rejecting a program is free text: "R4 !read_ok", "invalid access to map
// value, off=60".
bool is_prose(std::string_view text) {
    Scan scan(text);
    if (scan.at_end() || !is_letter(text[0])) return false;
    const std::string_view word =
        scan.take_all([](char c) { return c != ' ' && c != '\t' && c != ','; });
    if (word.ends_with(':')) return word == "caller:" || word == "callee:";
    if (find_register(word)) return false;
    for (const std::string& statement : statement_words())
        if (edit_distance(word, statement) <= 1) return false;
    const auto before = scan.rest().size();
    scan.take(",");
    skip_blanks(scan);
    if (scan.at_end() || scan.rest().size() == before) return false;
    // An assignment to a misspelled register is an error to report, not prose.
    scan.take("s");
    scan.take_all(
        [](char c) { return std::string_view("+-*/%&|^<>").find(c) != std::string_view::npos; });
    return !scan.take("=");
}

bool is_noise(std::string_view text, bool after_log) {
    if (is_log_talk(text)) return true;
    if (begins_states(text) && (after_log || text.find("R10=fp") != text.npos)) return true;
    if (is_function_heading(text)) return true;
    return after_log && (is_hex_bytes(text) || is_prose(text));
}

// "(b7)", and the blanks behind it.
std::optional<unsigned> take_opcode(Scan& scan) {
    Scan ahead = scan;
    if (!ahead.take("(")) return std::nullopt;
    const std::string_view code = ahead.take_all(is_hex_digit);
    if (code.size() != 2 || !ahead.take(")")) return std::nullopt;
    scan = ahead;
    skip_blanks(scan);
    return Scan(code).take_number<unsigned>(16);
}

// "out: again:", and the blanks behind. `end`: the offset in the source where the scan ends.
std::vector<Span> take_labels(Scan& scan, std::size_t end) {
    std::vector<Span> labels;
    for (;;) {
        Scan ahead = scan;
        if (ahead.at_end() || is_digit(ahead.rest()[0])) return labels;
        const std::string_view name = ahead.take_all(is_name_char);
        const Span span{end - scan.rest().size(), end - ahead.rest().size()};
        skip_blanks(ahead);
        if (name.empty() || !ahead.take(":")) return labels;
        labels.push_back(span);
        scan = ahead;
        skip_blanks(scan);
    }
}

}  // namespace

AsmLine split_asm_line(const SourceText& source, Span line, bool after_log) {
    AsmLine parts;
    const std::size_t end = std::min(line.end, source.text.size());
    const std::string_view whole =
        std::string_view(source.text).substr(line.begin, end - line.begin);
    const auto offset_of = [&](const Scan& scan) { return end - scan.rest().size(); };
    const auto has_nothing = [](const Scan& scan) {
        return scan.at_end() || scan.rest()[0] == ';' || scan.rest()[0] == '#';
    };

    Scan scan(whole);
    skip_blanks(scan);
    if (has_nothing(scan)) return parts;
    std::string_view trimmed = scan.rest();
    while (trimmed.ends_with(' ') || trimmed.ends_with('\r')) trimmed.remove_suffix(1);
    parts.kind = AsmLine::Kind::noise;
    if (is_noise(trimmed, after_log)) return parts;

    skip_loop_number(scan);
    Scan ahead = scan;
    const std::string_view index = ahead.take_all(is_digit);
    std::size_t number = 0;
    if (!index.empty() && ahead.take(":") &&
        std::from_chars(index.data(), index.data() + index.size(), number).ec == std::errc()) {
        parts.index_span = {offset_of(scan), offset_of(scan) + index.size()};
        skip_blanks(ahead);
        if ((has_nothing(ahead) && after_log) || ahead.rest() == "safe" ||
            begins_states(ahead.rest()))
            return parts;
        if (!has_nothing(ahead)) {
            parts.index = number;
            scan = ahead;
            skip_live_marks(scan);
        }
    }
    const std::size_t opcode_begin = offset_of(scan) + 1;
    parts.opcode = take_opcode(scan);
    if (parts.opcode) parts.opcode_span = {opcode_begin, opcode_begin + 2};
    parts.labels = take_labels(scan, end);
    parts.kind = has_nothing(scan) ? AsmLine::Kind::empty : AsmLine::Kind::code;
    const std::size_t states = parts.opcode ? find_states(scan.rest()) : std::string_view::npos;
    const std::size_t code_end = states == std::string_view::npos ? end : offset_of(scan) + states;
    parts.code = {offset_of(scan), code_end};
    parts.states = {code_end, end};
    return parts;
}

RegState find_state(std::string_view words, Reg reg) {
    const std::string name = cat("R", static_cast<int>(reg));
    for (std::size_t at = 0; (at = words.find(name, at)) != words.npos; ++at) {
        if (at > 0 && words[at - 1] != ' ') continue;
        Scan scan(words.substr(at + name.size()));
        if (scan.take("_")) scan.take_all(is_word_start);
        if (!scan.take("=")) continue;

        const std::string_view value = scan.rest();
        if (scan.take("-") || scan.take("P")) return {RegState::Kind::number, {}, 0};
        if (take_digits(scan) || scan.take("scalar") || scan.take("inv"))
            return {RegState::Kind::number, {}, 0};
        RegState state{RegState::Kind::other, {}, 0};
        if (scan.take("map_ptr("))
            state.kind = RegState::Kind::map;
        else if (scan.take("map_value("))
            state.kind = RegState::Kind::map_value;
        else if (scan.take("func("))
            state.kind = RegState::Kind::func;
        const std::string_view details = value.substr(0, value.find(')'));
        const auto detail = [&](std::string_view key) -> std::string_view {
            for (const char before : {'(', ','}) {
                const auto found = details.find(cat(before, key));
                if (found == details.npos) continue;
                const std::string_view rest = details.substr(found + 1 + key.size());
                return rest.substr(0, rest.find(','));
            }
            return {};
        };
        state.map = detail("map=");
        const std::string_view offset = detail("off=");
        std::from_chars(offset.data(), offset.data() + offset.size(), state.offset);
        return state;
    }
    return {};
}

}  // namespace gpufs
