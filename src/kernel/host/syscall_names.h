#pragma once

#include <optional>
#include <string_view>

namespace gpufs {

// The name of a system call ("ioctl") on the architecture that gpufs was built for; empty if
// neither the headers at build time nor the table of newer calls have that number.
std::string_view syscall_name(long nr);
// The number of a system call; absent if neither has the name.
std::optional<long> syscall_number(std::string_view name);
// The same by the name in the events syscalls:sys_enter_NAME and sys_exit_NAME, which is that of
// the kernel's function: "newstat" for stat.
std::optional<long> syscall_number_of_event(std::string_view name);
// The inverse: the NAME in these events; empty for a number without a name.
std::string_view syscall_event_name(long nr);

}  // namespace gpufs
