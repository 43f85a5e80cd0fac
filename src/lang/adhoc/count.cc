#include <algorithm>

#include "lang/adhoc/adhoc.h"
#include "lang/adhoc/probe.h"

namespace gpufs {
namespace {

// Room for keys of counts, about 100 bytes each.
constexpr std::size_t kCountKeys = 16384;

Aggregation aggregation(Aggregation::Kind kind) {
    Aggregation how;
    how.kind = kind;
    return how;
}

Program count_hits(const AdhocQuestion& question, const std::string& map,
                   const std::vector<AdhocWord>& keys) {
    Diagnostics mistakes;
    const Layout key =
        key_layout(key_columns(keys, question.events), kMaxKeyBytes, question.sources, mistakes);
    check_filter(question.filter, question.events, mistakes);
    mistakes.throw_if_any();
    Program program = begin_program(question, map);
    add_report(program, map, question.title, key,
               question.max_keys ? question.max_keys : kCountKeys,
               aggregation(Aggregation::Kind::count), ValueType());
    for (const AdhocEvent& event : question.events) {
        AdhocProbe probe(event, program, &question.filter);
        probe.filter(question.filter);
        probe.add_to(map, probe.key(keys, key));
        probe.finish(event.format.name);
    }
    return program;
}

Program aggregate(const AdhocQuestion& question, const AdhocWord& field, Aggregation how,
                  const std::string& map, std::size_t entries) {
    Diagnostics mistakes;
    const SourceText& source = question.sources.at(field.at.source);
    bool is_signed = false;
    for (const AdhocEvent& event : question.events) {
        const auto value = find_value(event, field.text);
        if (value && value->is_number()) {
            is_signed = is_signed || value->type.is_signed;
            continue;
        }
        if (!value)
            mistakes.error(source, field.at.span,
                           cat(event.format.full_name(), " has no field '", field.text, "'"),
                           hint_for_value({&event}, field.text));
        else
            mistakes.error(source, field.at.span, cat("'", field.text, "' is no number"),
                           cat("to count by a text: gpufs count ", event.format.full_name(), " by ",
                               field.text));
        break;
    }
    const std::vector<AdhocWord> keys = with_process(question.keys, question.events);
    const Layout key =
        key_layout(key_columns(keys, question.events), kMaxKeyBytes, question.sources, mistakes);
    check_filter(question.filter, question.events, mistakes);
    mistakes.throw_if_any();
    Program program = begin_program(question, map);
    ValueType value;
    value.is_signed = is_signed;
    how.is_signed = is_signed;
    add_report(program, map, question.title, key, question.max_keys ? question.max_keys : entries,
               how, value);
    for (const AdhocEvent& event : question.events) {
        AdhocProbe probe(event, program, &question.filter);
        probe.filter(question.filter);
        const AdhocValue what = find_value(event, field.text).value();
        const ir::Temp number_of = probe.values().number(what);
        probe.add_to(map, probe.key(keys, key), number_of);
        probe.finish(event.format.name);
    }
    return program;
}

}  // namespace

Program make_count(const AdhocQuestion& question) {
    return count_hits(question, "count", with_process(question.keys, question.events));
}

Program make_stacks(const AdhocQuestion& question) {
    std::vector<AdhocWord> keys = question.keys;
    for (const char* stack : {"kstack", "ustack"})
        if (std::ranges::find(keys, stack, &AdhocWord::text) == keys.end())
            keys.push_back({stack, question.events.front().target.at});
    return count_hits(question, "stacks_of", with_process(std::move(keys), question.events));
}

Program make_hist(const AdhocQuestion& question, const AdhocWord& field, const Aggregation& how) {
    return aggregate(question, field, how, "hist", kHistogramEntries);
}

Program make_stats(const AdhocQuestion& question, const AdhocWord& field) {
    return aggregate(question, field, aggregation(Aggregation::Kind::stats), "stats", kCountKeys);
}

}  // namespace gpufs
