#include "engine/trace/raw_buffer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"
#include "base/scan.h"
#include "kernel/tracefs/raw_pages.h"

namespace gpufs {
namespace {

// How long records gather after a wake-up that found some.
constexpr std::chrono::milliseconds kGather{4};
// How often to look where the kernel cannot wake us.
constexpr std::chrono::milliseconds kLook{20};
// All pages held at once, over all CPUs.
constexpr std::size_t kPagesHeld = 256, kLeastPages = 4;
constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

// Of an open per_cpu/cpuN/stats.
BufferCounts read_counts(const Fd& stats) {
    std::array<char, 512> text{};
    const std::size_t n = read_at(stats.get(), 0, std::as_writable_bytes(std::span(text)), "stats");
    return parse_buffer_counts({text.data(), n});
}

// Somebody who empties the buffer sets its counters to 0.
std::uint64_t since(std::uint64_t now, std::uint64_t before) {
    return now >= before ? now - before : now;
}

}  // namespace

std::vector<int> buffer_cpus(const Tracefs& tracefs) {
    std::vector<int> cpus;
    for (const std::string& name : list_directory(tracefs.path("per_cpu"))) {
        if (!name.starts_with("cpu")) continue;
        if (const auto cpu = whole_number<int>(std::string_view(name).substr(3)))
            cpus.push_back(*cpu);
    }
    std::ranges::sort(cpus);
    return cpus;
}

PageLayout page_layout(const Tracefs& tracefs) {
    return parse_page_layout(tracefs.read("events/header_page"));
}

RawBuffer::RawBuffer(const Tracefs& tracefs) : layout_(page_layout(tracefs)) {
    const std::vector<int> numbers = buffer_cpus(tracefs);
    for (const int cpu : numbers) {
        cpus_.emplace_back();
        const std::string directory = tracefs.path(cat("per_cpu/cpu", cpu));
        cpus_.back().fd = open_raw_pages(directory);
        cpus_.back().size_file = directory + "/buffer_size_kb";
        cpus_.back().stats = open_file(directory + "/stats", O_RDONLY);
        cpus_.back().at_start = read_counts(cpus_.back().stats);
    }
    // poll(2) on trace_pipe_raw waits until the buffer is buffer_percent full. On trace_pipe, which
    // is about all CPUs, it returns for the first record (ring_buffer_poll_wait). It is never read.
    wake_ = Fd{::open(tracefs.path("trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    merge_ = std::make_unique<RecordMerge>(numbers, [this](std::size_t i) { return next_page(i); });
}

bool RawBuffer::wait(int stop_fd, std::chrono::milliseconds limit) {
    pollfd fds[] = {{stop_fd, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    // poll(2) ignores a negative descriptor.
    if (found_some_) {
        fds[1].fd = -1;
        limit = std::min(limit, has_more_ ? std::chrono::milliseconds(0) : kGather);
    } else if (!wake_) {
        limit = std::min(limit, kLook);
    }
    const auto timeout = static_cast<int>(std::min<std::int64_t>(limit.count(), 1 << 30));
    const int n = ::poll(fds, 2, timeout);
    if (n == -1 && errno != EINTR) check(n, [] { return std::string("wait for trace records"); });
    return fds[0].revents == 0;
}

bool RawBuffer::read_page(Cpu& cpu) {
    Bytes page;
    if (!spare_.empty()) {
        page = std::move(spare_.back());
        spare_.pop_back();
    }
    page.resize(layout_.page_bytes);
    // The kernel hands over a page that is complete, and copies what is there of one that is not.
    const std::size_t n = read_raw_page(cpu.fd.get(), page);
    cpu.is_empty = n == 0;
    if (cpu.is_empty) {
        spare_.push_back(std::move(page));
        return false;
    }
    page.resize(n);
    const RingPage walk(page, layout_);
    cpu.complete_to = std::max(cpu.complete_to, walk.first_timestamp());
    reached_ = std::max(reached_, cpu.complete_to);
    cpu.overwritten += walk.lost_before();
    cpu.pages.push_back(std::move(page));
    return true;
}

std::size_t RawBuffer::read_all(std::size_t pages_a_cpu) {
    std::size_t count = 0;
    for (Cpu& cpu : cpus_) {
        cpu.is_empty = false;  // unknown, where all of its room is taken
        while (cpu.pages.size() < pages_a_cpu && read_page(cpu)) ++count;
    }
    return count;
}

// What was in the buffers before a drain began has been read when it ends. The latest time seen by
// the drain before lies before this one's begin, so up to there nothing can come any more; unless a
// CPU was not read to its end.
bool RawBuffer::drain() {
    pulls_ = false;
    latest_ = reached_;
    const std::size_t count = read_all(pages_a_cpu_);
    horizon_ = count == 0 ? kForever : latest_;
    has_more_ = false;
    std::size_t busy = 0;
    for (const Cpu& cpu : cpus_) {
        busy += !cpu.pages.empty();
        if (cpu.is_empty) continue;
        has_more_ = true;
        horizon_ = std::min(horizon_, cpu.complete_to);
    }
    // A machine has more CPUs than there are at work.
    pages_a_cpu_ = std::max(kLeastPages, kPagesHeld / std::max<std::size_t>(1, busy));
    // What the last drain held back is let go by this one.
    const bool held_some = std::exchange(found_some_, count != 0);
    merge_->refill();
    return count != 0 || held_some;
}

// Pages are read one by one as next() asks for them, which needs no memory and merges exactly.
void RawBuffer::drain_rest() {
    pulls_ = true;
    for (Cpu& cpu : cpus_) cpu.may_pull = pages_of(cpu);
    horizon_ = kForever;
    merge_->refill();
}

// How many pages a CPU's buffer has at most.
std::size_t RawBuffer::pages_of(const Cpu& cpu) const {
    // The kernel gives each page's header on top of the size asked for.
    return parse_buffer_kb(read_file(cpu.size_file)) * 1024 /
               (layout_.page_bytes - layout_.data_offset) +
           3;
}

LossLedger RawBuffer::losses() const {
    Loss overwritten, rejected;
    for (const Cpu& cpu : cpus_) {
        const BufferCounts now = read_counts(cpu.stats);
        rejected += Loss::exactly(since(now.rejected(), cpu.at_start.rejected()));
        Loss here = cpu.overwritten;
        if (!here.is_exact()) {
            // What was overwritten before somebody else read the buffer was not lost to us.
            const std::uint64_t others = cpu.at_start.read == 0 ? 0 : cpu.at_start.overrun;
            here.least = std::max<std::uint64_t>(here.least, since(now.overrun, others));
            here.most = std::max<std::uint64_t>(here.least, now.overrun);
        }
        overwritten += here;
    }
    return {{"events, overwritten unread", overwritten},
            {"events, the buffer was full", rejected},
            {"damaged pages", Loss::exactly(damage().size())}};
}

bool RawBuffer::has_lost() const {
    return std::ranges::any_of(cpus_, [](const Cpu& cpu) { return !cpu.overwritten.is_zero(); });
}

const TraceRecord* RawBuffer::next() {
    return merge_->next(horizon_);
}

std::optional<RingPage> RawBuffer::next_page(std::size_t i) {
    Cpu& cpu = cpus_[i];
    if (!cpu.current.empty()) spare_.push_back(std::move(cpu.current));
    cpu.current.clear();
    if (cpu.pages.empty() && pulls_ && cpu.may_pull > 0 && read_page(cpu)) --cpu.may_pull;
    if (cpu.pages.empty()) return std::nullopt;
    cpu.current = std::move(cpu.pages.front());
    cpu.pages.pop_front();
    return RingPage(cpu.current, layout_);
}

}  // namespace gpufs
