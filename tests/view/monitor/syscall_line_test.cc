#include "view/monitor/syscall_line.h"

#include <sys/syscall.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "engine/results/running_program.h"
#include "lang/program/syscall_record.h"
#include "support/layout_bytes.h"

namespace gpufs {
namespace {

using Kind = SyscallArgument;

// openat(AT_FDCWD, TEXT, O_CLOEXEC, 0)
SyscallRecord opens(std::string_view text, std::int64_t result) {
    SyscallRecord call;
    call.signature = {{Kind::descriptor, Kind::text, Kind::bits, Kind::mode}, {1, 6}};
    call.number = SYS_openat;
    call.arguments[0] = 0xffff'ff9c;
    call.arguments[1] = 0x7000;
    call.arguments[2] = 0x80000;
    call.state = SyscallRecord::returned;
    call.result = result;
    call.text_bytes[0] = static_cast<std::int32_t>(text.size());
    text.copy(call.texts[0], sizeof call.texts[0]);
    return call;
}

std::string line_of(const SyscallRecord& call, Controls controls = Controls::escaped) {
    std::string text;
    append_syscall_line(text, bytes_of(call), controls);
    return text;
}

std::string json_of(const SyscallRecord& call, LargeNumbers large = LargeNumbers::numbers) {
    std::string text;
    append_syscall_json(text, bytes_of(call), large);
    return text;
}

BOOST_AUTO_TEST_SUITE(syscall_line)

BOOST_AUTO_TEST_CASE(a_call_is_shown_as_by_strace) {
    BOOST_TEST(line_of(opens("/etc/passwd", 3)) ==
               "openat(AT_FDCWD, \"/etc/passwd\", 0x80000, 0) = 3");
    BOOST_TEST(line_of(opens("/no", -ENOENT)) ==
               "openat(AT_FDCWD, \"/no\", 0x80000, 0) = -1 ENOENT");
    BOOST_TEST(json_of(opens("/no", -ENOENT)) ==
               R"({"name":"openat","arguments":[-100,"/no",524288,0],"result":-2,)"
               R"("error":"ENOENT"})");
}

BOOST_AUTO_TEST_CASE(texts_are_quoted_and_what_is_cut_says_so) {
    BOOST_TEST(line_of(opens("a\"b\\c\n\x1b", 3)) ==
               "openat(AT_FDCWD, \"a\\\"b\\\\c\\n\\x1b\", 0x80000, 0) = 3");
    BOOST_TEST(line_of(opens("a\n", 3), Controls::raw) ==
               "openat(AT_FDCWD, \"a\n\", 0x80000, 0) = 3");
    const std::string longest(SyscallRecord::kTextBytes, 'x');
    BOOST_TEST(line_of(opens(longest, 3)) ==
               "openat(AT_FDCWD, \"" + longest + "\", 0x80000, 0) = 3");
    BOOST_TEST(line_of(opens(longest + 'y', 3)) ==
               "openat(AT_FDCWD, \"" + longest + "\"..., 0x80000, 0) = 3");
    BOOST_TEST(json_of(opens(longest + 'y', 3)) == "{\"name\":\"openat\",\"arguments\":[-100,\"" +
                                                       longest +
                                                       "\",524288,0],\"cut\":true,\"result\":3}");
    SyscallRecord unread = opens("", 3);
    unread.text_bytes[0] = SyscallRecord::kUnread;
    BOOST_TEST(line_of(unread) == "openat(AT_FDCWD, 0x7000, 0x80000, 0) = 3");
}

BOOST_AUTO_TEST_CASE(of_data_people_see_32_bytes) {
    SyscallRecord call = opens(std::string(40, 'x'), 40);
    call.signature = {{Kind::descriptor, Kind::bytes, Kind::wide}, {1, 6}};
    call.number = SYS_write;
    call.arguments[0] = 1;
    call.arguments[2] = 40;
    BOOST_TEST(line_of(call) == "write(1, \"" + std::string(32, 'x') + "\"..., 40) = 40");
    BOOST_TEST(json_of(call) == "{\"name\":\"write\",\"arguments\":[1,\"" + std::string(40, 'x') +
                                    "\",40],\"result\":40}");
}

BOOST_AUTO_TEST_CASE(results_may_be_missing_or_addresses) {
    SyscallRecord call;
    call.signature = {{Kind::number}, {6, 6}};
    call.number = SYS_exit_group;
    BOOST_TEST(line_of(call) == "exit_group(0) = ?");
    BOOST_TEST(json_of(call) == R"({"name":"exit_group","arguments":[0],"result":null})");
    call.state = SyscallRecord::returned;
    call.result = 0x7fd7'aafa'b000;
    BOOST_TEST(line_of(call) == "exit_group(0) = 0x7fd7aafab000");
    call.result = -5000;
    BOOST_TEST(line_of(call) == "exit_group(0) = 0xffffffffffffec78");
    BOOST_TEST(json_of(call, LargeNumbers::texts) ==
               R"({"name":"exit_group","arguments":[0],"result":"18446744073709546616"})");
    call.result = -512;
    BOOST_TEST(line_of(call) == "exit_group(0) = -1 ERESTARTSYS");
}

BOOST_AUTO_TEST_CASE(calls_without_a_name_are_numbers) {
    SyscallRecord call;
    call.signature = unknown_signature();
    call.number = 1000;
    BOOST_TEST(line_of(call) == "syscall 1000(0, 0, 0, 0, 0, 0) = ?");
    call.state = SyscallRecord::compat;
    call.number = 20;
    BOOST_TEST(line_of(call) == "32-bit call 20(0, 0, 0, 0, 0, 0) = ?");
}

BOOST_AUTO_TEST_CASE(a_record_may_be_sent_without_the_ends_of_its_texts) {
    const Program program = test::declared(".record r { tid u32, call syscalltext }");
    const RecordLayout& layout = program.records[0];
    auto bytes = test::LayoutBytes(layout.layout)
                     .set("id", std::uint32_t{1})
                     .set("call", opens("/etc", 3))
                     .bytes();
    const std::size_t at = layout.layout.find("call")->offset;
    BOOST_TEST(layout.layout.find_part("call.first")->offset ==
               at + offsetof(SyscallRecord, texts));
    bytes.resize(at + offsetof(SyscallRecord, texts) + 4);
    std::vector<std::string> lines;
    const VisitRecord visit = [&](const RecordLayout& of, std::span<const std::byte> whole) {
        BOOST_TEST(&of == &layout);
        BOOST_TEST(whole.size() == layout.layout.bytes);
        ValueWriter().text(lines.emplace_back(),
                           plan_value(layout.layout, *layout.layout.find("call")), whole);
    };
    RecordTaker taker;
    taker.take(program, bytes, visit);
    BOOST_TEST(lines == std::vector<std::string>{"openat(AT_FDCWD, \"/etc\", 0x80000, 0) = 3"});
    BOOST_TEST(taker.unknown() == 0);
    bytes.resize(at + offsetof(SyscallRecord, texts) - 1);
    taker.take(program, bytes, visit);
    BOOST_TEST(lines.size() == 1);
    BOOST_TEST(taker.unknown() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
