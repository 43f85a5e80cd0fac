#include "lang/insn/models.h"

#include <limits>
#include <type_traits>

#include "base/cat.h"
#include "lang/insn/insn.h"

namespace gpufs::test {
namespace {

using U64 = std::uint64_t;
using Needs = InsnModel::Needs;

// Arithmetic of 32 or 64 bits, by way of 128, where nothing overflows.
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;

template <class U>
U64 alu(AluOp op, U64 left, U64 right) {
    using S = std::make_signed_t<U>;
    constexpr int kBits = std::numeric_limits<U>::digits;
    const U a = static_cast<U>(left), b = static_cast<U>(right);
    const Wide sa = static_cast<S>(a), sb = static_cast<S>(b), ua = a, ub = b;
    const auto shift = static_cast<int>(b % kBits);
    const auto cut = [](Wide value) { return static_cast<U64>(static_cast<U>(value)); };
    switch (op) {
        case AluOp::add:
            return cut(ua + ub);
        case AluOp::sub:
            return cut(ua - ub);
        case AluOp::mul:
            return cut(static_cast<Wide>(static_cast<UWide>(ua) * static_cast<UWide>(ub)));
        case AluOp::div:
            return b == 0 ? 0 : cut(ua / ub);
        case AluOp::mod:
            return b == 0 ? a : cut(ua % ub);
        case AluOp::sdiv:
            return b == 0 ? 0 : cut(sa / sb);
        case AluOp::smod:
            return b == 0 ? a : cut(sa % sb);
        case AluOp::or_:
            return a | b;
        case AluOp::and_:
            return a & b;
        case AluOp::xor_:
            return a ^ b;
        case AluOp::lsh:
            return cut(static_cast<Wide>(static_cast<UWide>(ua) << shift));
        case AluOp::rsh:
            return cut(ua >> shift);
        case AluOp::arsh:
            return cut(sa >> shift);
        case AluOp::mov:
            break;
    }
    return b;
}

template <class U>
bool jump(JumpOp op, U64 left, U64 right) {
    using S = std::make_signed_t<U>;
    const U a = static_cast<U>(left), b = static_cast<U>(right);
    const S x = static_cast<S>(a), y = static_cast<S>(b);
    switch (op) {
        case JumpOp::eq:
            return a == b;
        case JumpOp::ne:
            return a != b;
        case JumpOp::set:
            return (a & b) != 0;
        case JumpOp::gt:
            return a > b;
        case JumpOp::ge:
            return a >= b;
        case JumpOp::lt:
            return a < b;
        case JumpOp::le:
            return a <= b;
        case JumpOp::sgt:
            return x > y;
        case JumpOp::sge:
            return x >= y;
        case JumpOp::slt:
            return x < y;
        case JumpOp::sle:
            break;
    }
    return x <= y;
}

U64 extended(U64 value, int bits) {
    const U64 sign = U64{1} << (bits - 1);
    const U64 low = bits == 64 ? value : value & ((U64{1} << bits) - 1);
    return (low ^ sign) - sign;
}
U64 cut(U64 value, std::size_t bytes) {
    return bytes == 8 ? value : value & ((U64{1} << bytes * 8) - 1);
}
U64 reversed(U64 value, int bits) {
    U64 result = 0;
    for (int i = 0; i < bits; i += 8) result |= (value >> i & 0xff) << (bits - 8 - i);
    return result;
}

constexpr Width kWidths[] = {Width::b, Width::h, Width::w, Width::dw};
constexpr __s32 kImmediates[] = {0, 1, 2, 7, 31, -1, -2, 0x7fffffff, -0x7fffffff - 1, 0x1234};

void add_alu(std::vector<InsnModel>& all) {
    constexpr AluOp kOps[] = {AluOp::add,  AluOp::sub,  AluOp::mul,  AluOp::div, AluOp::mod,
                              AluOp::or_,  AluOp::and_, AluOp::xor_, AluOp::lsh, AluOp::rsh,
                              AluOp::arsh, AluOp::mov,  AluOp::sdiv, AluOp::smod};
    for (const AluOp op : kOps)
        for (const int kind : {BPF_ALU64, BPF_ALU}) {
            const bool is_64 = kind == BPF_ALU64;
            const Needs needs =
                op == AluOp::sdiv || op == AluOp::smod ? Needs::isa_v4 : Needs::nothing;
            const auto model = [=](U64 a, U64 b) {
                return is_64 ? alu<std::uint64_t>(op, a, b) : alu<std::uint32_t>(op, a, b);
            };
            const std::string name = cat("alu", is_64 ? 64 : 32, ' ', static_cast<int>(op));
            all.push_back({cat(name, " register"),
                           {insn::mov(Reg::r0, Reg::r1), insn::alu(kind, op, Reg::r0, Reg::r2)},
                           model,
                           needs});
            for (const __s32 imm : kImmediates) {
                const bool is_shift = op == AluOp::lsh || op == AluOp::rsh || op == AluOp::arsh;
                const bool divides =
                    op == AluOp::div || op == AluOp::mod || op == AluOp::sdiv || op == AluOp::smod;
                if ((is_shift && (imm < 0 || imm >= (is_64 ? 64 : 32))) || (divides && imm == 0))
                    continue;  // the verifier refuses these
                all.push_back(
                    {cat(name, " with ", imm),
                     {insn::mov(Reg::r0, Reg::r1), insn::alu(kind, op, Reg::r0, imm)},
                     [=](U64 a, U64) { return model(a, extended(static_cast<__u32>(imm), 32)); },
                     needs});
            }
        }
    const auto unary = [&](std::string name, bpf_insn op, std::function<U64(U64)> model,
                           Needs needs = Needs::nothing) {
        all.push_back({std::move(name),
                       {insn::mov(Reg::r0, Reg::r1), op},
                       [=](U64 a, U64) { return model(a); },
                       needs});
    };
    unary("neg64", insn::neg64(Reg::r0), [](U64 a) { return 0 - a; });
    unary("neg32", insn::neg32(Reg::r0), [](U64 a) { return cut(0 - a, 4); });
    for (const int bits : {16, 32, 64}) {
        const auto bytes = static_cast<std::size_t>(bits) / 8;
        unary(cat("le", bits), insn::to_le(Reg::r0, bits), [=](U64 a) { return cut(a, bytes); });
        unary(cat("be", bits), insn::to_be(Reg::r0, bits),
              [=](U64 a) { return reversed(a, bits); });
        unary(
            cat("bswap", bits), insn::bswap(Reg::r0, bits),
            [=](U64 a) { return reversed(a, bits); }, Needs::isa_v4);
    }
    for (const int bits : {8, 16, 32})
        unary(
            cat("movsx64 ", bits), insn::mov_signed64(Reg::r0, bits, Reg::r1),
            [=](U64 a) { return extended(a, bits); }, Needs::isa_v4);
    for (const int bits : {8, 16})
        unary(
            cat("movsx32 ", bits), insn::mov_signed32(Reg::r0, bits, Reg::r1),
            [=](U64 a) { return cut(extended(a, bits), 4); }, Needs::isa_v4);
    all.push_back({"a 64-bit immediate",
                   {insn::load_imm64(Reg::r0, 0x0123'4567'89ab'cdef)[0],
                    insn::load_imm64(Reg::r0, 0x0123'4567'89ab'cdef)[1],
                    insn::alu64(AluOp::add, Reg::r0, Reg::r1)},
                   [](U64 a, U64) { return a + 0x0123'4567'89ab'cdef; }});
}

void add_jumps(std::vector<InsnModel>& all) {
    constexpr JumpOp kOps[] = {JumpOp::eq,  JumpOp::ne,  JumpOp::set, JumpOp::gt,
                               JumpOp::ge,  JumpOp::lt,  JumpOp::le,  JumpOp::sgt,
                               JumpOp::sge, JumpOp::slt, JumpOp::sle};
    for (const JumpOp op : kOps)
        for (const bool is_64 : {true, false}) {
            const auto model = [=](U64 a, U64 b) -> U64 {
                return is_64 ? jump<std::uint64_t>(op, a, b) : jump<std::uint32_t>(op, a, b);
            };
            const auto add = [&](std::string name, bpf_insn branch,
                                 std::function<U64(U64, U64)> expected) {
                all.push_back({std::move(name),
                               {insn::mov(Reg::r0, 1), branch, insn::mov(Reg::r0, 0)},
                               std::move(expected)});
            };
            const std::string name = cat("jump", is_64 ? 64 : 32, ' ', static_cast<int>(op));
            add(cat(name, " register"),
                is_64 ? insn::jump64(op, Reg::r1, Reg::r2, 1)
                      : insn::jump32(op, Reg::r1, Reg::r2, 1),
                model);
            for (const __s32 imm : kImmediates)
                add(cat(name, " with ", imm),
                    is_64 ? insn::jump64(op, Reg::r1, imm, 1) : insn::jump32(op, Reg::r1, imm, 1),
                    [=](U64 a, U64) { return model(a, extended(static_cast<__u32>(imm), 32)); });
        }
    // Forward, back, and forward again.
    const auto add_goto = [&](std::string name, auto go, Needs needs) {
        all.push_back({std::move(name),
                       {insn::mov(Reg::r0, Reg::r1), go(2), insn::alu64(AluOp::add, Reg::r0, 2),
                        go(2), insn::alu64(AluOp::mul, Reg::r0, 3), go(-4)},
                       [](U64 a, U64) { return a * 3 + 2; },
                       needs});
    };
    add_goto("goto", insn::go, Needs::nothing);
    add_goto("gotol", insn::go_long, Needs::isa_v4);
}

// Memory: b is on the stack, and what is left there counts, too.
void add_memory(std::vector<InsnModel>& all) {
    const bpf_insn put = insn::store(Width::dw, Reg::fp, -8, Reg::r2);
    for (const Width width : kWidths) {
        const std::size_t bytes = bytes_of(width);
        const int bits = static_cast<int>(bytes) * 8;
        const auto after_store = [=](U64 b, U64 stored) {
            const U64 mask = bytes == 8 ? ~U64{0} : (U64{1} << bits) - 1;
            return (b & ~mask) | (stored & mask);  // little-endian
        };
        all.push_back({cat("load ", bits),
                       {put, insn::load(width, Reg::r0, Reg::fp, -8)},
                       [=](U64, U64 b) { return cut(b, bytes); }});
        if (width != Width::dw)
            all.push_back({cat("load signed ", bits),
                           {put, insn::load_signed(width, Reg::r0, Reg::fp, -8)},
                           [=](U64, U64 b) { return extended(b, bits); },
                           Needs::isa_v4});
        all.push_back({cat("store ", bits),
                       {put, insn::store(width, Reg::fp, -8, Reg::r1),
                        insn::load(Width::dw, Reg::r0, Reg::fp, -8)},
                       [=](U64 a, U64 b) { return after_store(b, a); }});
        for (const __s32 imm : kImmediates)
            all.push_back({cat("store ", bits, " of ", imm),
                           {put, insn::store(width, Reg::fp, -8, imm),
                            insn::load(Width::dw, Reg::r0, Reg::fp, -8)},
                           [=](U64, U64 b) {
                               return after_store(b, extended(static_cast<__u32>(imm), 32));
                           }});
        all.push_back(
            {cat("load acquire ", bits),
             {put, insn::mov(Reg::r3, Reg::fp), insn::load_acquire(width, Reg::r0, Reg::r3, -8)},
             [=](U64, U64 b) { return cut(b, bytes); },
             Needs::acquire_release});
        all.push_back(
            {cat("store release ", bits),
             {put, insn::mov(Reg::r3, Reg::fp), insn::store_release(width, Reg::r3, -8, Reg::r1),
              insn::load(Width::dw, Reg::r0, Reg::fp, -8)},
             [=](U64 a, U64 b) { return after_store(b, a); },
             Needs::acquire_release});
    }
}

// r0 = what is in memory afterwards, times 3, plus what the instruction fetched.
void add_atomics(std::vector<InsnModel>& all) {
    constexpr AtomicOp kOps[] = {AtomicOp::add,       AtomicOp::or_,       AtomicOp::and_,
                                 AtomicOp::xor_,      AtomicOp::fetch_add, AtomicOp::fetch_or,
                                 AtomicOp::fetch_and, AtomicOp::fetch_xor, AtomicOp::xchg,
                                 AtomicOp::cmpxchg};
    for (const AtomicOp op : kOps)
        for (const Width width : {Width::w, Width::dw}) {
            const std::size_t bytes = bytes_of(width);
            const bool fetches = (static_cast<int>(op) & BPF_FETCH) != 0;
            const bool exchanges = op == AtomicOp::cmpxchg;
            std::vector<bpf_insn> body = {
                insn::store(Width::dw, Reg::fp, -8, Reg::r2),
                insn::mov(Reg::r3, Reg::r1),
                insn::mov(Reg::r0, 7),  // what cmpxchg expects
                insn::atomic(op, width, Reg::fp, -8, Reg::r3),
                insn::mov(Reg::r4, exchanges ? Reg::r0 : Reg::r3),
                insn::load(Width::dw, Reg::r0, Reg::fp, -8),
                insn::alu64(AluOp::mul, Reg::r0, 3),
                insn::alu64(AluOp::add, Reg::r0, Reg::r4),
            };
            all.push_back({cat("atomic ", static_cast<int>(op), " of ", bytes, " bytes"),
                           std::move(body),
                           [=](U64 a, U64 b) {
                               const U64 old = cut(b, bytes);
                               U64 now = a;  // xchg
                               switch (static_cast<int>(op) & ~BPF_FETCH) {
                                   case BPF_ADD:
                                       now = old + a;
                                       break;
                                   case BPF_OR:
                                       now = old | a;
                                       break;
                                   case BPF_AND:
                                       now = old & a;
                                       break;
                                   case BPF_XOR:
                                       now = old ^ a;
                                       break;
                                   default:
                                       if (exchanges && old != 7) now = old;
                               }
                               const U64 kept = bytes == 8 ? 0 : b >> 32 << 32;
                               return (kept | cut(now, bytes)) * 3 + (fetches ? old : a);
                           },
                           op == AtomicOp::add ? Needs::nothing : Needs::atomics});
        }
}

}  // namespace

const std::vector<std::uint64_t>& model_operands() {
    static const std::vector<std::uint64_t> all = {
        0,
        1,
        2,
        7,
        31,
        33,
        63,
        0x7f,
        0x80,
        0xff,
        0x1234,
        0x8000,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        0x1'0000'0000,
        0x0123'4567'89ab'cdef,
        0x7fff'ffff'ffff'ffff,
        0x8000'0000'0000'0000,
        0xffff'ffff'8000'0000,
        0xffff'ffff'ffff'fff9,
        0xffff'ffff'ffff'ffff,
    };
    return all;
}

std::vector<bpf_insn> program_of(const InsnModel& one) {
    std::vector<bpf_insn> code = {insn::load(Width::dw, Reg::r2, Reg::r1, 8),
                                  insn::load(Width::dw, Reg::r1, Reg::r1, 0)};
    code.insert(code.end(), one.body.begin(), one.body.end());
    code.push_back(insn::mov(Reg::r1, Reg::r0));
    code.push_back(insn::alu64(AluOp::rsh, Reg::r1, 32));
    code.push_back(insn::alu64(AluOp::xor_, Reg::r0, Reg::r1));
    code.push_back(insn::alu32(AluOp::mov, Reg::r0, Reg::r0));
    code.push_back(insn::leave());
    return code;
}
std::uint32_t folded(std::uint64_t result) {
    return static_cast<std::uint32_t>(result ^ result >> 32);
}

std::vector<InsnModel> insn_models() {
    std::vector<InsnModel> all;
    add_alu(all);
    add_jumps(all);
    add_memory(all);
    add_atomics(all);
    return all;
}

}  // namespace gpufs::test
