#include "lang/insn/image.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "lang/insn/disasm.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(bpf_image)

const SourceText kText{"t.s", "r1 = 0x500000006 ll\nout: if w1 s> -1 goto out\nexit\n"};

BOOST_AUTO_TEST_CASE(bytes_and_digits_are_read_back) {
    const std::vector<bpf_insn> insns = assemble_bare(kText).insns;
    const std::string hex =
        "18 01 00 00 06 00 00 00\n00 00 00 00 05 00 00 00\n66 01 ff ff ff ff ff ff\n"
        "95 00 00 00 00 00 00 00\n";
    BOOST_TEST(to_hex(insns) == hex);
    BOOST_TEST(to_hex(insns_of_hex({"h", hex})) == hex);
    BOOST_TEST(to_hex(insns_of_bytes("b", to_bytes(insns))) == hex);
    BOOST_TEST(to_hex(insns_of_hex({"h", "0x9500, 0000 # exit\n; and no more\n000000 00"})) ==
               "95 00 00 00 00 00 00 00\n");
}

BOOST_AUTO_TEST_CASE(what_is_no_program_is_refused) {
    BOOST_CHECK_EXCEPTION(insns_of_bytes("x.bin", "12345"), UsageError, [](const UsageError& e) {
        BOOST_TEST(e.what() ==
                   std::string("x.bin has 5 bytes, which are no whole number of instructions"));
        return true;
    });
    BOOST_CHECK_THROW(insns_of_bytes("x.bin", ""), UsageError);
    BOOST_TEST(!is_hex({"h", "95 00 zz"}));
    BOOST_TEST(!is_hex({"h", "95 00"}));
    BOOST_TEST(is_hex({"h", "9500000000000000"}));
}

BOOST_AUTO_TEST_CASE(a_c_array_has_a_line_for_each_slot) {
    BOOST_TEST(to_c_array("prog", assemble_bare(kText).insns) ==
               "static const struct bpf_insn prog[] = {\n"
               "    {.code = 0x18, .dst_reg = 1, .src_reg = 0, .off = 0, .imm = 6},"
               "  /* r1 = 0x500000006 ll */\n"
               "    {.code = 0x00, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 5},\n"
               "    {.code = 0x66, .dst_reg = 1, .src_reg = 0, .off = -1, .imm = -1},"
               "  /* if w1 s> -1 goto -1 */\n"
               "    {.code = 0x95, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},"
               "  /* exit */\n"
               "};\n");
}

BOOST_AUTO_TEST_CASE(a_listing_has_lines_slots_bytes_and_source) {
    BOOST_TEST(to_listing(assemble_bare(kText), kText) ==
               "    1     0  18 01 00 00 06 00 00 00  r1 = 0x500000006 ll\n"
               "    1     1  00 00 00 00 05 00 00 00\n"
               "    2     2  66 01 ff ff ff ff ff ff  if w1 s> -1 goto out\n"
               "    3     3  95 00 00 00 00 00 00 00  exit\n");
}

BOOST_AUTO_TEST_CASE(a_listing_of_a_program_marks_what_is_filled_later) {
    const Program program = assemble({"t.bpf", R"(.map m hash key u32, value u64
.prog p tracepoint sched:sched_switch
        r2 = @prev_pid(r1)
        if r2 == 0 goto out
        w3 = *(u32 *)(r1 + @next_pid)
        r1 = map[m]
        gotol out
out:    call f
        exit
.func f
        r0 = 7
        exit
)"});
    BOOST_TEST(to_listing(program) ==
               "program p  # t.bpf\n"
               "    3     0                         ? r2 = @prev_pid(r1)\n"
               "    4     1  15 02 04 00 00 00 00 00  if r2 == 0 goto out\n"
               "    5     2  61 13 00 00 00 00 00 00? w3 = *(u32 *)(r1 + @next_pid)\n"
               "    6     3  18 11 00 00 00 00 00 00? r1 = map[m]\n"
               "    6     4  00 00 00 00 00 00 00 00\n"
               "    7     5  06 00 00 00 00 00 00 00  gotol out\n"
               "    8     6  85 10 00 00 00 00 00 00? call f\n"
               "    9     7  95 00 00 00 00 00 00 00  exit\n"
               "\n"
               "function f  # t.bpf\n"
               "   11     0  b7 00 00 00 07 00 00 00  r0 = 7\n"
               "   12     1  95 00 00 00 00 00 00 00  exit\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
