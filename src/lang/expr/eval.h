#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/event/field_value.h"
#include "lang/expr/expr.h"

namespace gpufs {

// Facts about a record that a filter can test but that are not in the record's bytes.
struct RecordContext {
    int cpu = 0;            // the CPU whose buffer held the record
    std::string_view comm;  // name of the task that made it
};

// Resolves the kernel functions of .function to address ranges. An empty std::function finds
// nothing.
struct SymbolLookup {
    struct Extent {
        std::uint64_t begin = 0, end = 0;  // [begin, end)
    };
    std::function<std::optional<Extent>(std::string_view name)> by_name;
    std::function<std::optional<Extent>(std::uint64_t address)> by_address;
};

// The address range of the function that a literal gives by name or by address. `symbols` may be
// null. Throws SourceError when the function is not known.
SymbolLookup::Extent require_extent(const SymbolLookup* symbols, const SourceText& source,
                                    const Literal& function);

// A condition compiled for the records of one event: the constructor resolves names to offsets.
// holds() gives the same answer as the kernel's filter given the text of to_filter(). Keeps no
// reference to its arguments. A record too short for a field reads as zeros and empty texts.
class Condition {
public:
    // Throws what check_expression throws, and SourceError for what a record does not contain: a
    // text behind a pointer, a function that `symbols` does not know. `symbols` need not outlive
    // the constructor.
    Condition(const Expression& expression, const EventFormat& event,
              const SymbolLookup* symbols = nullptr);

    bool holds(RecordBytes record, const RecordContext& context) const;
    // Whether it looks at RecordContext::comm, which takes a search to find.
    bool needs_comm() const;

private:
    friend class ConditionCompiler;

    enum class Test { integer, integer_in_cpus, extent, text, cpumask, cpu, cpu_in_cpus, comm };
    struct Step {
        Test test = Test::integer;
        CompareOp op = CompareOp::eq;
        bool is_inverted = false;  // the pattern began with !
        Field field;               // the field that the test reads
        std::uint64_t value = 0;   // the number, or the begin of a function's extent
        std::uint64_t end = 0;     // the end of that extent
        std::string text;          // the text, or the pattern
        std::vector<bool> cpus;
        std::size_t if_true = 0, if_false = 0;  // index of the next step, or kTrue or kFalse
    };
    static bool test(const Step& step, RecordBytes record, const RecordContext& context);

    std::vector<Step> steps_;
    std::size_t first_ = 0;
};

// True if the pattern matches the whole text, by the rules of the kernel's glob_match(): * ? [a-z]
// [!a-z]; \ takes the next character literally; so is a [ without its ].
bool filter_glob(std::string_view pattern, std::string_view text);

}  // namespace gpufs
