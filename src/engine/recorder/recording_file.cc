#include "engine/recorder/recording_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"

namespace gpufs {

RecordingFile::RecordingFile(std::string path)
    : path_(std::move(path)),
      is_new_(!file_exists(path_)),
      fd_(open_file(path_, O_RDWR | O_CREAT)) {
    try {
        check_file();
    } catch (const Error&) {
        if (is_new_) ::unlink(path_.c_str());
        throw;
    }
    lock();
}

RecordingFile::RecordingFile(Fd file, std::string name)
    : path_(std::move(name)), is_new_(false), fd_(std::move(file)) {
    check_file();
}

// Two recordings into one file would destroy each other.
void RecordingFile::lock() const {
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK)
        throw Error(cat("'", path_, "' is being recorded into"), "-o FILE names another one");
}

void RecordingFile::check_file() const {
    struct stat file {};
    check(::fstat(fd_.get(), &file), [&] { return cat("look at '", path_, "'"); });
    if (!S_ISREG(file.st_mode))
        throw UnsupportedError(cat("'", path_, "' is no regular file"),
                               "a trace.dat is written at several places; into a pipe, use -o -");
    struct statfs system {};
    check(::fstatfs(fd_.get(), &system), [&] { return cat("look at '", path_, "'"); });
    // FAT has no holes: it would write zeros instead.
    if (system.f_type == MSDOS_SUPER_MAGIC || system.f_type == EXFAT_SUPER_MAGIC)
        throw UnsupportedError(cat("'", path_, "' is on a FAT file system, which has no holes"),
                               "record to another one, and copy the file");
}

RecordingFile::~RecordingFile() {
    if (has_begun()) return;
    if (is_new_)
        ::unlink(path_.c_str());
    else
        give_room_back();
}

// What is taken behind the file's end.
void RecordingFile::give_room_back() const {
    struct stat file {};
    [[maybe_unused]] const bool is_done =
        ::fstat(fd_.get(), &file) == 0 && ::ftruncate(fd_.get(), file.st_size) == 0;
}

void RecordingFile::take_room(const trace_dat::Head& head) {
    require_room(trace_dat::encode_head(head).bytes.size());
}

void RecordingFile::begin(const trace_dat::Head& head, std::uint64_t most) {
    page_bytes_ = head.page_bytes;
    names_room_ = head.names_room;
    stats_room_ = head.stats_room;
    head_ = trace_dat::encode_head(head);
    const std::string bytes = std::move(head_.bytes);
    head_bytes_ = bytes.size();
    require_room(head_bytes_);
    check(::ftruncate(fd_.get(), 0), [&] { return cat("empty '", path_, "'"); });
    room_ = room_for(most, head.cpus);
    write(bytes, 0);
    for (std::size_t cpu = 0; cpu < head.cpus; ++cpu)
        targets_.push_back({fd_.get(), head_bytes_ + cpu * room_, 0});
    committed_.assign(head.cpus, ~std::uint64_t{0});
    commit();
}

// The blocks that the old content has count, and those that are missing are taken behind its end.
// Not every file system can: then write() finds out.
void RecordingFile::require_room(std::uint64_t bytes) const {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const bool may_be_as_large = bytes <= limit.rlim_cur;
    if (may_be_as_large &&
        ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0)
        return;
    const int code = may_be_as_large ? errno : EFBIG;
    if (!is_full_disk(code)) return;
    give_room_back();
    throw SysError(code, cat("write to '", path_, "'"));
}

// The room for each CPU in whole pages, limited by `most`, the free space of the file system, and
// the largest possible file.
std::uint64_t RecordingFile::room_for(std::uint64_t most, std::size_t cpus) const {
    constexpr std::uint64_t kUnknown = std::uint64_t{1} << 40;
    struct statfs system {};
    check(::fstatfs(fd_.get(), &system), [&] { return cat("look at '", path_, "'"); });
    const std::uint64_t free =
        static_cast<std::uint64_t>(system.f_bfree) * static_cast<std::uint64_t>(system.f_bsize);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    std::uint64_t room = std::min(most, system.f_blocks == 0 ? kUnknown : free + page_bytes_);
    const std::uint64_t largest = limit.rlim_cur < head_bytes_ ? 0 : limit.rlim_cur - head_bytes_;
    room = std::max<std::uint64_t>(1, std::min(room, largest / cpus) / page_bytes_) * page_bytes_;
    // The file system also limits the size of a file.
    for (; room > page_bytes_; room = room / 2 / page_bytes_ * page_bytes_)
        if (::ftruncate(fd_.get(), static_cast<off_t>(head_bytes_ + room * cpus)) == 0) break;
    check(::ftruncate(fd_.get(), 0), [&] { return cat("empty '", path_, "'"); });
    return room;
}

std::uint64_t RecordingFile::bytes() const {
    std::uint64_t sum = 0;
    for (const PageMover::Target& target : targets_) sum += target.bytes;
    return sum;
}

void RecordingFile::write(std::string_view bytes, std::uint64_t at) const {
    write_all_at(fd_.get(), bytes, at, path_);
}

// Updates each place with one short write, so that a reader sees either the old one or the new.
void RecordingFile::commit() {
    for (std::size_t cpu = 0; cpu < cpus(); ++cpu) {
        const PageMover::Target& target = targets_[cpu];
        if (committed_[cpu] == target.bytes) continue;
        write(trace_dat::encode_place({target.at, target.bytes}), head_.place_at(cpu));
        committed_[cpu] = target.bytes;
    }
}

void RecordingFile::set_statistics(std::size_t cpu, const std::string& text) {
    write(trace_dat::encode_statistics(text, stats_room_), head_.stats_at(cpu));
}

void RecordingFile::set_names(std::string lines) {
    if (lines.size() > names_room_) lines.resize(lines.rfind('\n', names_room_ - 1) + 1);
    if (lines == names_) return;
    // Overwrite the rest of names that became shorter or disappeared.
    std::string bytes = lines;
    bytes.resize(std::max(bytes.size(), names_.size()), '\0');
    write(bytes, head_.names_at);
    names_ = std::move(lines);
}

bool RecordingFile::copy(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) const {
    constexpr std::size_t kAtOnce = std::size_t{64} << 20;
    std::string buffer;
    for (std::uint64_t done = 0; done < bytes;) {
        auto in = static_cast<off64_t>(from + done), out = static_cast<off64_t>(to + done);
        const auto left = static_cast<std::size_t>(std::min<std::uint64_t>(kAtOnce, bytes - done));
        ssize_t n =
            buffer.empty() ? ::copy_file_range(fd_.get(), &in, fd_.get(), &out, left, 0) : 0;
        if (n == -1 && errno == EINTR) continue;
        if (n <= 0) {
            // Not every file system supports copy_file_range(2).
            buffer.resize(std::size_t{1} << 20);
            n = ::pread(fd_.get(), buffer.data(), std::min(left, buffer.size()), in);
            if (n > 0) n = ::pwrite(fd_.get(), buffer.data(), static_cast<std::size_t>(n), out);
        }
        if (n <= 0) return false;
        done += static_cast<std::uint64_t>(n);
    }
    return true;
}

// The file stays readable if this process dies at any moment: a CPU's pages are copied before its
// place is changed. The first page is copied last, because a reader may scan past the end of the
// previous CPU's pages: with the first page there, it would read these pages twice.
bool RecordingFile::close_gaps() {
    commit();
    std::uint64_t end = head_bytes_;
    for (std::size_t cpu = 0; cpu < cpus(); ++cpu) {
        PageMover::Target& target = targets_[cpu];
        if (target.at != end) {
            const std::uint64_t first = std::min<std::uint64_t>(page_bytes_, target.bytes);
            // The old and the new range must not overlap.
            if (end + target.bytes > target.at) return false;
            if (!copy(target.at + first, end + first, target.bytes - first) ||
                !copy(target.at, end, first)) {
                ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            static_cast<off_t>(end), static_cast<off_t>(target.bytes));
                return false;
            }
            target.at = end;
            write(trace_dat::encode_place({target.at, target.bytes}), head_.place_at(cpu));
        }
        end += target.bytes;
    }
    check(::ftruncate(fd_.get(), static_cast<off_t>(end)),
          [&] { return cat("shorten '", path_, "'"); });
    return true;
}

void RecordingFile::write_to(int out, std::string_view name) const {
    std::string piece(std::size_t{1} << 20, '\0');
    const auto room = std::as_writable_bytes(std::span(piece));
    for (std::uint64_t at = 0; const std::size_t n = read_at(fd_.get(), at, room, path_); at += n)
        write_all(out, std::string_view(piece).substr(0, n), name);
}

}  // namespace gpufs
