#include "engine/monitor/load_linked.h"

#include <algorithm>
#include <utility>

#include "lang/insn/helpers.h"
#include "lang/insn/isa.h"

namespace gpufs {
namespace {

// At most one: the place that an instruction comes from.
std::vector<PlacedMessage> place_of(const Program& program, const Linked& linked, std::size_t insn,
                                    std::string_view message) {
    if (insn >= linked.lines.size()) return {};
    const SourceRef& at = linked.lines[insn];
    if (at.source >= program.sources.size()) return {};
    return {place_message(program.sources[at.source], at.span, message)};
}

std::vector<PlacedMessage> places_of(const Program& program, const Linked& linked,
                                     const VerifierError& refusal) {
    const auto insn = refusal.insn();
    if (!insn) return {};
    return place_of(program, linked, *insn, "the kernel's verifier refused this");
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

// Since when the kernel has a helper that scripts call without naming it.
std::string_view first_kernel_with(int helper) {
    switch (helper) {
        case BPF_FUNC_for_each_map_elem:
            return "Linux 5.13 or later";
        case BPF_FUNC_loop:
            return "Linux 5.17 or later";
        case BPF_FUNC_map_lookup_percpu_elem:
            return "Linux 5.19 or later";
        default:
            return {};
    }
}

// The verifier's words for a helper that it does not know are about its number or, for one that
// calls back, about the functions. Asked for only when it refused the program.
void require_helpers(const Program& program, const Linked& linked, std::uint32_t type,
                     BpfFeatures& features) {
    for (std::size_t i = 0; i < linked.insns.size(); ++i) {
        const bpf_insn& insn = linked.insns[i];
        if (insn.code != (BPF_JMP | BPF_CALL) || insn.src_reg != 0) continue;
        if (features.ask_helper(type, static_cast<unsigned>(insn.imm)).support != Support::no)
            continue;
        const std::string message =
            cat("this kernel's programs of this kind cannot call bpf_", helper_name(insn.imm));
        throw LacksHelper(message, place_of(program, linked, i, message),
                          std::string(first_kernel_with(insn.imm)));
    }
}

bool has_loop(const Linked& linked) {
    return std::ranges::any_of(linked.insns, [](const bpf_insn& insn) {
        const int what = BPF_CLASS(insn.code), op = BPF_OP(insn.code);
        return (what == BPF_JMP || what == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT &&
               insn.off < 0;
    });
}

// What would help against a refusal, where that is known.
std::string hint_about(const VerifierError& refusal, const Linked& linked, BpfFeatures& features) {
    const auto says = [&](std::string_view text) {
        return refusal.evidence().find(text) != std::string::npos;
    };
    if (says("limit of 64")) return "what is alike can be in one map, by keys";
    const bool is_endless = says("infinite loop");
    if (says("too large") && has_loop(linked) && features.has(BpfFeature::callbacks))
        return "the kernel goes through all turns of a loop in advance, without an end where it "
               "sees none: in a script, 'for ($i : 0..N)' is one that it calls turn by turn";
    if (!is_endless) return {};
    if (features.has(BpfFeature::callbacks))
        return "the kernel sees no end of this loop: let it end at a number of turns, which a "
               "variable or a register counts";
    return "this kernel goes through all turns of a loop in advance; Linux 5.17 or later does not";
}

}  // namespace

RefusedProgram::RefusedProgram(const Program& program, const Linked& linked,
                               const VerifierError& refusal)
    : Error(refusal_text(program, linked, refusal), {}, refusal.evidence()),
      Placed(places_of(program, linked, refusal)),
      log_(refusal.log()) {}

RefusedProgram::RefusedProgram(const RefusedProgram& other, std::string_view hint,
                               std::string_view evidence)
    : Error(other.what(), hint, evidence), Placed(other.messages()), log_(other.log_) {}

LacksHelper::LacksHelper(const std::string& message, std::vector<PlacedMessage> places,
                         std::string_view hint)
    : UnsupportedError(places.empty() ? message : pointed_at(places.front()), hint),
      Placed(std::move(places)) {}

Fd load_linked(const Program& program, const Linked& linked, BpfProgramSpec spec,
               BpfFeatures& features) {
    spec.insns = linked.insns;
    spec.licence = program.licence;
    if (spec.name.empty()) spec.name = linked.functions.at(0).name;
    if (calls_back(linked))
        for (const Linked::Function& function : linked.functions)
            spec.functions.push_back({function.name, static_cast<std::uint32_t>(function.begin)});
    try {
        return load_program(spec);
    } catch (const VerifierError& refusal) {
        require_helpers(program, linked, spec.type, features);
        const RefusedProgram refused(program, linked, refusal);
        throw RefusedProgram(refused, hint_about(refusal, linked, features), refused.evidence());
    }
}

}  // namespace gpufs
