#include "engine/recording/perf_maps.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"
#include "base/path.h"
#include "base/sorted.h"
#include "base/text.h"
#include "engine/recording/made_record.h"
#include "kernel/elf/debug_file.h"
#include "lang/symbols/function_name.h"

namespace gpufs {
namespace {

using perf_data::Bytes;

using perf_data::kMapOffset, perf_data::kMmapName, perf_data::kMmap2Name;

// What else a record has: pid, tid, address, length, offset in the file; then MMAP the name, MMAP2
// the device, inode and generation or a build id, the protection and the flags.
constexpr std::size_t kAddress = 8, kLength = 16;
constexpr std::size_t kInode = 40, kBuildIdSize = 32, kBuildId = 36, kMostBuildId = 20,
                      kProtection = 56;
constexpr std::string_view kNoCode = "//anon";

}  // namespace

void PerfMaps::add_build_id(std::string_view path, std::string_view id) {
    build_ids_.insert_or_assign(std::string(path), std::string(id));
}

std::size_t PerfMaps::file_of(std::string_view path, std::string_view build_id,
                              std::uint64_t inode) {
    if (build_id.empty())
        if (const auto told = build_ids_.find(path); told != build_ids_.end())
            build_id = told->second;
    const auto [it, is_new] =
        by_name_.try_emplace(cat(path, '\0', build_id, '\0', inode), files_.size());
    if (is_new) {
        File& file = files_.emplace_back();
        file.path = path;
        file.module = file_name(path);
        file.build_id = build_id;
        file.inode = inode;
    }
    return it->second;
}

// One that ended has another's number.
PerfMaps::Process& PerfMaps::living(std::int32_t process) {
    Process& one = processes_[process];
    if (one.threads == 0) one = {};
    return one;
}

// What was mapped there before is cut, or gone.
void PerfMaps::add(std::int32_t process, std::uint64_t begin, std::uint64_t bytes,
                   const Range& range) {
    const std::uint64_t end = begin + bytes;
    if (bytes == 0 || end < begin) return;
    std::shared_ptr<Ranges>& own = living(process).ranges;
    if (own.use_count() > 1) own = std::make_shared<Ranges>(*own);
    Ranges& ranges = *own;
    auto at = ranges.upper_bound(begin);
    if (at != ranges.begin()) --at;
    while (at != ranges.end() && at->first < end) {
        const auto [old_begin, old] = *at;
        if (old.end <= begin) {
            ++at;
            continue;
        }
        at = ranges.erase(at);
        if (old_begin < begin) ranges[old_begin] = {begin, old.offset, old.file};
        if (old.end > end) ranges[end] = {old.end, old.offset + (end - old_begin), old.file};
    }
    ranges[begin] = {end, range.offset, range.file};
}

void PerfMaps::map(Bytes body) {
    if (body.size() <= kMmapName) return;
    const std::string_view name = up_to_nul(body.subspan(kMmapName));
    if (name.starts_with("[kernel")) return;
    add(get_at<std::int32_t>(body, 0), get_at<std::uint64_t>(body, kAddress),
        get_at<std::uint64_t>(body, kLength),
        {0, get_at<std::uint64_t>(body, kMapOffset), file_of(name, {}, 0)});
}

void PerfMaps::map_with_file(Bytes body, bool has_build_id) {
    if (body.size() <= kMmap2Name) return;
    if ((get_at<std::uint32_t>(body, kProtection) & PROT_EXEC) == 0) return;
    const std::string_view name = up_to_nul(body.subspan(kMmap2Name));
    std::string_view id;
    if (has_build_id)
        id = chars_of(body).substr(
            kBuildId,
            std::min<std::size_t>(kMostBuildId, get_at<std::uint8_t>(body, kBuildIdSize)));
    const std::uint64_t inode = has_build_id ? 0 : get_at<std::uint64_t>(body, kInode);
    add(get_at<std::int32_t>(body, 0), get_at<std::uint64_t>(body, kAddress),
        get_at<std::uint64_t>(body, kLength),
        {0, get_at<std::uint64_t>(body, kMapOffset), file_of(name, id, inode)});
}

void PerfMaps::fork(std::int32_t process, std::int32_t parent) {
    // A thread of it may be told of before what it maps.
    if (process == parent) {
        ++living(process).threads;
        return;
    }
    const auto of = processes_.find(parent);
    if (of == processes_.end()) {
        processes_.erase(process);
        return;
    }
    std::shared_ptr<Ranges> shared = of->second.ranges;
    processes_[process] = {std::move(shared), 1};
}

// The first thread may end before the others.
void PerfMaps::exit(std::int32_t process) {
    const auto of = processes_.find(process);
    if (of == processes_.end() || of->second.threads == 0 || --of->second.threads != 0) return;
    constexpr std::size_t kMostEnded = 1024;
    ended_.push_back(process);
    if (ended_.size() <= kMostEnded) return;
    const auto first = processes_.find(ended_.front());
    if (first != processes_.end() && first->second.threads == 0) processes_.erase(first);
    ended_.pop_front();
}

// This machine's, if it is the one that was mapped: only its build id tells.
void PerfMaps::look_for_vdso(File& file) {
    Fd fd = open_vdso();
    if (!fd) return;
    auto code =
        std::make_unique<CodeFile>(std::move(fd), file.path, RootDirectory(), CodeFile::Lines::no);
    if (!file.build_id.empty() && code->build_id() == file.build_id) file.code = std::move(code);
}

// By its path; where that is another file by now, what has the build id below /usr/lib/debug.
void PerfMaps::look_for(File& file) {
    file.is_looked_for = true;
    if (file.path == kVdsoPath) look_for_vdso(file);
    if (!file.path.starts_with('/') || file.path.starts_with(kNoCode)) return;
    const auto open = [&](const std::string& path) {
        try {
            Fd fd = RootDirectory().open(path);
            if (!fd) return false;
            struct stat status {};
            if (::fstat(fd.get(), &status) != 0) return false;
            auto code = std::make_unique<CodeFile>(std::move(fd), path, RootDirectory(),
                                                   CodeFile::Lines::no);
            const bool is_same = file.build_id.empty()
                                     ? file.inode == 0 || file.inode == status.st_ino
                                     : code->build_id() == file.build_id;
            if (is_same) file.code = std::move(code);
        } catch (const Error&) {
            return false;  // no program
        }
        return file.code != nullptr;
    };
    if (!open(file.path) && !file.build_id.empty()) open(build_id_path(file.build_id));
}

std::optional<Symbol> PerfMaps::find(std::int32_t process, std::uint64_t address) {
    const auto of = processes_.find(process);
    if (of == processes_.end()) return std::nullopt;
    const Ranges& ranges = *of->second.ranges;
    auto range = ranges.upper_bound(address);
    if (range == ranges.begin() || (--range)->second.end <= address) return std::nullopt;
    const std::uint64_t offset = range->second.offset + (address - range->first);
    File& file = files_[range->second.file];
    const auto [it, is_new] = file.names.try_emplace(offset);
    Name& name = it->second;
    if (is_new) {
        if (!file.is_looked_for) look_for(file);
        const auto function = file.code ? file.code->find(offset) : std::nullopt;
        if (function) name = {function_name(function->name), function->past, true};
    }
    if (!name.is_known) return std::nullopt;
    return Symbol{name.name, file.module, name.offset, 0};
}

std::string PerfMaps::note() const {
    std::vector<std::string> missing;
    for (const File& file : files_)
        if (file.is_looked_for && !file.code && file.path.starts_with('/') &&
            !file.path.starts_with(kNoCode))
            missing.push_back(file.path);
    sort_unique(missing);
    if (missing.empty()) return {};
    constexpr std::size_t kShown = 3;
    const std::size_t more = missing.size() - std::min(kShown, missing.size());
    missing.resize(missing.size() - more);
    return cat("without functions, for this machine's files are not those that were mapped: ",
               join(missing, ", "), more == 0 ? "" : cat(" and ", more, " more"));
}

}  // namespace gpufs
