#include "lang/ir/scratch.h"

namespace gpufs {
namespace {

// At a time on a CPU: one of a task, one each of a soft interrupt, an interrupt and an NMI that
// come on top of each other, and some of tasks that were preempted.
constexpr std::uint64_t kAtOnce = 8;

}  // namespace

MapDeclaration scratch_map(std::string name, std::size_t bytes, const SourceRef& at) {
    return array_map(std::move(name), BPF_MAP_TYPE_PERCPU_ARRAY,
                     Layout::of("value", raw_bytes_value(bytes)), at, kAtOnce);
}

ir::Temp append_claim(ir::Code& code, const std::string& map, bool has_atomics, ir::Label none) {
    const ir::Slot index = code.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
    const ir::Temp number = code.new_temp(ir::kU64);
    const ir::Label again = code.new_label(), have = code.new_label();
    code.assign(number, 0);
    code.bind(again);
    code.store(index, number, ir::kU32);
    const ir::Temp element =
        code.call(BPF_FUNC_map_lookup_elem,
                  {code.symbol(Relocation::to(Relocation::Kind::map, map)), code.address(index)});
    code.branch(ir::Cmp::eq, ir::kU64, element, 0, none);
    // Without atomics there is no preemption of programs: a program that comes between load and
    // store has ended before the store.
    const ir::Temp is_used = has_atomics ? code.fetch(AtomicOp::xchg, {element, 0}, 1, ir::kU64)
                                         : code.load({element, 0}, ir::kU64);
    code.branch(ir::Cmp::eq, ir::kU64, is_used, 0, have);
    code.assign(number, code.compute(ir::Op::add, ir::kU64, number, 1));
    code.branch(ir::Cmp::lt, ir::kU64, number, kAtOnce, again);
    code.jump(none);
    code.bind(have);
    if (!has_atomics) code.store({element, 0}, 1, ir::kU64);
    return element;
}

void append_release(ir::Code& code, ir::Temp element) {
    code.store({element, 0}, 0, ir::kU64);
}

}  // namespace gpufs
