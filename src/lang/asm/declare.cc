#include "lang/asm/declare.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/align.h"
#include "base/kernel_abi.h"
#include "base/suggest.h"

namespace gpufs {
namespace {

constexpr std::size_t kSlot = 8;

Parameter::Type type_of_unit(std::string_view unit) {
    if (unit == "bytes" || unit == "pages") return Parameter::Type::size;
    return unit.empty() ? Parameter::Type::integer : Parameter::Type::time;
}

}  // namespace

const DeclarationParser::Directive DeclarationParser::kDirectives[] = {
    {".monitor", &DeclarationParser::monitor}, {".licence", &DeclarationParser::licence},
    {".needs", &DeclarationParser::needs},     {".const", &DeclarationParser::constant},
    {".param", &DeclarationParser::parameter}, {".struct", &DeclarationParser::structure},
    {".stack", &DeclarationParser::stack},     {".map", &DeclarationParser::map},
    {".global", &DeclarationParser::global},   {".scratch", &DeclarationParser::scratch},
    {".record", &DeclarationParser::record},   {".report", &DeclarationParser::report},
    {".lost", &DeclarationParser::lost},       {".enum", &DeclarationParser::enumeration},
    {".caution", &DeclarationParser::caution},
};

DeclarationParser::DeclarationParser(AsmWork& work, std::size_t source, Span range)
    : work_(work),
      source_(source),
      tokens_(work.sources[source], range),
      types_(work, tokens_),
      names_(work.symbols.names_for(work.sources[source])) {}

std::vector<std::string> DeclarationParser::names() {
    std::vector<std::string> names;
    for (const Directive& directive : kDirectives) names.emplace_back(directive.name);
    return names;
}

bool DeclarationParser::parse() {
    const auto it = std::ranges::find(kDirectives, tokens_.peek().text, &Directive::name);
    if (it == std::end(kDirectives)) return false;
    try {
        tokens_.next();
        (this->*it->parse)();
        tokens_.expect_end();
    } catch (...) {
        if (!declared_.empty()) work_.symbols.forgive(declared_);
        throw;
    }
    return true;
}

AsmToken DeclarationParser::declared_name(std::string_view what) {
    const AsmToken name = tokens_.expect_word(what);
    work_.symbols.declare(tokens_.source(), name.span);
    declared_ = name.text;
    return name;
}

std::string DeclarationParser::text(std::string_view what) {
    if (tokens_.peek().kind != AsmToken::Kind::text) tokens_.fail_expected(what);
    return unescaped(tokens_.next());
}

std::string DeclarationParser::unescaped(const AsmToken& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.text.size(); ++i) {
        if (text.text[i] != '\\') {
            plain += text.text[i];
            continue;
        }
        const char c = text.text[++i];
        const std::size_t at = text.span.begin + i;
        if (c != '"' && c != '\\' && c != 't')
            tokens_.fail({at, at + 2}, "no such escape", "there are \\\", \\\\ and \\t");
        plain += c == 't' ? '\t' : c;
    }
    return plain;
}

std::int64_t DeclarationParser::number(std::string_view what, Int128 low, Int128 high) {
    const AsmValue value = parse_asm_value(tokens_, names_);
    if (value.later) tokens_.fail(value.span, cat("expected ", what, " that is known now"));
    if (value.number < low || value.number > high)
        tokens_.fail(value.span, cat(to_text(value.number), " is out of range: ", what,
                                     " goes from ", to_text(low), " to ", to_text(high)));
    return static_cast<std::int64_t>(value.number);
}

// .monitor NAME "SUMMARY"
void DeclarationParser::monitor() {
    const AsmToken first = tokens_.expect_word("the monitor's name");
    // Names of monitors are file names: sched-wait.
    while (tokens_.is("-") && tokens_.peek().glued) {
        tokens_.next();
        tokens_.expect_word("the rest of the name");
    }
    if (!program().name.empty())
        tokens_.fail(tokens_.since(first), "the monitor has a name already");
    program().name = tokens_.text_of(tokens_.since(first));
    program().summary = text("what it shows, in quotes");
}

void DeclarationParser::licence() {
    program().licence = text("a licence in quotes");
}

void DeclarationParser::needs() {
    do {
        if (tokens_.accept("module"))
            program().needed_modules.emplace_back(tokens_.expect_word("a module's name").text);
        else
            program().needed_features.emplace_back(tokens_.expect_word("a feature's name").text);
    } while (tokens_.accept(","));
}

// .const NAME = VALUE
void DeclarationParser::constant() {
    const AsmToken name = declared_name("a constant's name");
    tokens_.expect("=");
    const AsmValue value = parse_asm_value(tokens_, names_);
    if (value.later) tokens_.fail(value.span, "a constant cannot be something not known yet");
    work_.symbols.define_number(std::string(name.text), value.number);
}

// .param NAME = VALUE [UNIT] ["HELP"], or .param NAME = "TEXT" ["HELP"]
void DeclarationParser::parameter() {
    const AsmToken name = declared_name("a parameter's name");
    Parameter made;
    made.name = name.text;
    tokens_.expect("=");
    if (tokens_.peek().kind == AsmToken::Kind::text) {
        made.type = Parameter::Type::text;
        made.text = text("a text");
    } else {
        made.value = number("a default", std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max());
        made.unit = types_.unit();
        made.type = type_of_unit(made.unit);
    }
    if (!tokens_.at_end()) made.help = text("a unit, or what it is for, in quotes");
    made.at = here(name);
    work_.symbols.define_later(made.name, Relocation::Kind::parameter);
    program().parameters.push_back(std::move(made));
}

// .struct NAME { MEMBER TYPE, ... }
void DeclarationParser::structure() {
    const AsmToken name = declared_name("a structure's name");
    Layout layout = types_.members();
    work_.symbols.define_layout(std::string(name.text), layout);
    work_.structs.emplace(name.text, std::move(layout));
}

// .stack NAME { MEMBER TYPE|STRUCT, ... }: offsets from r10, the first member lowest.
void DeclarationParser::stack() {
    const AsmToken name = declared_name("a name");
    struct Piece {
        std::string name;
        Layout layout;
        std::size_t offset;
    };
    std::vector<Piece> pieces;
    std::size_t bytes = 0;
    tokens_.expect("{");
    do {
        if (tokens_.is("}")) break;
        const AsmToken member = tokens_.expect_word("a member's name");
        if (std::ranges::count(pieces, member.text, &Piece::name))
            tokens_.fail(member.span, cat("member '", member.text, "' is there twice"));
        Layout layout =
            tokens_.is(",") || tokens_.is("}") ? types_.structure(member) : types_.layout("");
        bytes = align_up(bytes, kSlot);
        pieces.push_back({std::string(member.text), std::move(layout), bytes});
        bytes += pieces.back().layout.bytes;
        if (bytes > kBpfStackBytes)
            tokens_.fail(member.span,
                         cat("the stack has ", kBpfStackBytes, " bytes; this needs ", bytes),
                         "keep what is large in .scratch");
    } while (tokens_.accept(","));
    if (!tokens_.is("}")) tokens_.fail_expected("',' or '}'");
    tokens_.next();
    const auto total = static_cast<std::int64_t>(align_up(bytes, kSlot));
    work_.symbols.define_size(std::string(name.text), static_cast<std::size_t>(total));
    for (const Piece& piece : pieces)
        work_.symbols.define_variable(cat(name.text, '.', piece.name),
                                      static_cast<std::int64_t>(piece.offset) - total,
                                      piece.layout);
}

// .global NAME TYPE|STRUCT|{ ... }: one value for all CPUs, at a fixed address
void DeclarationParser::global() {
    const AsmToken name = declared_name("a name");
    one_value_map(name, BPF_MAP_TYPE_ARRAY, types_.layout("value")).is_global = true;
}

// .scratch NAME TYPE|STRUCT|{ ... }: one value for each CPU
void DeclarationParser::scratch() {
    const AsmToken name = declared_name("a name");
    one_value_map(name, BPF_MAP_TYPE_PERCPU_ARRAY, types_.layout("value"));
}

// .lost NAME "WHAT" [misses PROGRAM...]: a u64 for all CPUs that counts what is missing in the
// result
void DeclarationParser::lost() {
    const AsmToken name = declared_name("a name");
    MapDeclaration& map = one_value_map(name, BPF_MAP_TYPE_ARRAY, Layout::of("value", ValueType{}));
    map.is_global = true;
    map.loss = text("what is lost, in quotes");
    if (!tokens_.accept("misses")) return;
    do map.misses_of.push_back(program_name());
    while (!tokens_.at_end());
}

// .enum NAME [hex] { NUMBER WORD, ... }: words for integers of the type "u32 NAME", and constants
// NAME.WORD
void DeclarationParser::enumeration() {
    const AsmToken name = declared_name("a name");
    EnumWords words;
    if (tokens_.accept("hex")) work_.hex_enums.insert(std::string(name.text));
    tokens_.expect("{");
    while (!tokens_.is("}")) {
        const AsmToken first = tokens_.peek();
        const std::int64_t value = number("a number", std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::int64_t>::max());
        if (std::ranges::count(words, value, &EnumWords::value_type::first) > 0)
            tokens_.fail(tokens_.since(first), cat(value, " has a word already"));
        std::string word;
        if (tokens_.peek().kind != AsmToken::Kind::text) {
            word = tokens_.expect_word("a word").text;
            work_.symbols.define_number(cat(name.text, '.', word), value);
        }
        if (tokens_.peek().kind == AsmToken::Kind::text) word = text("a word");
        words.emplace_back(value, std::move(word));
        if (!tokens_.accept(",")) break;
    }
    tokens_.expect("}");
    work_.enums.emplace(name.text, std::move(words));
}

// .caution SYSTEM:EVENT [in PROGRAM] [on "RELEASE"] "TEXT", or
// .caution without PROGRAM [in PROGRAM] "TEXT"
void DeclarationParser::caution() {
    Caution made;
    if (tokens_.accept("without")) {
        made.missing = program_name();
        if (tokens_.accept("in")) made.program = program_name();
        made.text = text("what to tell, in quotes");
        return program().cautions.push_back(std::move(made));
    }
    const AsmToken first = tokens_.expect_word("an event");
    while (tokens_.accept(":")) tokens_.expect_word("the rest of the event's name");
    made.event = tokens_.text_of(tokens_.since(first));
    if (tokens_.accept("in")) made.program = program_name();
    if (tokens_.accept("on")) made.release = text("a pattern for the kernel's release, in quotes");
    made.text = text("what to tell, in quotes");
    program().cautions.push_back(std::move(made));
}

MapDeclaration& DeclarationParser::one_value_map(const AsmToken& name, bpf_map_type type,
                                                 Layout value) {
    MapDeclaration map = array_map(std::string(name.text), type, std::move(value), here(name));
    work_.symbols.define_layout(map.name, map.value);
    work_.symbols.define_map(map.name);
    return program().maps.emplace_back(std::move(map));
}

std::string DeclarationParser::program_name() {
    const AsmToken name = tokens_.expect_word("a program's name");
    return work_.programs_named.emplace_back(name.text, here(name)).first;
}

const MapDeclaration& DeclarationParser::known_map() {
    const AsmToken name = tokens_.expect_word("a map's name");
    const MapDeclaration* map = program().find_map(name.text);
    if (!map && work_.symbols.is_forgiven(name.text)) throw AlreadyTold();
    if (!map)
        tokens_.fail(name.span, cat("no map is named '", name.text, "'"),
                     did_you_mean(name.text, names_of(program().maps)));
    return *map;
}

}  // namespace gpufs
