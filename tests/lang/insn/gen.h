#pragma once

// Random instructions and programs for round trips.

#include <cstdint>
#include <random>
#include <vector>

#include "lang/insn/insn.h"

namespace gpufs::test {

class InsnGen {
public:
    explicit InsnGen(unsigned seed, bool with_acquire = true)
        : random_(seed), with_acquire_(with_acquire) {}

    std::uint64_t bits() { return random_(); }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

    // Valid instructions of every form, whose jumps stay in the program, mostly; a jump may lead
    // into the middle of a 16-byte load. Some slots more than `slots`.
    std::vector<bpf_insn> program(std::size_t slots) {
        std::vector<bpf_insn> insns;
        while (insns.size() < slots)
            for (const bpf_insn& one : any(insns.size(), slots)) insns.push_back(one);
        return insns;
    }

private:
    Reg reg() { return static_cast<Reg>(between(0, 10)); }
    Width width() { return pick({Width::b, Width::h, Width::w, Width::dw}); }
    Width word() { return pick({Width::w, Width::dw}); }
    __s16 off() {
        return static_cast<__s16>(between(0, 3) ? between(-512, 64) : between(-32768, 32767));
    }
    __s32 imm() {
        return static_cast<__s32>(between(0, 2) ? between(-20, 300) : static_cast<__s32>(bits()));
    }
    template <class T>
    T pick(std::initializer_list<T> choices) {
        return choices.begin()[between(0, static_cast<std::int64_t>(choices.size()) - 1)];
    }
    // To somewhere in the program, seldom outside.
    std::int64_t distance(std::size_t at, std::size_t slots) {
        if (!between(0, 30)) return off();
        const std::int64_t to = between(0, static_cast<std::int64_t>(slots));
        const std::int64_t far = to - static_cast<std::int64_t>(at) - 1;
        return far < -32768 || far > 32767 ? between(-100, 100) : far;
    }

    std::vector<bpf_insn> any(std::size_t at, std::size_t slots) {
        const auto near = static_cast<__s16>(distance(at, slots));
        switch (between(0, with_acquire_ ? 22 : 20)) {
            case 0:
                return {insn::alu64(alu_op(), reg(), reg())};
            case 1:
                return {insn::alu64(alu_op(), reg(), imm())};
            case 2:
                return {insn::alu32(alu_op(), reg(), reg())};
            case 3:
                return {insn::alu32(alu_op(), reg(), imm())};
            case 4:
                return {insn::mov_signed64(reg(), pick({8, 16, 32}), reg())};
            case 5:
                return {insn::mov_signed32(reg(), pick({8, 16}), reg())};
            case 6:
                return {pick({insn::neg64(reg()), insn::neg32(reg())})};
            case 7:
                return {
                    pick({&insn::to_le, &insn::to_be, &insn::bswap})(reg(), pick({16, 32, 64}))};
            case 8:
                return {insn::addr_space_cast(reg(), reg(), static_cast<__u16>(bits()),
                                              static_cast<__u16>(bits()))};
            case 9:
                return {insn::load(width(), reg(), reg(), off())};
            case 10:
                return {
                    insn::load_signed(pick({Width::b, Width::h, Width::w}), reg(), reg(), off())};
            case 11:
                return {insn::store(width(), reg(), off(), reg())};
            case 12:
                return {insn::store(width(), reg(), off(), imm())};
            case 13:
                return {insn::atomic(atomic_op(), word(), reg(), off(), reg())};
            case 14: {
                const Width of = pick({Width::b, Width::h, Width::w});
                return {pick({insn::load_packet(of, imm()), insn::load_packet(of, reg(), 0),
                              insn::load_packet(of, reg(), imm())})};
            }
            case 15:
                return {pick({insn::jump64(jump_op(), reg(), reg(), near),
                              insn::jump64(jump_op(), reg(), imm(), near)})};
            case 16:
                return {pick({insn::jump32(jump_op(), reg(), reg(), near),
                              insn::jump32(jump_op(), reg(), imm(), near)})};
            case 17:
                return {pick({insn::go(near), insn::go_long(near), insn::may_go(near)})};
            case 18:
                return {pick({insn::call(imm()), insn::call(static_cast<__s32>(between(1, 212))),
                              insn::call_local(near), insn::call_kernel(imm()),
                              insn::call_reg(reg())})};
            case 19:
                return {insn::leave()};
            case 20: {
                const auto halves = between(0, 1) ? insn::load_imm64(reg(), bits()) : pseudo();
                return {halves.begin(), halves.end()};
            }
            case 21:
                return {insn::load_acquire(width(), reg(), reg(), off())};
            default:
                return {insn::store_release(width(), reg(), off(), reg())};
        }
    }

    std::array<bpf_insn, 2> pseudo() {
        const auto what = static_cast<Pseudo>(between(1, 6));
        return insn::load_pseudo(reg(), what, imm(), between(0, 1) ? imm() : 0);
    }
    AluOp alu_op() {
        return pick({AluOp::add, AluOp::sub, AluOp::mul, AluOp::div, AluOp::mod, AluOp::or_,
                     AluOp::and_, AluOp::xor_, AluOp::lsh, AluOp::rsh, AluOp::arsh, AluOp::mov,
                     AluOp::sdiv, AluOp::smod});
    }
    JumpOp jump_op() {
        return pick({JumpOp::eq, JumpOp::ne, JumpOp::set, JumpOp::gt, JumpOp::ge, JumpOp::lt,
                     JumpOp::le, JumpOp::sgt, JumpOp::sge, JumpOp::slt, JumpOp::sle});
    }
    AtomicOp atomic_op() {
        return pick({AtomicOp::add, AtomicOp::or_, AtomicOp::and_, AtomicOp::xor_,
                     AtomicOp::fetch_add, AtomicOp::fetch_or, AtomicOp::fetch_and,
                     AtomicOp::fetch_xor, AtomicOp::xchg, AtomicOp::cmpxchg});
    }

    std::mt19937_64 random_;
    bool with_acquire_;
};

}  // namespace gpufs::test
