#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "base/kernel_abi.h"
#include "base/suggest.h"
#include "lang/asm/declare.h"
#include "lang/event/syscall_arguments.h"

namespace gpufs {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kSyscalls = 1024;  // numbers, with the last one for those behind them
constexpr std::uint64_t kMaxEntries = std::numeric_limits<std::uint32_t>::max();

// What a map of this type is asked by: a key of the program's, an index, or nothing.
enum class KeyRule { own, index, none };

struct MapType {
    std::string_view name;
    bpf_map_type type;
    KeyRule key;
    std::uint64_t max;  // where none is given; 0: it must be
    bool or_perf_ring = false;
    bool keeps_stacks = false;
    bool has_signatures = false;
};
constexpr MapType kMapTypes[] = {
    {"hash", BPF_MAP_TYPE_HASH, KeyRule::own, 10240},
    {"lru_hash", BPF_MAP_TYPE_LRU_HASH, KeyRule::own, 10240},
    {"percpu_hash", BPF_MAP_TYPE_PERCPU_HASH, KeyRule::own, 10240},
    {"lru_percpu_hash", BPF_MAP_TYPE_LRU_PERCPU_HASH, KeyRule::own, 10240},
    {"array", BPF_MAP_TYPE_ARRAY, KeyRule::index, 0},
    {"percpu_array", BPF_MAP_TYPE_PERCPU_ARRAY, KeyRule::index, 0},
    {"stack_trace", BPF_MAP_TYPE_STACK_TRACE, KeyRule::index, 1024},
    {"stacks", BPF_MAP_TYPE_STACK_TRACE, KeyRule::index, 1024, false, true},
    {"ringbuf", BPF_MAP_TYPE_RINGBUF, KeyRule::none, 256 << 10},
    {"ring", BPF_MAP_TYPE_RINGBUF, KeyRule::none, 256 << 10, true},
    {"perf_event_array", BPF_MAP_TYPE_PERF_EVENT_ARRAY, KeyRule::none, 0},
    {"syscalls", BPF_MAP_TYPE_ARRAY, KeyRule::index, kSyscalls, false, false, true},
};

const MapType& rule_of(const MapDeclaration& map) {
    return *std::ranges::find(kMapTypes, map.type, &MapType::type);
}

struct AggregationName {
    std::string_view name;
    Aggregation::Kind kind;
    bool is_rate = false;
};
constexpr AggregationName kAggregations[] = {
    {"count", Aggregation::Kind::count},   {"sum", Aggregation::Kind::sum},
    {"min", Aggregation::Kind::min},       {"max", Aggregation::Kind::max},
    {"avg", Aggregation::Kind::avg},       {"stats", Aggregation::Kind::stats},
    {"log2", Aggregation::Kind::log2},     {"log_linear", Aggregation::Kind::log_linear},
    {"linear", Aggregation::Kind::linear}, {"rates", Aggregation::Kind::stats, true},
};

// What a report can be sorted by, beside the key.
std::vector<std::string> columns_of(const Aggregation& how) {
    if (how.is_rate) return {"key", "count", "avg", "min", "max"};
    switch (how.kind) {
        case Aggregation::Kind::none:
            return {"key", "value"};
        case Aggregation::Kind::sum:
            return {"key", "sum"};
        case Aggregation::Kind::min:
            return {"key", "min"};
        case Aggregation::Kind::max:
            return {"key", "max"};
        case Aggregation::Kind::avg:
            return {"key", "avg", "count", "sum"};
        case Aggregation::Kind::stats:
        case Aggregation::Kind::log2:
        case Aggregation::Kind::log_linear:
        case Aggregation::Kind::linear:
            return {"key", "count", "sum", "avg", "min", "max"};
        case Aggregation::Kind::count:
            break;
    }
    return {"key", "count"};
}

}  // namespace

// .map NAME TYPE [CLAUSE {, CLAUSE}]
void DeclarationParser::map() {
    const AsmToken name = declared_name("a map's name");
    const AsmToken type = tokens_.expect_word("a type of map, such as hash");
    const auto known = std::ranges::find(kMapTypes, type.text, &MapType::name);
    if (known == std::end(kMapTypes)) {
        std::vector<std::string> names;
        for (const MapType& one : kMapTypes) names.emplace_back(one.name);
        tokens_.fail(type.span, cat("no type of map is named '", type.text, "'"),
                     did_you_mean(type.text, names));
    }
    MapDeclaration made;
    made.name = name.text;
    made.type = known->type;
    made.or_perf_ring = known->or_perf_ring;
    made.keeps_stacks = known->keeps_stacks;
    made.has_signatures = known->has_signatures;
    if (made.has_signatures) signatures(made);
    std::vector<Report> reports;
    if (!tokens_.at_end()) do
            map_clause(made, reports);
        while (tokens_.accept(","));
    complete(name, made);
    made.at = here(name);
    define_map(made);
    program().maps.push_back(std::move(made));
    for (Report& report : reports) program().reports.push_back(std::move(report));
}

// [only PARAMETER]
void DeclarationParser::signatures(MapDeclaration& map) {
    map.value = Layout::of("value", integer_value(sizeof(SyscallSignature)));
    map.max_entries = kSyscalls;
    if (!tokens_.accept("only")) return;
    const AsmToken name = tokens_.expect_word("a parameter");
    const Parameter* const parameter = program().find_parameter(name.text);
    if (!parameter || parameter->type != Parameter::Type::text)
        tokens_.fail(name.span, cat("'", name.text, "' is no parameter that is a text"),
                     "it names system calls");
    map.wanted_calls = name.text;
}

void DeclarationParser::map_clause(MapDeclaration& map, std::vector<Report>& reports) {
    const AsmToken word = tokens_.expect_word("key, value, max or report");
    const auto once = [&](bool is_given) {
        if (is_given) tokens_.fail(word.span, cat("'", word.text, "' is there twice"));
    };
    if (word.is("key")) {
        once(!map.key.members.empty());
        map.key = types_.layout("key");
        if (rule_of(map).key != KeyRule::own)
            tokens_.fail(tokens_.since(word),
                         cat("a map of type ", rule_of(map).name, " has no key of its own"));
    } else if (word.is("value")) {
        once(!map.value.members.empty());
        value(map);
    } else if (word.is("max")) {
        once(map.max_entries != 0 || !map.max_parameter.empty());
        max_entries(map);
    } else if (word.is("report")) {
        Report made;
        made.map = map.name;
        made.title = text("the report's title in quotes");
        report_clauses(made, map);
        made.at = here(word);
        reports.push_back(std::move(made));
    } else {
        tokens_.fail(
            word.span, cat("a map has no '", word.text, "'"),
            did_you_mean(word.text, std::vector<std::string>{"key", "value", "max", "report"}));
    }
}

void DeclarationParser::max_entries(MapDeclaration& map) {
    const AsmToken first = tokens_.peek();
    if (first.is_word() && program().find_parameter(first.text)) {
        const Parameter& parameter = *program().find_parameter(first.text);
        if (parameter.type == Parameter::Type::text)
            tokens_.fail(first.span, cat("parameter '", first.text, "' is a text"));
        map.max_parameter = tokens_.next().text;
        return;
    }
    map.max_entries = static_cast<std::uint64_t>(number("a maximum", 1, kMaxEntries));
    if (map.type == BPF_MAP_TYPE_RINGBUF &&
        (map.max_entries % kPage != 0 || !std::has_single_bit(map.max_entries)))
        tokens_.fail(tokens_.since(first), cat(map.max_entries, " bytes make no ring"),
                     "its size is a power of two, 4096 or more, in bytes");
}

void DeclarationParser::value(MapDeclaration& map) {
    const AsmToken word = tokens_.peek();
    const bool is_aggregation =
        word.is_word() && std::ranges::find(kAggregations, word.text, &AggregationName::name) !=
                              std::end(kAggregations);
    if (!is_aggregation) {
        map.value = types_.layout("value");
    } else {
        map.aggregation = aggregation();
        ValueType one = integer_value(sizeof(std::uint64_t));
        one.is_signed = map.aggregation.is_signed;
        one.unit = types_.unit();
        map.value.add("value", std::move(one));
    }
    if (rule_of(map).key == KeyRule::none ||
        (is_aggregation && rule_of(map).type == BPF_MAP_TYPE_STACK_TRACE))
        tokens_.fail(tokens_.since(word),
                     cat("a map of type ", rule_of(map).name, " has no such values"));
}

// count | sum[(s64)] | ... | log2 | log_linear(BITS) | linear(LOW, HIGH, STEP)
Aggregation DeclarationParser::aggregation() {
    Aggregation how;
    const auto* named =
        std::ranges::find(kAggregations, tokens_.next().text, &AggregationName::name);
    how.kind = named->kind;
    how.is_rate = named->is_rate;
    const bool needs_arguments =
        how.kind == Aggregation::Kind::log_linear || how.kind == Aggregation::Kind::linear;
    if (needs_arguments || tokens_.is("(")) {
        tokens_.expect("(");
        aggregation_arguments(how);
        tokens_.expect(")");
    }
    return how;
}

void DeclarationParser::aggregation_arguments(Aggregation& how) {
    constexpr Int128 kLimit = Int128{1} << 62;
    constexpr std::size_t kMaxSlots = 4096;
    const AsmToken first = tokens_.peek();
    if (how.kind == Aggregation::Kind::log_linear) {
        how.sub_bits = static_cast<unsigned>(number("a number of bits", 1, 6));
    } else if (how.kind == Aggregation::Kind::linear) {
        how.low = number("a lower bound", -kLimit, kLimit);
        tokens_.expect(",");
        how.high = number("an upper bound", Int128{how.low} + 1, kLimit);
        tokens_.expect(",");
        how.step = number("a step", 1, kLimit);
        if (Int128{how.high} - how.low > Int128{how.step} * kMaxSlots)
            tokens_.fail(tokens_.since(first), cat("more than ", kMaxSlots, " steps"));
    } else {
        const ValueType type = types_.type();
        const bool is_sum = how.kind != Aggregation::Kind::count &&
                            how.kind != Aggregation::Kind::log2 && !how.is_rate;
        if (!is_sum || type.kind != ValueType::Kind::integer || type.bytes != 8)
            tokens_.fail(first.span, "only sum, min, max, avg and stats have a type: u64 or s64");
        how.is_signed = type.is_signed;
    }
}

void DeclarationParser::complete(const AsmToken& name, MapDeclaration& map) {
    const MapType& rule = rule_of(map);
    const auto lacks = [&](std::string_view what, std::string_view hint) {
        tokens_.fail(name.span, cat("map '", name.text, "' has no ", what), hint);
    };
    if (rule.key == KeyRule::own && map.key.members.empty()) lacks("key", "as in key u32");
    if (rule.key == KeyRule::index)
        map.key = Layout::of("key", integer_value(sizeof(std::uint32_t)));
    if (rule.type == BPF_MAP_TYPE_STACK_TRACE && map.value.members.empty()) {
        map.value = Layout::of("value", raw_bytes_value(kStackTraceFrames * sizeof(std::uint64_t)));
    }
    if (map.keeps_stacks && (map.value.bytes % sizeof(std::uint64_t) != 0 ||
                             map.value.bytes > kStackTraceFrames * sizeof(std::uint64_t)))
        tokens_.fail(
            name.span,
            cat("map '", name.text, "' cannot keep stacks of ", map.value.bytes, " bytes"),
            cat("a frame has 8 bytes, a stack has ", kStackTraceFrames, " frames at most"));
    if (rule.key != KeyRule::none && map.value.members.empty())
        lacks("value", "as in value u64, or value count");
    if (map.is_array() && map.aggregation.is_histogram() && !map.max_parameter.empty())
        tokens_.fail(name.span, "an array of histograms has a size that is no parameter");
    if (map.max_entries != 0 || !map.max_parameter.empty()) return;
    map.max_entries = rule.max;
    if (rule.max == 0 && rule.key == KeyRule::index) lacks("maximum", "as in max 64");
}

void DeclarationParser::define_map(const MapDeclaration& map) {
    const std::string value = cat(map.name, ".value");
    work_.symbols.define_map(map.name);
    if (!map.key.members.empty()) work_.symbols.define_layout(cat(map.name, ".key"), map.key);
    if (map.aggregation.kind == Aggregation::Kind::none) {
        if (!map.value.members.empty()) work_.symbols.define_layout(value, map.value);
        return;
    }
    work_.symbols.define_size(value, map.value_bytes());
}

// .report MAP "TITLE" [by MEMBER... | total] [table] [sort COLUMN] [top N]
void DeclarationParser::report() {
    const AsmToken first = tokens_.peek();
    const MapDeclaration& map = known_map();
    Report made;
    made.map = map.name;
    made.title = text("the report's title in quotes");
    report_clauses(made, map);
    made.at = here(first);
    program().reports.push_back(std::move(made));
}

bool DeclarationParser::is_report_clause() const {
    return tokens_.is("table") || tokens_.is("sort") || tokens_.is("top");
}

void DeclarationParser::report_clauses(Report& report, const MapDeclaration& map) {
    if (tokens_.accept("by")) {
        do {
            const AsmToken member = tokens_.expect_word("a member of the key");
            if (!map.key.find(member.text))
                tokens_.fail(
                    member.span,
                    cat("the key of map '", map.name, "' has no member '", member.text, "'"),
                    did_you_mean(member.text, names_of(map.key.members)));
            report.by.emplace_back(member.text);
        } while (tokens_.peek().is_word() && !is_report_clause());
    } else if (tokens_.accept("total")) {
        report.is_total = true;
    }
    if (tokens_.accept("table")) report.is_table = true;
    if (tokens_.accept("sort")) {
        const AsmToken column = tokens_.expect_word("a column");
        const auto columns = columns_of(map.aggregation);
        if (!std::ranges::count(columns, column.text)) {
            std::string known;
            for (const std::string& one : columns) known += cat(known.empty() ? "" : ", ", one);
            tokens_.fail(column.span, cat("this report has no column '", column.text, "'"),
                         cat("it has ", known));
        }
        report.sort = column.text;
    }
    if (tokens_.accept("top"))
        report.top = static_cast<std::size_t>(number("a number of rows", 1, kMaxEntries));
}

}  // namespace gpufs
