#include "lang/asm/layout.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/suggest.h"
#include "lang/program/call_flags.h"
#include "lang/program/syscall_record.h"

namespace gpufs {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxLayout = 1 << 20;
constexpr std::size_t kMaxParts = 1024;

constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s", "bytes", "pages"};

struct NamedType {
    std::string_view name;
    ValueType::Kind kind;
    std::size_t bytes;
    bool is_signed = false;
};
constexpr NamedType kTypes[] = {
    {"u8", ValueType::Kind::integer, 1},
    {"u16", ValueType::Kind::integer, 2},
    {"u32", ValueType::Kind::integer, 4},
    {"u64", ValueType::Kind::integer, 8},
    {"s8", ValueType::Kind::integer, 1, true},
    {"s16", ValueType::Kind::integer, 2, true},
    {"s32", ValueType::Kind::integer, 4, true},
    {"s64", ValueType::Kind::integer, 8, true},
    {"time", ValueType::Kind::time, 8},
    {"ksym", ValueType::Kind::kernel_address, 8},
    {"usym", ValueType::Kind::user_address, 8},
    {"kstack", ValueType::Kind::kernel_stack, 4, true},
    {"ustack", ValueType::Kind::user_stack, 4, true},
    {"pid", ValueType::Kind::process, 4},
    {"syscall", ValueType::Kind::syscall, 4, true},
    {"errno", ValueType::Kind::error, 4, true},
    {"signal", ValueType::Kind::signal, 4, true},
    {"dev", ValueType::Kind::device, 4},
    {"openflags", ValueType::Kind::integer, 4},
    {"ip", ValueType::Kind::ip_address, 16},
    {"dim3", ValueType::Kind::dimensions, 12},
    {"irq", ValueType::Kind::interrupt, 4},
    {"syscalltext", ValueType::Kind::syscall_record, sizeof(SyscallRecord)},
};

bool is_type(std::string_view word) {
    return std::ranges::count(kTypes, word, &NamedType::name) > 0;
}

// Those of the last member, where its type has some.
void add_parts(Layout& layout) {
    const Member& member = layout.members.back();
    if (member.type.kind != ValueType::Kind::syscall_record) return;
    for (const SyscallRecordPart& part : kSyscallRecordParts)
        layout.parts.push_back(
            {cat(member.name, '.', part.name), member.offset + part.offset, part.bytes});
}

ValueType value_type(ValueType::Kind kind, std::size_t bytes, bool is_signed = false) {
    ValueType type;
    type.kind = kind;
    type.bytes = bytes;
    type.is_signed = is_signed;
    return type;
}

}  // namespace

bool AsmLayoutParser::is_unit(std::string_view word) {
    return std::ranges::count(kUnits, word) > 0;
}

std::string AsmLayoutParser::unit() {
    if (!tokens_.peek().is_word() || !is_unit(tokens_.peek().text)) return {};
    return std::string(tokens_.next().text);
}

// Those of an enum that stands here; none otherwise. A number that the type does not have is a
// mistake: its word would never be seen. Of 64 bits each is one, with a sign or without.
void AsmLayoutParser::take_words(ValueType& type) {
    if (!tokens_.peek().is_word()) return;
    const auto known = work_.enums.find(tokens_.peek().text);
    if (known == work_.enums.end()) return;
    const AsmToken name = tokens_.next();
    type.is_hex = work_.hex_enums.contains(name.text);
    const auto bits = static_cast<int>(type.bytes * 8);
    const Int128 low = type.is_signed ? -(Int128{1} << (bits - 1)) : 0;
    const Int128 high = (Int128{1} << (type.is_signed ? bits - 1 : bits)) - 1;
    for (const auto& [number, word] : known->second)
        if (type.bytes < sizeof number && (number < low || number > high))
            tokens_.fail(name.span,
                         cat(number, " (", word, ") of enum '", name.text,
                             "' does not fit here: the type goes from ", to_text(low), " to ",
                             to_text(high)),
                         number < 0 && !type.is_signed ? "s8 to s64 have negative numbers"
                                                       : "a wider type has it");
    type.words = known->second;
}

Layout AsmLayoutParser::layout(std::string_view only) {
    if (tokens_.is("{")) return members();
    if (const Layout* known = find_structure(tokens_.peek())) {
        tokens_.next();
        return *known;
    }
    Layout one;
    one.add(std::string(only), type());
    return one;
}

const Layout* AsmLayoutParser::find_structure(const AsmToken& name) const {
    if (!name.is_word()) return nullptr;
    const auto known = work_.structs.find(name.text);
    if (known != work_.structs.end()) return &known->second;
    if (work_.symbols.is_forgiven(name.text)) throw AlreadyTold();
    return nullptr;
}

const Layout& AsmLayoutParser::structure(const AsmToken& name) {
    if (const Layout* known = find_structure(name)) return *known;
    std::vector<std::string> names;
    for (const auto& [known, layout] : work_.structs) names.push_back(known);
    const std::string meant = did_you_mean(name.text, names);
    tokens_.fail(
        name.span, cat("no structure is named '", name.text, "'"),
        meant.empty() ? "a member is a name and a type, or the name of a structure" : meant);
}

void AsmLayoutParser::embed(const AsmToken& name, const Layout& structure, bool is_open,
                            Layout& into) {
    const std::string part(name.text);
    const auto require_new = [&](const std::string& member) {
        if (is_open && (into.find(member) || into.find_part(member) || member == part))
            tokens_.fail(name.span, cat("member '", member, "' is there twice"),
                         cat("structure '", part, "' has one, too"));
    };
    for (const Member& member : structure.members) require_new(member.name);
    for (const Layout::Part& inner : structure.parts) require_new(inner.name);
    if (into.parts.size() + structure.members.size() + 2 * structure.parts.size() > kMaxParts)
        tokens_.fail(name.span, "too many structures in one another");
    into.embed(part, structure, is_open);
}

Layout AsmLayoutParser::members(Layout begun) {
    tokens_.expect("{");
    while (!tokens_.is("}")) {
        const AsmToken name = tokens_.expect_word("a member's name");
        if (name.text.find_first_of("@.") != name.text.npos)
            tokens_.fail(name.span, cat("'", name.text, "' is no member's name"));
        if (begun.find(name.text) || begun.find_part(name.text))
            tokens_.fail(name.span, cat("member '", name.text, "' is there twice"));
        if (tokens_.is(",") || tokens_.is("}")) {
            embed(name, structure(name), true, begun);
        } else if (const Layout* known =
                       is_type(tokens_.peek().text) ? nullptr : find_structure(tokens_.peek())) {
            tokens_.next();
            embed(name, *known, false, begun);
        } else {
            begun.add(std::string(name.text), type());
            add_parts(begun);
        }
        if (begun.bytes > kMaxLayout) tokens_.fail(name.span, "these members are too large");
        if (!tokens_.accept(",")) break;
    }
    if (!tokens_.is("}")) tokens_.fail_expected("',' or '}'");
    const AsmToken close = tokens_.next();
    if (begun.members.empty()) tokens_.fail(close.span, "a member belongs here");
    return begun;
}

ValueType AsmLayoutParser::type() {
    const AsmToken word = tokens_.expect_word("a type such as u32");
    for (const std::string_view prefix : {"str", "num", "bytes"}) {
        const std::size_t bytes =
            word.text.starts_with(prefix) ? digits_behind(word, prefix.size()) : 0;
        if (bytes == 0) continue;
        ValueType sized = value_type(
            prefix == "bytes" ? ValueType::Kind::raw_bytes : ValueType::Kind::text, bytes);
        sized.is_numeric = prefix == "num";
        return sized;
    }
    const auto known = std::ranges::find(kTypes, word.text, &NamedType::name);
    if (known == std::end(kTypes)) {
        std::vector<std::string> names;
        for (const NamedType& type : kTypes) names.emplace_back(type.name);
        const std::string meant = did_you_mean(word.text, names);
        tokens_.fail(word.span, cat("no type is named '", word.text, "'"),
                     meant.empty()
                         ? "types are u8 to u64, s8 to s64, strN, numN, bytesN, time, ksym, "
                           "usym, usym(MAP), kstack(MAP), ustack(MAP), pid, syscall, "
                           "errno, signal, dev, openflags, ip, dim3, irq, syscalltext"
                         : meant);
    }
    ValueType type = value_type(known->kind, known->bytes, known->is_signed);
    if (known->name == "openflags") {
        type.flags = flags_of_call("openat", "flags");
    } else if (type.kind == ValueType::Kind::integer) {
        type.unit = unit();
        take_words(type);
    }
    if (type.kind == ValueType::Kind::kernel_stack || type.kind == ValueType::Kind::user_stack)
        type.stack_map = stack_map();
    if (type.kind == ValueType::Kind::user_address && tokens_.is("(")) type.text_map = text_map();
    return type;
}

// The 16 of "str16"; 0 when there are no digits.
std::size_t AsmLayoutParser::digits_behind(const AsmToken& word, std::size_t prefix) {
    const std::string_view digits = word.text.substr(prefix);
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return 0;
    std::size_t bytes = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (parsed.ec != std::errc() || bytes == 0 || bytes > kMaxText)
        tokens_.fail(word.span,
                     cat("'", word.text, "' is not possible: 1 to ", kMaxText, " bytes are"));
    return bytes;
}

// The map of "(MAP)", which stands above.
const MapDeclaration& AsmLayoutParser::map_in_parentheses(AsmToken& name) {
    tokens_.expect("(");
    name = tokens_.expect_word("a map's name");
    const MapDeclaration* map = work_.program.find_map(name.text);
    if (!map && work_.symbols.is_forgiven(name.text)) throw AlreadyTold();
    if (!map)
        tokens_.fail(name.span, cat("no map is named '", name.text, "'"),
                     did_you_mean(name.text, names_of(work_.program.maps)));
    tokens_.expect(")");
    return *map;
}

std::string AsmLayoutParser::stack_map() {
    AsmToken name;
    if (map_in_parentheses(name).type != BPF_MAP_TYPE_STACK_TRACE)
        tokens_.fail(name.span, cat("map '", name.text, "' holds no stacks"),
                     "declare it as stacks or stack_trace");
    return std::string(name.text);
}

std::string AsmLayoutParser::text_map() {
    AsmToken name;
    const MapDeclaration& map = map_in_parentheses(name);
    const std::vector<Member>& members = map.value.members;
    if (map.key.bytes != sizeof(std::uint64_t) || members.size() != 1 ||
        members.front().type.kind != ValueType::Kind::text)
        tokens_.fail(name.span, cat("map '", name.text, "' holds no texts"),
                     "its key is a u64, its value a strN");
    return std::string(name.text);
}

}  // namespace gpufs
