#include "lang/insn/listing.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "lang/insn/forms.h"
#include "lang/insn/gen.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

using test::hex_bytes;

std::string listed(const std::string& text) {
    const Listing listing = assemble_bare({"test", text});
    return listing.errors.empty() ? hex_bytes(listing.insns) : listing.errors.to_text();
}

BOOST_AUTO_TEST_SUITE(bpf_listing)

BOOST_AUTO_TEST_CASE(labels_become_distances) {
    BOOST_TEST(listed("again:\n"
                      "    if r1 == 0 goto out   ; forward, over a 16-byte load\n"
                      "    r2 = 5 ll\n"
                      "    goto again            # backward\n"
                      "out: exit\n") ==
               "1501030000000000"
               "18020000050000000000000000000000"
               "0500fcff00000000"
               "9500000000000000");
}

BOOST_AUTO_TEST_CASE(local_functions_are_labels) {
    BOOST_TEST(listed("call f\nr2 = subprog[f]\nexit\nf: call f\nexit\n") ==
               "8510000003000000"
               "18420000020000000000000000000000"
               "9500000000000000"
               "85100000ffffffff"
               "9500000000000000");
}

BOOST_AUTO_TEST_CASE(far_jumps_have_32_bits) {
    std::string text = "gotol end\n";
    for (int i = 0; i < 40000; ++i) text += "r0 = 0\n";
    const Listing listing = assemble_bare({"test", text + "end: exit\n"});
    BOOST_TEST(listing.errors.to_text() == "");
    BOOST_TEST(listing.insns[0].imm == 40000);
}

BOOST_AUTO_TEST_CASE(each_slot_knows_where_it_was_written) {
    const SourceText source{"test", "r1 = 5 ll ; both\n\n  exit\n"};
    const Listing listing = assemble_bare(source);
    BOOST_TEST_REQUIRE(listing.spans.size() == 3u);
    BOOST_TEST(listing.spans[1].begin == 0u);
    BOOST_TEST(listing.spans[1].end == 9u);
    BOOST_TEST(position_of(source, listing.spans[2].begin).line == 3u);
    BOOST_TEST(position_of(source, listing.spans[2].begin).column == 3u);
}

BOOST_AUTO_TEST_CASE(all_mistakes_of_a_text_are_shown_in_its_order) {
    BOOST_TEST(listed("start: r1 = 5\n"
                      "    goto strat\n"
                      "\tr2 = *(u64 *)(r1 + 99999)  # far\n"
                      "    call map_lokup_elem\n"
                      "start: exut\n"
                      "r5: exit\n"
                      "    r1 = map[counts]\n"
                      "    r1 = *(u32 *)(r6 + @pid)\n") ==
               "test:2:10: error: no label is named 'strat'\n"
               "    goto strat\n"
               "         ^~~~~\n"
               "hint: did you mean 'start'?\n"
               "test:3:19: error: 99999 is out of range: an offset goes from -32768 to 32767\n"
               "\tr2 = *(u64 *)(r1 + 99999)  # far\n"
               "\t                 ^~~~~~~\n"
               "test:4:10: error: no helper or local function is named 'map_lokup_elem'\n"
               "    call map_lokup_elem\n"
               "         ^~~~~~~~~~~~~~\n"
               "hint: did you mean 'map_lookup_elem'?\n"
               "test:5:1: error: label 'start' is defined twice\n"
               "start: exut\n"
               "^~~~~\n"
               "test:5:8: error: no instruction begins with 'exut'\n"
               "start: exut\n"
               "       ^~~~\n"
               "hint: did you mean 'exit'?\n"
               "test:6:1: error: 'r5' is a register, not a label\n"
               "r5: exit\n"
               "^~\n"
               "test:7:14: error: no map is named 'counts'\n"
               "    r1 = map[counts]\n"
               "             ^~~~~~\n"
               "hint: bare instructions declare no maps; map[fd:5] is that of descriptor 5\n"
               "test:8:24: error: no constant is named '@pid'\n"
               "    r1 = *(u32 *)(r6 + @pid)\n"
               "                       ^~~~");
}

BOOST_AUTO_TEST_CASE(a_jump_must_reach_its_label) {
    std::string text = "begin: goto end\nif r1 == 5 goto end\n";
    for (int i = 0; i < 32768; ++i) text += "r0 = 0\n";
    BOOST_TEST(listed(text + "end: goto begin\n") ==
               "test:1:13: error: 'end' is 32769 instructions away: this jump reaches 32767\n"
               "begin: goto end\n"
               "            ^~~\n"
               "hint: 'gotol' reaches further\n"
               "test:2:17: error: 'end' is 32768 instructions away: this jump reaches 32767\n"
               "if r1 == 5 goto end\n"
               "                ^~~\n"
               "hint: 'gotol' reaches further\n"
               "test:32771:11: error: 'begin' is -32771 instructions away: this jump reaches "
               "-32768\n"
               "end: goto begin\n"
               "          ^~~~~\n"
               "hint: 'gotol' reaches further");
}

BOOST_AUTO_TEST_CASE(an_empty_text_is_an_empty_program) {
    BOOST_TEST(listed("") == "");
    BOOST_TEST(listed("; nothing\n\n   # at all") == "");
    BOOST_TEST(listed("\r\n  exit \r\n") == "9500000000000000");
}

BOOST_AUTO_TEST_CASE(raw_data_may_be_listed) {
    BOOST_TEST(listed(".quad 0x95, 1\n") == "95000000000000000100000000000000");
}

// Whatever is thrown at it, the assembler answers.
BOOST_AUTO_TEST_CASE(noise_is_refused_in_peace) {
    test::InsnGen gen(3);
    const std::string_view pieces[] = {"r1",
                                       "w2",
                                       "=",
                                       "+=",
                                       "s",
                                       ">>=",
                                       "*",
                                       "(",
                                       ")",
                                       "u32",
                                       "[",
                                       "]",
                                       "map",
                                       "goto",
                                       "if",
                                       "call",
                                       "#",
                                       ";",
                                       "12",
                                       ":",
                                       "(85)",
                                       "0x",
                                       "-",
                                       "@",
                                       "\"",
                                       "ll",
                                       "pc",
                                       "+",
                                       ".quad",
                                       ",",
                                       "\n",
                                       "from 5 to 9",
                                       "R1=",
                                       "skb",
                                       "lock",
                                       "atomic_fetch_add",
                                       "\t",
                                       "\xff",
                                       std::string_view("\0", 1),
                                       "99999999999999999999"};
    for (int round = test::rounds(3000); round > 0; --round) {
        std::string text;
        for (int i = 0; i < 12; ++i) {
            text += pieces[gen.bits() % std::size(pieces)];
            if (gen.between(0, 1)) text += ' ';
        }
        BOOST_CHECK_NO_THROW(assemble_bare({"noise", text}).errors.to_text());
    }
}

BOOST_AUTO_TEST_CASE(bare_instructions_are_no_more_than_a_kernel_takes,
                     *boost::unit_test::label("long")) {
    std::string text;
    for (std::size_t i = 0; i < 1'000'002; ++i) text += "exit\n";
    BOOST_TEST(assemble_bare({"test", text}).errors.to_text() ==
               "test:1000001:1: error: more than 1000000 instructions: no kernel takes them\n"
               "exit\n^~~~");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
