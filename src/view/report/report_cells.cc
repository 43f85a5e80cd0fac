#include "view/report/report_cells.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "engine/results/map_contents.h"

namespace gpufs {
namespace {

using Aggregate = Aggregation::Kind;
using Words = std::span<const std::uint64_t>;

bool weighs_sum(const Aggregation& how) {
    return !how.is_signed && !how.is_rate &&
           (how.kind == Aggregate::sum || how.kind == Aggregate::avg ||
            how.kind == Aggregate::stats);
}

}  // namespace

Facts::Facts(std::initializer_list<Fact> facts) : size_(facts.size()) {
    std::ranges::copy(facts, facts_.begin());
}

Facts facts_of(const Aggregation& how, Words words) {
    const bool is_signed = how.is_signed;
    if (how.is_rate)
        return {{"count", words[0], false, false},
                {"avg", mean_of(how, words), false, true, true},
                {"min", words[2], false, true},
                {"max", words[3], false, true}};
    switch (how.kind) {
        case Aggregate::count:
            return {{"count", words[0], false, false}};
        case Aggregate::sum:
            return {{"sum", words[0], is_signed, true}};
        case Aggregate::min:
            return {{"min", words[0], is_signed, true}};
        case Aggregate::max:
            return {{"max", words[0], is_signed, true}};
        case Aggregate::avg:
            return {{"count", words[0], false, false},
                    {"avg", mean_of(how, words), is_signed, true, true}};
        case Aggregate::stats:
        case Aggregate::log2:
        case Aggregate::log_linear:
        case Aggregate::linear:
            return {{"count", words[0], false, false},
                    {"sum", words[1], is_signed, true},
                    {"avg", mean_of(how, words), is_signed, true, true},
                    {"min", words[2], is_signed, true},
                    {"max", words[3], is_signed, true}};
        case Aggregate::none:
            break;
    }
    return {};
}

std::string_view unit_of(const MapDeclaration& map) {
    return map.value.members.empty() ? std::string_view() : map.value.members[0].type.unit;
}

std::optional<double> rate_of(const Aggregation& how, Words words, std::uint64_t during_ns) {
    const bool grows =
        how.kind == Aggregate::count || (how.kind == Aggregate::sum && !how.is_signed);
    if (!grows || during_ns == 0) return std::nullopt;
    return static_cast<double>(words[0]) * 1e9 / static_cast<double>(during_ns);
}

std::string rate_number(double rate) {
    char text[32];
    // Of what comes seldom, down to once an hour, two digits that say something: "0.017".
    constexpr double kSeldom = 1.0 / 3600;
    std::snprintf(text, sizeof text, rate < kSeldom || rate >= 1 ? "%.1f" : "%.2g", rate);
    return text;
}

bool is_single(const MapDeclaration& map) {
    return map.is_array() && map.max_entries == 1;
}

KeyPlans::KeyPlans(const MapDeclaration& map, const Layout& key) {
    if (is_single(map)) return;
    const bool is_stacked = has_stacks(key);
    for (ValuePlan& plan : plan_values(key)) {
        const bool is_launched = is_stacked && !plan.type.text_map.empty();
        (plan.is_stack() ? stacks : is_launched ? launched : columns).push_back(std::move(plan));
    }
}

void append_value(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes,
                  ValueWriter& values) {
    if (plan.type.unit.empty())
        values.text(out, plan, bytes);
    else
        out += quantity_text(integer_at(plan, bytes), plan.type.is_signed, plan.type.unit);
}

std::string value_text(const ValuePlan& plan, std::span<const std::byte> bytes,
                       ValueWriter& values) {
    std::string text;
    append_value(text, plan, bytes, values);
    return text;
}

std::vector<std::string> key_cells(const KeyPlans& plans, std::span<const std::byte> key,
                                   ValueWriter& values) {
    std::vector<std::string> cells;
    for (const ValuePlan& plan : plans.columns) cells.push_back(value_text(plan, key, values));
    return cells;
}

std::vector<StackFrame> stack_of(const KeyPlans& plans, std::span<const std::byte> key,
                                 ValueWriter& values) {
    std::vector<StackFrame> frames;
    const auto add = [&](const ValuePlan& plan) {
        const bool is_kernel = plan.type.kind == ValueType::Kind::kernel_stack;
        std::vector<std::string> part = values.frames(plan, key);
        std::ranges::reverse(part);
        for (const std::string& frame : part)
            frames.push_back({values.shown(frame),
                              is_kernel ? kernel_frame_kind(frame) : user_frame_kind(frame)});
    };
    for (const ValueType::Kind kind :
         {ValueType::Kind::user_stack, ValueType::Kind::kernel_stack}) {
        for (const ValuePlan& plan : plans.stacks) {
            // Often there is only one of the two; that says enough.
            const bool is_none = static_cast<std::int64_t>(integer_at(plan, key)) < 0;
            if (plan.type.kind == kind && !(is_none && plans.stacks.size() > 1)) add(plan);
        }
    }
    if (frames.empty()) add(plans.stacks.front());
    for (const ValuePlan& plan : plans.launched)
        frames.push_back({value_text(plan, key, values), FrameKind::gpu});
    return frames;
}

std::uint64_t weight_of(const Aggregation& how, Words words) {
    if (!weighs_sum(how)) return count_of(how, words);
    return how.kind == Aggregate::sum ? words[0] : words[1];
}

std::string_view stack_unit(const MapDeclaration& map) {
    return weighs_sum(map.aggregation) ? unit_of(map) : std::string_view();
}

ReportRows shown_rows(const MapDeclaration& map, const Report& report, MapEntries entries,
                      const ValueWriter& values) {
    const auto text = [&](const Member& stack, std::span<const std::byte> key) {
        return join(values.frames(plan_value(map.key, stack), key), "\n");
    };
    return report_rows(map, report, std::move(entries), text);
}

bool has_stacks(const Layout& layout) {
    return std::ranges::any_of(plan_values(layout), &ValuePlan::is_stack);
}

bool has_stacks(const Program& program) {
    return std::ranges::any_of(program.maps,
                               [](const MapDeclaration& map) { return has_stacks(map.key); });
}

}  // namespace gpufs
