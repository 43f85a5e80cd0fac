#include "lang/ir/hash.h"

namespace gpufs {
namespace {

// Odd, its bits are evenly spread.
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
constexpr int kHalf = 32;

}  // namespace

void append_mix(ir::Code& code, ir::Temp hash, ir::Operand word) {
    const ir::Temp mixed = code.compute(
        ir::Op::mul, ir::kU64, code.compute(ir::Op::bit_xor, ir::kU64, hash, word), kMultiplier);
    code.assign(hash, code.compute(ir::Op::bit_xor, ir::kU64, mixed,
                                   code.compute(ir::Op::shr, ir::kU64, mixed, kHalf)));
}

}  // namespace gpufs
