#include "view/trace/syscall_entry.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "support/ring_pages.h"

namespace gpufs {
namespace {

using test::bytes_of;

// A record of the event of Debian's 7.3.4 with these arguments, and what pointers among them point
// at.
std::string entry_record(const EventFormat& format, std::initializer_list<std::uint64_t> arguments,
                         const std::vector<std::string>& targets) {
    std::string record = bytes_of(static_cast<std::uint16_t>(format.id)) +
                         bytes_of(std::uint16_t{}) + bytes_of(1) + bytes_of(std::uint64_t{257});
    for (const std::uint64_t argument : arguments) record += bytes_of(argument);
    std::size_t at = record.size() + 4 * targets.size();
    for (const std::string& target : targets) {
        record += bytes_of(static_cast<std::uint32_t>(at | target.size() << 16));
        at += target.size();
    }
    for (const std::string& target : targets) record += target;
    return record;
}

std::string entry_text(const std::string& call, std::initializer_list<std::uint64_t> arguments,
                       const std::vector<std::string>& targets = {}, std::size_t cut = 0) {
    const EventFormat format = parse_event_format(
        "syscalls",
        read_file(cat("tests/data/formats/7.3/events/syscalls/sys_enter_", call, "/format")));
    std::string record = entry_record(format, arguments, targets);
    record.resize(record.size() - cut);
    std::string out;
    SyscallEntryText(format).print(test::as_record(record), true, out);
    return out;
}
std::string text_target(std::string_view text) {
    return std::string(text) + '\0';
}

BOOST_AUTO_TEST_SUITE(syscall_entry)

// As in the trace of a guest of 7.3.4.
BOOST_AUTO_TEST_CASE(what_pointers_point_at_prints_as_the_kernel_prints_it) {
    BOOST_TEST(entry_text("write", {4, 0x7f47e6a9cbb0, 13}, {"round 0 on 0\n"}) ==
               "sys_write(fd: 4, buf: 0x7f47e6a9cbb0 "
               "(72:6f:75:6e:64:20:30:20:6f:6e:20:30:0a) \"round 0 on 0.\", count: 0xd)");
    BOOST_TEST(entry_text("openat", {0xffffff9c, 139946677504928, 0x80001, 0},
                          {text_target("/sys/kernel/tracing/trace_marker")}) ==
               "sys_openat(dfd: 4294967196, filename: 139946677504928 "
               "\"/sys/kernel/tracing/trace_marker\", flags: O_WRONLY|O_CLOEXEC)");
    BOOST_TEST(entry_text("openat", {0xffffff9c, 139946677504880, 0x242, 0600},
                          {text_target("/tmp/gpufs-busy.153.1")}) ==
               "sys_openat(dfd: 4294967196, filename: 139946677504880 \"/tmp/gpufs-busy.153.1\", "
               "flags: O_RDWR|O_CREAT|O_TRUNC, mode: 0600)");
}

BOOST_AUTO_TEST_CASE(bytes_end_with_dots_where_there_were_more) {
    BOOST_TEST(entry_text("write", {1, 16, 9}, {std::string("\1\2", 2)}) ==
               "sys_write(fd: 1, buf: 0x10 (01:02, ...), count: 9)");
    BOOST_TEST(entry_text("pwrite64", {1, 16, 9, 0}, {"ab"}) ==
               "sys_pwrite64(fd: 1, buf: 0x10 (61:62, ...) \"ab\"..., count: 9, pos: 0)");
    // The kernel takes the count for an int.
    BOOST_TEST(entry_text("write", {1, 16, 0xffffffff}, {"ab"}) ==
               "sys_write(fd: 1, buf: 0x10 (61:62) \"ab\", count: 0xffffffff)");
    BOOST_TEST(entry_text("write", {1, 0, 0}, {""}) == "sys_write(fd: 1, buf: 0 (), count: 0)");
}

BOOST_AUTO_TEST_CASE(each_text_stands_behind_its_pointer) {
    BOOST_TEST(entry_text("renameat2", {3, 0x1000, 4, 0x2000, 1},
                          {text_target("old"), text_target("new name")}) ==
               "sys_renameat2(olddfd: 3, oldname: 0x1000 \"old\", newdfd: 4, newname: 0x2000 "
               "\"new name\", flags: 1)");
    BOOST_TEST(entry_text("execve", {0x1000, 0x2000, 0x3000}, {text_target("/bin/true")}) ==
               "sys_execve(filename: 0x1000 \"/bin/true\", argv: 0x2000, envp: 0x3000)");
    // What could not be read.
    BOOST_TEST(entry_text("execve", {1, 2, 3}, {""}) ==
               "sys_execve(filename: 1 \"\", argv: 2, envp: 3)");
    BOOST_TEST(entry_text("read", {3, 0x1000, 512}) ==
               "sys_read(fd: 3, buf: 0x1000, count: 0x200)");
}

BOOST_AUTO_TEST_CASE(flags_of_openat_have_names) {
    const auto flags = [](std::uint64_t bits, std::uint64_t mode = 0) {
        const std::string text = entry_text("openat", {3, 1, bits, mode}, {text_target("f")});
        const auto at = text.find("flags: ");
        return text.substr(at, text.size() - at - 1);
    };
    BOOST_TEST(flags(0) == "flags: O_RDONLY");
    BOOST_TEST(flags(0x80000) == "flags: O_RDONLY|O_CLOEXEC");
    BOOST_TEST(flags(0x90800) == "flags: O_RDONLY|O_NONBLOCK|O_DIRECTORY|O_CLOEXEC, mode: 0000");
    BOOST_TEST(flags(0x410002, 0644) == "flags: O_TMPFILE|O_RDWR, mode: 0644");
    BOOST_TEST(flags(0x201000) == "flags: O_RDONLY|O_DSYNC|0x200000");
    BOOST_TEST(flags(0x80000000) == "flags: O_RDONLY|0xffffffff80000000");
    BOOST_TEST(flags(0xc1, 07777) == "flags: O_WRONLY|O_CREAT|O_EXCL, mode: 07777");
}

BOOST_AUTO_TEST_CASE(a_cut_record_prints_what_is_there) {
    BOOST_TEST(entry_text("write", {4, 16, 3}, {"abc"}, 1) ==
               "sys_write(fd: 4, buf: 0x10 (, ...), count: 3)");
    BOOST_TEST(entry_text("write", {4, 16, 3}, {"abc"}, 5) ==
               "sys_write(fd: 4, buf: 0x10 (, ...), count: 3)");
    BOOST_TEST(entry_text("write", {4, 16, 3}, {"abc"}, 20) ==
               "sys_write(fd: 4, buf: 0 (), count: 0)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
