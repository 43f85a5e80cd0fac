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

// What a filter can ask about a record that is not in the record's bytes.
struct RecordContext {
    int cpu = 0;            // whose buffer the record is from
    std::string_view comm;  // the task that made it
};

// Where the kernel's functions are, for .function. Either may be empty: then it finds nothing.
struct SymbolLookup {
    struct Extent {
        std::uint64_t begin = 0, end = 0;  // [begin, end)
    };
    std::function<std::optional<Extent>(std::string_view name)> by_name;
    std::function<std::optional<Extent>(std::uint64_t address)> by_address;
};

// Where the function is that a literal names, by name or address. `symbols` may be null. Throws
// SourceError where it is not known.
SymbolLookup::Extent require_extent(const SymbolLookup* symbols, const SourceText& source,
                                    const Literal& function);

// A condition made ready for the records of one event: names are resolved here, records are read by
// offset. Its answers are those of the running kernel's filter with the text of to_filter. Owns all
// it needs. A record too short for a field reads as zeros and empty texts.
class Condition {
public:
    // Throws what check_expression throws, and SourceError where a record alone cannot tell: a text
    // behind a pointer, a function that `symbols` does not know. `symbols` is used here only.
    Condition(const Expression& expression, const EventFormat& event,
              const SymbolLookup* symbols = nullptr);

    bool holds(RecordBytes record, const RecordContext& context) const;

private:
    friend class ConditionCompiler;

    enum class Test { integer, integer_in_cpus, extent, text, cpumask, cpu, cpu_in_cpus, comm };
    struct Step {
        Test test = Test::integer;
        CompareOp op = CompareOp::eq;
        bool is_inverted = false;  // a pattern that began with !
        Field field;               // where the test reads the record
        std::uint64_t value = 0;   // the number, or where an extent begins
        std::uint64_t end = 0;     // where an extent ends
        std::string text;          // the text, or the pattern
        std::vector<bool> cpus;
        std::size_t if_true = 0, if_false = 0;  // the next step, or one of the two ends
    };
    static bool test(const Step& step, RecordBytes record, const RecordContext& context);

    std::vector<Step> steps_;
    std::size_t first_ = 0;
};

// Does the whole text match a filter's pattern? The kernel's glob_match(): * ? [a-z] [!a-z] and
// \ in front of a character that means itself; a [ without its ] means itself.
bool filter_glob(std::string_view pattern, std::string_view text);

}  // namespace gpufs
