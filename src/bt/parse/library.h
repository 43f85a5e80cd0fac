#pragma once

#include <string_view>

namespace gpufs::bt {

// Macros that every script finds defined. Those of the script go before them.
inline constexpr const char* kLibraryName = "stdlib/base.bt";
inline constexpr std::string_view kLibrary = R"(// What every script finds defined.

// Ends the run where the condition does not hold.
macro assert(condition, msg) {
  if (!(condition)) {
    errorf("assert failed: %s", msg);
    exit(1);
  }
}

// An error that a function of the kernel returned in the place of a pointer.
macro is_err(pointer) {
  (int64)pointer < 0 && (int64)pointer >= -4095
}

// The structure that a member is in, by the member's address.
macro container_of(pointer, type, member) {
  (type *)((uint64)pointer - offsetof(type, member))
}

// Whether the map has the key; then the variable gets the value.
macro find(@map, key, $value) {
  let $key = key;
  let $is_there = has_key(@map, $key);
  if ($is_there) {
    $value = @map[$key];
  }
  $is_there
}

// A text, or what holds characters.
macro assert_str(value) {
  static_assert(is_str(value) || is_array(value) || is_ptr(value),
                "string-like values must be either strings, arrays or pointers");
}

macro ppid(task) { task.real_parent.tgid }
macro ppid() { ppid(curtask) }
macro pcomm(task) { task.real_parent.comm }
macro pcomm() { pcomm(curtask) }
macro leader_tid(task) { task.group_leader.pid }
macro leader_tid() { leader_tid(curtask) }
macro leader_comm(task) { task.group_leader.comm }
macro leader_comm() { leader_comm(curtask) }
macro has_cpid() { cpid != 0 }
)";

}  // namespace gpufs::bt
