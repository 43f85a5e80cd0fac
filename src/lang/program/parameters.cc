#include "lang/program/parameters.h"

#include <limits>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"

namespace gpufs {
namespace {

// The value in the parameter's unit, rounded to nearest.
std::int64_t with_unit(const Parameter& parameter, const std::string& text) try {
    const bool is_time = parameter.type == Parameter::Type::time;
    const std::uint64_t value =
        is_time ? static_cast<std::uint64_t>(parse_duration(parameter.name, text).count())
                : parse_size(parameter.name, text);
    const std::uint64_t unit = unit_size(parameter.unit);
    return static_cast<std::int64_t>((value + unit / 2) / unit);
} catch (const UsageError& e) {
    throw UsageError(e.what(), cat("a number of ", parameter.unit, ", or with a unit: ",
                                   parameter.type == Parameter::Type::time ? "10ms" : "4M"));
}

std::int64_t number_for(const Parameter& parameter, const std::string& text) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (const auto number = parse_whole_number(text); number && number->magnitude <= kMost) {
        const auto magnitude = static_cast<std::int64_t>(number->magnitude);
        if (!number->is_negative) return magnitude;
        if (parameter.type != Parameter::Type::integer)
            throw UsageError(cat(parameter.name, " cannot be less than 0 ", parameter.unit),
                             cat("a number of ", parameter.unit));
        return -magnitude;
    }
    if (parameter.type != Parameter::Type::integer) return with_unit(parameter, text);
    throw UsageError(cat(parameter.name, " takes a number, not '", text, "'"),
                     "decimal, or hexadecimal as in 0x1f");
}

}  // namespace

ParameterValues parse_program_arguments(const Program& program,
                                        std::span<const std::string> words) {
    ParameterValues values;
    std::vector<std::string> known;
    for (const Parameter& one : program.parameters)
        if (is_for_users(one)) known.push_back(one.name);
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        std::string name = word.substr(0, equals);
        // As it is written where there are several monitors.
        const std::string prefix = cat(program.name, '.');
        if (!program.find_parameter(name) && name.starts_with(prefix)) name.erase(0, prefix.size());
        if (equals == word.npos)
            throw UsageError(cat("'", word, "' is no name=value"),
                             known.empty() ? "this program has no parameters"
                                           : cat("such as ", known.front(), "=…"));
        const Parameter* parameter = program.find_parameter(name);
        if (!parameter) {
            std::string hint = did_you_mean(name, known);
            if (hint.empty() && known.empty()) hint = "it has none";
            if (hint.empty()) {
                hint = "it has ";
                for (const std::string& one : known) hint += (one == known[0] ? "" : ", ") + one;
            }
            throw UsageError(cat("this program has no parameter '", name, "'"), hint);
        }
        const std::string text = word.substr(equals + 1);
        if (parameter->type == Parameter::Type::text)
            values.texts[name] = text;
        else
            values.numbers[name] = number_for(*parameter, text);
    }
    return values;
}

bool is_for_users(const Parameter& parameter) {
    return parameter.name != kFollowing && parameter.name != kFreezing;
}

std::string parameters_text(const Program& program) {
    std::string text;
    for (const Parameter& one : program.parameters) {
        if (!is_for_users(one)) continue;
        const bool is_text = one.type == Parameter::Type::text;
        text += cat("  ", one.name, "=", is_text ? one.text : cat(one.value));
        if (!one.unit.empty()) text += cat(" ", one.unit);
        text += cat("  ", one.help, "\n");
    }
    return text;
}

}  // namespace gpufs
