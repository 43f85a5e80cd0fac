#define BOOST_TEST_DYN_LINK
#include "lang/program/file_path.h"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string_view>
#include <vector>

namespace gpufs {
namespace {

using namespace std::string_view_literals;
using Bytes = FilePathLayout;

constexpr std::uint64_t kTmpfs = 0x01021994, kPipes = 0x50495045, kSockets = 0x534f434b,
                        kAnonymous = 0x09041934;

// `names` as programs write them: from the file up, each with its NUL.
std::string told(std::uint64_t magic, std::string_view names, std::uint32_t flags = 0) {
    std::vector<std::byte> value(Bytes::kBytes, std::byte{'?'});
    const std::uint64_t inode = 4711;
    const auto length = static_cast<std::uint32_t>(names.size());
    std::memcpy(&value[Bytes::kInodeAt], &inode, sizeof inode);
    std::memcpy(&value[Bytes::kMagicAt], &magic, sizeof magic);
    std::memcpy(&value[Bytes::kLengthAt], &length, sizeof length);
    std::memcpy(&value[Bytes::kFlagsAt], &flags, sizeof flags);
    std::memcpy(&value[Bytes::kNamesAt], names.data(), names.size());
    return file_path_text(value);
}

BOOST_AUTO_TEST_SUITE(lang_program_file_path)

BOOST_AUTO_TEST_CASE(names_from_the_file_up_are_a_path) {
    BOOST_TEST(told(kTmpfs, "libc.so.6\0lib\0usr\0"sv) == "/usr/lib/libc.so.6");
    BOOST_TEST(told(kTmpfs, ""sv) == "/");
    BOOST_TEST(told(kTmpfs, "x\0tmp\0"sv, Bytes::removed) == "/tmp/x (deleted)");
    BOOST_TEST(told(kTmpfs, "b\0a\0"sv, Bytes::cut) == ".../a/b");
    BOOST_TEST(told(kTmpfs, "fifo\0run\0"sv) == "/run/fifo");
    BOOST_TEST(told(kPipes, "fifo\0run\0"sv) == "/run/fifo");
}

BOOST_AUTO_TEST_CASE(what_is_in_no_directory_is_called_as_in_proc) {
    BOOST_TEST(told(kPipes, "\0"sv, Bytes::unattached) == "pipe:[4711]");
    BOOST_TEST(told(kSockets, "\0"sv, Bytes::unattached) == "socket:[4711]");
    BOOST_TEST(told(kAnonymous, "[eventfd]\0"sv, Bytes::unattached) == "anon_inode:[eventfd]");
    BOOST_TEST(told(kTmpfs, "memfd:a b\0"sv, Bytes::unattached) == "/memfd:a b (deleted)");
}

BOOST_AUTO_TEST_CASE(damaged_bytes_are_read_within_their_bounds) {
    BOOST_TEST(file_path_text({}) == "");
    std::vector<std::byte> value(Bytes::kBytes, std::byte{0xff});
    BOOST_TEST(file_path_text(value).size() < Bytes::kBytes + 32);
    std::memset(&value[Bytes::kFlagsAt], 0, sizeof(std::uint32_t));
    std::memset(&value[Bytes::kNamesAt], 0, Bytes::kBytes - Bytes::kNamesAt);
    BOOST_TEST(file_path_text(value).size() <= Bytes::kBytes);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
