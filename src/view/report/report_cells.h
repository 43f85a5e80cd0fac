#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/report_rows.h"
#include "lang/program/program.h"
#include "view/monitor/stack_frame.h"
#include "view/monitor/value_text.h"

// What stands in the rows of a report, whatever form it is shown in: the members of the key, and
// what the map's aggregation knows.
namespace gpufs {

// One thing that an aggregation knows.
struct Fact {
    std::string_view name;
    std::uint64_t word = 0;
    bool is_signed = false;
    bool has_unit = false;
    bool is_mean = false;  // towards 0: mean_text() tells more
};

// At most five, without memory of their own: there is one for each key.
class Facts {
public:
    Facts(std::initializer_list<Fact> facts);
    const Fact* begin() const { return facts_.data(); }
    const Fact* end() const { return facts_.data() + size_; }
    std::size_t size() const { return size_; }

private:
    std::array<Fact, 5> facts_{};
    std::size_t size_;
};

// `words`: as MapEntry has them.
Facts facts_of(const Aggregation& how, std::span<const std::uint64_t> words);
// The unit of what is aggregated; empty: none.
std::string_view unit_of(const MapDeclaration& map);

// How much it is each second; absent where that is not known, and where an aggregation is not one
// that grows.
std::optional<double> rate_of(const Aggregation& how, std::span<const std::uint64_t> words,
                              std::uint64_t during_ns);
// "12.5"
std::string rate_number(double rate);

// A map of one element: its key says nothing.
bool is_single(const MapDeclaration& map);

// The key's members: those for columns, the stacks, and what stands on them: functions that a map
// has names for are those of GPUs, which the stack's innermost function launched.
struct KeyPlans {
    std::vector<ValuePlan> columns, stacks, launched;

    KeyPlans(const MapDeclaration& map, const Layout& key);
};

// A value for a person, with its unit.
void append_value(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes,
                  ValueWriter& values);
std::string value_text(const ValuePlan& plan, std::span<const std::byte> bytes,
                       ValueWriter& values);
// The texts of the key's columns.
std::vector<std::string> key_cells(const KeyPlans& plans, std::span<const std::byte> key,
                                   ValueWriter& values);

// The frames of all stacks of a key, the outermost first: the process's, then the kernel's.
std::vector<StackFrame> stack_of(const KeyPlans& plans, std::span<const std::byte> key,
                                 ValueWriter& values);
// What a stack weighs: the sum where there is one that only grows, else the count.
std::uint64_t weight_of(const Aggregation& how, std::span<const std::uint64_t> words);
// The unit of their weights; empty: they count.
std::string_view stack_unit(const MapDeclaration& map);

// The rows of a report for whoever sees functions: of stacks with the same frames there is one.
ReportRows shown_rows(const MapDeclaration& map, const Report& report, MapEntries entries,
                      const ValueWriter& values);

bool has_stacks(const Layout& layout);
// A map's key has some.
bool has_stacks(const Program& program);

}  // namespace gpufs
