#include "lang/asm/assembler.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/path.h"
#include "base/suggest.h"
#include "lang/asm/declare.h"
#include "lang/insn/helpers.h"
#include "lang/insn/listing.h"
#include "lang/link/check.h"

namespace gpufs {
namespace {

// The directive that a line begins with, as ".map"; empty where it begins with none. LLVM's local
// labels begin with a dot, too, and .quad is data.
Span directive_of(const SourceText& source, Span line) {
    const std::string_view text = source.text;
    std::size_t begin = line.begin;
    while (begin < line.end && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
    if (begin == line.end || text[begin] != '.') return {begin, begin};
    std::size_t end = begin;
    while (end < line.end && is_name_char(text[end])) ++end;
    const std::string_view word = text.substr(begin, end - begin);
    if (word.size() < 2 || word == ".quad") return {begin, begin};
    while (line.begin < line.end && end < line.end && (text[end] == ' ' || text[end] == '\t'))
        ++end;
    if (end < line.end && text[end] == ':') return {begin, begin};
    return {begin, begin + word.size()};
}

// Whether a line has no code: nothing, or a comment.
bool is_blank(const SourceText& source, Span line) {
    const std::string_view text =
        std::string_view(source.text).substr(line.begin, line.end - line.begin);
    const auto first = text.find_first_not_of(" \t\r");
    return first == text.npos || text[first] == '#' || text[first] == ';';
}

// How a line leaves its directive: so many braces deeper, or with a comma or a bar that wants more.
struct LineEnd {
    int depth = 0;
    bool wants_more = false;
};
LineEnd end_of(std::string_view line) {
    LineEnd end;
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (!is_quoted && (c == '#' || c == ';')) break;
        if (c == '"') is_quoted = !is_quoted;
        if (is_quoted && c == '\\') ++i;
        if (!is_quoted) end.depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (c != ' ' && c != '\t' && c != '\r')
            end.wants_more = !is_quoted && (c == ',' || c == '|');
    }
    return end;
}

class Assembler {
public:
    Assembler(SourceText source, const IncludeReader& read, AsmScope scope)
        : read_(read), scope_(scope) {
        work_.sources.push_back(std::move(source));
    }

    Program assemble() {
        read_source(0);
        if (!work_.errors.is_full()) end_conditions();
        if (work_.program.programs.empty() && work_.errors.empty())
            complain({0, {0, 0}}, "there is no .prog in this text",
                     "a .prog line says what the instructions behind it are attached to");
        if (scope_ != AsmScope::outline) assemble_units(work_);
        Program& program = work_.program;
        if (program.name.empty()) program.name = file_stem(work_.sources[0].name);
        program.sources.assign(work_.sources.begin(), work_.sources.end());
        if (scope_ == AsmScope::checked && !work_.errors.is_full()) check();
        work_.errors.throw_if_any();
        return std::move(program);
    }

private:
    void check() {
        for (const auto& [name, at] : work_.programs_named)
            if (!std::ranges::count(work_.program.programs, name, &ProbeProgram::name))
                complain(at, cat("no program is named '", name, "'"),
                         did_you_mean(name, names_of(work_.program.programs)));
        for (const ProbeProgram& program : work_.program.programs)
            for (const auto& alternatives : program.targets)
                for (const ProbeTarget& target : alternatives)
                    if (target.is_for_keys()) check_keys(target);
        IncompleteCode incomplete;
        for (const AsmUnit& unit : work_.units)
            if (!unit.is_complete)
                incomplete.insert(unit.is_program ? work_.program.programs[unit.index].name
                                                  : work_.program.subprograms[unit.index].name);
        check_code(work_.program, incomplete, work_.errors);
    }

    // Can a program be given the keys of the map that the target names?
    void check_keys(const ProbeTarget& target) {
        const MapDeclaration* map = work_.program.find_map(target.name);
        if (!map)
            return complain(target.at, cat("no map is named '", target.name, "'"),
                            did_you_mean(target.name, names_of(work_.program.maps)));
        const bool is_hash = map->type == BPF_MAP_TYPE_HASH || map->type == BPF_MAP_TYPE_LRU_HASH;
        if (!is_hash || map->aggregation.kind != Aggregation::Kind::none)
            return complain(target.at, cat("'", target.name, "' is no hash of plain values"));
        if (map->key.bytes > ProbeTarget::kMostKeyBytes)
            complain(target.at, cat("the keys of '", target.name, "' have ", map->key.bytes,
                                    " bytes, a program gets at most ", ProbeTarget::kMostKeyBytes));
    }

    struct Structure {  // directives about the lines behind them
        std::string_view name;
        void (Assembler::*parse)(AsmTokens& tokens, const SourceRef& at);
    };
    static constexpr std::size_t kStructureCount = 7;
    static const std::array<Structure, kStructureCount> kStructures;

    void complain(const SourceRef& at, std::string_view message, std::string_view hint = {}) {
        work_.errors.error(work_.sources[at.source], at.span, message, hint);
    }

    SourceRef word_of(const SourceRef& line) const {
        return {line.source, directive_of(work_.sources[line.source], line.span)};
    }

    void read_source(std::size_t index) {
        const SourceText& source = work_.sources[index];
        const std::vector<Span> lines = line_spans(source);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (work_.errors.is_full()) return;
            const Span word = directive_of(source, lines[i]);
            const auto text = [&](Span at) {
                return std::string_view(source.text).substr(at.begin, at.end - at.begin);
            };
            if (scope_ == AsmScope::outline) {
                // Lines behind a directive that belong to it begin with none.
                if (word.begin == word.end || !std::ranges::count(kOutline, text(word))) continue;
            } else if (word.begin == word.end) {
                code_line({index, lines[i]});
                continue;
            }
            Span whole = lines[i];
            LineEnd end = end_of(text(whole));
            while ((end.depth > 0 || end.wants_more) && i + 1 < lines.size()) {
                const Span next = directive_of(source, lines[i + 1]);
                if (next.begin != next.end) break;  // a brace is missing
                whole.end = lines[++i].end;
                const LineEnd more = end_of(text(lines[i]));
                end = {end.depth + more.depth, more.wants_more};
            }
            try {
                directive({index, word}, whole);
            } catch (const SourceError& mistake) {
                work_.errors.error(source, mistake);
            } catch (const AlreadyTold&) {
                continue;
            }
        }
    }

    void code_line(const SourceRef& line) {
        if (is_blank(work_.sources[line.source], line.span)) return;
        if (!work_.units.empty()) return add_line(work_.units.back(), line);
        if (complained_of_stray_) return;
        const AsmLine parts = split_asm_line(work_.sources[line.source], line.span, false);
        if (parts.kind == AsmLine::Kind::empty && parts.labels.empty()) return;
        complained_of_stray_ = true;
        complain({line.source, parts.kind == AsmLine::Kind::code ? parts.code : line.span},
                 "instructions belong behind a .prog or a .func line");
    }

    void add_line(AsmUnit& unit, const SourceRef& line) {
        if (has_too_many_) return;
        if (unit.lines.size() == kMostInsns) {
            has_too_many_ = true;
            unit.lines.clear();
            unit.is_complete = false;
            return complain_of_too_many(work_.errors, work_.sources[line.source], line.span);
        }
        const std::size_t guard = conditions_.empty() ? 0 : conditions_.back().guard;
        unit.lines.push_back({line.source, line.span, guard});
    }

    void directive(const SourceRef& word, Span whole) {
        const SourceText& source = work_.sources[word.source];
        const std::string_view name =
            std::string_view(source.text).substr(word.span.begin, word.span.end - word.span.begin);
        const auto structure = std::ranges::find(kStructures, name, &Structure::name);
        if (structure != kStructures.end()) {
            AsmTokens tokens(source, whole);
            tokens.next();
            return (this->*structure->parse)(tokens, {word.source, whole});
        }
        if (DeclarationParser(work_, word.source, whole).parse()) return;
        std::vector<std::string> names = DeclarationParser::names();
        for (const Structure& known : kStructures) names.emplace_back(known.name);
        throw SourceError(source, word.span, cat("no directive is named '", name, "'"),
                          did_you_mean(name, names));
    }

    // .include "FILE": once each, whoever asks for it.
    void include(AsmTokens& tokens, const SourceRef&) {
        const AsmToken file = tokens.peek();
        if (file.kind != AsmToken::Kind::text) tokens.fail_expected("a file's name in quotes");
        tokens.next();
        tokens.expect_end();
        if (!read_) tokens.fail(file.span, "there are no files to include here");
        SourceText text;
        try {
            text = read_(file.text, tokens.source());
        } catch (const Error& e) {
            tokens.fail(file.span, e.what(), e.hint());
        }
        const auto known = std::ranges::find(work_.sources, text.name, &SourceText::name);
        if (known != work_.sources.end()) return;
        if (work_.sources.size() == kMaxSources) tokens.fail(file.span, "too many files");
        work_.sources.push_back(std::move(text));
        read_source(work_.sources.size() - 1);
    }

    AsmToken unit_name(AsmTokens& tokens, std::string_view what) {
        const AsmToken name = tokens.expect_word(what);
        if (name.text.find_first_of("@.$") != name.text.npos)
            tokens.fail(name.span, cat("'", name.text, "' is no name to declare"),
                        "names have letters, digits and '_'");
        const auto is_taken = [&](const auto& units) {
            return std::ranges::count(units, name.text, [](const auto& unit) -> const std::string& {
                       return unit.name;
                   }) > 0;
        };
        if (is_taken(work_.program.programs) || is_taken(work_.program.subprograms))
            work_.errors.error(tokens.source(), name.span,
                               cat("'", name.text, "' is declared twice"));
        return name;
    }

    // .prog NAME [optional] [ends] [with PARAMETER] [unless PROGRAM] KIND TARGET
    //       {, TARGET | "|" ALTERNATIVE}
    void begin_program(AsmTokens& tokens, const SourceRef& at) {
        end_conditions();
        work_.units.push_back({true, work_.program.programs.size(), {}});
        ProbeProgram& made = work_.program.programs.emplace_back();
        made.at = at;
        const AsmToken name = unit_name(tokens, "the program's name");
        made.name = name.text;
        made.at = {at.source, name.span};
        made.is_optional = tokens.accept("optional");
        made.is_end = tokens.accept("ends");
        if (tokens.accept("with")) made.wanted_by = numeric_parameter(tokens);
        if (tokens.accept("unless")) made.unless = earlier_program(tokens);
        const std::size_t rest = tokens.at_end() ? at.span.end : tokens.peek().span.begin;
        made.targets = parse_probe_targets(tokens.source(), at.source,
                                           {std::min(rest, at.span.end), at.span.end});
    }

    std::string numeric_parameter(AsmTokens& tokens) const {
        const AsmToken name = tokens.expect_word("the parameter that asks for the program");
        const Parameter* parameter = work_.program.find_parameter(name.text);
        if (!parameter || parameter->type == Parameter::Type::text)
            tokens.fail(name.span, cat("'", name.text, "' is no parameter with a number"));
        return std::string(name.text);
    }

    std::string earlier_program(AsmTokens& tokens) const {
        const AsmToken name = tokens.expect_word("the program that makes this one needless");
        const std::span earlier(work_.program.programs.data(), work_.program.programs.size() - 1);
        if (!std::ranges::count(earlier, name.text, &ProbeProgram::name))
            tokens.fail(name.span,
                        cat("no program in front of this one is named '", name.text, "'"));
        return std::string(name.text);
    }

    // .func NAME [ "(" [ PARAMETER { "," PARAMETER } ] ")" ]
    void begin_function(AsmTokens& tokens, const SourceRef& at) {
        end_conditions();
        work_.units.push_back({false, work_.program.subprograms.size(), {}});
        Subprogram& made = work_.program.subprograms.emplace_back();
        made.at = at;
        const AsmToken name = unit_name(tokens, "the function's name");
        made.name = name.text;
        made.at = {at.source, name.span};
        if (find_helper(name.text))
            tokens.fail(name.span, cat("'", name.text, "' is a helper of the kernel"));
        if (tokens.accept("(")) work_.parameters[made.name] = parameters(tokens);
        tokens.expect_end();
    }

    static std::vector<std::string> parameters(AsmTokens& tokens) {
        std::vector<std::string> names;
        while (!tokens.is(")")) {
            const AsmToken name = tokens.expect_word("a parameter's name");
            if (std::ranges::count(names, name.text))
                tokens.fail(name.span, cat("'", name.text, "' is there twice"));
            if (names.size() == kMaxParameters)
                tokens.fail(name.span, "a function has 5 parameters at most: r1 to r5");
            names.emplace_back(name.text);
            if (!tokens.accept(",")) break;
        }
        tokens.expect(")");
        return names;
    }

    // .when NAME = CONDITION
    void name_condition(AsmTokens& tokens, const SourceRef& at) {
        const AsmToken name = tokens.expect_word("the condition's name");
        if (std::ranges::count(kConditionWords, name.text))
            tokens.fail(name.span, cat("'", name.text, "' is a condition already"));
        work_.symbols.declare(tokens.source(), name.span);
        try {
            tokens.expect("=");
            Guard guard = condition(tokens, at.source);
            tokens.expect_end();
            named_.emplace(name.text, std::move(guard));
        } catch (...) {
            work_.symbols.forgive(name.text);
            throw;
        }
    }

    // .if CONDITION
    void begin_if(AsmTokens& tokens, const SourceRef& at) {
        // Known from here on, whatever is wrong with it, for the .endif.
        conditions_.push_back({outer_guard(), at, false});
        const bool was_complete = mark_incomplete();
        Guard guard = condition(tokens, at.source);
        tokens.expect_end();
        if (work_.units.empty())
            tokens.fail(guard.at.span, "an .if belongs into a .prog or a .func");
        guard.outer = conditions_.back().guard;
        work_.program.guards.push_back(std::move(guard));
        conditions_.back().guard = work_.program.guards.size();
        conditions_.back().has_guard = true;
        work_.units.back().is_complete = was_complete;
    }

    // NAME [VERSION], as a guard has them. A version of several numbers stands in quotes.
    static std::string module_version(AsmTokens& tokens) {
        std::string name(tokens.expect_word("a module's name").text);
        if (tokens.at_end()) return name;
        const AsmToken version = tokens.next();
        const bool is_version =
            std::ranges::all_of(version.text, [](char c) { return is_digit(c) || c == '.'; });
        if (!is_version || version.text.empty())
            tokens.fail(version.span, cat("'", version.text, "' is no version"),
                        "580, or \"575.51.02\"");
        return cat(name, ' ', version.text);
    }

    // [!] @FIELD | raw | recorded | event SYSTEM:EVENT | exists SYSTEM:EVENT | feature NAME |
    // module NAME [VERSION] | NAME of a .when
    Guard condition(AsmTokens& tokens, std::size_t source) const {
        Guard guard;
        guard.negated = tokens.accept("!");
        const AsmToken word = tokens.peek();
        if (!word.is_word())
            tokens.fail_expected("@FIELD, raw, recorded, event, exists, feature or module");
        tokens.next();
        if (word.text[0] == '@') {
            guard.kind = Guard::Kind::has_field;
            guard.name = word.text.substr(1);
        } else if (word.is("raw")) {
            guard.kind = Guard::Kind::is_raw;
        } else if (word.is("recorded")) {
            guard.kind = Guard::Kind::is_recorded;
        } else if (word.is("feature")) {
            guard.kind = Guard::Kind::has_feature;
            guard.name = tokens.expect_word("a feature's name").text;
        } else if (word.is("module")) {
            guard.kind = Guard::Kind::has_module;
            guard.name = module_version(tokens);
        } else if (word.is("event") || word.is("exists")) {
            guard.kind = word.is("event") ? Guard::Kind::is_event : Guard::Kind::has_event;
            const AsmToken first = tokens.expect_word("an event");
            while (tokens.accept(":")) tokens.expect_word("the rest of the event's name");
            guard.name = tokens.text_of(tokens.since(first));
        } else {
            const Guard& named = named_condition(tokens, word);
            const bool is_negated = guard.negated != named.negated;
            guard = named;
            guard.negated = is_negated;
        }
        guard.at = {source, tokens.since(word)};
        return guard;
    }

    const Guard& named_condition(AsmTokens& tokens, const AsmToken& word) const {
        const auto known = named_.find(word.text);
        if (known != named_.end()) return known->second;
        if (work_.symbols.is_forgiven(word.text)) throw AlreadyTold();
        std::vector<std::string> names(kConditionWords.begin(), kConditionWords.end());
        for (const auto& [name, guard] : named_) names.push_back(name);
        const std::string meant = did_you_mean(word.text, names);
        tokens.fail(word.span, cat("a condition cannot ask for '", word.text, "'"),
                    meant.empty()
                        ? "there are @FIELD, raw, recorded, event, exists, feature, module, and "
                          "the names that .when declares"
                        : meant);
    }

    // The code at hand has other guards than its text meant. Returns whether it had its own so far.
    bool mark_incomplete() {
        return work_.units.empty() || std::exchange(work_.units.back().is_complete, false);
    }

    void complain_of_condition(const SourceRef& at, std::string_view message) {
        mark_incomplete();
        complain(word_of(at), message);
    }

    void otherwise(AsmTokens& tokens, const SourceRef& at) {
        tokens.expect_end();
        if (conditions_.empty() || conditions_.back().is_else)
            return complain_of_condition(at, "no .if stands in front of this .else");
        Condition& condition = conditions_.back();
        condition.is_else = true;
        if (!condition.has_guard) return;
        Guard guard = work_.program.guards[condition.guard - 1];
        guard.negated = !guard.negated;
        work_.program.guards.push_back(std::move(guard));
        condition.guard = work_.program.guards.size();
    }

    void end_if(AsmTokens& tokens, const SourceRef& at) {
        tokens.expect_end();
        if (conditions_.empty())
            return complain_of_condition(at, "no .if stands in front of this .endif");
        conditions_.pop_back();
    }

    void end_conditions() {
        for (const Condition& open : conditions_)
            complain_of_condition(open.at, "this .if has no .endif in the same .prog or .func");
        conditions_.clear();
    }

    std::size_t outer_guard() const { return conditions_.empty() ? 0 : conditions_.back().guard; }

    static constexpr std::size_t kMaxSources = 64;
    static constexpr std::size_t kMaxParameters = 5;
    static constexpr std::array<std::string_view, 6> kConditionWords = {
        "raw", "recorded", "event", "exists", "feature", "module"};
    // The directives that an outline consists of; a parameter's default may name a constant.
    static constexpr std::array<std::string_view, 5> kOutline = {".monitor", ".param", ".const",
                                                                 ".prog", ".include"};
    struct Condition {
        std::size_t guard = 0;
        SourceRef at;
        bool is_else = false;
        bool has_guard = false;
    };
    const IncludeReader& read_;
    const AsmScope scope_;
    AsmWork work_;
    std::vector<Condition> conditions_;
    std::map<std::string, Guard, std::less<>> named_;  // by .when
    bool complained_of_stray_ = false, has_too_many_ = false;
};

const std::array<Assembler::Structure, Assembler::kStructureCount> Assembler::kStructures = {{
    {".include", &Assembler::include},
    {".prog", &Assembler::begin_program},
    {".func", &Assembler::begin_function},
    {".when", &Assembler::name_condition},
    {".if", &Assembler::begin_if},
    {".else", &Assembler::otherwise},
    {".endif", &Assembler::end_if},
}};

}  // namespace

Program assemble(SourceText source, const IncludeReader& read, AsmScope scope) {
    return Assembler(std::move(source), read, scope).assemble();
}

bool has_directives(const SourceText& source) {
    return std::ranges::any_of(line_spans(source), [&](Span line) {
        const Span word = directive_of(source, line);
        return word.begin != word.end;
    });
}

}  // namespace gpufs
