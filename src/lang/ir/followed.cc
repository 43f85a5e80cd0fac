#include "lang/ir/followed.h"

#include <algorithm>

#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

bool runs_by_itself(const ProbeProgram& program) {
    return std::ranges::all_of(program.targets, [](const auto& alternatives) {
        return std::ranges::all_of(alternatives, [](const ProbeTarget& target) {
            return probe_kind(target.kind).place == ProbeKind::Place::own;
        });
    });
}

}  // namespace

void append_pid_test(ir::Code& code, const std::vector<int>& pids, ir::Label out) {
    if (pids.empty()) return;
    const ir::Label is_wanted = code.new_label();
    const ir::Temp both = code.call(BPF_FUNC_get_current_pid_tgid, {});
    const ir::Temp process = code.compute(ir::Op::shr, ir::kU64, both, 32);
    for (const int pid : pids) {
        code.branch(ir::Cmp::eq, ir::kU32, process, pid, is_wanted);
        code.branch(ir::Cmp::eq, ir::kU32, both, pid, is_wanted);
    }
    code.jump(out);
    code.bind(is_wanted);
}

void append_followed_test(ir::Code& code, ir::Label out) {
    const ir::Temp task = code.convert(code.call(BPF_FUNC_get_current_pid_tgid, {}), ir::kU32);
    const ir::Slot block = code.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
    code.store(block, code.compute(ir::Op::div, ir::kU32, task, kFollowedBlockBytes), ir::kU32);
    const ir::Temp bytes = code.call(
        BPF_FUNC_map_lookup_elem,
        {code.symbol(Relocation::to(Relocation::Kind::map, kFollowedMap)), code.address(block)});
    code.branch(ir::Cmp::eq, ir::kU64, bytes, 0, out);
    const ir::Temp in_block =
        code.compute(ir::Op::bit_and, ir::kU64, task, kFollowedBlockBytes - 1);
    const ir::Temp at = code.compute(ir::Op::add, ir::kU64, bytes, in_block);
    code.branch(ir::Cmp::ne, ir::kU8, code.load(at, ir::kU8), kFollowed, out);
}

void look_at_followed(Program& program) {
    if (program.find_map(kFollowedMap)) return;
    for (ProbeProgram& one : program.programs) {
        if (one.is_end || runs_by_itself(one)) continue;
        ir::Code code;
        code.set_source(one.at);
        const ir::Temp context = code.argument(1);
        const ir::Label out = code.new_label(), goes_on = code.new_label();
        append_followed_test(code, out);
        code.jump(goes_on);
        code.bind(out);
        code.leave(0);
        code.bind(goes_on);
        code.fall_through(context);
        const std::vector<CodeItem> test = code.assemble(".followed");
        one.code.insert(one.code.begin(), test.begin(), test.end());
    }
}

void declare_followed(Program& program) {
    if (program.find_map(kFollowedMap)) return;
    program.maps.push_back(array_map(kFollowedMap, BPF_MAP_TYPE_ARRAY,
                                     Layout::of("value", raw_bytes_value(kFollowedBlockBytes))));
}

}  // namespace gpufs
