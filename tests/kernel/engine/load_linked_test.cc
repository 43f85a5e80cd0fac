#include "engine/monitor/load_linked.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "lang/insn/insn.h"
#include "lang/insn/run.h"
#include "support/needs.h"

namespace gpufs {
namespace {

namespace ut = boost::unit_test;

// r1 is a number when it is read through the second time.
Program twice(const bpf_insn& last) {
    Program program;
    program.sources = {
        {"a.bpf", "\tr0 = 0\n\tr1 = *(u64 *)(r1 + 8)\n\tr1 = *(u64 *)(r1 + 8)\n\texit\n"}};
    ProbeProgram& probe = program.programs.emplace_back();
    probe.name = "twice";
    const std::string& text = program.sources[0].text;
    std::size_t begin = 0;
    for (const bpf_insn& op :
         {insn::mov(Reg::r0, 0), insn::load(Width::dw, Reg::r1, Reg::r1, 8), last, insn::leave()}) {
        const std::size_t end = text.find('\n', begin);
        CodeItem item = test::item_of(op);
        item.at = {0, {begin + 1, end}};
        probe.code.push_back(item);
        begin = end + 1;
    }
    return program;
}

Fd load(const Program& program) {
    BpfProgramSpec spec;
    spec.type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    BpfFeatures features;
    return load_linked(program, link(program, program.programs[0], {}), spec, features);
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(load_linked_kernel)

BOOST_AUTO_TEST_CASE(a_refusal_shows_the_users_line_and_quotes_the_log) {
    BOOST_CHECK_EXCEPTION(load(twice(insn::load(Width::dw, Reg::r1, Reg::r1, 8))), RefusedProgram,
                          [&](const RefusedProgram& e) {
                              BOOST_TEST(e.what() ==
                                         "a.bpf:3:2: error: the kernel's verifier refused this\n"
                                         "\tr1 = *(u64 *)(r1 + 8)\n"
                                         "\t^~~~~~~~~~~~~~~~~~~~~");
                              // "inv" before Linux 5.18.
                              BOOST_TEST((e.evidence() == "R1 invalid mem access 'scalar'" ||
                                          e.evidence() == "R1 invalid mem access 'inv'"));
                              BOOST_TEST(e.log().find("0: (b7) r0 = 0") != std::string::npos);
                              return true;
                          });
}

BOOST_AUTO_TEST_CASE(a_helper_that_such_programs_may_not_call_is_named) {
    BOOST_CHECK_EXCEPTION(
        load(twice(insn::call(BPF_FUNC_skb_load_bytes))), UnsupportedError,
        [&](const UnsupportedError& e) {
            BOOST_TEST(e.what() ==
                       "a.bpf:3:2: error: this kernel's programs of this kind cannot call "
                       "bpf_skb_load_bytes\n"
                       "\tr1 = *(u64 *)(r1 + 8)\n"
                       "\t^~~~~~~~~~~~~~~~~~~~~");
            return true;
        });
}

BOOST_AUTO_TEST_CASE(generated_code_that_is_refused_is_named) {
    Program program = twice(insn::load(Width::dw, Reg::r1, Reg::r1, 8));
    program.sources.clear();
    BOOST_CHECK_EXCEPTION(load(program), RefusedProgram, [&](const RefusedProgram& e) {
        BOOST_TEST(e.what() == "the kernel's verifier refused program 'twice'");
        return true;
    });
}

BOOST_AUTO_TEST_CASE(what_the_verifier_takes_is_loaded) {
    BOOST_TEST(static_cast<bool>(load(twice(insn::mov(Reg::r1, 0)))));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
