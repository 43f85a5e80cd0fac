#include "view/export/perfetto.h"

#include <array>

#include "base/text.h"

namespace gpufs {
namespace {

// The numbers of fields, by message (protos/perfetto/trace of Perfetto).
namespace trace {
constexpr unsigned kPacket = 1;
}
namespace packet {
constexpr unsigned kFtraceEvents = 1, kClockSnapshot = 6, kTimestamp = 8, kSequence = 10,
                   kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13, kSystemInfo = 45,
                   kTimestampClock = 58, kDefaults = 59, kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace clock_snapshot {
constexpr unsigned kClocks = 1, kPrimary = 2, kId = 1, kTime = 2;
}
namespace system_info {
constexpr unsigned kUtsname = 1, kSysname = 1, kRelease = 3, kMachine = 4;
}
namespace descriptor {
constexpr unsigned kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8,
                   kChildOrdering = 11, kRank = 12;
constexpr unsigned kProcessPid = 1, kProcessName = 6, kThreadPid = 1, kThreadTid = 2,
                   kThreadName = 5, kUnitName = 6;
constexpr std::uint64_t kExplicit = 3;
}  // namespace descriptor
namespace track_event {
constexpr unsigned kCategoryNumbers = 3, kAnnotations = 4, kType = 9, kNameNumber = 10, kTrack = 11,
                   kCategories = 22, kName = 23, kCounterValue = 30, kFlows = 47, kEndingFlows = 48;
}
namespace interned {
constexpr unsigned kCategories = 1, kNames = 2, kArgumentNames = 3, kNumber = 1, kText = 2;
}
namespace annotation {
constexpr unsigned kNameNumber = 1, kUnsigned = 3, kSigned = 4, kText = 6, kAddress = 7, kName = 10;
}
namespace bundle_fields {
constexpr unsigned kCpu = 1, kLost = 3, kCompactSched = 4;
constexpr unsigned kSwitchTimes = 1, kPrevStates = 2, kNextPids = 3, kNextPrios = 4, kComms = 5,
                   kNextComms = 6, kWakeupTimes = 7, kWokenPids = 8, kTargetCpus = 9,
                   kWokenPrios = 10, kWokenComms = 11, kWakeupFlags = 12;
}  // namespace bundle_fields

// Any number; there is one writer.
constexpr std::uint64_t kSequence = 1;
constexpr std::uint64_t kMonotonic = 3, kMonotonicRaw = 5, kBoottime = 6;
// Tracks of processes are numbered behind all others.
constexpr std::uint64_t kProcessTracks = std::uint64_t{1} << 32;

// 0: none of those that the format knows by number.
std::uint64_t clock_number(std::string_view clock) {
    if (clock == "mono") return kMonotonic;
    if (clock == "mono_raw") return kMonotonicRaw;
    return clock == "boot" ? kBoottime : 0;
}

}  // namespace

InternedTexts::Found InternedTexts::find(std::string_view text) {
    constexpr std::size_t kMost = 4096;
    if (const auto it = numbers_.find(text); it != numbers_.end()) return {it->second, false};
    if (numbers_.size() == kMost) return {};
    const std::uint64_t number = numbers_.size() + 1;
    numbers_.emplace(text, number);
    return {number, true};
}

std::size_t PerfettoWriter::open_packet() {
    const std::size_t opened = out_.open(trace::kPacket);
    out_.number(packet::kSequence, kSequence);
    return opened;
}

void PerfettoWriter::close_packet(std::size_t opened) {
    out_.close(opened);
    flush_if_full();
}

void PerfettoWriter::flush_if_full() {
    constexpr std::size_t kFull = 64 << 10;
    if (out_.written().size() < kFull) return;
    write_(out_.written());
    out_.clear();
}

void PerfettoWriter::start(const TimelineFacts& facts, std::uint64_t time) {
    write_clock(facts.clock, time);
    write_machine(facts.uname);
}

// Packets without a clock are on CLOCK_BOOTTIME, those of the scheduler always are. For times on
// another clock a snapshot is needed that has both; a recording does not say how they differ.
void PerfettoWriter::write_clock(std::string_view clock, std::uint64_t time) {
    const std::size_t opened = open_packet();
    out_.number(packet::kSequenceFlags, packet::kStateCleared);
    const std::uint64_t own = clock_number(clock);
    if (own != 0 && own != kBoottime) {
        const std::size_t defaults = out_.open(packet::kDefaults);
        out_.number(packet::kTimestampClock, own);
        out_.close(defaults);
        const std::size_t snapshot = out_.open(packet::kClockSnapshot);
        for (const std::uint64_t one : {own, kBoottime}) {
            const std::size_t entry = out_.open(clock_snapshot::kClocks);
            out_.number(clock_snapshot::kId, one);
            out_.number(clock_snapshot::kTime, time);
            out_.close(entry);
        }
        out_.number(clock_snapshot::kPrimary, own);
        out_.close(snapshot);
    }
    close_packet(opened);
}

// Of "Linux host 6.12.41 x86_64".
void PerfettoWriter::write_machine(std::string_view uname) {
    const std::vector<std::string> words = split(uname, ' ');
    if (words.size() < 3) return;
    const std::size_t opened = open_packet();
    const std::size_t info = out_.open(packet::kSystemInfo);
    const std::size_t names = out_.open(system_info::kUtsname);
    out_.text(system_info::kSysname, words[0]);
    out_.text(system_info::kRelease, words[2]);
    if (words.size() > 3) out_.text(system_info::kMachine, words[3]);
    out_.close(names);
    out_.close(info);
    close_packet(opened);
}

void PerfettoWriter::add_process(const Track& thread) {
    if (!processes_.insert(thread.pid).second) return;
    const std::size_t opened = open_packet();
    const std::size_t track = out_.open(packet::kTrackDescriptor);
    out_.number(descriptor::kUuid, kProcessTracks + static_cast<unsigned>(thread.pid));
    const std::size_t process = out_.open(descriptor::kProcess);
    out_.signed_number(descriptor::kProcessPid, thread.pid);
    if (thread.pid == thread.tid) out_.text(descriptor::kProcessName, thread.name);
    out_.close(process);
    out_.close(track);
    close_packet(opened);
}

void PerfettoWriter::add_track(const Track& track) {
    if (track.kind == Track::Kind::task) add_process(track);
    const std::size_t opened = open_packet();
    const std::size_t fields = out_.open(packet::kTrackDescriptor);
    out_.number(descriptor::kUuid, track.id);
    if (track.kind == Track::Kind::task) {
        out_.number(descriptor::kParent, kProcessTracks + static_cast<unsigned>(track.pid));
        const std::size_t thread = out_.open(descriptor::kThread);
        out_.signed_number(descriptor::kThreadPid, track.pid);
        out_.signed_number(descriptor::kThreadTid, track.tid);
        out_.text(descriptor::kThreadName, track.name);
        out_.close(thread);
    } else {
        out_.text(descriptor::kName, track.name);
        if (track.parent != 0) out_.number(descriptor::kParent, track.parent);
        out_.number(descriptor::kRank, track.id);
    }
    if (track.kind == Track::Kind::group)
        out_.number(descriptor::kChildOrdering, descriptor::kExplicit);
    if (track.kind == Track::Kind::counter) {
        const std::size_t counter = out_.open(descriptor::kCounter);
        out_.text(descriptor::kUnitName, track.unit);
        out_.close(counter);
    }
    out_.close(fields);
    close_packet(opened);
}

// Returns the text's number, which the packet tells if it is new; 0 where the text is to be
// written.
std::uint64_t PerfettoWriter::intern(unsigned field, InternedTexts& texts, std::string_view text) {
    const InternedTexts::Found found = texts.find(text);
    if (!found.is_new) return found.number;
    const std::size_t entry = interned_.open(field);
    interned_.number(interned::kNumber, found.number);
    interned_.text(interned::kText, text);
    interned_.close(entry);
    return found.number;
}

void PerfettoWriter::write_arguments(std::span<const Argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Argument& one = arguments[i];
        const std::size_t entry = out_.open(track_event::kAnnotations);
        if (arguments_[i] != 0)
            out_.number(annotation::kNameNumber, arguments_[i]);
        else
            out_.text(annotation::kName, one.name);
        switch (one.kind) {
            case Argument::Kind::unsigned_number:
                out_.number(annotation::kUnsigned, one.number);
                break;
            case Argument::Kind::signed_number:
                out_.number(annotation::kSigned, one.number);
                break;
            case Argument::Kind::address:
                out_.number(annotation::kAddress, one.number);
                break;
            case Argument::Kind::text:
                out_.text(annotation::kText, one.text);
                break;
        }
        out_.close(entry);
    }
}

void PerfettoWriter::write_event(Type type, const Happening& what) {
    interned_.clear();
    arguments_.clear();
    std::uint64_t name = 0, category = 0;
    if (!what.name.empty()) name = intern(interned::kNames, names_, what.name);
    if (!what.category.empty())
        category = intern(interned::kCategories, categories_, what.category);
    for (const Argument& one : what.arguments)
        arguments_.push_back(intern(interned::kArgumentNames, argument_names_, one.name));

    const std::size_t opened = open_packet();
    out_.number(packet::kSequenceFlags, packet::kNeedsState);
    out_.number(packet::kTimestamp, what.time);
    if (!interned_.written().empty()) out_.bytes(packet::kInternedData, interned_.written());
    const std::size_t event = out_.open(packet::kTrackEvent);
    out_.number(track_event::kType, static_cast<std::uint64_t>(type));
    out_.number(track_event::kTrack, what.track);
    if (name != 0)
        out_.number(track_event::kNameNumber, name);
    else if (!what.name.empty())
        out_.text(track_event::kName, what.name);
    if (category != 0)
        out_.number(track_event::kCategoryNumbers, category);
    else if (!what.category.empty())
        out_.text(track_event::kCategories, what.category);
    write_arguments(what.arguments);
    if (what.flow != 0)
        out_.fixed64(what.is_flow_end ? track_event::kEndingFlows : track_event::kFlows, what.flow);
    out_.close(event);
    close_packet(opened);
}

void PerfettoWriter::begin(const Happening& slice) {
    write_event(Type::begin, slice);
}

void PerfettoWriter::end(std::uint32_t track, std::uint64_t time,
                         std::span<const Argument> arguments) {
    Happening what;
    what.track = track;
    what.time = time;
    what.arguments = arguments;
    write_event(Type::end, what);
}

void PerfettoWriter::instant(const Happening& instant) {
    write_event(Type::instant, instant);
}

void PerfettoWriter::count(std::uint32_t track, std::uint64_t time, std::int64_t value) {
    const std::size_t opened = open_packet();
    out_.number(packet::kSequenceFlags, packet::kNeedsState);
    out_.number(packet::kTimestamp, time);
    const std::size_t event = out_.open(packet::kTrackEvent);
    out_.number(track_event::kType, static_cast<std::uint64_t>(Type::counter));
    out_.number(track_event::kTrack, track);
    out_.signed_number(track_event::kCounterValue, value);
    out_.close(event);
    close_packet(opened);
}

PerfettoWriter::Bundle& PerfettoWriter::bundle_of(int cpu) {
    constexpr std::size_t kMost = 4096;
    Bundle& bundle = bundles_[cpu];
    if (bundle.count == kMost) flush_bundle(cpu, bundle);
    ++bundle.count;
    return bundle;
}

std::uint64_t PerfettoWriter::comm_number(Bundle& bundle, std::string_view comm) {
    if (const auto it = bundle.comms.find(comm); it != bundle.comms.end()) return it->second;
    const std::uint64_t number = bundle.comm_order.size();
    bundle.comms.emplace(comm, number);
    bundle.comm_order.emplace_back(comm);
    return number;
}

// Times are differences to the one before, of the first to 0.
void PerfettoWriter::switch_task(const TaskSwitch& change) {
    Bundle& bundle = bundle_of(change.cpu);
    append_varint(bundle.switch_times, change.time - bundle.last_switch);
    bundle.last_switch = change.time;
    append_signed_varint(bundle.prev_states, change.prev_state);
    append_signed_varint(bundle.next_pids, change.next_pid);
    append_signed_varint(bundle.next_prios, change.next_prio);
    append_varint(bundle.next_comms, comm_number(bundle, change.next_comm));
}

void PerfettoWriter::wake(const Wakeup& wakeup) {
    Bundle& bundle = bundle_of(wakeup.cpu);
    append_varint(bundle.wakeup_times, wakeup.time - bundle.last_wakeup);
    bundle.last_wakeup = wakeup.time;
    append_signed_varint(bundle.woken_pids, wakeup.pid);
    append_signed_varint(bundle.target_cpus, wakeup.target_cpu);
    append_signed_varint(bundle.woken_prios, wakeup.prio);
    append_varint(bundle.woken_comms, comm_number(bundle, wakeup.comm));
    append_varint(bundle.flags, wakeup.flags);
}

void PerfettoWriter::flush_bundle(int cpu, Bundle& bundle) {
    using namespace bundle_fields;
    const std::size_t opened = open_packet();
    const std::size_t events = out_.open(packet::kFtraceEvents);
    out_.number(kCpu, static_cast<unsigned>(cpu));
    if (bundle.has_lost) out_.number(kLost, 1);
    const std::size_t sched = out_.open(kCompactSched);
    const std::pair<unsigned, const std::string*> columns[] = {
        {kSwitchTimes, &bundle.switch_times}, {kPrevStates, &bundle.prev_states},
        {kNextPids, &bundle.next_pids},       {kNextPrios, &bundle.next_prios},
        {kNextComms, &bundle.next_comms},     {kWakeupTimes, &bundle.wakeup_times},
        {kWokenPids, &bundle.woken_pids},     {kTargetCpus, &bundle.target_cpus},
        {kWokenPrios, &bundle.woken_prios},   {kWokenComms, &bundle.woken_comms},
        {kWakeupFlags, &bundle.flags}};
    for (const std::string& comm : bundle.comm_order) out_.text(kComms, comm);
    for (const auto& [field, column] : columns)
        if (!column->empty()) out_.bytes(field, *column);
    out_.close(sched);
    out_.close(events);
    close_packet(opened);
    bundle = {};
}

// What was lost is said on the CPU's track, too, by who calls this.
void PerfettoWriter::lose(const Gap& gap) {
    const auto it = bundles_.find(gap.cpu);
    if (it != bundles_.end() && it->second.count != 0) flush_bundle(gap.cpu, it->second);
    bundles_[gap.cpu].has_lost = true;
}

void PerfettoWriter::flush() {
    for (auto& [cpu, bundle] : bundles_)
        if (bundle.count != 0) flush_bundle(cpu, bundle);
    write_(out_.written());
    out_.clear();
}

}  // namespace gpufs
