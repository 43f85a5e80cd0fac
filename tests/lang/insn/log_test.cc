#include "lang/insn/asm_line.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "lang/insn/forms.h"
#include "lang/insn/listing.h"

namespace gpufs {
namespace {

using test::hex_bytes;

const std::string kLogs = "tests/data/verifier_logs/";

// The bytes that were loaded.
std::string loaded(const std::string& program) {
    return join(split(read_file(cat(kLogs, program, ".hex")), '\n'), "");
}

struct Assembled {
    std::string hex;  // with the descriptors that the .hex files have
    std::string errors;
};

Assembled assemble_log(const std::string& file) {
    const SourceText source{file, read_file(kLogs + file)};
    Diagnostics errors;
    InsnSequence sequence(errors);
    bool after_log = false;
    for (const Span line : line_spans(source))
        after_log = add_asm_line(sequence, source, line, {}, errors, after_log);
    sequence.link_labels();
    std::vector<bpf_insn> insns = sequence.insns();
    for (const auto& [at, ref] : sequence.refs()) {
        insns[at].imm = ref.to.name == "counts" ? 100 : ref.to.name == "config" ? 101 : -1;
        insns[at + 1].imm = static_cast<__s32>(ref.to.addend);
    }
    return {hex_bytes(insns), errors.to_text()};
}

AsmLine parts_of(const std::string& line, bool after_log = true) {
    return split_asm_line({"log", line}, {0, line.size()}, after_log);
}
bool is_noise(const std::string& line, bool after_log = true) {
    return parts_of(line, after_log).kind == AsmLine::Kind::noise;
}

BOOST_AUTO_TEST_SUITE(bpf_log)

BOOST_AUTO_TEST_CASE(a_pasted_log_assembles_to_the_programs_bytes) {
    for (const char* log : {"6.18/arithmetic", "6.18/memory", "6.18/jumps", "6.18/maps",
                            "6.18/loop", "6.18/packet", "6.18/v4", "6.18/may_goto", "6.18/acquire",
                            "6.12/memory", "6.12/maps", "6.12/v4", "6.12/may_goto", "6.12/packet",
                            "6.1/arithmetic", "6.1/memory", "6.1/packet", "6.1/loop"}) {
        const std::string program = std::filesystem::path(log).filename();
        const Assembled assembled = assemble_log(cat(log, ".log"));
        BOOST_TEST_CONTEXT(log) {
            BOOST_TEST(assembled.errors == "");
            BOOST_TEST(assembled.hex == loaded(program));
        }
    }
}

BOOST_AUTO_TEST_CASE(the_log_of_a_refused_program_has_all_of_it_where_the_kernel_lists_it_first) {
    for (const char* program : {"refused_access", "refused_loop", "refused_register"}) {
        const Assembled assembled = assemble_log(cat("6.18/", program, ".log"));
        BOOST_TEST(assembled.errors == "");
        BOOST_TEST(assembled.hex == loaded(program));
    }
}

BOOST_AUTO_TEST_CASE(the_short_log_of_a_refused_program_has_its_beginning) {
    for (const char* file : {"6.18/refused_access.level1.log", "6.12/refused_access.level1.log"}) {
        const Assembled assembled = assemble_log(file);
        BOOST_TEST(assembled.errors == "");
        BOOST_TEST(assembled.hex == loaded("refused_access").substr(0, assembled.hex.size()));
        BOOST_TEST(assembled.hex.size() == 7u * 16);
    }
}

BOOST_AUTO_TEST_CASE(the_short_log_of_an_accepted_program_is_noise) {
    const Assembled assembled = assemble_log("6.18/accepted.level1.log");
    BOOST_TEST(assembled.errors == "");
    BOOST_TEST(assembled.hex == "");
}

BOOST_AUTO_TEST_CASE(what_a_log_leaves_out_is_missed) {
    BOOST_TEST(assemble_log("6.18/refused_register.level1.log").errors ==
               "6.18/refused_register.level1.log:6:9: error: instructions 4 to 5 are missing in "
               "this log\n"
               "6: (bf) r0 = r2\n"
               "        ^~~~~~~\n"
               "hint: a log of log_level 2 shows more of them");
}

BOOST_AUTO_TEST_CASE(a_map_that_a_log_does_not_name_is_asked_for) {
    BOOST_TEST(assemble_log("6.1/refused_access.level1.log").errors ==
               "6.1/refused_access.level1.log:5:14: error: the log shows an address here, not what "
               "was loaded\n"
               "3: (18) r1 = 0xffff8880049e8510       ; R1_w=map_value(off=0,ks=4,vs=64,imm=0)\n"
               "             ^~~~~~~~~~~~~~~~~~\n"
               "hint: name it: r1 = map[NAME][0]");
}

BOOST_AUTO_TEST_CASE(a_local_function_that_a_log_does_not_name_is_asked_for) {
    BOOST_TEST(
        assemble_bare({"log", "1: (18) r2 = 0x6 ; R2_w=func(off=0,imm=0)\n"}).errors.to_text() ==
        "log:1:14: error: the log shows an address here, not what was loaded\n"
        "1: (18) r2 = 0x6 ; R2_w=func(off=0,imm=0)\n"
        "             ^~~\n"
        "hint: name it: r2 = subprog[NAME]");
}

BOOST_AUTO_TEST_CASE(an_address_without_a_word_about_it_is_not_taken_for_a_number) {
    const Listing listing =
        assemble_bare({"log", "0: (18) r1 = 0xffff8881043c2800\n2: (95) exit\n"});
    BOOST_TEST(listing.errors.to_text() ==
               "log:1:9: error: the log shows an address here, not what was loaded\n"
               "0: (18) r1 = 0xffff8881043c2800\n"
               "        ^~~~~~~~~~~~~~~~~~~~~~~\n"
               "hint: name it: r1 = map[NAME], or map[NAME][0] for its value");
}

BOOST_AUTO_TEST_CASE(large_numbers_in_a_log_are_numbers_where_it_says_so) {
    const Listing listing =
        assemble_bare({"log",
                       "0: (18) r1 = 0xffff8881043c2800 ; R1_w=-131386855503872\n"
                       "2: (18) r2 = 0xffffffffffffff00\n"
                       "4: (18) r3 = 0x1122334455667788\n"});
    BOOST_TEST(listing.errors.to_text() == "");
    BOOST_TEST(hex_bytes(listing.insns) ==
               "1801000000283c04000000008188ffff"
               "1802000000ffffff00000000ffffffff"
               "18030000887766550000000044332211");
}

BOOST_AUTO_TEST_CASE(a_dump_of_a_program_that_the_kernel_left_alone_assembles) {
    for (const char* file : {"6.18/memory.xlated", "6.18/memory.opcodes.xlated"}) {
        const Assembled assembled = assemble_log(file);
        BOOST_TEST(assembled.errors == "");
        BOOST_TEST(assembled.hex == loaded("memory"));
    }
}

BOOST_AUTO_TEST_CASE(a_call_that_the_kernel_rewrote_is_said_to_be_so) {
    BOOST_TEST(
        assemble_log("6.18/maps.xlated").errors ==
        "6.18/maps.xlated:7:17: error: '__htab_map_lookup_elem' is no helper, but a function "
        "of the kernel\n"
        "   7: (85) call __htab_map_lookup_elem#330864\n"
        "                ^~~~~~~~~~~~~~~~~~~~~~\n"
        "hint: in a dump, the kernel put it in a helper's place; in the verifier's log it may "
        "be 'call kernel-function#330864'");
}

BOOST_AUTO_TEST_CASE(a_mistake_that_a_log_repeats_is_told_once) {
    const std::string errors = assemble_log("6.18/kfunc.log").errors;
    BOOST_TEST(
        errors ==
        "6.18/kfunc.log:3:31: error: 'bpf_rcu_read_lock' is no helper, but a function of the "
        "kernel\n"
        "      0: .......... (85) call bpf_rcu_read_lock#65470\n"
        "                              ^~~~~~~~~~~~~~~~~\n"
        "hint: in a dump, the kernel put it in a helper's place; in the verifier's log it may "
        "be 'call kernel-function#65470'");
}

BOOST_AUTO_TEST_CASE(lines_of_states_and_talk_are_noise) {
    for (const char* line :
         {"0: R1=ctx() R10=fp0", "0: R1=ctx(off=0,imm=0) R10=fp0", "from 5 to 9: R0=1 R10=fp0",
          "from 5 to 9: safe", "31: safe", "33: frame1: R1=1 R10=fp0", "func#0 @0",
          "Live regs before insn:", "processed 38 insns (limit 1000000) max_states_per_insn 0",
          "mark_precise: frame0: last_idx 5 first_idx 0 subseq_idx -1 ",
          "returning from callee:", "to caller at 31:", "(0) frame 0 insn 7 +live -8 ",
          "(0) live stack update done in 2 iterations", "verification time 103 usec",
          " R0_w=inv0 R1=ctx(id=0,off=0,imm=0) R10=fp0",
          "int handler(struct ctx * ctx):", "regs=4 stack=0 before 3: (bf) r2 = r10"})
        BOOST_TEST(is_noise(line, false), line);
}

BOOST_AUTO_TEST_CASE(free_words_are_noise_only_behind_a_log) {
    for (const char* line :
         {"R4 !read_ok", "R1 min value is outside of the allowed memory range",
          "invalid access to map value, value_size=64 off=60 size=8",
          "infinite loop detected at insn 3", "last insn is not an exit or jmp",
          "back-edge from insn 3 to 1", "caller:", "caller passes invalid args into func#1",
          " frame1: R1=1 R2=scalar(smax=5)", " R6=ctx()", "       b7 00 00 00 00 00 00 00",
          "unreachable insn 8", "The sequence of 8193 jumps is too complex."}) {
        BOOST_TEST(is_noise(line, true), line);
        if (std::string_view(line) != "caller:") BOOST_TEST(!is_noise(line, false), line);
    }
}

BOOST_AUTO_TEST_CASE(mistakes_behind_a_log_are_not_taken_for_free_words) {
    for (const char* line : {"exut", "gota out", "R1 = 5", "x7 += 3", "ifx r1 == 0 goto out",
                             "r1 = nonsense here", "x2 s>>= 1", "call  foo bar", ".map x y"})
        BOOST_TEST(!is_noise(line, true), line);
}

BOOST_AUTO_TEST_CASE(index_and_opcode_are_taken_off) {
    const AsmLine call =
        parts_of("12: (85) call bpf_map_lookup_elem#1    ; R0=map_value_or_null()");
    BOOST_TEST(call.index.value() == 12u);
    BOOST_TEST(call.opcode.value() == 0x85u);
    BOOST_TEST(call.code.begin == 9u);
    const AsmLine live = parts_of("  1   2: .......7.. (07) r7 += 1");
    BOOST_TEST(live.index.value() == 2u);
    BOOST_TEST(live.opcode.value() == 0x07u);
    const AsmLine bare = parts_of("7: r1 = 5");
    BOOST_TEST(bare.index.value() == 7u);
    BOOST_TEST(!bare.opcode);
    BOOST_TEST(!parts_of("out: r1 = 5").index);
}

BOOST_AUTO_TEST_CASE(labels_are_taken_off) {
    const AsmLine line = parts_of("one: two : r1 = 5");
    BOOST_TEST_REQUIRE(line.labels.size() == 2u);
    BOOST_TEST(line.labels[1].begin == 5u);
    BOOST_TEST(line.labels[1].end == 8u);
    BOOST_TEST(line.code.begin == 11u);
    BOOST_TEST((parts_of("only:  # a comment").kind == AsmLine::Kind::empty));
}

BOOST_AUTO_TEST_CASE(an_opcode_that_is_not_the_texts_is_an_error) {
    BOOST_TEST(assemble_bare({"log", "0: (b7) w1 = 5\n"}).errors.to_text() ==
               "log:1:5: error: the log says opcode 0xb7, but this text is 0xb4\n"
               "0: (b7) w1 = 5\n"
               "    ^~");
}

BOOST_AUTO_TEST_CASE(a_log_whose_program_was_edited_is_refused) {
    BOOST_TEST(assemble_bare({"log", "0: (b7) r0 = 0\nr1 = 5\n1: (95) exit\n"}).errors.to_text() ==
               "log:3:9: error: instruction 1 was another one before\n"
               "1: (95) exit\n"
               "        ^~~~\n"
               "hint: the numbers in front are a log's: remove them to change its program");
}

BOOST_AUTO_TEST_CASE(a_log_may_begin_in_the_middle_of_a_program_but_not_go_back) {
    BOOST_TEST(hex_bytes(assemble_bare({"log", "r1 = 5\n7: (b7) r0 = 0\n8: (95) exit\n"}).insns) ==
               "b701000005000000b7000000000000009500000000000000");
    BOOST_TEST(assemble_bare({"log", "7: (b7) r0 = 0\n6: (95) exit\n"}).errors.to_text() ==
               "log:2:9: error: instruction 6 comes before the first one of this log\n"
               "6: (95) exit\n"
               "        ^~~~");
    BOOST_TEST(assemble_bare({"log", "r1 = 5\n99999999: exit\n"}).errors.to_text() ==
               "log:2:11: error: instruction 99999999 is beyond what a program has\n"
               "99999999: exit\n"
               "          ^~~~");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
