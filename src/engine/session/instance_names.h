#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The names that gpufs gives instances, and the groups of dynamic probes that belong to them, which
// must be C identifiers:
// - the default session: gpufs, with the group gpufs;
// - a session: gpufs-NAME, with gpufs_NAME, where NAME is an identifier that begins with a letter;
// - a command's own: gpufs.PID.START, with gpufs_PID_START; words of letters and digits may follow.
inline constexpr std::string_view kDefaultInstance = "gpufs";
inline constexpr std::string_view kSessionPrefix = "gpufs-";
inline constexpr std::string_view kInstancePrefix = "gpufs.";  // of commands' own

// Of an instance with one of these names. The group of a command's own is also the name of its
// synthetic event.
std::string group_of_instance(std::string_view instance);
// The instance whose probes are in this group; empty for others' groups.
std::string instance_of_group(std::string_view group);

}  // namespace gpufs
