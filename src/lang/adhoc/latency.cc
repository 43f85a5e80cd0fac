#include <algorithm>
#include <cerrno>

#include "base/units.h"
#include "lang/adhoc/adhoc.h"
#include "lang/adhoc/probe.h"
#include "lang/adhoc/told_value.h"
#include "lang/adhoc/value.h"
#include "lang/ir/aggregate.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

// Room for starts that wait for their end.
constexpr std::size_t kStarts = 65536;
// The stack has the keys twice, once in a record, and there what is only shown.
constexpr std::size_t kMaxPairBytes = 80, kMaxByBytes = 120, kMaxStackBytes = 448;

constexpr const char* kStartsRefused = "starts_refused";
constexpr const char* kReplaced = "replaced";
constexpr const char* kSlow = "slow";
constexpr const char* kSlowRing = "slow_ring";

// Happens in the thread's own code, or in a system call that it makes: never before the thread
// begins, never after it ended.
bool is_of_user_code(const AdhocEvent& event) {
    switch (probe_kind(event.target.kind).place) {
        case ProbeKind::Place::file:
            return true;
        case ProbeKind::Place::event:
            return event.format.system == "syscalls" || event.format.system == "raw_syscalls";
        case ProbeKind::Place::function:
        case ProbeKind::Place::sample:
        case ProbeKind::Place::own:
            return false;
    }
    return false;
}

class LatencyMaker {
public:
    LatencyMaker(const AdhocQuestion& question, const AdhocLatency& latency)
        : question_(question), latency_(latency) {
        for (const AdhocPair& pair : latency.pairs) {
            start_names_.push_back(pair.start);
            end_names_.push_back(pair.end);
        }
        const AdhocFilter& filter = question.filter;
        is_filtered_ = !filter.pids.empty() || filter.followed || filter.comm || filter.condition;
        filters_starts_ = std::ranges::all_of(
            latency.starts, [&](const AdhocEvent& event) { return suits(filter, event); });
        const auto is_of_thread = [&](const AdhocPair& pair) {
            return means_running_thread(latency.starts, pair.start) &&
                   means_running_thread(question.events, pair.end);
        };
        keeps_keys_ = latency.thread_exit && latency.pairs.size() == 1 &&
                      is_of_thread(latency.pairs.front()) &&
                      std::ranges::all_of(latency.starts, is_of_user_code) &&
                      std::ranges::all_of(question.events, is_of_user_code);
        is_in_one_thread_ = std::ranges::any_of(latency.pairs, is_of_thread);
    }

    Program make_tables() {
        begin();
        return std::move(program_);
    }

    Program make() {
        begin();
        for (const AdhocEvent& event : latency_.starts)
            if (is_among(question_.events, event))
                end_and_start_at(event);
            else
                start_at(event);
        for (const AdhocEvent& event : question_.events)
            if (!is_among(latency_.starts, event)) end_at(event);
        if (keeps_keys_) forget_at(*latency_.thread_exit);
        return std::move(program_);
    }

private:
    void begin() {
        check();
        program_ = begin_program(question_, kLatencyMap);
        declare();
    }

    void check() {
        Diagnostics mistakes;
        std::vector<KeyColumn> columns;
        for (const AdhocPair& pair : latency_.pairs)
            columns.push_back(
                {pair.start, {{pair.start, latency_.starts}, {pair.end, question_.events}}});
        key_ = key_layout(columns, kMaxPairBytes, question_.sources, mistakes);
        by_told_ = told_values(with_process(question_.keys, question_.events), mistakes);
        by_ = key_layout(columns_of(by_told_), kMaxByBytes, question_.sources, mistakes);
        if (latency_.over_ns) plan_lines(mistakes);
        check_user_stacks(mistakes);
        check_filter(question_.filter, filters_starts_ ? latency_.starts : question_.events,
                     mistakes);
        mistakes.throw_if_any();
        std::vector<ToldValue> of_start;
        for (const auto* told : {&by_told_, &line_told_})
            std::ranges::copy_if(*told, std::back_inserter(of_start), &ToldValue::is_of_start);
        saved_ = key_layout(columns_of(of_start), kMaxStackBytes, question_.sources, mistakes);
        for (const ToldValue& one : of_start) saved_fields_.push_back(one.field);
    }

    std::vector<ToldValue> told_values(const std::vector<AdhocWord>& names,
                                       Diagnostics& mistakes) const {
        std::vector<ToldValue> told;
        for (const AdhocWord& name : names) {
            std::optional<ToldValue> one = find_told_value(name, latency_.starts, question_.events);
            if (!one) {
                wrong_name(name, mistakes);
                continue;
            }
            if (one->is_of_start && is_user_stack(*one) && !names_process(told))
                told.push_back({{cat(kOfStart, kProcess), name.at}, {kProcess, name.at}, true});
            told.push_back(std::move(*one));
        }
        return told;
    }

    static bool is_user_stack(const ToldValue& told) { return told.field.text == "ustack"; }
    bool names_process(std::span<const ToldValue> told) const {
        return std::ranges::any_of(told, [&](const ToldValue& one) {
            const auto& events = one.is_of_start ? latency_.starts : question_.events;
            const auto value = find_value(events.front(), one.field.text);
            return value && value->type.kind == ValueType::Kind::process;
        });
    }

    // A key and a line have one process, to which the addresses of user stacks belong.
    void check_user_stacks(Diagnostics& mistakes) const {
        if (is_in_one_thread_) return;
        std::vector<ToldValue> stacks;
        for (const auto* told : {&by_told_, &line_told_})
            std::ranges::copy_if(*told, std::back_inserter(stacks), is_user_stack);
        for (const ToldValue& one : stacks) {
            if (one.is_of_start == stacks.front().is_of_start) continue;
            mistakes.error(question_.sources.at(one.name.at.source), one.name.at.span,
                           "the user stacks of both events cannot be told at once");
            return;
        }
    }

    void wrong_name(const AdhocWord& name, Diagnostics& mistakes) const {
        const AdhocEvent &start = latency_.starts.front(), &end = question_.events.front();
        mistakes.error(question_.sources.at(name.at.source), name.at.span,
                       cat("neither ", end.format.full_name(), " nor ", start.format.full_name(),
                           " has a field '", name.text, '\''),
                       hint_for_value({&end, &start}, name.text));
    }

    std::vector<KeyColumn> columns_of(std::span<const ToldValue> told) const {
        std::vector<KeyColumn> columns;
        for (const ToldValue& one : told)
            columns.push_back(
                {one.name, {{one.field, one.is_of_start ? latency_.starts : question_.events}}});
        return columns;
    }

    // The lines have the process, and what is shown besides the keys. Where both events are of one
    // thread, the process is that of the end; else that of the start.
    void plan_lines(Diagnostics& mistakes) {
        const SourceRef& at = question_.events.front().target.at;
        const auto is_new = [&](const AdhocWord& name) {
            return !key_.find(name.text) && !by_.find(name.text) &&
                   std::ranges::none_of(line_told_, [&](const ToldValue& one) {
                       return one.name.text == name.text;
                   });
        };
        for (const auto& [field, name] : {std::pair{"COMM", "comm"}, std::pair{"PID", "pid"}}) {
            ToldValue one{{name, at}, {field, at}, !is_in_one_thread_};
            if (one.is_of_start) one.name.text.insert(0, kOfStart);
            if (is_new(one.name)) line_told_.push_back(std::move(one));
        }
        for (ToldValue& one : told_values(latency_.shown, mistakes)) {
            const ToldValue process{{"pid", at}, {"PID", at}, false};
            const bool needs_process = !one.is_of_start && is_user_stack(one);
            if (needs_process && is_new(process.name))
                line_told_.insert(line_told_.begin(), process);
            if (is_new(one.name)) line_told_.push_back(std::move(one));
        }
        const std::size_t keys = key_.bytes + by_.bytes;
        lines_ = key_layout(columns_of(line_told_), kMaxStackBytes - 2 * keys - 4 * kWord,
                            question_.sources, mistakes);
    }

    void declare() {
        MapDeclaration starts;
        starts.name = kStartsMap;
        starts.type = BPF_MAP_TYPE_HASH;
        starts.key = key_;
        ValueType time;
        time.kind = ValueType::Kind::time;
        starts.value.add("value", time);
        for (const Member& member : saved_.members)
            add_member(starts.value, member.name, member.type);
        starts.max_entries = kStarts;
        starts.tally = "starts without an end";
        program_.maps.push_back(std::move(starts));
        declare_loss(program_, kStartsRefused, "starts that found no room");

        Aggregation how;
        how.kind = Aggregation::Kind::log2;
        ValueType value;
        value.unit = latency_.unit;
        add_report(program_, kLatencyMap, question_.title, by_,
                   question_.max_keys ? question_.max_keys : kHistogramEntries, how, value);
        declare_tally(kReplaced, "starts that a later one replaced");
        if (!is_filtered_) declare_tally(kUnmatchedMap, "ends without a start");
        if (latency_.over_ns) declare_slow();
    }

    void declare_tally(std::string name, std::string what) {
        MapDeclaration map;
        map.name = std::move(name);
        map.type = BPF_MAP_TYPE_PERCPU_ARRAY;
        map.aggregation.kind = Aggregation::Kind::count;
        map.max_entries = 1;
        map.tally = std::move(what);
        declare_aggregation(program_, std::move(map));
    }

    void declare_slow() {
        MapDeclaration ring;
        ring.name = kSlowRing;
        ring.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;  // every kernel has it
        program_.maps.push_back(std::move(ring));
        RecordLayout slow;
        slow.name = kSlow;
        slow.title = "SLOW";
        ValueType id;
        id.bytes = sizeof(std::uint32_t);
        add_member(slow.layout, "id", id);
        for (const Layout* part : {&key_, &by_, &lines_})
            for (const Member& member : part->members)
                if (!slow.layout.find(name_in_record(member)))
                    add_member(slow.layout, name_in_record(member), member.type);
        ValueType taken;
        taken.unit = latency_.unit;
        add_member(slow.layout, latency_.unit, taken);
        program_.records.push_back(std::move(slow));
    }

    ir::Temp starts(ir::Code& code) {
        return code.symbol(Relocation::to(Relocation::Kind::map, kStartsMap));
    }

    // The time of the start that has this key, 0 once it had its end; or null.
    ir::Temp find_start(ir::Code& code, ir::Slot key) {
        return code.call(BPF_FUNC_map_lookup_elem, {starts(code), code.address(key)});
    }

    static bool is_among(const std::vector<AdhocEvent>& events, const AdhocEvent& event) {
        return std::ranges::any_of(events, [&](const AdhocEvent& other) {
            return other.target.kind == event.target.kind &&
                   other.target.name == event.target.name &&
                   other.format.full_name() == event.format.full_name();
        });
    }

    void start_at(const AdhocEvent& event) {
        AdhocProbe probe(event, program_, filters_starts_ ? &question_.filter : nullptr);
        if (filters_starts_) probe.filter(question_.filter);
        append_start(probe, event);
        probe.finish("start");
    }

    void end_at(const AdhocEvent& event) {
        AdhocProbe probe(event, program_);
        append_end(probe, event, !is_filtered_);
        probe.finish("end");
    }

    // An event that is both ends a pair before it begins the next one, in one program: the kernel
    // runs those of one event in an order of its own. Where --key has the same fields of both, the
    // filter says which hits there are at all; else it is for starts, as elsewhere: a task's switch
    // to another one ends where another task runs.
    void end_and_start_at(const AdhocEvent& event) {
        const bool ends_all =
            filters_starts_ && !std::ranges::all_of(latency_.pairs, [](const AdhocPair& pair) {
                return pair.start.text == pair.end.text;
            });
        AdhocProbe probe(event, program_, ends_all ? nullptr : &question_.filter);
        if (!ends_all) probe.filter(question_.filter);
        append_end(probe, event, false);  // the first of all has no start
        if (ends_all) probe.filter(question_.filter);
        append_start(probe, event);
        probe.finish("end_and_start");
    }

    void append_start(AdhocProbe& probe, const AdhocEvent& event) {
        ir::Code& code = probe.code();
        const ir::Slot key = probe.key(start_names_, key_);
        const ir::Slot now = code.new_slot(kWord + saved_.bytes);
        append_padding(code, saved_, now, kWord);
        append_values(probe.values(), event, saved_fields_, saved_, now, kWord);
        code.store(now, code.call(BPF_FUNC_ktime_get_ns, {}), ir::kU64);
        const auto put = [&](int flags) {
            return code.call(BPF_FUNC_map_update_elem,
                             {starts(code), code.address(key), code.address(now), flags});
        };
        const ir::Label refused = code.new_label(), done = code.new_label();
        if (keeps_keys_) {
            const ir::Label is_new = code.new_label();
            const ir::Temp kept = find_start(code, key);
            code.branch(ir::Cmp::eq, ir::kU64, kept, 0, is_new);
            const ir::Temp before = code.load(kept, ir::kU64);
            for (std::size_t at = kWord; at < kWord + saved_.bytes; at += kWord)
                code.store(word_at(kept, at), code.load(word_at(now, at), ir::kU64), ir::kU64);
            code.store(kept, code.load(now, ir::kU64), ir::kU64);
            code.branch(ir::Cmp::eq, ir::kU64, before, 0, done);
            probe.add_to(kReplaced, probe.key({}, {}));
            code.jump(done);
            code.bind(is_new);
        }
        const ir::Temp first = put(BPF_NOEXIST);
        code.branch(ir::Cmp::eq, ir::kS32, first, 0, done);
        code.branch(ir::Cmp::ne, ir::kS32, first, -EEXIST, refused);
        code.branch(ir::Cmp::ne, ir::kS32, put(BPF_ANY), 0, refused);
        probe.add_to(kReplaced, probe.key({}, {}));
        code.jump(done);
        code.bind(refused);
        append_loss(code, kStartsRefused);
        code.bind(done);
    }

    void append_end(AdhocProbe& probe, const AdhocEvent& event, bool counts_unmatched) {
        ir::Code& code = probe.code();
        const ir::Slot key = probe.key(end_names_, key_);
        const ir::Label unmatched = code.new_label(), done = code.new_label();
        const ir::Temp start = find_start(code, key);
        code.branch(ir::Cmp::eq, ir::kU64, start, 0, unmatched);
        const ir::Temp began = code.load(start, ir::kS64);
        if (keeps_keys_) code.branch(ir::Cmp::eq, ir::kU64, began, 0, unmatched);
        const ir::Slot by = probe.new_key(by_);
        copy_saved(code, start, by_, by, by_);
        const ir::Slot record = code.new_slot(latency_.over_ns ? slow().bytes : kWord);
        if (latency_.over_ns) copy_saved(code, start, lines_, record, slow());
        if (keeps_keys_)
            for (std::size_t at = 0; at < kWord + saved_.bytes; at += kWord)
                code.store(word_at(start, at), 0, ir::kU64);
        const ir::Temp now = code.call(BPF_FUNC_ktime_get_ns, {});
        if (!keeps_keys_) code.call(BPF_FUNC_map_delete_elem, {starts(code), code.address(key)});
        if (!filters_starts_) probe.filter(question_.filter);
        const ir::Temp taken = code.new_temp(ir::kU64);
        code.assign(taken, code.compute(ir::Op::sub, ir::kU64, now, began));
        const std::uint64_t unit = nanoseconds_in(latency_.unit);
        store_own(probe, event, by_told_, by_, by, by_);
        const ir::Temp in_units =
            unit == 1 ? taken : code.compute(ir::Op::div, ir::kU64, taken, unit);
        probe.add_to(kLatencyMap, by, in_units);
        if (latency_.over_ns) {
            code.branch(ir::Cmp::lt, ir::kU64, taken, *latency_.over_ns, done);
            store_own(probe, event, line_told_, lines_, record, slow());
            send(probe, record, key, by, in_units);
        }
        code.jump(done);
        code.bind(unmatched);
        if (counts_unmatched) probe.add_to(kUnmatchedMap, probe.key({}, {}));
        code.bind(done);
    }

    // A start that has no end any more stays, and is counted.
    void forget_at(const AdhocEvent& event) {
        AdhocProbe probe(event, program_);
        ir::Code& code = probe.code();
        const ir::Slot key = probe.key(start_names_, key_);
        const ir::Temp start = find_start(code, key);
        const ir::Label done = code.new_label();
        code.branch(ir::Cmp::eq, ir::kU64, start, 0, done);
        code.branch(ir::Cmp::ne, ir::kU64, code.load(start, ir::kU64), 0, done);
        code.call(BPF_FUNC_map_delete_elem, {starts(code), code.address(key)});
        code.bind(done);
        probe.finish("thread_exit");
    }

    // The record's layout.
    const Layout& slow() const { return program_.records.front().layout; }

    static ir::Place word_at(const auto& base, std::size_t offset) {
        return {base, static_cast<std::int64_t>(offset)};
    }

    // Where a member of the keys or of the lines is in a layout.
    const Member& place_of(const Member& member, const Layout& layout) const {
        const bool is_record = latency_.over_ns && &layout == &slow();
        return *layout.find(is_record ? name_in_record(member) : member.name);
    }

    // Copies the part's members that a start saved.
    void copy_saved(ir::Code& code, ir::Temp start, const Layout& part, ir::Slot slot,
                    const Layout& layout) const {
        for (const Member& one : part.members)
            if (const Member* from = saved_.find(one.name))
                copy(code, start, kWord + from->offset, slot, place_of(one, layout));
    }

    // Reads the part's members that are the end's.
    void store_own(AdhocProbe& probe, const AdhocEvent& event, std::span<const ToldValue> told,
                   const Layout& part, ir::Slot slot, const Layout& layout) const {
        for (std::size_t i = 0; i < told.size(); ++i) {
            if (told[i].is_of_start) continue;
            const Member& to = place_of(part.members[i], layout);
            probe.values().store(find_value(event, told[i].field.text).value(), to.type, slot,
                                 to.offset);
        }
    }

    // Completes the record with the keys and the time.
    void send(AdhocProbe& probe, ir::Slot record, ir::Slot key, ir::Slot by, ir::Temp taken) {
        ir::Code& code = probe.code();
        // Padding is sent as well, and the verifier wants to know what is in it.
        append_padding(code, slow(), record);
        code.store(record, code.symbol(Relocation::to(Relocation::Kind::record_id, kSlow)),
                   ir::kU32);
        for (const Member& one : key_.members)
            copy(code, key, one.offset, record, place_of(one, slow()));
        for (const Member& one : by_.members)
            if (!key_.find(one.name)) copy(code, by, one.offset, record, place_of(one, slow()));
        code.store(word_at(record, slow().members.back().offset), taken, ir::kU64);
        code.call(
            BPF_FUNC_perf_event_output,
            {probe.context(), code.symbol(Relocation::to(Relocation::Kind::map, kSlowRing)),
             static_cast<std::uint64_t>(BPF_F_CURRENT_CPU), code.address(record), slow().bytes});
    }

    // A record begins with an `id` of its own.
    static std::string name_in_record(const Member& member) {
        return member.name == "id" ? "key.id" : member.name;
    }

    static void copy(ir::Code& code, const auto& from, std::size_t offset, ir::Slot slot,
                     const Member& to) {
        const auto bytes = static_cast<std::uint8_t>(std::min(kWord, to.type.bytes));
        for (std::size_t at = 0; at < to.type.bytes; at += bytes)
            code.store(word_at(slot, to.offset + at),
                       code.load(word_at(from, offset + at), {bytes, false}), {bytes, false});
    }

    const AdhocQuestion& question_;
    const AdhocLatency& latency_;
    std::vector<AdhocWord> start_names_, end_names_;
    std::vector<ToldValue> by_told_, line_told_;
    std::vector<AdhocWord> saved_fields_;  // at the start
    bool is_filtered_ = false, filters_starts_ = true;
    bool keeps_keys_ = false;  // of running threads, until they end
    bool is_in_one_thread_ = false;
    Layout key_, by_, lines_;
    Layout saved_;  // behind a start's time
    Program program_;
};

}  // namespace

std::uint64_t nanoseconds_in(std::string_view unit) {
    constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s"};
    return std::ranges::count(kUnits, unit) != 0 ? unit_size(unit) : 0;
}

Program make_latency(const AdhocQuestion& question, const AdhocLatency& latency) {
    return LatencyMaker(question, latency).make();
}

Program make_latency_tables(const AdhocQuestion& question, const AdhocLatency& latency) {
    return LatencyMaker(question, latency).make_tables();
}

}  // namespace gpufs
