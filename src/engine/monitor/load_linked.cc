#include "engine/monitor/load_linked.h"

#include <algorithm>
#include <utility>

#include "lang/insn/isa.h"

namespace gpufs {
namespace {

// At most one: the place of the instruction that the verifier names.
std::vector<PlacedMessage> places_of(const Program& program, const Linked& linked,
                                     const VerifierError& refusal) {
    const auto insn = refusal.insn();
    if (!insn || *insn >= linked.lines.size()) return {};
    const SourceRef& at = linked.lines[*insn];
    if (at.source >= program.sources.size()) return {};
    return {
        place_message(program.sources[at.source], at.span, "the kernel's verifier refused this")};
}

std::string refusal_text(const Program& program, const Linked& linked,
                         const VerifierError& refusal) {
    const std::vector<PlacedMessage> places = places_of(program, linked, refusal);
    return places.empty() ? refusal.what() : pointed_at(places.front());
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
    : Error(refusal_text(program, linked, refusal), {}, refusal.evidence()),
      Placed(places_of(program, linked, refusal)),
      log_(refusal.log()) {}

RefusedProgram::RefusedProgram(const RefusedProgram& other, std::string hint, std::string evidence)
    : Error(other.what(), std::move(hint), std::move(evidence)),
      Placed(other.messages()),
      log_(other.log_) {}

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
