#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/event/field_value.h"
#include "lang/print_fmt/format.h"

namespace gpufs {

// A system call's entry, as the kernel prints it:
//
//   sys_munmap(addr: 0x7f47e6a9c000, len: 0x1000)
//
// Since Linux 7.0 a record also holds what some pointers point to, in a field "__ARGUMENT_val":
// texts, and for write() and its kin the first bytes. openat() has a form of its own there.
//
//   sys_write(fd: 4, buf: 0x7f47e6a9cbb0 (68:69:0a) "hi.", count: 3)
//   sys_openat(dfd: 4294967196, filename: 140... "/tmp/x", flags: O_RDWR|O_CREAT, mode: 0600)
class SyscallEntryText {
public:
    // `format` is a sys_enter_ event's, and outlives this.
    explicit SyscallEntryText(const EventFormat& format);

    // Appends "sys_NAME(...)". `prefix`: whether numbers from 10 on have "0x" in front.
    void print(RecordBytes record, bool prefix, std::string& out) const;

private:
    struct Argument {
        const Field* field = nullptr;
        const Field* target = nullptr;  // what it points to, if the record has that
        bool is_text = false;  // the target is text; else bytes, counted by the next argument
    };
    // openat()'s own form.
    struct Open {
        PrintFormat with_mode, without_mode;
        const Field* flags = nullptr;
        std::uint64_t creates = 0;  // the flags with which the kernel prints the mode
    };
    static std::optional<Open> find_open(const EventFormat& format);
    void print_target(std::size_t argument, RecordBytes record, std::string& out) const;

    std::string name_;  // "sys_openat"
    std::vector<Argument> arguments_;
    std::optional<Open> open_;
};

}  // namespace gpufs
