#include "engine/trace/buffer_snapshot.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/sorted.h"
#include "engine/trace/raw_buffer.h"

namespace gpufs {
namespace {

// The first page of the mapping: include/uapi/linux/trace_mmap.h, Linux 6.10. Declared here because
// older headers lack it.
struct MetaPage {
    std::uint32_t meta_page_size;
    std::uint32_t meta_struct_len;
    std::uint32_t subbuf_size;
    std::uint32_t nr_subbufs;  // including the reader's
    std::uint64_t reader_lost_events;
    std::uint32_t reader_id;
    std::uint32_t reader_read;  // bytes of the reader's page already read
    std::uint64_t flags;
    std::uint64_t entries;
    std::uint64_t overrun;
    std::uint64_t read;
};

// The number of sub-buffers mapped at a time: mapped pages count as our memory, and a buffer may be
// large.
constexpr std::size_t kWindow = 16;

class TraceMapping {
public:
    TraceMapping() = default;
    // Empty, with errno set, if the kernel refuses.
    TraceMapping(int fd, std::size_t offset, std::size_t size)
        : at_(::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset))),
          size_(size) {
        if (at_ == MAP_FAILED) at_ = nullptr;
    }
    TraceMapping(TraceMapping&& other) noexcept
        : at_(std::exchange(other.at_, nullptr)), size_(other.size_) {}
    TraceMapping& operator=(TraceMapping other) noexcept {
        std::swap(at_, other.at_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~TraceMapping() {
        if (at_) ::munmap(at_, size_);
    }
    explicit operator bool() const { return at_ != nullptr; }
    const std::byte* data() const { return static_cast<const std::byte*>(at_); }

private:
    void* at_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace

class BufferSnapshot::Cpu {
public:
    Cpu(Fd fd, TraceMapping meta, const PageLayout& layout)
        : fd_(std::move(fd)), meta_(std::move(meta)), layout_(layout), copy_(header().subbuf_size) {
        plan();
    }

    std::uint64_t overrun() const { return header().overrun; }

    std::optional<RingPage> next_page() {
        while (next_ < plan_.size()) {
            const Planned planned = plan_[next_++];
            if (!copy(planned)) {
                was_overwritten_ = true;
                if (!planned.is_second_try) plan_again(planned.id);
                continue;
            }
            RingPage page(copy_, layout_);
            if (std::exchange(was_overwritten_, false)) page.mark_lost();
            if (planned.skip > 0) {
                RingRecord read_already;
                while (page.position() < planned.skip && page.next(read_already)) {
                }
            }
            return page;
        }
        return std::nullopt;
    }

private:
    struct Planned {
        std::uint64_t timestamp;
        std::uint32_t id;
        std::size_t skip = 0;  // bytes already consumed by the reader
        bool is_second_try = false;
    };
    struct Head {
        std::uint64_t timestamp;
        std::uint64_t commit;
    };

    const MetaPage& header() const { return *reinterpret_cast<const MetaPage*>(meta_.data()); }

    const std::byte* page(std::uint32_t id) {
        const std::size_t window = id / kWindow;
        if (!window_ || window != window_number_) {
            const MetaPage& meta = header();
            const std::size_t first = window * kWindow;
            const std::size_t count = std::min<std::size_t>(kWindow, meta.nr_subbufs - first);
            window_ = TraceMapping();  // unmap first
            window_ = TraceMapping(fd_.get(), meta.meta_page_size + first * meta.subbuf_size,
                                   count * meta.subbuf_size);
            const int code = errno;
            if (!window_) throw SysError(code, "map the trace buffer");
            window_number_ = window;
        }
        return window_.data() + (id % kWindow) * header().subbuf_size;
    }

    // Loads both words in the order in which the writer stores them.
    static Head head_of(const std::byte* page) {
        const auto word = [](const std::byte* at) {
            return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE);
        };
        return {word(page), word(page + 8)};
    }

    // Lists the pages with records in order of time. The kernel numbers pages in ring order when it
    // maps them, the reader's page first, so a stable sort keeps the order of pages with equal
    // times.
    void plan() {
        const MetaPage& meta = header();
        for (std::uint32_t id = 0; id < meta.nr_subbufs; ++id) {
            if (id == meta.reader_id) continue;
            const Head head = head_of(page(id));
            if (head.commit != 0) plan_.push_back({head.timestamp, id});
        }
        sort_stably(plan_, {}, &Planned::timestamp);
        // The reader's page is older than all pages in the ring.
        plan_.insert(plan_.begin(), {0, meta.reader_id, meta.reader_read});
        plan_.front().timestamp = head_of(page(meta.reader_id)).timestamp;
    }

    // Plans a page again that the writer has overwritten: by its new time, because some of the
    // pages that are left may be newer still: plan() came to them when the writer had been there.
    // Only once per page, or a fast writer would keep us forever.
    void plan_again(std::uint32_t id) {
        const Planned again{head_of(page(id)).timestamp, id, 0, true};
        const auto left = plan_.begin() + static_cast<std::ptrdiff_t>(next_);
        plan_.insert(
            std::ranges::upper_bound(left, plan_.end(), again.timestamp, {}, &Planned::timestamp),
            again);
    }

    // Returns false if the writer has overwritten the planned page. The writer first sets the
    // commit of a page to 0, then writes records, then the time.
    bool copy(const Planned& planned) {
        const std::byte* const from = page(planned.id);
        const Head before = head_of(from);
        if (before.timestamp != planned.timestamp) return false;
        std::memcpy(copy_.data(), from, copy_.size());
        std::atomic_thread_fence(std::memory_order_acquire);
        const Head after = head_of(from);
        if (after.timestamp != before.timestamp || after.commit < before.commit) return false;
        // Records written during the copy may be torn: end the page where it ended before.
        std::memcpy(copy_.data() + layout_.commit_offset, &before.commit, layout_.commit_size);
        return true;
    }

    Fd fd_;
    TraceMapping meta_;
    TraceMapping window_;
    std::size_t window_number_ = 0;
    PageLayout layout_;
    std::vector<std::byte> copy_;
    std::vector<Planned> plan_;
    std::size_t next_ = 0;
    bool was_overwritten_ = false;  // pages were overwritten since the last one returned
};

struct BufferSnapshot::State {
    std::vector<Cpu> cpus;
    std::unique_ptr<RecordMerge> merge;
};

BufferSnapshot::BufferSnapshot(std::unique_ptr<State> state) : state_(std::move(state)) {}
BufferSnapshot::BufferSnapshot(BufferSnapshot&&) noexcept = default;
BufferSnapshot::~BufferSnapshot() = default;

std::optional<BufferSnapshot> BufferSnapshot::open(const Tracefs& tracefs) {
    const PageLayout layout = page_layout(tracefs);
    auto state = std::make_unique<State>();
    std::vector<int> numbers;
    for (const int cpu : buffer_cpus(tracefs)) {
        const std::string path = tracefs.path(cat("per_cpu/cpu", cpu, "/trace_pipe_raw"));
        Fd fd = open_file(path, O_RDONLY | O_NONBLOCK);
        TraceMapping meta(fd.get(), 0, sizeof(MetaPage));
        const int code = errno;
        // ENODEV: no mmap before Linux 6.10. EBUSY: a snapshot trigger is set.
        if (!meta && (code == ENODEV || code == EBUSY)) return std::nullopt;
        if (!meta && code == EINVAL) continue;  // a CPU that was never online
        if (!meta) throw SysError(code, cat("map '", path, "'"));
        numbers.push_back(cpu);
        state->cpus.emplace_back(std::move(fd), std::move(meta), layout);
    }
    State& s = *state;
    state->merge = std::make_unique<RecordMerge>(
        numbers, [&s](std::size_t i) { return s.cpus[i].next_page(); });
    return BufferSnapshot(std::move(state));
}

const TraceRecord* BufferSnapshot::next() {
    return state_->merge->next();
}

std::uint64_t BufferSnapshot::overrun() const {
    std::uint64_t sum = 0;
    for (const Cpu& cpu : state_->cpus) sum += cpu.overrun();
    return sum;
}

const std::vector<std::string>& BufferSnapshot::damage() const {
    return state_->merge->damage();
}

}  // namespace gpufs
