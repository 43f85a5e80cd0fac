#include "engine/monitor/unwind_choice.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernel/host/kernel_version.h"
#include "lang/ir/stack_map.h"

namespace gpufs {

bool has_user_stacks(const Program& program) {
    const auto is_one = [](const Member& member) {
        return member.type.kind == ValueType::Kind::user_stack;
    };
    const auto has = [&](const Layout& layout) {
        return std::ranges::any_of(layout.members, is_one);
    };
    const bool keeps = std::ranges::any_of(program.maps, [&](const MapDeclaration& map) {
        return map.keeps_stacks && program.find_subprogram(stack_function(map));
    });
    return keeps && (std::ranges::any_of(program.maps,
                                         [&](const MapDeclaration& map) {
                                             return has(map.key) || has(map.value);
                                         }) ||
                     std::ranges::any_of(program.records, [&](const RecordLayout& record) {
                         return has(record.layout);
                     }));
}

std::optional<UnwindKernel> unwind_kernel(KernelFacts& machine) {
    UnwindKernel kernel;
    if (!kernel.machine) return std::nullopt;
    BpfFeatures& features = machine.features();
    for (const BpfFeature needed :
         {BpfFeature::ringbuf, BpfFeature::mmapable, BpfFeature::bounded_loops})
        if (!features.has(needed)) return std::nullopt;
    // Before, the kernel refuses maps of maps whose values can be mapped, or gives up on the code.
    if (running_kernel() < KernelVersion{5, 10, 0}) return std::nullopt;
    const auto has_helper = [&](unsigned helper) {
        return features.ask_helper(BPF_PROG_TYPE_TRACEPOINT, helper).support == Support::yes;
    };
    // Stacks end where user addresses do.
    kernel.address_mask = std::bit_ceil(reinterpret_cast<std::uintptr_t>(&kernel)) - 1;
    kernel.has_callbacks = features.has(BpfFeature::callbacks);
    kernel.has_task_registers = features.has(BpfFeature::btf) &&
                                has_helper(BPF_FUNC_get_current_task_btf) &&
                                has_helper(BPF_FUNC_task_pt_regs);
    if (kernel.has_task_registers) return kernel;
    // arm64 has 16 or 64 KB of it, and behind the registers what differs between kernels.
    if (!kernel.machine->pushes_return) return std::nullopt;
    const auto stack = machine.btf_offset("task_struct.stack");
    if (!stack) return std::nullopt;
    kernel.stack_offset = *stack;
    return kernel;
}

}  // namespace gpufs
