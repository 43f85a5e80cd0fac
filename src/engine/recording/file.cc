#include "engine/recording/file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/read_at.h"
#include "base/sorted.h"
#include "engine/recording/dat_recording.h"
#include "engine/recording/open_recording.h"
#include "engine/recording/perf_recording.h"
#include "engine/recording/text_recording.h"
#include "engine/trace/by_event_id.h"
#include "lang/event/open_events.h"
#include "lang/event/task_naming.h"
#include "lang/perf_data/header.h"
#include "lang/trace_dat/header.h"
#include "lang/trace_text/line.h"

namespace gpufs {
namespace {

// Enough to tell formats apart: the heading of a text has some lines.
constexpr std::size_t kLook = 16 << 10;
// How many records of interrupts are looked at between an event and its stack.
constexpr std::size_t kMostBetween = 1000;

std::unique_ptr<RecordSource> open_by_content(const std::string& path) {
    Fd file = open_recording(path);
    std::string begin(kLook, '\0');
    begin.resize(read_at(file.get(), 0, std::as_writable_bytes(std::span(begin)), path));
    if (perf_data::begins_as_perf_data(begin)) return open_perf_recording(std::move(file), path);
    if (!begin.starts_with(trace_dat::kMagic) && begins_as_trace_text(begin))
        return open_text_recording(std::move(file), path);
    return open_dat_recording(std::move(file), path);
}

}  // namespace

class TraceFile::NamesInRecords {
public:
    explicit NamesInRecords(TraceContext& context) : context_(context) {}

    void learn(const TraceRecord& record) {
        if (renamed_) learn(renamed_->first, renamed_->second);
        renamed_.reset();
        for (const TaskNaming& naming : namings_of(record.id())) {
            const int tid = static_cast<int>(naming.tid(record.bytes));
            const std::string_view comm = naming.comm(record.bytes);
            if (naming.is_after())
                renamed_.emplace(tid, comm);
            else
                learn(tid, comm);
        }
    }

    // As before the first record.
    void forget() {
        for (const auto& [tid, comm] : learned_)
            if (context_.tasks.comm(tid) == comm) context_.tasks.remove(tid);
        learned_.clear();
        renamed_.reset();
    }

private:
    const std::vector<TaskNaming>& namings_of(int id) {
        return namings_.get(id, [this](int one) {
            const TraceEvent* const event = context_.events.find(one);
            return event ? TaskNaming::of(event->format) : std::vector<TaskNaming>();
        });
    }

    void learn(int tid, std::string_view comm) {
        if (tid <= 0) return;
        TaskNames& tasks = context_.tasks;
        if (tasks.knows(tid)) {
            const std::string_view known = tasks.comm(tid);
            if (!is_learned(tid, known) || known == comm) return;
        }
        tasks.add(tid, comm);
        learned_[tid] = tasks.comm(tid);
    }
    bool is_learned(int tid, std::string_view comm) const {
        const auto last = learned_.find(tid);
        return last != learned_.end() && last->second == comm;
    }

    TraceContext& context_;
    ByEventId<std::vector<TaskNaming>> namings_;
    // The names that records told of tasks. The file may tell another one later, which stays.
    std::unordered_map<int, std::string_view> learned_;
    std::optional<std::pair<int, std::string>> renamed_;  // by the last record
};

TraceFile::TraceFile(const std::string& path) : TraceFile(open_by_content(path)) {}

TraceFile::TraceFile(std::unique_ptr<RecordSource> recording)
    : recording_(std::move(recording)),
      names_(std::make_unique<NamesInRecords>(recording_->context())) {}

TraceFile::~TraceFile() = default;

TraceContext& TraceFile::context() {
    return recording_->context();
}

void TraceFile::rewind(const std::vector<unsigned>& cpus, std::uint64_t from) {
    names_->forget();
    recording_->rewind(cpus, from);
}

const TraceRecord* TraceFile::next() {
    const TraceRecord* const found = recording_->next();
    if (found) names_->learn(*found);
    return found;
}

std::uint64_t TraceFile::first_time() {
    rewind();
    const TraceRecord* const first = next();
    const std::uint64_t time = first ? first->timestamp : 0;
    rewind();
    return time;
}

bool TraceFile::is_stack(int id) {
    return are_stacks_.get(id, [this](int one) {
        const TraceEvent* const event = context().events.find(one);
        return event && stack_field(event->format).field;
    });
}

const TraceRecord* TraceFile::take_stack(const CommonFields& event) {
    OpenEvents<bool> open;
    open.open(event, true);
    for (std::size_t n = 0; n < kMostBetween; ++n) {
        const TraceRecord* const behind = recording_->peek_behind(n);
        if (!behind || !behind->lost_before.is_zero()) return nullptr;
        const CommonFields common = common_fields(behind->bytes);
        if (!is_stack(behind->id()))
            open.open(common, false);
        else if (const bool* is_own = open.find(common); is_own && *is_own)
            return recording_->take_behind(n);
        if (!open.has(true)) return nullptr;
    }
    return nullptr;
}

bool TraceFile::has_fixed_context() const {
    return recording_->has_fixed_context();
}

TraceFile::Progress TraceFile::progress() const {
    return recording_->progress();
}

const std::vector<TraceFile::Buffer>& TraceFile::buffers() const {
    return recording_->buffers();
}

const TraceFile::Buffer& TraceFile::buffer_of(const TraceRecord& record) const {
    return buffers()[recording_->buffer_of(record)];
}

std::vector<int> TraceFile::cpus() const {
    std::vector<int> cpus;
    for (const Buffer& buffer : buffers())
        cpus.insert(cpus.end(), buffer.cpus.begin(), buffer.cpus.end());
    sort_unique(cpus);
    return cpus;
}

const TraceFile::Facts& TraceFile::facts() const {
    return recording_->facts();
}

// Records that are overwritten are told in front of the next one, not always how many they were. In
// a recording of the last records, which are overwritten as they should, they are not told. Those
// that a full buffer rejects, or a full disk, are counted only.
Loss TraceFile::lost_in(std::size_t stream, const Loss& told) const {
    const auto counts = recording_->counts_of(stream);
    if (!counts || !damage().empty()) return told;
    const std::uint64_t counted =
        counts->rejected() + counts->unwritten + (told.is_zero() ? 0 : counts->overrun);
    return counted < told.least ? told : Loss::exactly(counted);
}

LossLedger TraceFile::damage_losses() const {
    return {{"damaged places in the recording", Loss::exactly(damage().size())}};
}

std::vector<std::string> TraceFile::damage() const {
    return recording_->damage();
}

std::vector<std::string> TraceFile::notes() const {
    return recording_->notes();
}

}  // namespace gpufs
