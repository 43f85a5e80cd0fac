#include "engine/symbols/jit_map.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>

#include "base/cat.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/sorted.h"
#include "base/text.h"
#include "kernel/host/proc_task.h"
#include "kernel/host/root_directory.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostBytes = 128 << 20;

// Takes a hexadecimal number and the space after it.
std::optional<std::uint64_t> take_hex(Scan& line) {
    line.take("0x");
    const auto value = line.take_number<std::uint64_t>(16);
    return line.take(" ") ? value : std::nullopt;
}

}  // namespace

JitMap::JitMap(std::string text) : text_(std::move(text)) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    for (const std::string_view line : lines_of(text_)) {
        Scan scan(line);
        const auto start = take_hex(scan);
        const auto size = start ? take_hex(scan) : std::nullopt;
        if (!size || scan.at_end()) continue;
        const std::string_view name = scan.rest();
        const auto at = static_cast<std::uint64_t>(name.data() - text_.data());
        if (at > kMost) break;
        entries_.push_back({*start, static_cast<std::uint32_t>(std::min(*size, kMost)),
                            static_cast<std::uint32_t>(at),
                            static_cast<std::uint32_t>(name.size())});
    }
    sort_stably(entries_, {}, &Entry::start);
}

std::optional<JitMap::Function> JitMap::find(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(entries_, address, {}, &Entry::start);
    if (after == entries_.begin()) return std::nullopt;
    const Entry& entry = *std::prev(after);
    if (address - entry.start >= entry.size) return std::nullopt;
    return Function{std::string_view(text_).substr(entry.name, entry.name_bytes),
                    address - entry.start};
}

std::optional<std::string> read_perf_map(std::uint32_t pid, std::uint32_t user,
                                         std::size_t known_bytes) {
    const auto root = RootDirectory::of(static_cast<int>(pid)).value_or(RootDirectory());
    const int inner = proc::innermost_pid(static_cast<int>(pid));
    const std::string path = cat("/tmp/perf-", inner ? static_cast<unsigned>(inner) : pid, ".map");
    const Fd file = root.open(path, RootDirectory::LastLink::refused);
    struct stat status;
    if (!file || !is_only_from(file.get(), user) || ::fstat(file.get(), &status) != 0 ||
        std::min(static_cast<std::size_t>(status.st_size), kMostBytes) == known_bytes)
        return std::nullopt;
    return read_all(file.get(), path, kMostBytes);
}

}  // namespace gpufs
