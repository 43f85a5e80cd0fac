#include "kernel/tracefs/page_mover.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/error.h"
#include "kernel/tracefs/raw_pages.h"

namespace gpufs {
namespace {

// The default limit for unprivileged users.
constexpr int kPipeBytes = 1 << 20;

std::string writing() {
    return "write the recording";
}

// Takes from the text what is written, also if it throws.
void write_behind(PageMover::Target& to, std::string_view& text) {
    while (!text.empty()) {
        const ssize_t n =
            ::pwrite(to.file, text.data(), text.size(), static_cast<off_t>(to.at + to.bytes));
        if (n == -1 && errno == EINTR) continue;
        check(n, writing);
        to.bytes += static_cast<std::uint64_t>(n);
        text.remove_prefix(static_cast<std::size_t>(n));
    }
}

// Rounds `bytes` down to whole pages when the scope ends, also by an exception.
class WholePages {
public:
    WholePages(std::uint64_t& bytes, std::size_t page_bytes)
        : bytes_(bytes), page_bytes_(page_bytes) {}
    ~WholePages() { bytes_ -= bytes_ % page_bytes_; }
    WholePages(const WholePages&) = delete;
    WholePages& operator=(const WholePages&) = delete;

private:
    std::uint64_t& bytes_;
    std::size_t page_bytes_;
};

}  // namespace

PageMover::PageMover(std::size_t page_bytes) : page_bytes_(page_bytes) {
    make_pipe();
}

void PageMover::make_pipe() {
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC), [] { return std::string("make a pipe"); });
    pipe_out_ = Fd{ends[0]};
    pipe_in_ = Fd{ends[1]};
    // The default size works, too.
    ::fcntl(pipe_in_.get(), F_SETPIPE_SZ, kPipeBytes);
    const int room = check(::fcntl(pipe_in_.get(), F_GETPIPE_SZ),
                           [] { return std::string("read the size of a pipe"); });
    pipe_bytes_ = static_cast<std::size_t>(room) / page_bytes_ * page_bytes_;
}

// Keeps the first part of a page that was begun in the file, the text behind it, and `held` bytes
// of the pipe behind that. The pipe is empty then: nothing of it goes to another target.
void PageMover::keep_unwritten(const Target& to, std::string_view text, std::size_t held) {
    const std::size_t begun = to.bytes % page_bytes_;
    std::string kept(begun + held, '\0');
    const ssize_t again =
        ::pread(to.file, kept.data(), begun, static_cast<off_t>(to.at + to.bytes - begun));
    const bool is_whole = again == static_cast<ssize_t>(begun);
    std::size_t got = 0;
    while (got < held) {
        const ssize_t n = ::read(pipe_out_.get(), kept.data() + begun + got, held - got);
        if (n == -1 && errno == EINTR) continue;
        if (n <= 0) break;
        got += static_cast<std::size_t>(n);
    }
    if (got < held) make_pipe();
    kept.resize(begun + got);
    kept.insert(begun, text);
    unwritten_ = is_whole ? std::move(kept) : std::string();
}

// Writes the text, which `held` bytes of the pipe follow.
void PageMover::write(Target& to, std::string_view text, std::size_t held) {
    try {
        write_behind(to, text);
    } catch (const SysError&) {
        keep_unwritten(to, text, held);
        throw;
    }
}

void PageMover::splice_out(Target& to, std::size_t held) {
    while (held > 0 && splices_to_file_) {
        auto offset = static_cast<loff_t>(to.at + to.bytes);
        const ssize_t n = ::splice(pipe_out_.get(), nullptr, to.file, &offset, held, SPLICE_F_MOVE);
        if (n == -1 && errno == EINTR) continue;
        if (n == -1 && errno == EINVAL) {
            splices_to_file_ = false;
            break;
        }
        if (n == -1) {
            const int code = errno;
            keep_unwritten(to, {}, held);
            throw SysError(code, writing());
        }
        to.bytes += static_cast<std::uint64_t>(n);
        held -= static_cast<std::size_t>(n);
    }
    while (held > 0) {
        copy_.resize(held);
        const auto n =
            static_cast<std::size_t>(check(::read(pipe_out_.get(), copy_.data(), copy_.size()),
                                           [] { return std::string("read a pipe"); }));
        held -= n;
        write(to, std::string_view(copy_).substr(0, n), held);
    }
}

// Copies one page with read(2): the one being written, or the rest of a partly read one.
bool PageMover::read_part(int raw, Target& to) {
    copy_.resize(page_bytes_);
    const std::size_t n = read_raw_page(raw, std::as_writable_bytes(std::span(copy_)));
    to.has_part = false;
    if (n == 0) return false;
    // Clear the rest: recordings consist of whole pages.
    std::fill(copy_.begin() + static_cast<std::ptrdiff_t>(n), copy_.end(), '\0');
    write(to, copy_);
    return true;
}

bool PageMover::move_complete(int raw, Target& to, std::uint64_t most) {
    const WholePages whole(to.bytes, page_bytes_);
    unwritten_.clear();
    const std::uint64_t end = to.bytes + most / page_bytes_ * page_bytes_;
    // Before Linux 6.1, splice(2) returns nothing for the rest of a partly read page.
    if (to.has_part && to.bytes < end) read_part(raw, to);
    while (to.bytes < end) {
        const std::size_t held = splice_raw_pages(
            raw, pipe_in_.get(), std::min<std::uint64_t>(pipe_bytes_, end - to.bytes));
        if (held == 0) return false;
        splice_out(to, held);
    }
    return true;
}

bool PageMover::move_all(int raw, Target& to, std::uint64_t most) {
    const std::uint64_t end = to.bytes + most / page_bytes_ * page_bytes_;
    if (move_complete(raw, to, most)) return true;
    const WholePages whole(to.bytes, page_bytes_);
    // Read at most one partial page: reading may itself generate events and never end.
    to.has_part = read_part(raw, to);
    return to.bytes >= end;
}

}  // namespace gpufs
