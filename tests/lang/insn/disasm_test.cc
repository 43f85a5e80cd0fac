#include "lang/insn/disasm.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "base/cat.h"
#include "lang/insn/forms.h"
#include "lang/insn/gen.h"
#include "lang/insn/insn.h"
#include "lang/insn/listing.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

using test::hex_bytes;

std::vector<bpf_insn> assembled(const std::string& text) {
    const Listing listing = assemble_bare({"test", text});
    BOOST_TEST_REQUIRE(listing.errors.to_text() == "");
    return listing.insns;
}

void check_round_trip(const std::vector<bpf_insn>& insns) {
    for (const bool labels : {true, false}) {
        const std::string text = disassembly(insns, {labels, {}});
        BOOST_TEST_CONTEXT(text) BOOST_TEST_REQUIRE(hex_bytes(assembled(text)) == hex_bytes(insns));
    }
}

BOOST_AUTO_TEST_SUITE(bpf_disasm)

BOOST_AUTO_TEST_CASE(every_form_comes_back_from_its_text) {
    for (const auto& form : test::kLlvmForms) check_round_trip(assembled(form.text));
    for (const auto& form : test::kOtherForms) check_round_trip(assembled(form.text));
}

BOOST_AUTO_TEST_CASE(random_programs_come_back_from_their_text) {
    for (int seed = test::rounds(200); seed > 0; --seed) {
        test::InsnGen gen(static_cast<unsigned>(seed));
        check_round_trip(gen.program(100));
    }
}

BOOST_AUTO_TEST_CASE(any_8_bytes_come_back_from_their_text) {
    test::InsnGen gen(1);
    for (int round = test::rounds(40); round > 0; --round) {
        std::vector<bpf_insn> insns;
        for (int i = 0; i < 500; ++i) insns.push_back(insn_of(gen.bits()));
        check_round_trip(insns);
    }
}

// Closer to the edge than noise: one bit of a valid program is wrong.
BOOST_AUTO_TEST_CASE(programs_with_flipped_bits_come_back_from_their_text) {
    for (int seed = test::rounds(100); seed > 0; --seed) {
        test::InsnGen gen(static_cast<unsigned>(seed));
        std::vector<bpf_insn> insns = gen.program(100);
        for (bpf_insn& one : insns)
            if (gen.between(0, 1)) one = insn_of(bits_of(one) ^ 1ull << gen.between(0, 63));
        check_round_trip(insns);
    }
}

BOOST_AUTO_TEST_CASE(every_opcode_with_every_source_comes_back_from_its_text) {
    std::vector<bpf_insn> insns;
    // No divisor of the number of offsets and immediates: each opcode gets others of them.
    constexpr int kStep = 7;
    const int step = kStep / test::rounds(kStep);
    int combination = 0;
    for (int code = 0; code < 256; ++code)
        for (int src = 0; src < 16; ++src)
            for (const int off : {0, 1, 8, 16, 32, 3})
                for (const int imm : {0, 1, 16, 32, 64, 0x50, 0xe1, 0xf1, 0x100, 0x110, -1})
                    if (++combination % step == 0)
                        insns.push_back(insn::make(code, 3, src, static_cast<__s16>(off), imm));
    check_round_trip(insns);
}

BOOST_AUTO_TEST_CASE(a_program_reads_well) {
    const std::vector<bpf_insn> insns = assembled(
        "r6 = r1\n"
        "w1 = *(u32 *)(r6 + 24)\n"
        "*(u32 *)(r10 - 4) = w1\n"
        "r2 = r10\n"
        "r2 += -4\n"
        "r1 = map[fd:7]\n"
        "call map_lookup_elem\n"
        "if r0 == 0 goto out\n"
        "r1 = 1\n"
        "lock *(u64 *)(r0 + 0) += r1\n"
        "w3 = 2\n"
        "w3 = atomic_fetch_or((u32 *)(r0 + 4), w3)\n"
        "w3 &= 0x7ff\n"
        "r4 = map[fd:8][0]+16\n"
        "r0 = load_acquire((u64 *)(r4 + 0))\n"
        "call helper\n"
        "out: r0 = 0\n"
        "exit\n"
        "helper: r0 = 0xdeadbeef ll\n"
        "exit\n"
        ".quad 0xff\n");
    BOOST_TEST(disassembly(insns) ==
               "    r6 = r1\n"
               "    r1 = *(u32 *)(r6 + 24)\n"
               "    *(u32 *)(r10 - 4) = r1\n"
               "    r2 = r10\n"
               "    r2 += -4\n"
               "    ld_pseudo r1, 1, 7  # map[fd:7]\n"
               "    call 1  # map_lookup_elem\n"
               "    if r0 == 0 goto L18\n"
               "    r1 = 1\n"
               "    lock *(u64 *)(r0 + 0) += r1\n"
               "    w3 = 2\n"
               "    w3 = atomic_fetch_or((u32 *)(r0 + 4), w3)\n"
               "    w3 &= 0x7ff\n"
               "    .quad 0x0000000800002418, 0x0000001000000000  # r4 = map[fd:8][0]+16\n"
               "    r0 = load_acquire((u64 *)(r4 + 0))\n"
               "    call F20\n"
               "L18:\n"
               "    r0 = 0\n"
               "    exit\n"
               "F20:\n"
               "    r0 = 0xdeadbeef ll\n"
               "    exit\n"
               "    .quad 0x00000000000000ff  # no instruction\n");
}

BOOST_AUTO_TEST_CASE(jumps_are_distances_where_labels_are_not_wanted) {
    const auto insns = assembled("a: if w1 & 0xff goto b\ncall a\ngotol a\nb: may_goto a\n");
    BOOST_TEST(disassembly(insns, {false, {}}) ==
               "    if w1 & 0xff goto +2\n"
               "    call pc-2\n"
               "    gotol -3\n"
               "    may_goto -4\n");
}

BOOST_AUTO_TEST_CASE(a_jump_out_of_the_program_or_into_a_16_byte_load_is_a_distance) {
    BOOST_TEST(disassembly(assembled("goto +7\nif r1 > 2 goto +1\nr1 = 5 ll\nexit\n")) ==
               "    goto +7\n"
               "    if r1 > 2 goto +1\n"
               "    r1 = 0x5 ll\n"
               "    exit\n");
}

BOOST_AUTO_TEST_CASE(a_label_may_stand_behind_the_last_instruction) {
    BOOST_TEST(disassembly(assembled("goto end\nexit\nend:\n")) == "    goto L2\n    exit\nL2:\n");
}

BOOST_AUTO_TEST_CASE(what_LLVM_has_no_words_for_is_data_with_a_comment) {
    const auto insns =
        assembled("r0 = *(u32 *)skb[r3 - 4]\ncall pc+9\ncall kernel-function#12\ngotol +70000\n");
    BOOST_TEST(disassembly(insns) ==
               "    .quad 0xfffffffc00003040  # r0 = *(u32 *)skb[r3 - 4]\n"
               "    .quad 0x0000000900001085  # call pc+9\n"
               "    .quad 0x0000000c00002085  # call kernel-function#12\n"
               "    .quad 0x0001117000000006  # gotol +70000\n");
}

BOOST_AUTO_TEST_CASE(maps_are_named_where_their_names_are_known) {
    const DisasmOptions options{true, [](const bpf_insn& first) {
                                    return first.imm == 7 ? std::string("counts") : std::string();
                                }};
    const auto insns =
        assembled("r1 = map[fd:7]\nr2 = map[fd:7][0]+8\nr3 = map[fd:9]\nr4 = map[idx:7]\n");
    BOOST_TEST(disassembly(insns, options) ==
               "    r1 = map[counts]\n"
               "    r2 = map[counts][0]+8\n"
               "    ld_pseudo r3, 1, 9  # map[fd:9]\n"
               "    ld_pseudo r4, 5, 7  # map[idx:7]\n");
}

BOOST_AUTO_TEST_CASE(lines_say_where_they_are) {
    const auto lines = disassemble(assembled("r1 = 5 ll\nx: goto x\n"));
    BOOST_TEST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(lines[0].index == 0u);
    BOOST_TEST(lines[0].slots == 2u);
    BOOST_TEST(lines[1].index == 2u);
    BOOST_TEST(lines[1].label == "L2");
    BOOST_TEST(lines[1].text == "goto L2");
}

BOOST_AUTO_TEST_CASE(an_empty_program_is_an_empty_text) {
    BOOST_TEST(disassembly({}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
