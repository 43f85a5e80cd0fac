#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/insn/isa.h"

namespace gpufs {

// A register's name: r0 to r10 (fp is r10), or w0 to w10 for the low 32 bits.
struct RegName {
    Reg reg = Reg::r0;
    bool is_low = false;

    friend bool operator==(const RegName&, const RegName&) = default;
};
std::optional<RegName> find_register(std::string_view name);
std::string to_text(RegName reg);

// The type of a memory access: u8, u16, u32, u64, s8, s16, s32 (not s64: no instruction has it).
struct AccessType {
    Width width = Width::dw;
    bool is_signed = false;
};
std::optional<AccessType> find_access_type(std::string_view name);
std::string to_text(AccessType type);
std::vector<std::string> access_type_names();

// "+=", "s>>=", "=" and so on.
std::optional<AluOp> find_alu_op(std::string_view sign);
std::string_view sign_of(AluOp op);

// "==", "s>", "&" and so on.
std::optional<JumpOp> find_jump_op(std::string_view sign);
std::string_view sign_of(JumpOp op);

// The words, other than registers, that an instruction may begin with.
const std::vector<std::string>& statement_words();

}  // namespace gpufs
