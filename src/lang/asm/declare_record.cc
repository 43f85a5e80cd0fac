#include <algorithm>
#include <charconv>

#include "base/suggest.h"
#include "lang/asm/declare.h"

namespace gpufs {
namespace {

using Kind = ValueType::Kind;

constexpr int kMaxWidth = 200;

struct Format {
    std::string_view name;
    bool (*fits)(const ValueType& type);
};
bool is_integer(const ValueType& type) {
    return type.kind == Kind::integer || type.kind == Kind::kernel_address ||
           type.kind == Kind::user_address || type.kind == Kind::time ||
           type.kind == Kind::process || type.kind == Kind::syscall || type.kind == Kind::error ||
           type.kind == Kind::signal || type.kind == Kind::device || type.kind == Kind::interrupt;
}
bool is_wide_integer(const ValueType& type) {
    return is_integer(type) && type.bytes == 8;
}
bool is_text(const ValueType& type) {
    return type.kind == Kind::text || type.kind == Kind::raw_bytes;
}
bool is_kernel_stack(const ValueType& type) {
    return type.kind == Kind::kernel_stack;
}
bool is_user_stack(const ValueType& type) {
    return type.kind == Kind::user_stack;
}
constexpr Format kFormats[] = {
    {"d", is_integer},         {"u", is_integer},           {"x", is_integer},
    {"o", is_integer},         {"b", is_integer},           {"ns", is_integer},
    {"us", is_integer},        {"ms", is_integer},          {"s", is_integer},
    {"bytes", is_integer},     {"time", is_wide_integer},   {"ksym", is_wide_integer},
    {"usym", is_wide_integer}, {"kstack", is_kernel_stack}, {"ustack", is_user_stack},
    {"str", is_text},
};

}  // namespace

// .record NAME ["TITLE"] { MEMBER TYPE, ... } | as RECORD [then { ACTION, ... }]
void DeclarationParser::record() {
    const AsmToken name = declared_name("a record's name");
    RecordLayout made;
    made.name = name.text;
    if (tokens_.peek().kind == AsmToken::Kind::text) made.title = text("the record's title");
    if (tokens_.accept("as")) {
        made.layout = known_record().layout;
    } else {
        ValueType id;
        id.bytes = sizeof(std::uint32_t);
        Layout begun;
        begun.add("id", std::move(id));
        made.layout = types_.members(std::move(begun));
    }
    if (tokens_.accept("then")) {
        tokens_.expect("{");
        do {
            if (tokens_.is("}")) break;
            made.actions.push_back(action(made.layout));
        } while (tokens_.accept(","));
        tokens_.expect("}");
    }
    made.at = here(name);
    work_.symbols.define_layout(made.name, made.layout);
    work_.symbols.define_record(made.name);
    work_.structs.emplace(made.name, made.layout);
    program().records.push_back(std::move(made));
}

const RecordLayout& DeclarationParser::known_record() {
    const AsmToken name = tokens_.expect_word("a record's name");
    const auto record = std::ranges::find(program().records, name.text, &RecordLayout::name);
    if (record != program().records.end()) return *record;
    if (work_.symbols.is_forgiven(name.text)) throw AlreadyTold();
    tokens_.fail(name.span, cat("no record is named '", name.text, "'"),
                 did_you_mean(name.text, names_of(program().records)));
}

// print "FORMAT" | print MAP | clear MAP | exit [STATUS] | freeze
Action DeclarationParser::action(const Layout& layout) {
    const AsmToken word = tokens_.expect_word("print, clear, exit or freeze");
    Action made;
    if (word.is("print") && tokens_.peek().kind == AsmToken::Kind::text) {
        made.pieces = pieces(tokens_.next(), layout);
    } else if (word.is("print") || word.is("clear")) {
        made.kind = word.is("print") ? Action::Kind::print_map : Action::Kind::clear_map;
        made.map = known_map().name;
    } else if (word.is("exit")) {
        made.kind = Action::Kind::exit;
        if (begins_value(tokens_.peek()))
            made.exit_status = static_cast<int>(number("an exit status", 0, 255));
    } else if (word.is("freeze")) {
        made.kind = Action::Kind::freeze;
    } else {
        tokens_.fail(word.span, cat("no action is named '", word.text, "'"),
                     "there are print, clear, exit and freeze");
    }
    return made;
}

// "{comm:-16} waited {us} us, {{ and }} are braces"
std::vector<Action::Piece> DeclarationParser::pieces(const AsmToken& format, const Layout& layout) {
    unescaped(format);  // reports invalid escapes
    std::vector<Action::Piece> made;
    const std::string_view text = format.text;
    const auto literal = [&](char c) {
        if (made.empty() || !made.back().member.empty()) made.emplace_back();
        made.back().text += c;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const std::size_t at = format.span.begin + 1 + i;
        if (c == '\\') {
            ++i;
            literal(text[i] == 't' ? '\t' : text[i]);
        } else if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
            ++i;
            literal(c);
        } else if (c == '}') {
            tokens_.fail({at, at + 1}, "nothing opened this brace", "a brace itself is }}");
        } else if (c != '{') {
            literal(c);
        } else {
            const auto close = text.find('}', i);
            if (close == text.npos)
                tokens_.fail({at, at + 1}, "this brace is never closed", "a brace itself is {{");
            made.push_back(piece({at + 1, format.span.begin + 1 + close}, layout));
            i = close;
        }
    }
    return made;
}

// MEMBER[:[-][WIDTH][FORMAT]]
Action::Piece DeclarationParser::piece(Span at, const Layout& layout) {
    const std::string_view whole = tokens_.text_of(at);
    Action::Piece made;
    made.member = whole.substr(0, whole.find(':'));
    const Span name{at.begin, at.begin + made.member.size()};
    const Member* member = layout.find(made.member);
    if (!member)
        tokens_.fail(made.member.empty() ? Span{at.begin - 1, at.end + 1} : name,
                     cat("the record has no member '", made.member, "'"),
                     did_you_mean(made.member, names_of(layout.members)));
    if (made.member.size() == whole.size()) return made;

    std::string_view rest = whole.substr(made.member.size() + 1);
    const Span how{name.end + 1, at.end};
    const bool is_left = rest.starts_with('-');
    if (is_left) rest.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), made.width);
    if (error == std::errc::result_out_of_range || made.width > kMaxWidth || made.width < 0)
        tokens_.fail(how, cat("a column is at most ", kMaxWidth, " wide"));
    if (is_left && made.width == 0) tokens_.fail(how, "expected a width behind '-'");
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (is_left) made.width = -made.width;
    if (rest.empty()) return made;

    made.format = rest;
    const auto format = std::ranges::find(kFormats, rest, &Format::name);
    if (format == std::end(kFormats))
        tokens_.fail(how, cat("no format is named '", rest, "'"),
                     "d u x o b, ns us ms s bytes, time, str, ksym usym kstack ustack");
    if (!format->fits(member->type))
        tokens_.fail(how, cat("'", rest, "' does not fit the type of '", made.member, "'"));
    return made;
}

}  // namespace gpufs
