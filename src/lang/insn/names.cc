#include "lang/insn/names.h"

#include <algorithm>
#include <utility>

#include "base/cat.h"

namespace gpufs {
namespace {

constexpr std::pair<std::string_view, AluOp> kAluOps[] = {
    {"+=", AluOp::add},   {"-=", AluOp::sub},   {"*=", AluOp::mul},    {"/=", AluOp::div},
    {"%=", AluOp::mod},   {"|=", AluOp::or_},   {"&=", AluOp::and_},   {"^=", AluOp::xor_},
    {"<<=", AluOp::lsh},  {">>=", AluOp::rsh},  {"s>>=", AluOp::arsh}, {"=", AluOp::mov},
    {"s/=", AluOp::sdiv}, {"s%=", AluOp::smod},
};

constexpr std::pair<std::string_view, JumpOp> kJumpOps[] = {
    {"==", JumpOp::eq},   {"!=", JumpOp::ne},  {"&", JumpOp::set},   {">", JumpOp::gt},
    {">=", JumpOp::ge},   {"<", JumpOp::lt},   {"<=", JumpOp::le},   {"s>", JumpOp::sgt},
    {"s>=", JumpOp::sge}, {"s<", JumpOp::slt}, {"s<=", JumpOp::sle},
};

template <class Table>
auto find_sign(const Table& table, std::string_view sign)
    -> std::optional<decltype(std::begin(table)->second)> {
    for (const auto& [text, op] : table)
        if (text == sign) return op;
    return {};
}

template <class Table, class Op>
std::string_view sign_in(const Table& table, Op op) {
    for (const auto& [text, candidate] : table)
        if (candidate == op) return text;
    return {};
}

}  // namespace

std::optional<RegName> find_register(std::string_view name) {
    if (name == "fp") return RegName{Reg::fp, false};
    if (name.size() < 2 || (name[0] != 'r' && name[0] != 'w')) return {};
    const bool is_low = name[0] == 'w';
    name.remove_prefix(1);
    if (name == "10") return RegName{Reg::r10, is_low};
    if (name.size() != 1 || name[0] < '0' || name[0] > '9') return {};
    return RegName{static_cast<Reg>(name[0] - '0'), is_low};
}

std::string to_text(RegName reg) {
    return cat(reg.is_low ? 'w' : 'r', static_cast<int>(reg.reg));
}

std::optional<AccessType> find_access_type(std::string_view name) {
    for (const Width width : {Width::b, Width::h, Width::w, Width::dw})
        for (const bool is_signed : {false, true})
            if (!(is_signed && width == Width::dw) && name == to_text(AccessType{width, is_signed}))
                return AccessType{width, is_signed};
    return {};
}

std::string to_text(AccessType type) {
    return cat(type.is_signed ? 's' : 'u', bytes_of(type.width) * 8);
}

std::vector<std::string> access_type_names() {
    return {"u8", "u16", "u32", "u64", "s8", "s16", "s32"};
}

std::optional<AluOp> find_alu_op(std::string_view sign) {
    return find_sign(kAluOps, sign);
}
std::string_view sign_of(AluOp op) {
    return sign_in(kAluOps, op);
}

std::optional<JumpOp> find_jump_op(std::string_view sign) {
    return find_sign(kJumpOps, sign);
}
std::string_view sign_of(JumpOp op) {
    return sign_in(kJumpOps, op);
}

const std::vector<std::string>& statement_words() {
    static const std::vector<std::string> words = {
        "if",   "goto",          "gotol",     "may_goto", "call", "callx", "exit",
        "lock", "store_release", "ld_pseudo", ".quad",    "zero", "copy"};
    return words;
}

}  // namespace gpufs
