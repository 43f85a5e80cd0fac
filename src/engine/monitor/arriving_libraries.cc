#include "engine/monitor/arriving_libraries.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "engine/places/sites.h"

namespace gpufs {

ArrivingLibraries::ArrivingLibraries(Monitor& monitor)
    : monitor_(monitor),
      patterns_(library_patterns(monitor.program())),
      awaits_programs_(std::ranges::any_of(
          patterns_, [](const std::string& one) { return one.starts_with('@'); })),
      missing_(monitor.prepared().awaited()) {}

bool ArrivingLibraries::is_awaited(std::string_view path) const {
    return std::ranges::any_of(
        patterns_, [&](const std::string& pattern) { return is_library_of(pattern, path); });
}

std::set<int> ArrivingLibraries::processes() const {
    std::set<int> pids;
    if (!are_awaited()) return pids;
    for (const LibraryFiles::Mapped& one : mapped_code())
        if (is_awaited(one.path)) pids.insert(one.pid);
    return pids;
}

// A known library may be mapped by a new program.
void ArrivingLibraries::take(const SideBandRecord& record) {
    if (record.kind != SideBandRecord::Kind::map || record.pid == 0) return;
    const FileId id(record.device, record.inode, record.generation);
    if (!is_awaited(record.text) || (known_.contains(id) && !awaits_programs_)) return;
    arrived_.push_back({{static_cast<int>(record.pid), std::string(record.text)}, id});
}

void ArrivingLibraries::expect(const std::string& path) {
    if (is_awaited(path)) arrived_.push_back({{::getpid(), path}, {}});
}

void ArrivingLibraries::look_around() {
    for (LibraryFiles::Mapped& one : mapped_code())
        if (is_awaited(one.path)) arrived_.push_back({std::move(one), std::nullopt});
}

std::vector<std::string> ArrivingLibraries::attach() {
    std::vector<std::string> refusals;
    for (const Arrived& one : std::exchange(arrived_, {})) {
        try {
            if (monitor_.arrive(one.file) != 0)
                std::erase_if(missing_, [&](const std::string& pattern) {
                    return is_library_of(pattern, one.file.path);
                });
        } catch (const Error& e) {
            refusals.push_back(
                cat("without '", one.file.path, "', which was loaded meanwhile: ", e.what()));
        }
        // The file of a process that is gone by now, or a zombie, could not be looked at.
        if (one.id && file_exists(cat("/proc/", one.file.pid, "/root"))) known_.insert(*one.id);
    }
    return refusals;
}

}  // namespace gpufs
