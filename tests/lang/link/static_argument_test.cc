#define BOOST_TEST_DYN_LINK
#include "lang/program/static_argument.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>

#include "base/cat.h"
#include "lang/link/maker.h"
#include "lang/program/function_fields.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

using test::kFieldAddress;
using test::kLoadField;
using test::macro;
using test::Maker;

// A place of a static probe with these arguments.
struct Site {
    explicit Site(std::string_view note) : arguments(parse_static_arguments(note)) {
        target.context = LinkTarget::Context::registers;
        target.event = &function_registers(ProbeTarget::Kind::usdt);
        target.attached_to = "/bin/server:shop:sold";
        target.static_arguments = &arguments;
    }
    Site(const Site&) = delete;

    std::vector<StaticArgument> arguments;
    LinkTarget target;
};

#if defined __x86_64__
constexpr std::string_view kRegister = "-4@%edi", kMemory = "4@8(%rsi)", kUnknown = "8f@%xmm0";
constexpr const char* kFirst = "di";
constexpr const char* kSecond = "si";
#else
constexpr std::string_view kRegister = "-4@w0", kMemory = "4@[x1, 8]", kUnknown = "8f@d0";
constexpr const char* kFirst = "x0";
constexpr const char* kSecond = "x1";
#endif
constexpr std::size_t kRegistersBytes = 512;

CodeItem load(Reg to, const char* name) {
    return macro(kLoadField, to, Reg::r1, name);
}

BOOST_AUTO_TEST_SUITE(link_static_argument)

// Registers at the place: the first argument's, then the address that the second one's is 8 behind.
BOOST_AUTO_TEST_CASE(each_site_has_its_arguments_at_its_own_places) {
    const std::array<std::uint32_t, 4> memory{1, 2, 70'000, 4};
    std::array<std::byte, kRegistersBytes> registers{};
    const auto put = [&](const char* name, std::uint64_t value) {
        std::memcpy(registers.data() + *register_offset(name), &value, sizeof value);
    };
    put(kFirst, 0xffffffff'fffffffd);  // -3
    const auto sum_of = [&](std::string_view note) {
        const Site site(note);
        Maker m;
        // What is in use there stays.
        m.line("r2 = 1000", test::item_of(insn::mov(Reg::r2, 1000)));
        m.line("r3 = @arg1(r1)", load(Reg::r3, "arg1"));
        m.line("r1 = @arg0(r1)", load(Reg::r1, "arg0"));
        m.line("r0 = r3", test::item_of(insn::mov(Reg::r0, Reg::r3)));
        m.line("r0 += r1", test::item_of(insn::alu64(AluOp::add, Reg::r0, Reg::r1)));
        m.line("r0 += r2", test::item_of(insn::alu64(AluOp::add, Reg::r0, Reg::r2)));
        m.exit();
        VmState world;
        add_common_helpers(world);
        put(kSecond,
            world.memory.add_read_only(VmMemory::Kind::user, std::as_bytes(std::span(memory))));
        return test::run_bpf(m.link(site.target).insns, registers, world);
    };
    const auto both = [](std::string_view a, std::string_view b) { return cat(a, ' ', b); };
    BOOST_TEST(sum_of(both(kRegister, kMemory)) == 1000u - 3 + 70'000);
    BOOST_TEST(sum_of(both(kMemory, kRegister)) == 1000u - 3 + 70'000);
#if defined __x86_64__
    BOOST_TEST(sum_of("1@$7 -8@$-5") == 1000u + 7 - 5);
    BOOST_TEST(sum_of("1@%dil 2@%di") == 1000u + 0xfd + 0xfffd);
#endif
}

BOOST_AUTO_TEST_CASE(a_guard_asks_whether_the_site_has_the_argument) {
    for (const std::string& note : {std::string(kRegister), cat(kRegister, ' ', kMemory)}) {
        const Site site(note);
        Maker m;
        m.program.guards.push_back({Guard::Kind::has_field, "arg1", false, 0, {}});
        CodeItem guarded = load(Reg::r2, "arg1");
        guarded.guard = 1;
        m.line("r2 = @arg1(r1)", guarded).zero_and_exit();
        const bool has_two = site.arguments.size() == 2;
        BOOST_TEST(m.link(site.target).functions.size() == (has_two ? 2u : 1u));
    }
}

BOOST_AUTO_TEST_CASE(what_a_site_does_not_have_is_told) {
    const Site site(cat(kRegister, ' ', kUnknown));
    const auto refusal = [&](const char* text, CodeItem item, const char* named) {
        Maker m;
        m.line(text, std::move(item), named).zero_and_exit();
        return m.refusal(site.target);
    };
    BOOST_TEST(refusal("r2 = @arg2(r1)", load(Reg::r2, "arg2"), "@arg2") ==
               "watch.bpf:1:6: error: '/bin/server:shop:sold' has 2 arguments: there is no arg2\n"
               "r2 = @arg2(r1)\n"
               "     ^~~~~");
    BOOST_TEST(refusal("r2 = @arg1(r1)", load(Reg::r2, "arg1"), "@arg1") ==
               cat("watch.bpf:1:6: error: arg1 is at '", kUnknown,
                   "' in the program, where it cannot be read\n"
                   "r2 = @arg1(r1)\n"
                   "     ^~~~~"));
    BOOST_TEST(
        refusal("r2 = &@arg0(r1)", macro(kFieldAddress, Reg::r2, Reg::r1, "arg0"), "@arg0") ==
        "watch.bpf:1:7: error: 'arg0' is a number, which has no fixed place\n"
        "r2 = &@arg0(r1)\n"
        "      ^~~~~\n"
        "hint: read it as in r1 = @arg0(r6)");
    BOOST_TEST(refusal("r2 = @retval(r1)", load(Reg::r2, "retval"), "@retval") ==
               "watch.bpf:1:6: error: usdt has no field 'retval'\n"
               "r2 = @retval(r1)\n"
               "     ^~~~~~~");
}

BOOST_AUTO_TEST_CASE(a_function_of_the_text_has_no_arguments_of_a_site) {
    const Site site(kRegister);
    Maker m;
    m.line("call look",
           test::with(test::item_of(insn::call_local(0)), Relocation::Kind::subprogram, "look"));
    m.exit();
    m.function("look");
    m.line("r0 = @arg0(r1)", load(Reg::r0, "arg0"), "@arg0").exit();
    BOOST_TEST(m.refusal(site.target) ==
               "watch.bpf:3:1: error: a function cannot read the arguments of a static probe\n"
               "r0 = @arg0(r1)\n"
               "^~~~~~~~~~~~~~\n"
               "hint: read it in the program, and give it to the function");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
