#include "lang/symbols/proc_maps.h"

#include "base/scan.h"

namespace gpufs {
namespace {

// Takes a number and the character behind it from the front of a line.
bool take(std::string_view& line, std::uint64_t& value, int base, char behind) {
    Scan scan(line);
    const auto number = scan.take_number<std::uint64_t>(base);
    if (!number) return false;
    value = *number;
    line = scan.rest();
    if (line.empty()) return behind == ' ';  // the inode may end the line
    if (line.front() != behind) return false;
    line.remove_prefix(1);
    return true;
}

}  // namespace

std::optional<ProcMap> parse_proc_map(std::string_view line) {
    constexpr std::size_t kRights = 5;  // "r-xp "
    ProcMap map;
    std::uint64_t major = 0, minor = 0;
    if (!take(line, map.start, 16, '-') || !take(line, map.end, 16, ' ') || line.size() < kRights)
        return std::nullopt;
    map.is_executable = line[2] == 'x';
    line.remove_prefix(kRights);
    if (!take(line, map.offset, 16, ' ') || !take(line, major, 16, ':') ||
        !take(line, minor, 16, ' ') || !take(line, map.inode, 10, ' '))
        return std::nullopt;
    map.major = static_cast<unsigned>(major);
    map.minor = static_cast<unsigned>(minor);
    const auto path = line.find_first_not_of(' ');
    if (path != line.npos) map.path = line.substr(path);
    return map;
}

std::string_view without_deleted(std::string_view path) {
    constexpr std::string_view kDeleted = " (deleted)";
    return path.ends_with(kDeleted) ? path.substr(0, path.size() - kDeleted.size()) : path;
}

}  // namespace gpufs
