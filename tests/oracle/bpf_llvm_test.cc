// LLVM's assembler as the oracle: the same text gives the same bytes. Needs llvm-mc-19 and its
// neighbours (Debian: llvm-19), at test time only; where they are missing the suite is skipped.

#define BOOST_TEST_DYN_LINK
#include <stdlib.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/cat.h"
#include "base/text.h"
#include "lang/insn/disasm.h"
#include "lang/insn/forms.h"
#include "lang/insn/gen.h"
#include "lang/insn/listing.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::hex_bytes;

constexpr std::string_view kLlvm = "-19";

int run(const std::string& command) {
    return std::system(command.c_str());
}

boost::test_tools::assertion_result has_llvm(ut::test_unit_id) {
    boost::test_tools::assertion_result yes(
        run(cat("llvm-mc", kLlvm, " --version >/dev/null 2>&1")) == 0 &&
        run(cat("llvm-objdump", kLlvm, " --version >/dev/null 2>&1")) == 0);
    yes.message() << "needs llvm-mc" << kLlvm << " and llvm-objdump" << kLlvm << " (apt: llvm"
                  << kLlvm << ")";
    return yes;
}

// A directory of this test's own, and LLVM's tools at work in it.
class Llvm {
public:
    bool can_assemble(const std::string& text) { return try_assemble(text); }

    // The bytes of section .text, as instructions.
    std::vector<bpf_insn> assemble(const std::string& text) {
        if (!try_assemble(text)) BOOST_FAIL(read("errors"));
        BOOST_TEST_REQUIRE(tool("objcopy", "-O binary -j .text object binary"));
        const std::string bytes = read("binary");
        std::vector<bpf_insn> insns(bytes.size() / sizeof(bpf_insn));
        std::memcpy(insns.data(), bytes.data(), bytes.size());
        return insns;
    }

    // What objdump prints for the same, one line each, without the names it puts behind jumps.
    std::string disassemble(const std::vector<bpf_insn>& insns) {
        std::string text;
        for (const bpf_insn& one : insns) text += cat(".quad ", bits_of(one), "\n");
        BOOST_TEST_REQUIRE(try_assemble(text));
        BOOST_TEST_REQUIRE(
            tool("objdump", "-d --mcpu=v4 --no-show-raw-insn --no-leading-addr object > listing"));
        std::string lines;
        const std::string listing = read("listing");
        for (const std::string_view line : lines_of(listing))
            if (line.starts_with("\t"))
                lines += cat(
                    trim(line.substr(0, line.ends_with('>') ? line.rfind(" <") : line.npos)), "\n");
        return lines;
    }

private:
    bool try_assemble(const std::string& text) {
        std::ofstream(directory_ / "source") << text;
        return tool("mc", "-triple=bpfel -mcpu=v4 -filetype=obj source -o object 2> errors");
    }
    bool tool(std::string_view name, std::string_view arguments) {
        return run(cat("cd ", directory_.path().string(), " && llvm-", name, kLlvm, " ",
                       arguments)) == 0;
    }
    std::string read(std::string_view file) {
        std::ifstream in(directory_ / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    const test::TempFolder directory_;
};

std::string assembled_hex(const std::string& text) {
    const Listing listing = assemble_bare({"test", text});
    BOOST_TEST_REQUIRE(listing.errors.to_text() == "");
    return hex_bytes(listing.insns);
}

// Says which instruction differs, and not only that two megabytes do.
void check_same(const std::vector<bpf_insn>& theirs, const std::vector<bpf_insn>& ours) {
    std::size_t at = 0;
    while (at < theirs.size() && at < ours.size() && same_insn(theirs[at], ours[at])) ++at;
    if (at < theirs.size() || at < ours.size())
        for (const DisasmLine& line : disassemble(ours))
            if (line.index + line.slots > at) {
                BOOST_ERROR(cat("instruction ", at, " differs: ", line.text));
                return;
            }
}

BOOST_AUTO_TEST_SUITE(oracle, *ut::precondition(has_llvm))

BOOST_AUTO_TEST_CASE(every_form_that_LLVM_reads_has_LLVMs_bytes) {
    Llvm llvm;
    std::string text;
    for (const auto& form : test::kLlvmForms) text += cat(form.text, "\n");
    const Listing listing = assemble_bare({"test", text});
    BOOST_TEST_REQUIRE(listing.errors.to_text() == "");
    check_same(llvm.assemble(text), listing.insns);
}

BOOST_AUTO_TEST_CASE(labels_and_local_calls_have_LLVMs_distances) {
    Llvm llvm;
    const std::string text =
        "entry:\n"
        "if r1 s> 5 goto out\n"
        "if w1 != w2 goto entry\n"
        "call local\n"
        "may_goto out\n"
        "r1 = 0x1122334455667788 ll\n"
        "gotol local\n"
        "goto entry\n"
        "out: exit\n"
        "local: r0 = 0\n"
        "call local\n"
        "exit\n";
    BOOST_TEST(hex_bytes(llvm.assemble(text)) == assembled_hex(text));
}

BOOST_AUTO_TEST_CASE(expressions_have_LLVMs_values) {
    Llvm llvm;
    std::string text;
    // LLVM wants a number in front.
    for (const char* value :
         {"1+2*3", "3*(1+2)", "7-2-1", "100/7/2", "-7/2", "-7%3", "1<<4|3", "64|(0xff&0x3c)",
          "5*-2", "0-(3)", "0x10^0x1", "1<<30>>4", "+5", "1+~4", "-1+(1<<3)"}) {
        text += cat("r1 = ", value, "\n");
        text += cat("r2 = ", value, " ll\n");
        text += cat("*(u32 *)(r10 - 8) = ", value, "\n");
    }
    BOOST_TEST(hex_bytes(llvm.assemble(text)) == assembled_hex(text));
}

BOOST_AUTO_TEST_CASE(LLVM_reads_our_disassembly_to_the_same_bytes) {
    Llvm llvm;
    const bool with_acquire = llvm.can_assemble("r1 = load_acquire((u64 *)(r2 + 0))\n");
    for (unsigned seed = 0; seed < 4; ++seed) {
        test::InsnGen gen(seed, with_acquire);
        const auto insns = gen.program(10000);
        check_same(llvm.assemble(disassembly(insns)), insns);
    }
}

BOOST_AUTO_TEST_CASE(LLVM_reads_our_disassembly_of_noise_to_the_same_bytes) {
    Llvm llvm;
    const bool with_acquire = llvm.can_assemble("r1 = load_acquire((u64 *)(r2 + 0))\n");
    test::InsnGen gen(7, with_acquire);
    std::vector<bpf_insn> insns;
    for (int i = 0; i < 10000; ++i) insns.push_back(insn_of(gen.bits()));
    for (const bpf_insn& one : gen.program(10000))
        insns.push_back(insn_of(bits_of(one) ^ 1ull << gen.between(0, 63)));
    // A wrong bit may make one that this LLVM does not know.
    std::erase_if(insns, [&](const bpf_insn& one) {
        return !with_acquire && BPF_CLASS(one.code) == BPF_STX &&
               BPF_MODE(one.code) == BPF_ATOMIC &&
               (one.imm == kBpfLoadAcquire || one.imm == kBpfStoreRelease);
    });
    check_same(llvm.assemble(disassembly(insns)), insns);
}

BOOST_AUTO_TEST_CASE(what_LLVM_disassembles_assembles_to_the_same_bytes) {
    Llvm llvm;
    test::InsnGen gen(11, false);
    std::vector<bpf_insn> insns;
    for (const bpf_insn& one : gen.program(20000)) {
        // LLVM prints a call of a local function as a helper's, and what it does not know at all.
        const bool is_odd_call = one.code == (BPF_JMP | BPF_CALL) && one.src_reg != 0;
        const bool is_indexed = BPF_CLASS(one.code) == BPF_LD && BPF_MODE(one.code) == BPF_IND;
        // It loses the upper half of a pseudo value.
        const bool is_half = one.code == 0 || is_wide(one);
        // We refuse to store in a byte what none holds.
        const bool is_large = BPF_CLASS(one.code) == BPF_ST && bytes_of(width_of(one)) < 4;
        if (!is_odd_call && !(is_indexed && one.imm != 0) && !is_half && !is_large)
            insns.push_back(one);
    }
    const Listing listing = assemble_bare({"objdump", llvm.disassemble(insns)});
    BOOST_TEST_REQUIRE(listing.errors.to_text() == "");
    check_same(insns, listing.insns);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
