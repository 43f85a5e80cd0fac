#include "lang/insn/parse.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "lang/insn/forms.h"
#include "lang/insn/helpers.h"

namespace gpufs {
namespace {

using test::hex_bytes;

NameMeaning later(Relocation::Kind kind, std::string_view name) {
    Relocation to;
    to.kind = kind;
    to.name = name;
    return NameMeaning::of_later(to);
}

const AsmNames kNames{[](const NameUse& use) {
                          if (use.name == "key.pid") return NameMeaning::of_number(4);
                          if (use.name == "BIG") return NameMeaning::of_number(0x123456789);
                          if (use.name == "min_us")
                              return later(Relocation::Kind::parameter, use.name);
                          if (use.name.starts_with('@'))
                              return later(Relocation::Kind::field_offset, use.name.substr(1));
                          return NameMeaning{};
                      },
                      [] {
                          return std::vector<std::string>{"key.pid", "BIG", "min_us"};
                      }};

ParsedInsn parsed(const std::string& text) {
    const SourceText source{"test", text};
    AsmTokens tokens(source, {0, text.size()});
    return parse_insn(tokens, kNames);
}

std::string mistake(const std::string& text) {
    try {
        return cat("is ", hex_bytes(parsed(text).insns));
    } catch (const SourceError& e) {
        return e.hint().empty() ? e.what() : cat(e.what(), "\nhint: ", e.hint());
    }
}

BOOST_AUTO_TEST_SUITE(bpf_insn_text)

BOOST_AUTO_TEST_CASE(every_form_has_its_bytes) {
    for (const auto& form : test::kLlvmForms)
        BOOST_TEST(hex_bytes(parsed(form.text).insns) == form.bytes, form.text);
    for (const auto& form : test::kOtherForms)
        BOOST_TEST(hex_bytes(parsed(form.text).insns) == form.bytes, form.text);
}

BOOST_AUTO_TEST_CASE(names_of_places_and_values_are_references) {
    using Kind = Relocation::Kind;
    using Slot = InsnRef::Slot;
    struct {
        const char* text;
        Kind kind;
        const char* name;
        Slot slot;
        std::int64_t addend;
        const char* bytes;
    } const cases[] = {
        {"goto out", Kind::label, "out", Slot::off, 0, "0500000000000000"},
        {"gotol out", Kind::label, "out", Slot::imm, 0, "0600000000000000"},
        {"may_goto out", Kind::label, "out", Slot::off, 0, "e500000000000000"},
        {"if r2 s> 5 goto out", Kind::label, "out", Slot::off, 0, "6502000005000000"},
        {"if w2 & w3 goto out", Kind::label, "out", Slot::off, 0, "4e32000000000000"},
        {"call local", Kind::subprogram, "local", Slot::imm, 0, "8510000000000000"},
        {"r2 = subprog[local]", Kind::callback, "local", Slot::imm, 0,
         "18420000000000000000000000000000"},
        {"r1 = map[counts]", Kind::map, "counts", Slot::imm64, 0,
         "18110000000000000000000000000000"},
        {"r1 = counts ll", Kind::map, "counts", Slot::imm64, 0, "18110000000000000000000000000000"},
        {"r1 = map[config][0]", Kind::map_value, "config", Slot::imm64, 0,
         "18210000000000000000000000000000"},
        {"r1 = map[config][0]+key.pid*2", Kind::map_value, "config", Slot::imm64, 8,
         "18210000000000000000000000000000"},
        {"r1 = map[config]+8", Kind::map_value, "config", Slot::imm64, 8,
         "18210000000000000000000000000000"},
        {"w1 = *(u32 *)(r6 + @pid)", Kind::field_offset, "pid", Slot::off, 0, "6161000000000000"},
        {"r1 = *(u8 *)(r6 + @comm + 15)", Kind::field_offset, "comm", Slot::off, 15,
         "7161000000000000"},
        {"*(u64 *)(r6 + @pid) = 5", Kind::field_offset, "pid", Slot::off, 0, "7a06000005000000"},
        {"r2 += @comm", Kind::field_offset, "comm", Slot::imm, 0, "0702000000000000"},
        {"r2 = min_us", Kind::parameter, "min_us", Slot::imm, 0, "b702000000000000"},
        {"r2 = min_us - 1 ll", Kind::parameter, "min_us", Slot::imm64, -1,
         "18020000000000000000000000000000"},
        {"if r1 < min_us goto +1", Kind::parameter, "min_us", Slot::imm, 0, "a501010000000000"},
    };
    for (const auto& c : cases) BOOST_TEST_CONTEXT(c.text) {
            const ParsedInsn one = parsed(c.text);
            BOOST_TEST_REQUIRE(one.refs.size() == 1u);
            BOOST_TEST((one.refs[0].to.kind == c.kind));
            BOOST_TEST(one.refs[0].to.name == c.name);
            BOOST_TEST((one.refs[0].slot == c.slot));
            BOOST_TEST(one.refs[0].to.addend == c.addend);
            BOOST_TEST(hex_bytes(one.insns) == c.bytes);
        }
}

BOOST_AUTO_TEST_CASE(an_instruction_may_have_a_reference_in_each_slot) {
    const ParsedInsn jump = parsed("if r1 > min_us goto out");
    BOOST_TEST_REQUIRE(jump.refs.size() == 2u);
    BOOST_TEST((jump.refs[0].slot == InsnRef::Slot::imm));
    BOOST_TEST((jump.refs[1].slot == InsnRef::Slot::off));
    BOOST_TEST(parsed("*(u32 *)(r6 + @pid) = min_us").refs.size() == 2u);
}

BOOST_AUTO_TEST_CASE(constants_are_computed) {
    BOOST_TEST(hex_bytes(parsed("*(u32 *)(r10 - 24 + key.pid) = key.pid << 2").insns) ==
               "620aecff10000000");
    BOOST_TEST(hex_bytes(parsed("r1 = BIG ll").insns) == "18010000896745230000000001000000");
    BOOST_TEST(parsed("r1 = BIG ll").refs.empty());
    BOOST_TEST(hex_bytes(parsed("goto +key.pid").insns) == "0500040000000000");
}

BOOST_AUTO_TEST_CASE(the_span_is_the_instruction_without_blanks_and_comment) {
    const ParsedInsn one = parsed("  r1 = 5   # five");
    BOOST_TEST(one.span.begin == 2u);
    BOOST_TEST(one.span.end == 8u);
    BOOST_TEST(parsed("call map_lookup_elem # 5").insns[0].imm == 1);
    BOOST_TEST(parsed("call 1  # map_lookup_elem").insns[0].imm == 1);
}

BOOST_AUTO_TEST_CASE(helpers_have_the_headers_numbers) {
    struct {
        const char* name;
        int number;
    } const header[] = {
#define HELPER(helper) {#helper, BPF_FUNC_##helper}
        __BPF_FUNC_MAPPER(HELPER)
#undef HELPER
    };
    for (const auto& [name, number] : header)
        if (number != BPF_FUNC_unspec) BOOST_TEST(find_helper(name).value_or(-1) == number, name);
    for (int number = 1; !helper_name(number).empty(); ++number) {
        BOOST_TEST(find_helper(helper_name(number)).value() == number);
        BOOST_TEST(find_helper(cat("bpf_", helper_name(number))).value() == number);
    }
    BOOST_TEST(helper_names().size() == 211u);
    BOOST_TEST(helper_arguments(BPF_FUNC_ktime_get_ns).value() == 0);
    BOOST_TEST(helper_arguments(BPF_FUNC_map_update_elem).value() == 4);
    BOOST_TEST(helper_arguments(BPF_FUNC_perf_event_output).value() == 5);
    BOOST_TEST(helper_arguments(211).value() == 2);  // cgrp_storage_delete
    BOOST_TEST(!helper_arguments(BPF_FUNC_trace_printk));
    BOOST_TEST(!helper_arguments(212));
    BOOST_TEST(!find_helper("bpf_"));
    BOOST_TEST(!find_helper("unspec"));
    BOOST_TEST(helper_name(0) == "");
    BOOST_TEST(helper_name(212) == "");
    BOOST_TEST(helper_name(-1) == "");
}

struct Mistake {
    const char *text, *message;
};

BOOST_AUTO_TEST_CASE(misspelled_words_are_guessed) {
    constexpr Mistake kCases[] = {
        {"cal 1",
         "test:1:1: error: no instruction begins with 'cal'\ncal 1\n^~~\nhint: did you mean "
         "'call'?"},
        {"gotoo out",
         "test:1:1: error: no instruction begins with 'gotoo'\ngotoo out\n^~~~~\n"
         "hint: did you mean 'goto'?"},
        {"r11 = 5",
         "test:1:1: error: no register is named 'r11'\nr11 = 5\n^~~\n"
         "hint: registers are r0 to r10, and w0 to w10 for their low 32 bits"},
        {"R1 = 5",
         "test:1:1: error: no register is named 'R1'\nR1 = 5\n^~\n"
         "hint: registers are r0 to r10, and w0 to w10 for their low 32 bits"},
        {"x += 5",
         "test:1:1: error: no register is named 'x'\nx += 5\n^\n"
         "hint: registers are r0 to r10, and w0 to w10 for their low 32 bits"},
        {"r1 = w12",
         "test:1:6: error: no register is named 'w12'\nr1 = w12\n     ^~~\n"
         "hint: registers are r0 to r10, and w0 to w10 for their low 32 bits"},
        {"if r1 = 5 goto out",
         "test:1:7: error: no comparison is written '='\nif r1 = 5 goto out\n      ^\n"
         "hint: did you mean '=='?"},
        {"r1 = *(u23 *)(r2 + 0)",
         "test:1:8: error: no type is named 'u23'\nr1 = *(u23 *)(r2 + 0)\n       ^~~\n"
         "hint: did you mean 'u32'?"},
        {"r1 = key.pit",
         "test:1:6: error: no constant is named 'key.pit'\nr1 = key.pit\n     ^~~~~~~\n"
         "hint: did you mean 'key.pid'?"},
        {"5", "test:1:1: error: expected an instruction, found '5'\n5\n^"},
    };
    for (const auto& [text, message] : kCases) BOOST_TEST(mistake(text) == message);
}

BOOST_AUTO_TEST_CASE(numbers_must_fit_their_place) {
    constexpr Mistake kCases[] = {
        {"r1 = *(u64 *)(r2 + 32768)",
         "test:1:18: error: 32768 is out of range: an offset goes from -32768 to 32767\n"
         "r1 = *(u64 *)(r2 + 32768)\n                 ^~~~~~~"},
        {"r1 = 0xffffffff",
         "test:1:6: error: 4294967295 is out of range: an immediate goes from -2147483648 to "
         "2147483647\nr1 = 0xffffffff\n     ^~~~~~~~~~\nhint: write 'll' behind a number of 64 "
         "bits"},
        {"r1 &= 0xffffffff",
         "test:1:7: error: 4294967295 is out of range: an immediate goes from -2147483648 to "
         "2147483647\nr1 &= 0xffffffff\n      ^~~~~~~~~~\n"
         "hint: its 32 bits are sign-extended to 64: -1 is what they can say"},
        {"w1 = 0x100000000",
         "test:1:6: error: 4294967296 is out of range: an immediate of 32 bits goes from "
         "-2147483648 "
         "to 4294967295\nw1 = 0x100000000\n     ^~~~~~~~~~~"},
        {"if r1 > 0xfffffff0 goto out",
         "test:1:9: error: 4294967280 is out of range: an immediate goes from -2147483648 to "
         "2147483647\nif r1 > 0xfffffff0 goto out\n        ^~~~~~~~~~\n"
         "hint: its 32 bits are sign-extended to 64: -16 is what they can say"},
        {"*(u8 *)(r10 - 8) = 256",
         "test:1:20: error: 256 is out of range: u8 goes from -128 to 255\n"
         "*(u8 *)(r10 - 8) = 256\n                   ^~~"},
        {"*(u64 *)(r10 - 8) = 0x80000000",
         "test:1:21: error: 2147483648 is out of range: an immediate goes from -2147483648 to "
         "2147483647\n*(u64 *)(r10 - 8) = 0x80000000\n                    ^~~~~~~~~~\n"
         "hint: its 32 bits are sign-extended to 64: -2147483648 is what they can say"},
        {"goto +40000",
         "test:1:6: error: 40000 is out of range: a jump goes from -32768 to 32767\n"
         "goto +40000\n     ^~~~~~\nhint: 'gotol' reaches further"},
        {"r1 = addr_space_cast(r2, 65536, 0)",
         "test:1:26: error: 65536 is out of range: an address space goes from 0 to 65535\n"
         "r1 = addr_space_cast(r2, 65536, 0)\n                         ^~~~~"},
        {"call 0x80000000",
         "test:1:6: error: '0x80000000' is the kernel's own: this is the program as the kernel "
         "rewrote it\ncall 0x80000000\n     ^~~~~~~~~~\n"
         "hint: assemble its source, or what the verifier's log shows of it"},
        {"r1 = map[counts][1]",
         "test:1:18: error: only element 0 has an address\nr1 = map[counts][1]\n"
         "                 ^\nhint: reach the others by an offset: map[NAME][0]+OFFSET"},
        {"r1 = map[counts]+-4",
         "test:1:17: error: -4 is out of range: an offset into a map's value goes from 0 to "
         "2147483647\nr1 = map[counts]+-4\n                ^~~"},
    };
    for (const auto& [text, message] : kCases) BOOST_TEST(mistake(text) == message);
}

BOOST_AUTO_TEST_CASE(registers_must_have_the_width_of_their_place) {
    constexpr Mistake kCases[] = {
        {"r1 += w2",
         "test:1:7: error: 'r1' has 64 bits and 'w2' 32\nr1 += w2\n      ^~\nhint: write r2"},
        {"if w1 & r3 goto +2",
         "test:1:9: error: 'w1' has 32 bits and 'r3' 64\nif w1 & r3 goto +2\n        ^~\n"
         "hint: write w3"},
        {"w1 = *(u64 *)(r2 + 8)",
         "test:1:1: error: 'w1' has 32 bits: this loads 64 bits\nw1 = *(u64 *)(r2 + 8)\n^~\n"
         "hint: write r1"},
        {"w1 = *(s8 *)(r2 + 8)",
         "test:1:1: error: 'w1' has 32 bits: a signed load fills the whole register\n"
         "w1 = *(s8 *)(r2 + 8)\n^~\nhint: write r1"},
        {"r1 = *(u64 *)(w2 + 8)",
         "test:1:15: error: 'w2' has 32 bits: an address has 64 bits\nr1 = *(u64 *)(w2 + 8)\n"
         "              ^~\nhint: write r2"},
        {"*(u64 *)(r10 - 8) = w1",
         "test:1:21: error: 'w1' has 32 bits: this works on 64 bits\n*(u64 *)(r10 - 8) = w1\n"
         "                    ^~\nhint: write r1"},
        {"w1 = 5 ll",
         "test:1:1: error: 'w1' has 32 bits: this loads 64 bits\nw1 = 5 ll\n^~\n"
         "hint: write r1"},
        {"w1 = be16 w1",
         "test:1:1: error: 'w1' has 32 bits: bytes are swapped in the whole register\n"
         "w1 = be16 w1\n^~\nhint: write r1"},
        {"w1 = (s32)w2",
         "test:1:6: error: 32 bits extend into a 64-bit register only\nw1 = (s32)w2\n     ^~~~~"},
        {"callx w1",
         "test:1:7: error: 'w1' has 32 bits: an address has 64 bits\ncallx w1\n      ^~\n"
         "hint: write r1"},
    };
    for (const auto& [text, message] : kCases) BOOST_TEST(mistake(text) == message);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_encoded_is_said_so) {
    constexpr Mistake kCases[] = {
        {"r1 = -r2",
         "test:1:7: error: 'r2' is not 'r1': a register can only be negated in place\n"
         "r1 = -r2\n      ^~"},
        {"r1 = be16 r2",
         "test:1:11: error: 'r2' is not 'r1': bytes can only be swapped in place\n"
         "r1 = be16 r2\n          ^~"},
        {"r1 = (u8)r2",
         "test:1:6: error: only (s8), (s16) and (s32) extend\nr1 = (u8)r2\n     ^~~~\n"
         "hint: an unsigned one is an '&=', or w1 = w1 for 32 bits"},
        {"*(s8 *)(r1 + 0) = r2",
         "test:1:3: error: a store has no sign\n*(s8 *)(r1 + 0) = r2\n  ^~\nhint: write u8"},
        {"lock *(u64 *)(r1 + 0) -= r2",
         "test:1:23: error: no atomic operation is written '-='\nlock *(u64 *)(r1 + 0) -= r2\n"
         "                      ^~\nhint: there are '+=', '|=', '&=' and '^='"},
        {"lock *(u16 *)(r1 + 0) += w2",
         "test:1:8: error: only u32 and u64 have atomic operations\nlock *(u16 *)(r1 + 0) += w2\n"
         "       ^~~"},
        {"r2 = atomic_fetch_add((u64 *)(r1 + 0), r3)",
         "test:1:40: error: 'r3' is not 'r2': the old value replaces the operand\n"
         "r2 = atomic_fetch_add((u64 *)(r1 + 0), r3)\n"
         "                                       ^~"},
        {"r2 = cmpxchg_64(r1 + 0, r0, r3)",
         "test:1:1: error: 'r2' is not 'r0': cmpxchg compares with r0 and leaves the old value "
         "there\nr2 = cmpxchg_64(r1 + 0, r0, r3)\n^~"},
        {"r2 = atomic64_fetch_add((u32 *)(r1 + 0), r2)",
         "test:1:26: error: 'atomic64_fetch_add' works on u64\n"
         "r2 = atomic64_fetch_add((u32 *)(r1 + 0), r2)\n                         ^~~"},
        {"r1 = *(u32 *)skb[4]",
         "test:1:1: error: a packet load goes to r0 always\nr1 = *(u32 *)skb[4]\n^~"},
        {"r1 s+= r2", "test:1:4: error: no operator is written 's+='\nr1 s+= r2\n   ^~~"},
        {"call r1",
         "test:1:6: error: 'r1' is a register\ncall r1\n     ^~\n"
         "hint: a call through a register is 'callx r1'"},
        {"call +3",
         "test:1:6: error: a call of a local function has no '+' alone\ncall +3\n     ^\n"
         "hint: write 'call pc+N', or 'call N' for a helper"},
        {"goto r1", "test:1:6: error: 'r1' is a register; a label belongs here\ngoto r1\n     ^~"},
        {"r1 = map[id:min_us]",
         "test:1:13: error: 'min_us' is not known yet: a constant belongs here\n"
         "r1 = map[id:min_us]\n            ^~~~~~"},
    };
    for (const auto& [text, message] : kCases) BOOST_TEST(mistake(text) == message);
}

BOOST_AUTO_TEST_CASE(what_is_missing_or_too_much_is_named) {
    constexpr Mistake kCases[] = {
        {"r1",
         "test:1:3: error: expected an operator such as '=', found the end of the line\nr1\n  ^"},
        {"r1 =  # nothing",
         "test:1:5: error: expected a number, found the end of the line\nr1 =  # nothing\n    ^"},
        {"r1 = 5 6",
         "test:1:8: error: expected the end of the line, found '6'\nr1 = 5 6\n       ^"},
        {"if r1 goto out",
         "test:1:7: error: expected a comparison such as '==', found 'goto'\nif r1 goto out\n"
         "      ^~~~"},
        {"if r1 == 5 gotol out",
         "test:1:12: error: expected 'goto', found 'gotol'\nif r1 == 5 gotol out\n"
         "           ^~~~~"},
        {"if 5 == r1 goto out",
         "test:1:4: error: expected a register, found '5'\nif 5 == r1 goto out\n   ^"},
        {"goto", "test:1:5: error: expected a label, found the end of the line\ngoto\n    ^"},
        {"call", "test:1:5: error: expected a function, found the end of the line\ncall\n    ^"},
        {"r1 = *(u64)(r2 + 8)",
         "test:1:11: error: expected '*', found ')'\nr1 = *(u64)(r2 + 8)\n          ^"},
        {"r1 = *(u64 *)(r2 8)",
         "test:1:18: error: expected ')', found '8'\nr1 = *(u64 *)(r2 8)\n                 ^"},
        {"exit 0", "test:1:6: error: expected the end of the line, found '0'\nexit 0\n     ^"},
        {".quad", "test:1:6: error: expected a number, found the end of the line\n.quad\n     ^"},
    };
    for (const auto& [text, message] : kCases) BOOST_TEST(mistake(text) == message);
}

BOOST_AUTO_TEST_CASE(instructions_that_the_kernel_rewrote_are_said_to_be_so) {
    constexpr Mistake kCases[] = {
        {"call 0xffffffff811b2c30#151168",
         "test:1:6: error: '0xffffffff811b2c30' is the kernel's own: this is the program as the "
         "kernel rewrote it\ncall 0xffffffff811b2c30#151168\n     ^~~~~~~~~~~~~~~~~~\n"
         "hint: assemble its source, or what the verifier's log shows of it"},
        {"r0 = &(void __percpu *)(r0)",
         "test:1:6: error: '&' is the kernel's own: this is the program as the kernel rewrote it\n"
         "r0 = &(void __percpu *)(r0)\n     ^\n"
         "hint: assemble its source, or what the verifier's log shows of it"},
        {"nospec",
         "test:1:1: error: 'nospec' is the kernel's own: this is the program as the kernel rewrote "
         "it\nnospec\n^~~~~~\nhint: assemble its source, or what the verifier's log shows of it"},
        {"(unknown)",
         "test:1:1: error: '(unknown)' is the kernel's own: this is the program as the kernel "
         "rewrote it\n(unknown)\n^~~~~~~~~\n"
         "hint: assemble its source, or what the verifier's log shows of it"},
        {"BUG_alu64_d7",
         "test:1:1: error: the program that printed this did not know the instruction\n"
         "BUG_alu64_d7\n^~~~~~~~~~~~"},
        {"call unknown#195896080",
         "test:1:6: error: the kernel has no name for this function\ncall unknown#195896080\n"
         "     ^~~~~~~\nhint: in a dump, the kernel put it in a helper's place; in the verifier's "
         "log "
         "it may be 'call 195896080'"},
        {"call bpf_map_lookup_elem#2",
         "test:1:25: error: helper 2 is 'map_update_elem', 'bpf_map_lookup_elem' is 1\n"
         "call bpf_map_lookup_elem#2\n                        ^~"},
    };
    for (const auto& [text, message] : kCases) BOOST_TEST(mistake(text) == message);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
