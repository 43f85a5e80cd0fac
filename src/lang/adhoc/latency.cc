#include <algorithm>
#include <cerrno>

#include "base/units.h"
#include "lang/adhoc/adhoc.h"
#include "lang/adhoc/probe.h"
#include "lang/adhoc/value.h"
#include "lang/ir/aggregate.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

// Room for starts that wait for their end.
constexpr std::size_t kStarts = 65536;
// The stack has the keys twice, once in a record.
constexpr std::size_t kMaxPairBytes = 80, kMaxByBytes = 120;

constexpr const char* kStartMap = "starts";
constexpr const char* kStartsRefused = "starts_refused";
constexpr const char* kReplaced = "replaced";
constexpr const char* kUnmatched = "unmatched";
constexpr const char* kLatency = "latency";
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

bool is_running_thread(const AdhocEvent& event, const AdhocWord& word) {
    const auto value = find_value(event, word.text);
    return value && value->source == AdhocValue::Source::tid;
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
        is_filtered_ = !filter.pids.empty() || filter.comm || filter.condition;
        filters_starts_ = std::ranges::all_of(
            latency.starts, [&](const AdhocEvent& event) { return suits(filter, event); });
        const auto is_by_thread = [](std::span<const AdhocEvent> events, const AdhocWord& key) {
            return std::ranges::all_of(events, [&](const AdhocEvent& event) {
                return is_of_user_code(event) && is_running_thread(event, key);
            });
        };
        keeps_keys_ = latency.thread_exit && latency.pairs.size() == 1 &&
                      is_by_thread(latency.starts, latency.pairs.front().start) &&
                      is_by_thread(question.events, latency.pairs.front().end);
    }

    Program make() {
        by_names_ = with_process(question_.keys, question_.events);
        check();
        program_ = begin_program(question_, kLatency);
        declare();
        for (const AdhocEvent& event : latency_.starts) start_at(event);
        for (const AdhocEvent& event : question_.events) end_at(event);
        if (keeps_keys_) forget_at(*latency_.thread_exit);
        return std::move(program_);
    }

private:
    void check() {
        Diagnostics mistakes;
        std::vector<KeyColumn> columns;
        for (const AdhocPair& pair : latency_.pairs)
            columns.push_back({{pair.start, latency_.starts}, {pair.end, question_.events}});
        key_ = key_layout(columns, kMaxPairBytes, question_.sources, mistakes);
        by_ = key_layout(key_columns(by_names_, question_.events), kMaxByBytes, question_.sources,
                         mistakes);
        check_filter(question_.filter, filters_starts_ ? latency_.starts : question_.events,
                     mistakes);
        mistakes.throw_if_any();
    }

    void declare() {
        MapDeclaration starts;
        starts.name = kStartMap;
        starts.type = BPF_MAP_TYPE_HASH;
        starts.key = key_;
        ValueType time;
        time.kind = ValueType::Kind::time;
        starts.value.add("value", time);
        starts.max_entries = kStarts;
        starts.tally = "starts without an end";
        program_.maps.push_back(std::move(starts));
        declare_loss(program_, kStartsRefused, "starts that found no room");

        Aggregation how;
        how.kind = Aggregation::Kind::log2;
        ValueType value;
        value.unit = latency_.unit;
        add_report(program_, kLatency, question_.title, by_,
                   question_.max_keys ? question_.max_keys : kHistogramEntries, how, value);
        declare_tally(kReplaced, "starts that a later one replaced");
        if (!is_filtered_) declare_tally(kUnmatched, "ends without a start");
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
        for (const Layout* part : {&key_, &by_})
            for (const Member& member : part->members)
                if (!slow.layout.find(name_in_record(member)))
                    add_member(slow.layout, name_in_record(member), member.type);
        ValueType taken;
        taken.unit = latency_.unit;
        add_member(slow.layout, latency_.unit, taken);
        program_.records.push_back(std::move(slow));
    }

    ir::Temp starts(ir::Code& code) {
        return code.symbol(Relocation::to(Relocation::Kind::map, kStartMap));
    }

    // The time of the start that has this key, 0 once it had its end; or null.
    ir::Temp find_start(ir::Code& code, ir::Slot key) {
        return code.call(BPF_FUNC_map_lookup_elem, {starts(code), code.address(key)});
    }

    void start_at(const AdhocEvent& event) {
        AdhocProbe probe(event, program_);
        ir::Code& code = probe.code();
        if (filters_starts_) probe.filter(question_.filter);
        const ir::Slot key = probe.key(start_names_, key_);
        const ir::Slot now = code.new_slot(8);
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
        probe.finish("start");
    }

    void end_at(const AdhocEvent& event) {
        AdhocProbe probe(event, program_);
        ir::Code& code = probe.code();
        const ir::Slot key = probe.key(end_names_, key_);
        const ir::Label unmatched = code.new_label(), done = code.new_label();
        const ir::Temp start = find_start(code, key);
        code.branch(ir::Cmp::eq, ir::kU64, start, 0, unmatched);
        const ir::Temp began = code.load(start, ir::kS64);
        if (keeps_keys_) code.branch(ir::Cmp::eq, ir::kU64, began, 0, unmatched);
        if (keeps_keys_) code.store(start, 0, ir::kU64);
        const ir::Temp now = code.call(BPF_FUNC_ktime_get_ns, {});
        if (!keeps_keys_) code.call(BPF_FUNC_map_delete_elem, {starts(code), code.address(key)});
        if (!filters_starts_) probe.filter(question_.filter);
        const ir::Temp taken = code.new_temp(ir::kU64);
        code.assign(taken, code.compute(ir::Op::sub, ir::kU64, now, began));
        const std::uint64_t unit = nanoseconds_in(latency_.unit);
        const ir::Slot by = probe.key(by_names_, by_);
        const ir::Temp in_units =
            unit == 1 ? taken : code.compute(ir::Op::div, ir::kU64, taken, unit);
        probe.add_to(kLatency, by, in_units);
        if (latency_.over_ns) {
            code.branch(ir::Cmp::lt, ir::kU64, taken, *latency_.over_ns, done);
            send(probe, key, by, in_units);
        }
        code.jump(done);
        code.bind(unmatched);
        if (!is_filtered_) probe.add_to(kUnmatched, probe.key({}, {}));
        code.bind(done);
        probe.finish("end");
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

    void send(AdhocProbe& probe, ir::Slot key, ir::Slot by, ir::Temp taken) {
        ir::Code& code = probe.code();
        const RecordLayout& slow = program_.records.front();
        const ir::Slot record = code.new_slot(slow.layout.bytes);
        std::size_t end = 0;
        for (const Member& to : slow.layout.members) {
            // Padding is sent as well, and the verifier wants to know what is in it.
            for (; end < to.offset; ++end)
                code.store({record, static_cast<std::int64_t>(end)}, 0, ir::kU8);
            end = to.offset + to.type.bytes;
            const auto at = static_cast<std::int64_t>(to.offset);
            if (to.offset == 0)
                code.store({record, at},
                           code.symbol(Relocation::to(Relocation::Kind::record_id, kSlow)),
                           ir::kU32);
            else if (const Member* from = find_for(key_, to))
                copy(code, key, *from, record, to);
            else if (const Member* other = find_for(by_, to))
                copy(code, by, *other, record, to);
            else
                code.store({record, at}, taken, ir::kU64);
        }
        code.call(BPF_FUNC_perf_event_output,
                  {probe.context(), code.symbol(Relocation::to(Relocation::Kind::map, kSlowRing)),
                   static_cast<std::uint64_t>(BPF_F_CURRENT_CPU), code.address(record),
                   slow.layout.bytes});
    }

    // A record begins with an `id` of its own.
    static std::string name_in_record(const Member& member) {
        return member.name == "id" ? "key.id" : member.name;
    }
    static const Member* find_for(const Layout& layout, const Member& in_record) {
        const auto it = std::ranges::find(layout.members, in_record.name, name_in_record);
        return it == layout.members.end() ? nullptr : &*it;
    }

    static void copy(ir::Code& code, ir::Slot from_slot, const Member& from, ir::Slot to_slot,
                     const Member& to) {
        for (std::size_t at = 0; at < to.type.bytes;) {
            const auto bytes = static_cast<std::uint8_t>(std::min<std::size_t>(8, to.type.bytes));
            const ir::Type type{bytes, false};
            const ir::Temp word =
                code.load({from_slot, static_cast<std::int64_t>(from.offset + at)}, type);
            code.store({to_slot, static_cast<std::int64_t>(to.offset + at)}, word, type);
            at += bytes;
        }
    }

    const AdhocQuestion& question_;
    const AdhocLatency& latency_;
    std::vector<AdhocWord> start_names_, end_names_, by_names_;
    bool is_filtered_ = false, filters_starts_ = true;
    bool keeps_keys_ = false;  // of running threads, until they end
    Layout key_, by_;
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

}  // namespace gpufs
