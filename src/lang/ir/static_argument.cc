#include "lang/ir/static_argument.h"

#include <cstddef>

#include "lang/ir/read_memory.h"

namespace gpufs {
namespace {

constexpr std::size_t kWordBytes = 8;

ir::Temp register_of(ir::Code& code, ir::Temp context, std::size_t offset) {
    return code.load({context, static_cast<std::int64_t>(offset)}, ir::kU64);
}

ir::Temp in_memory(ir::Code& code, ir::Temp context, const StaticArgument& argument,
                   ir::Type type) {
    ir::Operand at = static_cast<std::uint64_t>(argument.number);
    if (argument.base)
        at = code.compute(ir::Op::add, ir::kU64, register_of(code, context, *argument.base), at);
    if (argument.index)
        at = code.compute(
            ir::Op::add, ir::kU64, at,
            code.compute(ir::Op::mul, ir::kU64, register_of(code, context, *argument.index),
                         static_cast<std::uint64_t>(argument.scale)));
    const ir::Slot word = code.new_slot(kWordBytes);
    code.store(word, 0, ir::kU64);
    append_read(code, Space::user, code.address(word), argument.bytes, code.convert(at, ir::kU64));
    return code.load(word, type);
}

}  // namespace

ir::Temp append_static_argument(ir::Code& code, ir::Temp context, const StaticArgument& argument) {
    using Kind = StaticArgument::Kind;
    const ir::Type type{static_cast<std::uint8_t>(argument.bytes), argument.is_signed};
    switch (argument.kind) {
        case Kind::constant:
            return code.convert(static_cast<std::uint64_t>(argument.number), type);
        case Kind::in_register:
            return code.convert(register_of(code, context, *argument.base), type);
        case Kind::in_memory:
            return in_memory(code, context, argument, type);
        case Kind::unknown:
            break;
    }
    return code.convert(0, type);
}

std::vector<CodeItem> static_argument_function(const StaticArgument& argument,
                                               const SourceRef& at) {
    ir::Code code;
    code.set_source(at);
    const ir::Temp context = code.argument(1);
    code.leave(append_static_argument(code, context, argument));
    return code.assemble();
}

}  // namespace gpufs
