#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "base/cat.h"
#include "base/file.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::TempFile;

constexpr std::string_view kBare = "r0 = 1\nout: r0 += 2\nif r0 != 7 goto out\nexit\n";

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(assembling, *ut::label("pure"))

BOOST_AUTO_TEST_CASE(a_shipped_monitor_has_no_mistakes) {
    const Ended ended = test::gpufs_as_nobody({"asm", "bpf_asm/opens.bpf"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out ==
               "opens: 5 programs, 13 functions, 206 instructions, 6 maps: no mistakes\n");
    BOOST_TEST(ended.err == "");
}

BOOST_AUTO_TEST_CASE(mistakes_are_told_with_their_place_and_status_2) {
    const TempFile file(".prog p begin\n        r0 = r11\n        exti\n");
    const Ended ended = test::gpufs({"asm", file.path()});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.out == "");
    BOOST_TEST(ended.err ==
               cat("gpufs: ", file.path(), ":2:14: error: no register is named 'r11'\n",
                   "        r0 = r11\n", "             ^~~\n",
                   "hint: registers are r0 to r10, and w0 to w10 for their low 32 bits\n",
                   file.path(), ":3:9: error: no instruction begins with 'exti'\n",
                   "        exti\n", "        ^~~~\n", "hint: did you mean 'exit'?\n"));
}

BOOST_AUTO_TEST_CASE(a_text_includes_only_what_is_in_its_folder_and_below) {
    const test::TempFolder temp;
    BOOST_TEST_REQUIRE(
        temp.run("mkdir -p $D/mine/lib && cd $D && echo secret > secret && "
                 "echo secret > mine/lib/real && "
                 "printf '.func f\\nr0 = 0\\nexit\\n' > mine/lib/f.bpf && "
                 "ln -s ../secret mine/link && ln -s lib/f.bpf mine/near.bpf"));
    const auto ended = [&](std::string_view file) {
        std::ofstream(temp.file("mine/t.bpf"))
            << ".include \"" << file << "\"\n.prog p begin\n  call f\n  exit\n";
        return test::gpufs({"asm", temp.file("mine/t.bpf")});
    };
    BOOST_TEST(ended("lib/f.bpf").status == 0);
    BOOST_TEST(ended("near.bpf").status == 0);
    const std::string hint =
        "hint: a text includes what is in its own folder and in the folders there, or what is "
        "shipped\n";
    for (const std::string& file : {temp.file("secret"), std::string("../secret"),
                                    std::string("lib/../../secret"), std::string("/etc/passwd")}) {
        const Ended refused = ended(file);
        BOOST_TEST(refused.status == 2);
        BOOST_TEST(
            refused.err.starts_with(cat("gpufs: ", temp.file("mine/t.bpf"), ":1:10: error: '", file,
                                        "' is not beside this file or below\n")));
        BOOST_TEST(refused.err.find(hint) != std::string::npos);
        BOOST_TEST(refused.err.find("secret\n  ") == std::string::npos);
    }
    const Ended link = ended("link");
    BOOST_TEST(link.status == 2);
    BOOST_TEST(link.err.find(cat("'", temp.file("mine/link"), "' is a link to another folder\n")) !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(bytes_come_back_through_the_disassembler) {
    const TempFile text(kBare, ".s");
    const TempFile bytes("", ".bin");
    BOOST_TEST(test::gpufs({"asm", text.path(), "--raw", "-o", bytes.path()}).status == 0);
    BOOST_TEST(read_file(bytes.path()).size() == 32u);
    const Ended shown = test::gpufs_as_nobody({"disasm", bytes.path()});
    BOOST_TEST(shown.status == 0);
    const TempFile again(shown.out, ".again.s");
    const Ended hex = test::gpufs({"asm", "--hex", again.path()});
    BOOST_TEST(hex.out ==
               "b7 00 00 00 01 00 00 00\n07 00 00 00 02 00 00 00\n"
               "55 00 fe ff 07 00 00 00\n95 00 00 00 00 00 00 00\n");
    const TempFile digits(hex.out, ".hex");
    BOOST_TEST(test::gpufs({"disasm", digits.path()}).out == shown.out);
    BOOST_TEST(test::gpufs({"disasm", digits.path(), "--numbers"}).out ==
               "    r0 = 1\n    r0 += 2\n    if r0 != 7 goto -2\n    exit\n");
}

BOOST_AUTO_TEST_CASE(bare_instructions_have_a_listing_and_a_c_array) {
    const TempFile text(kBare, ".s");
    BOOST_TEST(test::gpufs({"asm", "--listing", text.path()}).out ==
               "    1     0  b7 00 00 00 01 00 00 00  r0 = 1\n"
               "    2     1  07 00 00 00 02 00 00 00  r0 += 2\n"
               "    3     2  55 00 fe ff 07 00 00 00  if r0 != 7 goto out\n"
               "    4     3  95 00 00 00 00 00 00 00  exit\n");
    const std::string array = test::gpufs({"asm", "--c", text.path()}).out;
    BOOST_TEST(array.starts_with("static const struct bpf_insn gpufs_test_"));
    BOOST_TEST(array.find("[] = {\n    {.code = 0xb7, ") != array.npos);
}

BOOST_AUTO_TEST_CASE(a_c_array_has_a_name_that_c_takes) {
    const test::TempFolder folder;
    const auto begin = [&](const std::string& line) {
        const std::string text = test::shell(line).out;
        return text.substr(0, text.find(" = {"));
    };
    BOOST_TEST(begin("echo exit | $GPUFS asm - --c") == "static const struct bpf_insn program[]");
    for (const char* word : {"while", "stdin"}) {
        const std::string path = (folder / cat(word, ".bpf")).string();
        std::ofstream(path) << "exit\n";
        BOOST_TEST(begin(cat("$GPUFS asm --c ", path)) ==
                   cat("static const struct bpf_insn ", word, "_[]"));
    }
}

BOOST_AUTO_TEST_CASE(a_program_that_needs_no_kernel_has_bytes) {
    const TempFile file(
        ".param n = 7\n.map m hash key u32, value u64\n.func f\nr0 = n\nexit\n"
        ".prog p begin\ncall f\nexit\n.prog q begin\nr1 = map[m]\nr0 = 0\nexit\n");
    BOOST_TEST(test::gpufs({"asm", "--hex", file.path(), "--prog", "p"}).out ==
               "85 10 00 00 01 00 00 00\n95 00 00 00 00 00 00 00\n"
               "b7 00 00 00 07 00 00 00\n95 00 00 00 00 00 00 00\n");
    BOOST_TEST(test::gpufs({"asm", file.path(), "--prog", "r"}).status == 2);
    BOOST_TEST(test::gpufs({"asm", "--listing", file.path(), "--prog", "r"}).status == 2);
    BOOST_TEST(test::gpufs({"asm", "--hex", file.path(), "--prog", "q"}).err ==
               cat("gpufs: ", file.path(), ":10:10: error: only a kernel has the bytes of this\n",
                   "r1 = map[m]\n", "         ^\n",
                   "hint: --listing shows those that are known\n"));
    BOOST_TEST(test::gpufs({"asm", "--hex", file.path()}).err ==
               cat("gpufs: ", file.path(), " has 2 programs\nhint: --prog NAME takes one: p, q\n"));
}

BOOST_AUTO_TEST_CASE(an_elf_object_is_shown_by_section) {
    const std::string object = "tests/data/asm/object.o";
    const Ended text = test::gpufs_as_nobody({"disasm", object, "--section", ".text"});
    BOOST_TEST(text.out == "# section .text\nhelper:\n    r0 = 7\n    exit\n");
    BOOST_TEST(test::gpufs({"disasm", object, "--section", "x"}).err ==
               cat("gpufs: ", object, " has no section 'x'\n",
                   "hint: it has .text, tracepoint/sched/sched_switch\n"));
}

BOOST_AUTO_TEST_CASE(wrong_words_are_refused) {
    const test::TempFile source("exit\n", ".bpf");
    for (const char* command : {"asm", "disasm"})
        BOOST_TEST(test::has(test::gpufs({command, source.path(), "-o", source.path()}).err,
                             cat("gpufs: --output: '", source.path(), "' is the ")));
    BOOST_TEST(read_file(source.path()) == "exit\n");
    BOOST_TEST(test::gpufs({"asm"}).err == "gpufs: asm needs a FILE\nhint: '-' is stdin\n");
    BOOST_TEST(test::gpufs({"asm", "x", "y"}).err == "gpufs: 'y' is one word too many\n");
    BOOST_TEST(test::gpufs({"asm", "x", "--raw", "--hex"}).err ==
               "gpufs: --raw and --hex exclude each other\n");
    BOOST_TEST(test::gpufs({"asm", "/none.bpf"}).status == 1);
    BOOST_TEST(test::gpufs({"disasm", "--id", "5", "x"}).err == "gpufs: --id takes no FILE\n");
    BOOST_TEST(test::gpufs({"disasm", "--id", "x"}).err ==
               "gpufs: --id takes a positive number, not 'x'\n");
    const TempFile odd("12345", ".bin");
    const TempFile words("r0 = 1\nexit\n");
    BOOST_TEST(test::gpufs({"disasm", words.path()}).err ==
               cat("gpufs: ", words.path(),
                   " is text, and no hexadecimal digits\nhint: 'gpufs asm ", words.path(),
                   " --listing' assembles one\n"));
    const Ended ended = test::gpufs({"disasm", "--raw", odd.path()});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err == cat("gpufs: ", odd.path(),
                                " has 5 bytes, which are no whole number of instructions\n"
                                "hint: an instruction has 8\n"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
