#include "engine/recording/perf_recording.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "base/bytes.h"
#include "base/error.h"
#include "base/kernel_abi.h"
#include "engine/recording/made_record.h"
#include "engine/recording/perf_index.h"
#include "engine/recording/perf_queue.h"

namespace gpufs {
namespace {

using perf_data::Bytes;
using perf_data::Sample;
using perf_data::Stamp;

// Where a record of a stack has its frames, and a made event its fields.
constexpr std::size_t kStackFrames = 16, kMadeRecord = 24;

class PerfRecording : public RecordSource {
public:
    PerfRecording(Fd file, const std::string& path)
        : file_(std::move(file)), index_(file_.get(), path), records_(file_.get(), index_.data) {
        RecordingBuffer& buffer = buffers_.emplace_back();
        buffer.clock = index_.facts.clock;
        buffer.bytes = records_.bytes();
        if (index_.facts.cpus == 0) count_cpus();
        for (std::size_t cpu = 0; cpu < index_.facts.cpus; ++cpu)
            buffer.cpus.push_back(static_cast<int>(cpu));
    }

    TraceContext& context() override { return index_.context; }
    const RecordingFacts& facts() const override { return index_.facts; }
    const std::vector<RecordingBuffer>& buffers() const override { return buffers_; }
    std::size_t buffer_of(const TraceRecord&) const override { return 0; }

    const TraceRecord* next() override {
        if (const TraceRecord* const stack = peek_behind(0)) {
            record_ = *stack;
            ++next_stack_;
            return &record_;
        }
        while (read_one())
            if (has_record_) return &record_;
        return nullptr;
    }
    const TraceRecord* peek_behind(std::size_t n) override {
        if (n >= stacks_.size() - next_stack_) return nullptr;
        behind_ = record_;
        behind_.lost_before = {};
        behind_.bytes = stacks_[next_stack_ + n];
        return &behind_;
    }
    const TraceRecord* take_behind(std::size_t n) override {
        // Moves it in front of the others, which keep their order.
        const auto first = stacks_.begin() + static_cast<std::ptrdiff_t>(next_stack_);
        std::rotate(first, first + static_cast<std::ptrdiff_t>(n),
                    first + static_cast<std::ptrdiff_t>(n) + 1);
        const TraceRecord* const taken = peek_behind(0);
        ++next_stack_;
        return taken;
    }

    void rewind(const std::vector<unsigned>& cpus, std::uint64_t) override {
        cpus_ = WantedCpus(cpus);
        records_.rewind();
        index_.maps.clear();
        queue_ = {};
        stacks_.clear();
        next_stack_ = 0;
        lost_.clear();
        unread_ = 0;
        has_ended_ = false;
    }

    RecordingProgress progress() const override {
        return {records_.bytes_read(), records_.bytes()};
    }
    std::vector<std::string> damage() const override {
        std::vector<std::string> all = index_.damage;
        all.insert(all.end(), records_.notes().begin(), records_.notes().end());
        if (unread_ > 0) all.push_back(cat(unread_, " samples cannot be read"));
        if (!has_ended_) return all;
        for (const auto& [cpu, lost] : lost_)
            if (!lost.is_zero() && cpus_.has(cpu)) all.push_back(lost_behind_last(cpu, lost));
        return all;
    }
    std::vector<std::string> notes() const override {
        std::vector<std::string> all = index_.notes;
        if (std::string note = index_.maps.note(); !note.empty()) all.push_back(std::move(note));
        return all;
    }

private:
    void count_cpus();
    bool read_one();
    bool fill();
    void add(Bytes record);
    void take(Bytes record);
    void take_sample(Bytes body);
    void take_stacks(const Sample& sample);
    void add_stack(std::uint16_t id, const Sample& sample, std::vector<std::uint64_t>& frames);

    Fd file_;
    PerfIndex index_;
    PerfRecords records_;
    PerfQueue queue_;
    std::vector<RecordingBuffer> buffers_;
    WantedCpus cpus_;
    TraceRecord record_, behind_;
    bool has_record_ = false;  // the last record of the file is one of the trace
    std::vector<std::byte> made_;
    std::vector<std::vector<std::byte>> stacks_;
    std::size_t next_stack_ = 0;
    std::vector<std::uint64_t> frames_;
    std::map<std::uint32_t, Loss> lost_;  // by CPU, to be told with its next record
    std::uint64_t unread_ = 0;
    bool has_ended_ = false;
};

// Where the file does not say how many there are.
void PerfRecording::count_cpus() {
    std::uint32_t most = 0;
    for (Bytes record = records_.next(); !record.empty(); record = records_.next()) {
        if (perf_data::record_header(record).type != PERF_RECORD_SAMPLE) continue;
        const Bytes body = record.subspan(perf_data::kRecordHeader);
        const PerfIndex::Event* const event = index_.event_of(body);
        Sample sample;
        if (event && parse_sample(event->attribute, body, sample) && sample.stamp.cpu < kMaxCpus)
            most = std::max(most, sample.stamp.cpu);
    }
    index_.facts.cpus = most + 1;
    records_.rewind();
}

// Adds a record of the file to those that wait for their time.
void PerfRecording::add(Bytes record) {
    const Bytes body = record.subspan(perf_data::kRecordHeader);
    std::uint64_t time = 0;
    switch (perf_data::record_header(record).type) {
        case perf_data::kFinishedRound:
            queue_.end_round();
            return;
        case PERF_RECORD_SAMPLE: {
            const PerfIndex::Event* const event = index_.event_of(body);
            Sample sample;
            if (!event || !parse_sample(event->attribute, body, sample) ||
                sample.stamp.cpu >= kMaxCpus) {
                ++unread_;
                return;
            }
            time = sample.stamp.time;
            break;
        }
        case PERF_RECORD_LOST:
        case PERF_RECORD_LOST_SAMPLES:
        case PERF_RECORD_MMAP:
        case PERF_RECORD_MMAP2:
        case PERF_RECORD_COMM:
        case PERF_RECORD_FORK:
        case PERF_RECORD_EXIT: {
            Stamp stamp;
            if (!parse_stamp(index_.stamping(), body, stamp)) return;
            time = stamp.time;
            break;
        }
        default:
            return;
    }
    queue_.add(time, record);
    if (queue_.is_full()) queue_.give_way();
}

// False at the end of the file.
bool PerfRecording::fill() {
    const Bytes record = records_.next();
    if (record.empty()) {
        queue_.end();
        return false;
    }
    add(record);
    return true;
}

// Goes on to the next record in order of time, whatever it is.
bool PerfRecording::read_one() {
    Bytes record = queue_.take();
    while (record.empty()) {
        const bool has_more = !has_ended_ && fill();
        record = queue_.take();
        if (has_more) continue;
        has_ended_ = true;
        if (record.empty()) return false;
    }
    take(record);
    return true;
}

void PerfRecording::take(Bytes record) {
    has_record_ = false;
    const Bytes body = record.subspan(perf_data::kRecordHeader);
    const unsigned flags = perf_data::record_header(record).misc;
    TaskNames& tasks = index_.context.tasks;
    Stamp stamp;
    switch (perf_data::record_header(record).type) {
        case PERF_RECORD_SAMPLE:
            take_sample(body);
            break;
        case PERF_RECORD_MMAP:
            index_.maps.map(body);
            break;
        case PERF_RECORD_MMAP2:
            index_.maps.map_with_file(body, (flags & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0);
            break;
        case PERF_RECORD_COMM: {
            if (body.size() <= 8) break;
            if ((flags & PERF_RECORD_MISC_COMM_EXEC) != 0)
                index_.maps.exec(get_at<std::int32_t>(body, 0));
            const auto tid = get_at<std::int32_t>(body, 4);
            tasks.add(tid, up_to_nul(body.subspan(8)));
            tasks.add_process(tid, get_at<std::int32_t>(body, 0));
            break;
        }
        case PERF_RECORD_FORK: {
            const auto tid = get_at<std::int32_t>(body, 8), parent = get_at<std::int32_t>(body, 12);
            tasks.add_process(tid, get_at<std::int32_t>(body, 0));
            if (tasks.knows(parent)) tasks.add(tid, tasks.comm(parent));
            index_.maps.fork(get_at<std::int32_t>(body, 0), get_at<std::int32_t>(body, 4));
            break;
        }
        case PERF_RECORD_EXIT:
            index_.maps.exit(get_at<std::int32_t>(body, 0));
            break;
        case PERF_RECORD_LOST:
            parse_stamp(index_.stamping(), body, stamp);
            lost_[stamp.cpu] += Loss::exactly(get_at<std::uint64_t>(body, 8));
            break;
        case PERF_RECORD_LOST_SAMPLES:
            parse_stamp(index_.stamping(), body, stamp);
            lost_[stamp.cpu] += Loss::exactly(get_at<std::uint64_t>(body, 0));
            break;
        default:
            break;
    }
}

void PerfRecording::take_sample(Bytes body) {
    const PerfIndex::Event& event = *index_.event_of(body);
    Sample sample;
    parse_sample(event.attribute, body, sample);
    if (!cpus_.has(sample.stamp.cpu)) return;
    record_ = {};
    if (event.made_id == 0) {
        // The least that a record has: its id, flags and task.
        if (sample.raw.size() < 8) {
            ++unread_;
            return;
        }
        record_.bytes = sample.raw;
    } else {
        made_.assign(kMadeRecord, {});
        put_common(made_, event.made_id, {0, 0, sample.stamp.tid});
        put_at(made_, 8, sample.ip);
        put_at(made_, 16, sample.period);
        record_.bytes = made_;
    }
    record_.timestamp = sample.stamp.time;
    record_.cpu = static_cast<int>(sample.stamp.cpu);
    record_.stream = sample.stamp.cpu;
    record_.lost_before = std::exchange(lost_[sample.stamp.cpu], {});
    if (sample.stamp.tid > 0 && index_.context.tasks.tgid(sample.stamp.tid) == 0)
        index_.context.tasks.add_process(sample.stamp.tid, sample.stamp.pid);
    has_record_ = true;
    take_stacks(sample);
}

void PerfRecording::take_stacks(const Sample& sample) {
    stacks_.clear();
    next_stack_ = 0;
    if (sample.callchain.empty() || index_.kernel_stack_id == 0) return;
    frames_.clear();
    std::uint64_t context = PERF_CONTEXT_USER;
    const auto end_stack = [&] {
        if (context == static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL))
            add_stack(index_.kernel_stack_id, sample, frames_);
        else if (context == static_cast<std::uint64_t>(PERF_CONTEXT_USER))
            add_stack(index_.user_stack_id, sample, frames_);
        frames_.clear();
    };
    for (std::size_t at = 0; at < sample.callchain.size(); at += 8) {
        const auto address = get_at<std::uint64_t>(sample.callchain, at);
        if (address < static_cast<std::uint64_t>(PERF_CONTEXT_MAX)) {
            if (address != 0) frames_.push_back(address);
            continue;
        }
        end_stack();
        context = address;
    }
    end_stack();
}

void PerfRecording::add_stack(std::uint16_t id, const Sample& sample,
                              std::vector<std::uint64_t>& frames) {
    if (frames.empty()) return;
    std::vector<std::byte>& bytes = stacks_.emplace_back(kStackFrames + 8 * frames.size());
    put_common(bytes, id, common_fields(record_.bytes));
    // How many frames there are; of a user stack, the process.
    const bool is_user = id == index_.user_stack_id;
    put_at(bytes, 8, is_user ? sample.stamp.pid : static_cast<std::int32_t>(frames.size()));
    for (std::size_t i = 0; i < frames.size(); ++i) put_at(bytes, kStackFrames + 8 * i, frames[i]);
}

}  // namespace

std::unique_ptr<RecordSource> open_perf_recording(Fd file, const std::string& path) {
    return std::make_unique<PerfRecording>(std::move(file), path);
}

}  // namespace gpufs
