#include "engine/trace/file.h"

#include <algorithm>

#include "base/error.h"
#include "engine/trace/cpu_pages.h"
#include "engine/trace/file_header.h"
#include "engine/trace/open_recording.h"

namespace gpufs {
namespace {

// Names of tasks that records tell.
class NamesInRecords {
public:
    explicit NamesInRecords(TraceContext& context) : context_(context) {
        use("sched:sched_switch", "prev_pid", "prev_comm");
        use("sched:sched_switch", "next_pid", "next_comm");
        for (const char* event :
             {"sched:sched_wakeup", "sched:sched_wakeup_new", "sched:sched_waking"})
            use(event, "pid", "comm");
    }

    void learn(const TraceRecord& record) {
        const int id = record.id();
        for (const Place& place : places_) {
            if (place.id != id) continue;
            const int pid = static_cast<int>(integer_of(*place.pid, record.bytes));
            if (pid > 0 && !context_.tasks.knows(pid))
                context_.tasks.add(pid, text_of(*place.comm, record.bytes));
        }
    }

private:
    struct Place {
        int id;
        const Field *pid, *comm;
    };

    void use(std::string_view event_name, std::string_view pid, std::string_view comm) {
        const TraceEvent* const event = context_.events.find(event_name);
        if (!event) return;
        const Place place{event->format.id, event->format.find(pid), event->format.find(comm)};
        if (place.pid && place.comm) places_.push_back(place);
    }

    TraceContext& context_;
    std::vector<Place> places_;
};

using Places = std::vector<std::vector<CpuPages::Place>>;  // by buffer and CPU

// Each CPU's pages reach to where something else begins. Two that begin in one place cannot both
// have pages their table does not know.
Places places_of(const TraceFileHeader& index) {
    std::vector<std::uint64_t> borders = index.borders, begins;
    for (const trace_dat::Buffer& buffer : index.buffers)
        for (const trace_dat::CpuData& cpu : buffer.cpus) begins.push_back(cpu.offset);
    std::ranges::sort(begins);
    borders.insert(borders.end(), begins.begin(), begins.end());
    borders.push_back(index.file_bytes);
    std::ranges::sort(borders);

    Places places;
    for (const trace_dat::Buffer& buffer : index.buffers) {
        auto& of_buffer = places.emplace_back();
        for (const trace_dat::CpuData& cpu : buffer.cpus) {
            const std::string owner =
                cat(buffer.name.empty() ? "" : buffer.name + ": ", "CPU ", cpu.cpu);
            CpuPages::Place place{owner, cpu.offset, cpu.size, cpu.offset};
            const auto [first, end] = std::equal_range(begins.begin(), begins.end(), cpu.offset);
            const auto border = std::ranges::upper_bound(borders, cpu.offset);
            if (end - first == 1 && border != borders.end()) place.limit = *border;
            of_buffer.push_back(std::move(place));
        }
    }
    return places;
}

}  // namespace

struct TraceFile::State {
    State(Fd fd, const std::string& path) : file(std::move(fd)), index(file.get(), path) {
        const Places places = places_of(index);
        for (std::size_t b = 0; b < index.buffers.size(); ++b) {
            const trace_dat::Buffer& from = index.buffers[b];
            Buffer& buffer = buffers.emplace_back(Buffer{from.name, from.clock, {}, 0});
            PageLayout layout = index.layout;
            if (from.page_bytes > layout.data_offset) layout.page_bytes = from.page_bytes;
            for (std::size_t i = 0; i < from.cpus.size(); ++i) {
                buffer.cpus.push_back(from.cpus[i].cpu);
                buffer.bytes += from.cpus[i].size;
                streams.push_back({b, from.cpus[i].cpu,
                                   CpuPages(file.get(), places[b][i], layout, index.compression),
                                   layout});
            }
        }
    }

    struct Stream {
        std::size_t buffer;
        int cpu;
        CpuPages pages;
        PageLayout layout;
    };

    std::optional<RingPage> next_page(Stream& stream) {
        const auto page = stream.pages.next();
        if (page.empty()) return std::nullopt;
        return RingPage(page, stream.layout);
    }

    Fd file;
    TraceFileHeader index;
    NamesInRecords names{index.context};
    std::vector<Buffer> buffers;
    std::vector<Stream> streams;
    std::vector<Stream*> chosen;
    std::optional<RecordMerge> merge;
    TraceRecord record;
};

TraceFile::TraceFile(const std::string& path)
    : state_(std::make_unique<State>(open_recording(path), path)) {
    rewind();
}

TraceFile::~TraceFile() = default;

TraceContext& TraceFile::context() {
    return state_->index.context;
}

void TraceFile::rewind(const std::vector<unsigned>& cpus, std::uint64_t from) {
    const TraceClock& clock = state_->index.clock;
    std::vector<int> numbers;
    state_->chosen.clear();
    for (State::Stream& stream : state_->streams) {
        if (!cpus.empty() && !std::ranges::count(cpus, static_cast<unsigned>(stream.cpu))) continue;
        if (from == 0)
            stream.pages.rewind();
        else
            stream.pages.rewind_to(
                [&](std::uint64_t time) { return clock.time_of(time, stream.cpu) < from; });
        state_->chosen.push_back(&stream);
        numbers.push_back(stream.cpu);
    }
    state_->merge.emplace(std::move(numbers), [state = state_.get()](std::size_t i) {
        return state->next_page(*state->chosen[i]);
    });
}

const TraceRecord* TraceFile::next() {
    const TraceRecord* const found = state_->merge->next();
    if (found) state_->names.learn(*found);
    const TraceClock& clock = state_->index.clock;
    if (!found || clock.changes_nothing()) return found;
    state_->record = *found;
    state_->record.timestamp = clock.time_of(found->timestamp, found->cpu);
    return &state_->record;
}

const TraceRecord* TraceFile::peek_behind() {
    return state_->merge->peek_behind();
}

void TraceFile::skip_behind() {
    state_->merge->skip_behind();
}

TraceFile::Progress TraceFile::progress() const {
    Progress progress;
    for (const State::Stream* stream : state_->chosen) {
        progress.read += stream->pages.bytes_read();
        progress.all += stream->pages.bytes();
    }
    return progress;
}

const std::vector<TraceFile::Buffer>& TraceFile::buffers() const {
    return state_->buffers;
}

const TraceFile::Buffer& TraceFile::buffer_of(const TraceRecord& record) const {
    return state_->buffers[state_->chosen[record.stream]->buffer];
}

std::vector<int> TraceFile::cpus() const {
    std::vector<int> cpus;
    for (const Buffer& buffer : state_->buffers)
        cpus.insert(cpus.end(), buffer.cpus.begin(), buffer.cpus.end());
    std::ranges::sort(cpus);
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
}

const TraceFile::Facts& TraceFile::facts() const {
    return state_->index.facts;
}

LossLedger TraceFile::damage_losses() const {
    return {{"damaged places in the recording", Loss::exactly(damage().size())}};
}

std::vector<std::string> TraceFile::damage() const {
    std::vector<std::string> all = state_->index.damage;
    for (const State::Stream* stream : state_->chosen)
        all.insert(all.end(), stream->pages.notes().begin(), stream->pages.notes().end());
    all.insert(all.end(), state_->merge->damage().begin(), state_->merge->damage().end());
    return all;
}

}  // namespace gpufs
