#include "lang/recipe/value.h"

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "base/units.h"

namespace gpufs {
namespace {

Literal number(std::uint64_t magnitude, bool is_negative) {
    Literal literal;
    literal.kind = Literal::Kind::number;
    literal.magnitude = magnitude;
    literal.is_negative = is_negative && magnitude != 0;
    literal.text = cat(literal.is_negative ? "-" : "", magnitude);
    return literal;
}

Literal integer(const std::string& name, std::string_view text) {
    const auto whole = parse_whole_number(text);
    if (!whole)
        throw UsageError(cat(name, " takes a whole number, not '", text, "'"),
                         "such as 2, -1 or 0x1f");
    return number(whole->magnitude, whole->is_negative);
}

Literal time(const RecipeParameter& parameter, std::string_view text) {
    const std::string& name = parameter.name.text;
    const auto ns = static_cast<std::uint64_t>(parse_duration(name, text).count());
    const std::uint64_t unit_ns = unit_size(parameter.unit);
    if (ns % unit_ns != 0)
        throw UsageError(cat(text, " is no whole number of ", parameter.unit),
                         cat(name, " is compared with a number of ", parameter.unit));
    return number(ns / unit_ns, false);
}

std::vector<Literal> threads(const std::string& name, std::string_view text) {
    std::vector<Literal> pids;
    for (const std::string& piece : split(text, ',')) {
        const auto pid = whole_number<int>(piece);
        if (pid.value_or(0) <= 0)
            throw UsageError(cat(name, " takes the number of a process, not '", piece, "'"));
        pids.push_back(number(static_cast<std::uint64_t>(*pid), false));
    }
    if (pids.empty())
        throw UsageError(cat(name, " takes the number of a process, not '", text, "'"));
    return pids;
}

}  // namespace

RecipeValue parse_value(const RecipeParameter& parameter, std::string_view text) {
    using Type = RecipeParameter::Type;
    const std::string& name = parameter.name.text;
    RecipeValue value;
    value.given = text;
    switch (parameter.type) {
        case Type::integer:
            value.literals.push_back(integer(name, text));
            break;
        case Type::time:
            value.literals.push_back(time(parameter, text));
            break;
        case Type::size:
            value.literals.push_back(number(parse_size(name, text), false));
            break;
        case Type::pid:
            value.literals = threads(name, text);
            break;
        case Type::file:
            if (!text.starts_with('/'))
                throw UsageError(cat(name, " takes the whole path of a file, not '", text, "'"),
                                 "a path that begins with /");
            [[fallthrough]];
        case Type::text: {
            if (text.empty()) throw UsageError(cat(name, " takes a text, and this one is empty"));
            if (text.find_first_of(std::string_view("\n\0", 2)) != text.npos)
                throw UsageError(cat(name, " takes a text of one line"));
            Literal literal;
            literal.kind = Literal::Kind::text;
            literal.text = text;
            literal.is_quoted = true;
            value.literals.push_back(literal);
        }
    }
    std::vector<std::string> words;
    for (const Literal& literal : value.literals) words.push_back(literal.text);
    value.word = join(words, ",");
    return value;
}

Span find_reference(std::string_view word, std::size_t from) {
    for (; from < word.size(); ++from) {
        if (word[from] != '$') continue;
        std::size_t end = from + 1;
        while (end < word.size() && is_word_char(word[end])) ++end;
        if (end > from + 1) return {from, end};
    }
    return {word.size(), word.size()};
}

}  // namespace gpufs
