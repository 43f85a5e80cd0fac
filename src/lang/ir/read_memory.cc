#include "lang/ir/read_memory.h"

namespace gpufs {
namespace {

struct Helpers {
    int user, kernel;
};
constexpr Helpers kBytes{BPF_FUNC_probe_read_user, BPF_FUNC_probe_read_kernel};
constexpr Helpers kText{BPF_FUNC_probe_read_user_str, BPF_FUNC_probe_read_kernel_str};

ir::Temp append(ir::Code& code, const Helpers& helpers, Space space, ir::Temp to, ir::Operand bytes,
                ir::Operand from) {
    const auto call = [&](int helper) {
        return code.convert(code.call(helper, {to, bytes, from}), ir::kS32);
    };
    if (space == Space::user) return call(helpers.user);
    if (space == Space::kernel) return call(helpers.kernel);
    const ir::Temp result = code.new_temp(ir::kS32);
    const ir::Label is_kernel = code.new_label(), done = code.new_label();
    code.branch(ir::Cmp::lt, ir::kS64, from, 0, is_kernel);
    code.assign(result, call(helpers.user));
    code.jump(done);
    code.bind(is_kernel);
    code.assign(result, call(helpers.kernel));
    code.bind(done);
    return result;
}

}  // namespace

ir::Temp append_read(ir::Code& code, Space space, ir::Temp to, ir::Operand bytes,
                     ir::Operand from) {
    return append(code, kBytes, space, to, bytes, from);
}

ir::Temp append_read_text(ir::Code& code, Space space, ir::Temp to, ir::Operand bytes,
                          ir::Operand from) {
    return append(code, kText, space, to, bytes, from);
}

void append_unless_cut(ir::Code& code, Space space, ir::Temp length, std::size_t bytes,
                       ir::Temp from, ir::Label whole) {
    // The memory is full: where the byte that the NUL replaced was no NUL, the text goes on.
    code.branch(ir::Cmp::lt, ir::kS32, length, bytes, whole);
    const ir::Slot next = code.new_slot(sizeof(std::uint64_t));
    code.store(next, 0, ir::kU64);
    append_read(code, space, code.address(next), 1,
                code.compute(ir::Op::add, ir::kU64, from, bytes - 1));
    code.branch(ir::Cmp::eq, ir::kU64, code.load(next, ir::kU64), 0, whole);
}

}  // namespace gpufs
