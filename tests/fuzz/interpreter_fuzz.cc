// Instructions of any kind in the interpreter: they return, or stop with a fault. They may call
// every helper, on maps of every kind, and do nothing to this process.

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/fuzz.h"
#include "lang/insn/insn.h"
#include "vm/interpreter.h"
#include "vm/vm_state.h"

namespace gpufs::fuzz {
namespace {

constexpr std::size_t kMaxSteps = 4096;

constexpr bpf_map_type kTypes[] = {
    BPF_MAP_TYPE_HASH,    BPF_MAP_TYPE_PERCPU_HASH,      BPF_MAP_TYPE_LRU_HASH,
    BPF_MAP_TYPE_ARRAY,   BPF_MAP_TYPE_PERCPU_ARRAY,     BPF_MAP_TYPE_STACK_TRACE,
    BPF_MAP_TYPE_RINGBUF, BPF_MAP_TYPE_PERF_EVENT_ARRAY, BPF_MAP_TYPE_ARRAY,
};

void add_maps(VmState& world) {
    for (const bpf_map_type type : kTypes) {
        BpfMapSpec spec;
        spec.type = type;
        spec.name = "m";
        const bool is_ring = type == BPF_MAP_TYPE_RINGBUF || type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
        spec.key_bytes = is_ring ? 0 : 4;
        spec.value_bytes = is_ring ? 0 : 16;
        spec.max_entries = is_ring ? 4096 : world.maps.size() + 1 == std::size(kTypes) ? 1 : 3;
        world.add_map(spec);
    }
}

std::vector<bpf_insn> instructions_of(std::span<const std::uint8_t> bytes) {
    std::vector<bpf_insn> insns(bytes.size() / sizeof(bpf_insn));
    if (!insns.empty()) std::memcpy(insns.data(), bytes.data(), insns.size() * sizeof(bpf_insn));
    // Most bytes make no instruction that there is: the rarer kinds are made of some.
    for (bpf_insn& insn : insns) {
        insn.dst_reg %= 11;
        insn.src_reg %= 11;
        if (insn.code == (BPF_JMP | BPF_CALL) && insn.src_reg != BPF_PSEUDO_CALL) {
            insn.src_reg = 0;
            insn.imm &= 0xff;
        }
        if (insn.code == (BPF_LD | BPF_IMM | BPF_DW)) {
            insn.src_reg = static_cast<__u8>(insn.src_reg % 5) & 0xf;
            if (insn.src_reg == BPF_PSEUDO_MAP_FD || insn.src_reg == BPF_PSEUDO_MAP_VALUE)
                insn.imm = static_cast<__s32>(static_cast<__u32>(insn.imm) % std::size(kTypes));
        }
    }
    return insns;
}

}  // namespace

void one(std::span<const std::uint8_t> bytes) {
    VmState world;
    world.cpus = 2;
    add_common_helpers(world);
    add_maps(world);
    const std::uint64_t frames[] = {1, 2, 3};
    world.now.cpu = 1;
    world.now.comm = "fuzz";
    world.now.kernel_stack = frames;
    const std::vector<bpf_insn> insns = instructions_of(bytes);
    std::vector<std::byte> context(64);
    const std::uint64_t address = world.memory.add_read_only(VmMemory::Kind::context, context);
    try {
        Interpreter interpreter(insns, world);
        interpreter.run(address, kMaxSteps);
        interpreter.run(address, kMaxSteps);
    } catch (const BpfFault& e) {
        expect(!std::string_view(e.what()).empty());
    }
}

}  // namespace gpufs::fuzz
