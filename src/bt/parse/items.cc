// What stands outside of all blocks: probes, macros, functions, declarations.

#include <algorithm>

#include "base/cat.h"
#include "base/text.h"
#include "bt/parse/parser.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/words.h"

namespace gpufs::bt {
void Parser::items() {
    recovering(&Parser::item);
}

void Parser::header() {
    is_header_ = true;
    recovering(&Parser::c_definition);
}

// Reads one after the other, whatever is wrong with those before.
void Parser::recovering(void (Parser::*read)()) {
    while (!at_end() && !work_.mistakes.is_full()) {
        const std::size_t begin = next_;
        try {
            (this->*read)();
        } catch (const Mistake& mistake) {
            work_.report(mistake);
            if (next_ == begin) take();
            skip_to_item();
        }
    }
}

void Parser::skip_to_item() {
    while (!at_end() && !peek().begins_item) take();
}

void Parser::item() {
    const Token first = peek();
    if (take_if(";")) return;
    if (first.kind == Token::Kind::word) {
        if (first.is("config")) return config();
        if (first.is("let")) return map_declaration();
        if (first.is("macro")) return macro();
        if (first.is("fn")) return function();
        return c_definition();
    }
    if (first.is("}")) fail(first, "closes nothing");
    probe();
}

// POINTS [/PREDICATE/] { STATEMENTS }
void Parser::probe() {
    Probe probe;
    const Token first = peek();
    while (peek().kind == Token::Kind::attach_point && !work_.mistakes.is_full()) {
        try {
            probe.points.push_back(parse_attach_point(work_, take()));
        } catch (const Mistake& mistake) {
            work_.report(mistake);
        }
        if (!take_if(",")) break;
    }
    if (work_.mistakes.is_full()) return;
    if (first.kind != Token::Kind::attach_point)
        fail(first, "begins no probe", "a probe is PROVIDER:TARGET { STATEMENTS }");
    if (take_if("/")) {
        probe.predicate = expression();
        if (peek().kind != Token::Kind::predicate_end)
            fail_missing("the '/' behind the predicate", "/CONDITION/ { ... }");
        take();
    }
    if (!is("{")) fail_missing("the block of the probe", "PROVIDER:TARGET { STATEMENTS }");
    probe.body = braced_block();
    probe.at = from(first);
    work_.script.probes.push_back(std::move(probe));
}

// config = { NAME = VALUE; … }
void Parser::config() {
    take();
    expect("=", "behind config");
    expect("{", "behind config =");
    while (!take_if("}")) {
        if (at_end()) fail_missing("the '}' of config");
        config_entry();
        if (!take_if(";") && !take_if(",") && !is("}")) fail_missing("a ';'");
        while (take_if(";")) continue;
    }
    take_if(";");
}

void Parser::config_entry() {
    const Token name = expect_word("the name of a setting");
    ConfigEntry entry;
    entry.at = name.at;
    entry.name = lower_case(name.text);
    constexpr std::string_view kPrefix = "bpftrace_";
    if (entry.name.starts_with(kPrefix)) entry.name.erase(0, kPrefix.size());
    expect("=", "behind the name of the setting");
    const bool is_negative = take_if("-");
    const Token value = peek();
    if (value.kind == Token::Kind::string) {
        entry.value = string_value(value);
    } else if (value.kind == Token::Kind::number) {
        entry.value = cat(is_negative ? "-" : "", number_value(value));
    } else if (value.kind == Token::Kind::word) {
        entry.value = value.text;
    } else {
        fail_missing("the value of the setting");
    }
    take();
    entry.at = from(name);
    work_.script.config.push_back(std::move(entry));
}

// let @NAME = KIND(ENTRIES);
void Parser::map_declaration() {
    const Token keyword = take();
    if (peek().kind != Token::Kind::map)
        fail_missing("the name of a map", "let @NAME = hash(1024);");
    MapDeclarationNode map;
    map.name = take().text.substr(1);
    expect("=", "behind the name of the map");
    map.kind = expect_word("the kind of the map").text;
    expect("(", "behind the kind of the map");
    if (const SourceRef place = peek().at; !is(")")) {
        map.entries = length("the number of entries");
        if (map.entries == 0) throw Mistake{from(place), "a map has at least one entry", ""};
    }
    expect(")", "behind the number of entries");
    map.at = from(keyword);
    expect(";", "behind the declaration of the map");
    work_.script.maps.push_back(std::move(map));
}

// macro NAME(PARAMETERS) { STATEMENTS }; without parameters the parentheses may lack.
void Parser::macro() {
    take();
    const Token name = expect_word("the name of the macro");
    Macro macro;
    macro.name = name.text;
    macro.at = name.at;
    if (take_if("(")) {
        while (!take_if(")")) {
            using Kind = Macro::Parameter::Kind;
            const Token token = peek();
            const auto parameter = token.kind == Token::Kind::word       ? Kind::expression
                                   : token.kind == Token::Kind::variable ? Kind::variable
                                                                         : Kind::map;
            if (parameter == Kind::map && token.kind != Token::Kind::map)
                fail_missing("a parameter", "macro NAME($variable, expression, @map) { ... }");
            take();
            macro.parameters.push_back(
                {parameter, std::string(token.text.substr(parameter == Kind::expression ? 0 : 1))});
            if (!is(")") && !take_if(",")) fail_missing("a ',' or the ')'");
        }
    }
    macro.body = braced_block();
    macro.value = value_of(macro.body);
    work_.macros.push_back(std::move(macro));
}

// fn NAME($a : T, …) : R { STATEMENTS }
void Parser::function() {
    const Token keyword = take();
    Function function;
    function.name = expect_word("the name of the function").text;
    expect("(", "behind the name of the function");
    while (!take_if(")")) {
        if (peek().kind != Token::Kind::variable)
            fail_missing("a parameter", "fn NAME($a : TYPE, $b : TYPE) : TYPE { ... }");
        std::string name(take().text.substr(1));
        expect(":", "behind the parameter");
        function.parameters.emplace_back(std::move(name), type_name());
        if (!is(")") && !take_if(",")) fail_missing("a ',' or the ')'");
    }
    if (take_if(":")) {
        TypeName result = type_name();
        const bool is_none = result.name == "void" && result.pointers == 0;
        if (!is_none) function.result = std::move(result);
    }
    function.body = braced_block();
    function.at = from(keyword);
    work_.script.functions.push_back(std::move(function));
}

}  // namespace gpufs::bt
