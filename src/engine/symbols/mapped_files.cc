#include "engine/symbols/mapped_files.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "kernel/bpf/mapping.h"
#include "kernel/host/proc_task.h"
#include "lang/symbols/proc_maps.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostWaiting = 256, kMostRead = 256, kMostRoots = 256;
// A function takes 12 bytes.
constexpr std::size_t kMostFunctions = 400'000;

bool has_inode(const Fd& file, std::uint64_t inode) {
    struct stat status;
    return file && ::fstat(file.get(), &status) == 0 && status.st_ino == inode;
}

// The inode generation; 0 if the file system does not report it.
std::uint64_t generation_of(const Fd& file) {
    // The ioctl is defined with a long, but file systems write an int (ioctl_iflags(2)).
    std::array<std::uint32_t, 2> generation{};
    return ::ioctl(file.get(), FS_IOC_GETVERSION, generation.data()) == 0 ? generation[0] : 0;
}

bool may_be_same(std::uint64_t generation, std::uint64_t other) {
    return generation == other || generation == 0 || other == 0;
}

}  // namespace

MappedFiles::MappedFiles(CodeFile::Lines lines) : with_lines_(lines) {
    files_.emplace_back().is_useless = true;  // kAnonymous
    roots_.emplace_back();
}

MappedFiles::Id MappedFiles::add(int pid, const MappedRange& range) {
    if (range.path == kVdsoPath) {
        if (!vdso_) {
            vdso_ = static_cast<Id>(files_.size());
            File& file = files_.emplace_back();
            file.path = file.name = kVdsoPath;
            file.fd = open_vdso();
        }
        return *vdso_;
    }
    if (range.inode == 0) return kAnonymous;
    const auto [it, is_new] =
        ids_.try_emplace({range.device, range.inode}, static_cast<Id>(files_.size()));
    if (!is_new) {
        File& known = files_[it->second];
        if (known.generation == 0) known.generation = range.generation;
        if (may_be_same(known.generation, range.generation)) return it->second;
        it->second = static_cast<Id>(files_.size());
    }
    File& file = files_.emplace_back();
    file.path = without_deleted(range.path);
    file.name = file_name(file.path);
    file.inode = range.inode;
    file.generation = range.generation;
    open(it->second, pid, range);
    return it->second;
}

// Device and inode are those of a mapping: of some file systems, stat(2) says others.
std::optional<MappedFiles::Id> MappedFiles::add(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!file || !is_regular_file(path)) return std::nullopt;
    const auto memory = Mapping::of_file(file.get(), 1);
    if (!memory) return std::nullopt;
    const auto address = reinterpret_cast<std::uintptr_t>(memory->data());
    const int pid = ::getpid();
    const std::string maps = proc::maps(pid);
    for (const std::string_view line : lines_of(maps)) {
        const auto map = parse_proc_map(line);
        if (map && map->start <= address && address < map->end)
            return add(pid, {map->start, map->end, map->offset, makedev(map->major, map->minor),
                             map->inode, 0, map->path});
    }
    return std::nullopt;
}

std::size_t MappedFiles::root_of(int pid) {
    auto root = RootDirectory::of(pid);
    if (!root || root->is_own()) return 0;
    const auto is_it = [&](const RootDirectory& r) {
        return r.device() == root->device() && r.inode() == root->inode();
    };
    const auto it = std::ranges::find_if(roots_, is_it);
    const auto index = static_cast<std::size_t>(it - roots_.begin());
    if (it != roots_.end()) return index;
    roots_.push_back(std::move(*root));
    // An open root directory keeps a container from being unmounted. Our own root stays open.
    if (index > kMostRoots) roots_[index - kMostRoots].close();
    return index;
}

// Checks that the path still leads to the same file. Does not compare device numbers: on btrfs and
// overlayfs, the one of the mapping differs from that of stat(2).
Fd MappedFiles::open_by_path(const File& file) const {
    Fd fd = roots_[file.root].open(file.path);
    const bool is_it = has_inode(fd, file.inode) && may_be_same(file.generation, generation_of(fd));
    return is_it ? std::move(fd) : Fd();
}

void MappedFiles::open(Id id, int pid, const MappedRange& range) {
    File& file = files_[id];
    file.root = root_of(pid);
    file.fd = open_mapped(pid, range.start, range.end);
    if (!file.fd) file.fd = open_by_path(file);
    if (!file.fd) return;
    if (file.generation == 0) file.generation = generation_of(file.fd);
    wait(id);
}

// Keeps a file open until it is read; closes the oldest one if there are too many.
void MappedFiles::wait(Id id) {
    waiting_.push_back(id);
    if (waiting_.size() <= kMostWaiting) return;
    const Id oldest = waiting_.front();
    waiting_.pop_front();
    files_[oldest].fd = {};
}

// Drops the least recently used symbol tables until the limits are met.
void MappedFiles::forget_some(Id but) {
    for (;;) {
        std::size_t functions = 0, read = 0;
        std::optional<Id> oldest;
        for (Id id = 0; id < files_.size(); ++id) {
            const File& file = files_[id];
            if (!file.code) continue;
            functions += file.code->size();
            ++read;
            if (id != but && (!oldest || file.last_question < files_[*oldest].last_question))
                oldest = id;
        }
        if ((functions <= kMostFunctions && read <= kMostRead) || !oldest) return;
        File& file = files_[*oldest];
        file.lines.reset();
        file.inlined.reset();
        file.fd = file.code->take_file();
        file.code.reset();
        wait(*oldest);
    }
}

const CodeFile* MappedFiles::code(Id id) {
    File& file = files_[id];
    file.last_question = ++questions_;
    if (file.code || file.is_useless) return file.code.get();
    std::erase(waiting_, id);
    if (!file.fd) file.fd = open_by_path(file);
    file.is_useless = true;
    if (!file.fd) return nullptr;
    try {
        file.code = std::make_unique<CodeFile>(std::move(file.fd), file.path, roots_[file.root],
                                               with_lines_);
    } catch (const Error&) {
        return nullptr;  // a font, a locale, a script: has no functions
    } catch (const std::bad_alloc&) {
        return nullptr;  // forged headers request too much memory
    }
    file.is_useless = false;
    file.lines = std::make_unique<SourceLines>(file.code->lines());
    forget_some(id);
    return file.code.get();
}

Fd MappedFiles::open_again(Id id) const {
    const File& file = files_[id];
    const int open = file.code ? file.code->file() : file.fd.get();
    if (open != -1) return Fd(::fcntl(open, F_DUPFD_CLOEXEC, 0));
    return file.is_useless ? Fd() : open_by_path(file);
}

// By its path, beside which its debug file may be; by what is open where we see another file there.
std::unique_ptr<DebugInfo> MappedFiles::debug_info(Id id) const {
    const File& file = files_[id];
    const Fd open = open_again(id);
    const bool is_ours = file.root == 0 && open_by_path(file);
    try {
        return DebugInfo::open(is_ours ? file.path : cat("/proc/self/fd/", open.get()));
    } catch (const Error&) {
        return nullptr;
    }
}

std::vector<InlinedFunction> MappedFiles::inlined_at(Id id, std::uint64_t offset) {
    const CodeFile* const from = with_lines_ == CodeFile::Lines::and_inlined ? code(id) : nullptr;
    const auto address = from ? from->address_of(offset) : std::nullopt;
    if (!address) return {};
    File& file = files_[id];
    if (!file.inlined) file.inlined = std::make_unique<InlinedFunctions>(debug_info(id));
    return file.inlined->find(*address);
}

std::string MappedFiles::source_at(Id id, std::uint64_t offset) {
    const CodeFile* const from = code(id);
    const auto address = from ? from->address_of(offset) : std::nullopt;
    if (!address) return {};
    const auto line = files_[id].lines->find(*address);
    return line ? cat(line->file, ':', line->line) : std::string();
}

}  // namespace gpufs
