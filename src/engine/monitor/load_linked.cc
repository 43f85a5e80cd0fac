#include "engine/monitor/load_linked.h"

#include <algorithm>
#include <utility>

#include "lang/insn/isa.h"

namespace gpufs {
namespace {

std::string refusal_text(const Program& program, const Linked& linked,
                         const VerifierError& refusal) {
    const auto insn = refusal.insn();
    if (!insn || *insn >= linked.lines.size()) return refusal.what();
    const SourceRef& at = linked.lines[*insn];
    if (at.source >= program.sources.size()) return refusal.what();
    return point_at(program.sources[at.source], at.span, "the kernel's verifier refused this");
}

// Only callbacks need the functions' names, and kernels before Linux 5.0 do not accept names.
bool calls_back(const Linked& linked) {
    return std::ranges::any_of(linked.insns, [](const bpf_insn& insn) {
        return is_wide(insn) && insn.src_reg == BPF_PSEUDO_FUNC;
    });
}

}  // namespace

RefusedProgram::RefusedProgram(const Program& program, const Linked& linked,
                               const VerifierError& refusal)
    : Error(refusal_text(program, linked, refusal), {}, refusal.evidence()), log_(refusal.log()) {}

Fd load_linked(const Program& program, const Linked& linked, BpfProgramSpec spec) {
    spec.insns = linked.insns;
    spec.licence = program.licence;
    if (spec.name.empty()) spec.name = linked.functions.at(0).name;
    if (calls_back(linked))
        for (const Linked::Function& function : linked.functions)
            spec.functions.push_back({function.name, static_cast<std::uint32_t>(function.begin)});
    try {
        return load_program(spec);
    } catch (const VerifierError& refusal) {
        throw RefusedProgram(program, linked, refusal);
    }
}

}  // namespace gpufs
