#include "vm/interpreter.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "base/cat.h"
#include "lang/insn/models.h"
#include "lang/insn/run.h"

namespace gpufs {
namespace {

using Ops = std::vector<bpf_insn>;

BOOST_AUTO_TEST_SUITE(bpf_interpreter)

BOOST_AUTO_TEST_CASE(every_instruction_computes_what_it_should) {
    VmState world;
    for (const test::InsnModel& one : test::insn_models()) {
        const auto code = test::program_of(one);
        Interpreter interpreter(code, world);
        std::string wrong;
        for (const std::uint64_t a : test::model_operands())
            for (const std::uint64_t b : test::model_operands()) {
                const std::uint64_t arguments[] = {a, b};
                const std::uint64_t address = world.memory.add_read_only(
                    VmMemory::Kind::context, std::as_bytes(std::span(arguments)));
                const std::uint64_t result = interpreter.run(address);
                if (result != test::folded(one.model(a, b)))
                    wrong += cat(a, ", ", b, " gives ", result, '\n');
                world.memory.remove(address);
            }
        BOOST_TEST(wrong == "", one.name);
    }
}

// What running the code complains about; its result when it does not.
std::string outcome(const Ops& ops, VmState& world) {
    std::uint64_t context[2] = {1, 2};
    try {
        return cat(test::run_bpf(ops, std::as_bytes(std::span(context)), world));
    } catch (const BpfFault& e) {
        return e.what();
    }
}
std::string outcome(const Ops& ops) {
    VmState world;
    add_common_helpers(world);
    return outcome(ops, world);
}

struct Fault {
    Ops ops;
    const char* outcome;
};
const Fault kFaults[] = {
    {{insn::leave()}, "instruction 0: reads a register that was never written"},
    {{insn::mov(Reg::r0, Reg::r5), insn::leave()},
     "instruction 0: reads a register that was never written"},
    {{insn::call(BPF_FUNC_ktime_get_ns), insn::mov(Reg::r0, Reg::r1), insn::leave()},
     "instruction 1: reads a register that was never written"},
    {{insn::load(Width::dw, Reg::r0, Reg::fp, -8), insn::leave()},
     "instruction 0: reads 8 bytes where it may not"},
    {{insn::store(Width::w, Reg::fp, -8, 1), insn::load(Width::dw, Reg::r0, Reg::fp, -8),
      insn::leave()},
     "instruction 1: reads 8 bytes where it may not"},
    {{insn::store(Width::dw, Reg::fp, -520, 1), insn::leave()},
     "instruction 0: writes 8 bytes where it may not"},
    {{insn::store(Width::b, Reg::fp, 0, 1), insn::leave()},
     "instruction 0: writes 1 bytes where it may not"},
    {{insn::store(Width::dw, Reg::fp, -12, 1), insn::leave()},
     "instruction 0: writes 8 bytes where it may not"},
    {{insn::store(Width::w, Reg::r1, 0, 1), insn::leave()},
     "instruction 0: writes 4 bytes where it may not"},
    {{insn::load(Width::w, Reg::r0, Reg::r1, 16), insn::leave()},
     "instruction 0: reads 4 bytes where it may not"},
    {{insn::load(Width::w, Reg::r0, Reg::r1, 2), insn::leave()},
     "instruction 0: reads 4 bytes where it may not"},
    {{insn::mov(Reg::r1, 0), insn::load(Width::w, Reg::r0, Reg::r1, 0), insn::leave()},
     "instruction 1: reads 4 bytes where it may not"},
    {{insn::call(9999), insn::leave()}, "instruction 0: helper 9999 cannot be called here"},
    {{insn::go(5), insn::leave()}, "instruction 0: jumps to 6, which is no instruction"},
    {{insn::mov(Reg::r0, 0)}, "instruction 0: the program's last instruction is no exit"},
    {{insn::load_imm64(Reg::r0, 0)[0]}, "instruction 0: the program is cut off"},
    {{insn::go(1), insn::load_imm64(Reg::r0, 0)[0], insn::load_imm64(Reg::r0, 0)[1], insn::leave()},
     "instruction 0: jumps to 2, which is no instruction"},
    {{insn::call_local(5), insn::leave()}, "instruction 0: calls 6, which is no instruction"},
    {{insn::call_local(1), insn::load_imm64(Reg::r0, 0)[0], insn::load_imm64(Reg::r0, 0)[1],
      insn::leave()},
     "instruction 0: calls 2, which is no instruction"},
    {{insn::load_pseudo(Reg::r1, Pseudo::func, 7)[0], {}, insn::leave()},
     "instruction 0: calls 8, which is no instruction"},
    {{insn::load_pseudo(Reg::r1, Pseudo::func, -2)[0], {}, insn::leave()},
     "instruction 0: calls -1, which is no instruction"},
    {{insn::load_pseudo(Reg::r1, Pseudo::func, 0)[0], {}, insn::leave()},
     "instruction 0: calls 1, which is no instruction"},
    {{insn::mov(Reg::r1, 1),
      insn::load_pseudo(Reg::r2, Pseudo::func, 6)[0],
      {},
      insn::alu64(AluOp::add, Reg::r2, 1),
      insn::mov(Reg::r3, 0),
      insn::mov(Reg::r4, 0),
      insn::call(BPF_FUNC_loop),
      insn::leave(),
      insn::load_imm64(Reg::r0, 0)[0],
      insn::load_imm64(Reg::r0, 0)[1],
      insn::leave()},
     "instruction 6: the helper's argument is not a function of this program"},
    {{insn::mov(Reg::fp, 0), insn::leave()}, "instruction 0: the frame pointer cannot be written"},
    {{insn::make(0x8f, 1, 0, 0, 0), insn::leave()},
     "instruction 0: no such instruction: opcode 143"},
    {{insn::make(BPF_JMP | 0xf0, 1, 0, 0, 0), insn::leave()},
     "instruction 0: no such instruction: opcode 245"},
    {{insn::make(BPF_JMP32 | 0xf0 | BPF_X, 1, 1, 0, 0), insn::leave()},
     "instruction 0: no such instruction: opcode 254"},
    {{insn::alu64(AluOp::lsh, Reg::r1, 64), insn::leave()},
     "instruction 0: no such instruction: opcode 103"},
    {{insn::load_pseudo(Reg::r1, Pseudo::map_fd, 3)[0], {}, insn::leave()},
     "instruction 0: there is no map 3"},
    {{insn::load_pseudo(Reg::r1, Pseudo::btf_id, 3)[0], {}, insn::leave()},
     "instruction 0: what this loads is known to a kernel only"},
    {{insn::call_local(-1), insn::leave()}, "instruction 0: calls nest more than 8 deep"},
    {{insn::mov(Reg::r2, 1), insn::alu64(AluOp::add, Reg::r2, Reg::r1),
      insn::load_acquire(Width::h, Reg::r0, Reg::r2, 0), insn::leave()},
     "instruction 2: an atomic access is not aligned"},
};
BOOST_AUTO_TEST_CASE(what_a_verifier_would_not_pass_stops_the_program) {
    for (const Fault& c : kFaults) BOOST_TEST(outcome(c.ops) == c.outcome);
}

BOOST_AUTO_TEST_CASE(an_endless_loop_is_ended, *boost::unit_test::label("long")) {
    BOOST_TEST(outcome({insn::mov(Reg::r0, 0), insn::go(-1), insn::leave()}) ==
               "instruction 1: runs for too long");
}

BOOST_AUTO_TEST_CASE(may_goto_ends_a_loop, *boost::unit_test::label("long")) {
    // r0 counts until the kernel's limit ends it.
    const std::string rounds = outcome({insn::mov(Reg::r0, 0), insn::alu64(AluOp::add, Reg::r0, 1),
                                        insn::may_go(1), insn::go(-3), insn::leave()});
    BOOST_TEST(rounds == "8388608");
}

BOOST_AUTO_TEST_CASE(a_callback_may_stand_in_front_of_who_names_it) {
    const auto callback = insn::load_pseudo(Reg::r2, Pseudo::func, -4);
    BOOST_TEST(outcome({insn::go(2), insn::mov(Reg::r0, 1), insn::leave(),
                        // Asks for 3 rounds; the first one says stop.
                        insn::mov(Reg::r1, 3), callback[0], callback[1], insn::mov(Reg::r3, 0),
                        insn::mov(Reg::r4, 0), insn::call(BPF_FUNC_loop), insn::leave()}) == "1");
}

BOOST_AUTO_TEST_CASE(functions_have_frames_of_their_own) {
    BOOST_TEST(outcome({insn::store(Width::dw, Reg::fp, -8, 5), insn::mov(Reg::r6, 6),
                        insn::mov(Reg::r1, Reg::fp), insn::call_local(4),
                        insn::load(Width::dw, Reg::r1, Reg::fp, -8),
                        insn::alu64(AluOp::add, Reg::r0, Reg::r1),
                        insn::alu64(AluOp::add, Reg::r0, Reg::r6), insn::leave(),
                        // The function: its own r10-8, its own r6, and the caller's r10-8.
                        insn::store(Width::dw, Reg::fp, -8, 100), insn::mov(Reg::r6, 0),
                        insn::load(Width::dw, Reg::r0, Reg::r1, -8),
                        insn::alu64(AluOp::mul, Reg::r0, 10), insn::leave()}) == "61");
    // One without a result is none for its caller either.
    BOOST_TEST(
        outcome({insn::call_local(2), insn::mov(Reg::r0, 7), insn::leave(), insn::leave()}) == "7");
    BOOST_TEST(outcome({insn::call_local(1), insn::leave(), insn::leave()}) ==
               "instruction 1: reads a register that was never written");
    // A new frame is empty, whatever the one before left there.
    BOOST_TEST(
        outcome({insn::call_local(3), insn::call_local(5), insn::mov(Reg::r0, 0), insn::leave(),
                 insn::store(Width::dw, Reg::fp, -8, 1), insn::mov(Reg::r0, 0), insn::leave(),
                 insn::load(Width::dw, Reg::r0, Reg::fp, -8), insn::leave()}) ==
        "instruction 7: reads 8 bytes where it may not");
}

BOOST_AUTO_TEST_CASE(helpers_see_kernel_and_user_memory_apart) {
    VmState world;
    add_common_helpers(world);
    const char kernel_text[] = "kernel", user_text[] = "user";
    const std::uint64_t in_kernel =
        world.memory.add_read_only(VmMemory::Kind::kernel, std::as_bytes(std::span(kernel_text)));
    const std::uint64_t in_user =
        world.memory.add_read_only(VmMemory::Kind::user, std::as_bytes(std::span(user_text)));
    // probe_read_*_str(r10-16, 16, address): its result, times 256, plus the first character.
    const auto read = [&](int helper, std::uint64_t address) {
        const auto wide = insn::load_imm64(Reg::r3, address);
        return outcome(
            {insn::mov(Reg::r1, Reg::fp), insn::alu64(AluOp::add, Reg::r1, -16),
             insn::mov(Reg::r2, 16), wide[0], wide[1], insn::call(helper),
             insn::alu64(AluOp::lsh, Reg::r0, 8), insn::load(Width::b, Reg::r1, Reg::fp, -16),
             insn::alu64(AluOp::add, Reg::r0, Reg::r1), insn::leave()},
            world);
    };
    constexpr std::uint64_t kFault = static_cast<std::uint64_t>(-EFAULT) << 8;
    BOOST_TEST(read(BPF_FUNC_probe_read_kernel_str, in_kernel) == cat(7 * 256 + 'k'));
    BOOST_TEST(read(BPF_FUNC_probe_read_user_str, in_user) == cat(5 * 256 + 'u'));
    BOOST_TEST(read(BPF_FUNC_probe_read_user_str, in_kernel) == cat(kFault));
    BOOST_TEST(read(BPF_FUNC_probe_read_kernel_str, in_user) == cat(kFault));
    BOOST_TEST(read(BPF_FUNC_probe_read_kernel_str, 0xffff'8881'0000'0000) == cat(kFault));
    // And the program itself sees neither.
    const auto wide = insn::load_imm64(Reg::r1, in_kernel);
    BOOST_TEST(outcome({wide[0], wide[1], insn::load(Width::b, Reg::r0, Reg::r1, 0), insn::leave()},
                       world) == "instruction 2: reads 1 bytes where it may not");
}

BOOST_AUTO_TEST_CASE(the_moment_is_what_helpers_tell) {
    VmState world;
    add_common_helpers(world);
    world.now = {.time_ns = 17, .cpu = 3, .pid = 2, .tid = 5, .comm = "a rather long name"};
    BOOST_TEST(outcome({insn::call(BPF_FUNC_ktime_get_ns), insn::leave()}, world) == "17");
    BOOST_TEST(outcome({insn::call(BPF_FUNC_get_smp_processor_id), insn::leave()}, world) == "3");
    BOOST_TEST(outcome({insn::call(BPF_FUNC_get_current_pid_tgid), insn::leave()}, world) ==
               cat((std::uint64_t{2} << 32) + 5));
    // The name is cut to 15 bytes, with a NUL behind it.
    BOOST_TEST(outcome({insn::mov(Reg::r1, Reg::fp), insn::alu64(AluOp::add, Reg::r1, -16),
                        insn::mov(Reg::r2, 16), insn::call(BPF_FUNC_get_current_comm),
                        insn::load(Width::h, Reg::r0, Reg::fp, -2), insn::leave()},
                       world) == cat(int{'n'}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
