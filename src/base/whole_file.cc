#include "base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/path.h"

namespace gpufs {

WholeFile::WholeFile(std::string path)
    : path_(std::move(path)), part_(real_path(path_).value_or(path_)) {
    look_at_old();
    part_ += ".part";
    if (!is_device_) open_new();
}

WholeFile::~WholeFile() {
    if (has_name_) ::unlink(part_.c_str());
}

void WholeFile::look_at_old() {
    struct stat facts {};
    if (::stat(path_.c_str(), &facts) == -1) return;
    Fd old{check(::open(path_.c_str(), O_WRONLY | O_CLOEXEC),
                 [&] { return cat("write '", path_, "'"); })};
    mode_ = facts.st_mode & 07777;
    is_device_ = !S_ISREG(facts.st_mode);
    if (is_device_) file_ = std::move(old);
}

// Without a name, nothing stays behind when this process is killed.
void WholeFile::open_new() {
    file_ = Fd{::open(parent_directory(part_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)};
    if (file_) return;
    const int code = errno;
    const bool can_name = code == EOPNOTSUPP || code == EISDIR;  // not every file system can
    if (!can_name) throw SysError(code, cat("write '", path_, "'"));
    // Not through somebody's link of that name.
    ::unlink(part_.c_str());
    file_ = Fd{check(::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
                     [&] { return cat("write '", path_, "'"); })};
    has_name_ = true;
}

void WholeFile::add(std::string_view text) {
    write_all(file_.get(), text, path_);
}

void WholeFile::replace(std::uint64_t at, std::string_view text) {
    write_all_at(file_.get(), text, at, path_);
}

void WholeFile::write(std::string_view text) {
    add(text);
    commit();
}

void WholeFile::commit() {
    if (is_device_) return;
    if (!has_name_) {
        ::unlink(part_.c_str());  // of one that was killed between the two calls below
        const std::string open = cat("/proc/self/fd/", file_.get());
        check(::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, part_.c_str(), AT_SYMLINK_FOLLOW),
              [&] { return cat("write '", path_, "'"); });
        has_name_ = true;
    }
    if (mode_ != 0666) ::fchmod(file_.get(), mode_);
    const std::string path = part_.substr(0, part_.rfind('.'));
    check(::rename(part_.c_str(), path.c_str()), [&] { return cat("write '", path_, "'"); });
    has_name_ = false;
}

}  // namespace gpufs
