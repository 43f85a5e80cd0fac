#include "engine/recording/dat_recording.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/recording/cpu_pages.h"
#include "engine/recording/file_header.h"

namespace gpufs {
namespace {

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

using CountsOfCpus = std::map<std::pair<std::string, int>, BufferCounts>;  // by buffer and CPU

// Of RecordingFacts::statistics.
CountsOfCpus counts_in(std::string_view statistics) {
    CountsOfCpus counts;
    std::string buffer;
    std::optional<int> cpu;
    for (const std::string_view line : lines_of(statistics)) {
        constexpr std::string_view kBuffer = "Buffer: ", kCpu = "CPU: ";
        if (line.starts_with(kBuffer))
            buffer = trim(line.substr(kBuffer.size()));
        else if (line.starts_with(kCpu))
            cpu = whole_number<int>(trim(line.substr(kCpu.size())));
        else if (cpu)
            counts[{buffer, *cpu}] += parse_buffer_counts(line);
    }
    return counts;
}

class DatRecording : public RecordSource {
public:
    DatRecording(Fd fd, const std::string& path) : file_(std::move(fd)), index_(file_.get(), path) {
        const Places places = places_of(index_);
        for (std::size_t b = 0; b < index_.buffers.size(); ++b) {
            const trace_dat::Buffer& from = index_.buffers[b];
            RecordingBuffer& buffer = buffers_.emplace_back();
            buffer.name = from.name;
            buffer.clock = from.clock;
            PageLayout layout = index_.layout;
            if (from.page_bytes > layout.data_offset) layout.page_bytes = from.page_bytes;
            for (std::size_t i = 0; i < from.cpus.size(); ++i) {
                buffer.cpus.push_back(from.cpus[i].cpu);
                buffer.bytes += from.cpus[i].size;
                streams_.push_back({b, from.cpus[i].cpu,
                                    CpuPages(file_.get(), places[b][i], layout, index_.compression),
                                    layout});
            }
        }
        counts_ = counts_in(index_.facts.statistics);
        rewind({}, 0);
    }

    TraceContext& context() override { return index_.context; }
    const RecordingFacts& facts() const override { return index_.facts; }
    const std::vector<RecordingBuffer>& buffers() const override { return buffers_; }
    std::size_t buffer_of(const TraceRecord& record) const override {
        return chosen_[record.stream]->buffer;
    }

    const TraceRecord* next() override { return merge_->next(); }
    const TraceRecord* peek_behind(std::size_t n) override { return merge_->peek_behind(n); }
    const TraceRecord* take_behind(std::size_t n) override { return merge_->take_behind(n); }
    void rewind(const std::vector<unsigned>& cpus, std::uint64_t from) override;

    std::optional<BufferCounts> counts_of(std::size_t stream) const override {
        if (stream >= chosen_.size()) return std::nullopt;
        const auto found =
            counts_.find({buffers_[chosen_[stream]->buffer].name, chosen_[stream]->cpu});
        return found == counts_.end() ? std::nullopt : std::optional(found->second);
    }

    bool has_fixed_context() const override { return true; }

    RecordingProgress progress() const override {
        RecordingProgress progress;
        for (const Stream* stream : chosen_) {
            progress.read += stream->pages.bytes_read();
            progress.all += stream->pages.bytes();
        }
        return progress;
    }
    std::vector<std::string> damage() const override {
        std::vector<std::string> all = index_.damage;
        for (const Stream* stream : chosen_)
            all.insert(all.end(), stream->pages.notes().begin(), stream->pages.notes().end());
        all.insert(all.end(), merge_->damage().begin(), merge_->damage().end());
        return all;
    }

private:
    struct Stream {
        std::size_t buffer;
        int cpu;
        CpuPages pages;
        PageLayout layout;
    };

    static std::optional<RingPage> next_page(Stream& stream) {
        const auto page = stream.pages.next();
        if (page.empty()) return std::nullopt;
        return RingPage(page, stream.layout);
    }

    Fd file_;
    TraceFileHeader index_;
    std::vector<RecordingBuffer> buffers_;
    CountsOfCpus counts_;
    std::vector<Stream> streams_;
    std::vector<Stream*> chosen_;
    std::optional<RecordMerge> merge_;
};

void DatRecording::rewind(const std::vector<unsigned>& cpus, std::uint64_t from) {
    const TraceClock& clock = index_.clock;
    const WantedCpus wanted(cpus);
    std::vector<int> numbers;
    chosen_.clear();
    for (Stream& stream : streams_) {
        if (!wanted.has(stream.cpu)) continue;
        if (from == 0)
            stream.pages.rewind();
        else
            stream.pages.rewind_to(
                [&](std::uint64_t time) { return clock.time_of(time, stream.cpu) < from; });
        chosen_.push_back(&stream);
        numbers.push_back(stream.cpu);
    }
    merge_.emplace(
        std::move(numbers), [this](std::size_t i) { return next_page(*chosen_[i]); },
        clock.changes_nothing() ? nullptr : &clock);
}

}  // namespace

std::unique_ptr<RecordSource> open_dat_recording(Fd file, const std::string& path) {
    return std::make_unique<DatRecording>(std::move(file), path);
}

}  // namespace gpufs
