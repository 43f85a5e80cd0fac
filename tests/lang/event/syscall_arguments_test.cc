#include "lang/event/syscall_arguments.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs {
namespace {

using Kind = SyscallArgument;

// Of "int dfd; const char * filename".
EventFormat format_of(const std::string& arguments) {
    std::string text =
        "name: sys_enter_x\nID: 7\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
        "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n";
    std::size_t offset = 16;
    for (std::size_t at = 0; at < arguments.size();) {
        const std::size_t end = std::min(arguments.find("; ", at), arguments.size());
        text += cat("\tfield:", arguments.substr(at, end - at), ";\toffset:", offset,
                    ";\tsize:8;\tsigned:0;\n");
        offset += 8;
        at = end + 2;
    }
    return parse_event_format("syscalls", text + "\nprint fmt: \"\"\n");
}

std::string kinds_of(const std::string& arguments) {
    constexpr std::string_view kLetters = "-iudmbxwptnf";
    const SyscallSignature signature = syscall_signature(format_of(arguments));
    std::string letters;
    for (const Kind kind : signature.kinds) letters += kLetters[static_cast<std::size_t>(kind)];
    for (const std::uint8_t text : signature.texts) letters += cat(' ', int{text});
    return letters;
}

BOOST_AUTO_TEST_SUITE(syscall_arguments)

BOOST_AUTO_TEST_CASE(what_arguments_are_is_told_by_their_types_and_names) {
    // openat, rename, mmap, renameat2, copy_file_range, getppid
    BOOST_TEST(kinds_of("int dfd; const char * filename; int flags; umode_t mode") == "dtbm-- 1 6");
    BOOST_TEST(kinds_of("const char * oldname; const char * newname") == "tt---- 0 1");
    BOOST_TEST(kinds_of("unsigned long addr; unsigned long len; unsigned long prot; "
                        "unsigned long flags; unsigned long fd; unsigned long off") ==
               "wwxxdw 6 6");
    BOOST_TEST(kinds_of("int olddfd; const char * oldname; int newdfd; const char * newname; "
                        "unsigned int flags") == "dtdtb- 1 3");
    BOOST_TEST(kinds_of("int fd_in; loff_t * off_in; int fd_out") == "dpd--- 6 6");
    BOOST_TEST(kinds_of("") == "------ 6 6");
    // bpf, chown, clock_settime
    BOOST_TEST(kinds_of("int cmd; union bpf_attr * uattr; unsigned int size") == "bpu--- 6 6");
    BOOST_TEST(kinds_of("const char * filename; uid_t user; gid_t group") == "tii--- 0 6");
    BOOST_TEST(kinds_of("const clockid_t which_clock; const struct timespec * tp") == "ip---- 6 6");
}

BOOST_AUTO_TEST_CASE(texts_data_and_buffers_are_told_apart) {
    // write, read, readlink, truncate, sethostname
    BOOST_TEST(kinds_of("unsigned int fd; const char * buf; size_t count") == "dnw--- 1 6");
    BOOST_TEST(kinds_of("unsigned int fd; char * buf; size_t count") == "dfw--- 1 6");
    BOOST_TEST(kinds_of("const char * path; char * buf; int bufsiz") == "tfi--- 0 1");
    BOOST_TEST(kinds_of("const char * path; long length") == "tw---- 0 6");
    BOOST_TEST(kinds_of("char * name; int len") == "ni---- 0 6");
    // execve, getsockopt, setsockopt
    BOOST_TEST(kinds_of("const char * filename; const char *const * argv") == "tp---- 0 6");
    BOOST_TEST(kinds_of("int fd; int level; int optname; char * optval; int * optlen") ==
               "diipp- 6 6");
    BOOST_TEST(kinds_of("int fd; int level; int optname; char * optval; int optlen") ==
               "diipi- 6 6");
    // setxattr, mount: the third text is told by its address.
    BOOST_TEST(kinds_of("const char * pathname; const char * name; const void * value; "
                        "size_t size; int flags") == "ttnwb- 0 1");
    BOOST_TEST(kinds_of("char * dev_name; char * dir_name; char * type; unsigned long flags; "
                        "void * data") == "tttxp- 0 1");
}

BOOST_AUTO_TEST_CASE(arguments_are_as_wide_as_their_types) {
    constexpr std::uint64_t kLeftOver = 0xabcd'0000'0000;
    BOOST_TEST(syscall_argument_text(Kind::number, kLeftOver | 7) == "7");
    BOOST_TEST(syscall_argument_text(Kind::number, 0xffff'ffff) == "-1");
    BOOST_TEST(syscall_argument_text(Kind::unsigned_number, kLeftOver | 0xffff'ffff) ==
               "4294967295");
    BOOST_TEST(syscall_argument_text(Kind::descriptor, 0xffff'ff9c) == "AT_FDCWD");
    BOOST_TEST(syscall_argument_text(Kind::descriptor, ~std::uint64_t{0}) == "-1");
    BOOST_TEST(syscall_argument_text(Kind::mode, kLeftOver | 0644) == "0644");
    BOOST_TEST(syscall_argument_text(Kind::mode, 0) == "0");
    BOOST_TEST(syscall_argument_text(Kind::bits, kLeftOver | 0x80000) == "0x80000");
    BOOST_TEST(syscall_argument_text(Kind::bits, 0) == "0");
    BOOST_TEST(syscall_argument_text(Kind::wide_bits, kLeftOver) == "0xabcd00000000");
    BOOST_TEST(syscall_argument_text(Kind::wide, 4096) == "4096");
    BOOST_TEST(syscall_argument_text(Kind::wide, ~std::uint64_t{4}) == "-5");
    BOOST_TEST(syscall_argument_text(Kind::wide, kLeftOver) == "0xabcd00000000");
    BOOST_TEST(syscall_argument_text(Kind::pointer, 0) == "NULL");
    BOOST_TEST(syscall_argument_text(Kind::text, 0x7ffd) == "0x7ffd");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
