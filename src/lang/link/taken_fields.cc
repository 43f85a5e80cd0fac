#include <algorithm>
#include <map>

#include "base/align.h"
#include "lang/insn/insn.h"
#include "lang/ir/static_argument.h"
#include "lang/link/unit.h"

namespace gpufs::linking {
namespace {

constexpr std::size_t kSlotBytes = 8;

Insn insn_of(const Unit& unit, const bpf_insn& op) {
    Insn insn;
    insn.op = op;
    insn.at = unit.at;
    return insn;
}

class FieldTaker {
public:
    FieldTaker(LinkContext& job, std::vector<Unit>& units) : job_(job), units_(units) {}

    bool take() {
        refuse_in_functions();
        place();
        if (slots_.empty()) return false;
        for (Insn& insn : program().insns)
            if (insn.taken != kNone) insn.op.off = slots_[insn.taken];
        std::vector<Insn> front = code_in_front();
        for (Insn& insn : program().insns)
            if (insn.target != kNone) insn.target += front.size();
        program().insns.insert(program().insns.begin(), front.begin(), front.end());
        return true;
    }

private:
    Unit& program() { return units_.front(); }

    // A function's frame is not the program's.
    void refuse_in_functions() {
        for (std::size_t i = 1; i < units_.size(); ++i)
            for (const Insn& insn : units_[i].insns)
                if (insn.taken != kNone)
                    job_.error(insn.at,
                               job_.target.variables
                                   ? "a function cannot read the variables of a place"
                                   : "a function cannot read the arguments of a static probe",
                               "read it in the program, and give it to the function");
    }

    // Each on the stack, below what is in use.
    void place() {
        std::size_t bytes = align_up(program().stack_bytes, kSlotBytes);
        for (const Insn& insn : program().insns) {
            if (insn.taken == kNone || slots_.contains(insn.taken)) continue;
            bytes += kSlotBytes;
            slots_[insn.taken] = static_cast<__s16>(-static_cast<std::int32_t>(bytes));
        }
    }

    std::vector<Insn> code_in_front() {
        std::vector<Insn> code{insn_of(program(), insn::mov(Reg::r6, Reg::r1))};
        for (const auto& [number, slot] : slots_) {
            Insn call = insn_of(program(), insn::call_local(0));
            call.callee = units_.size();
            units_.push_back(function_of(number));
            code.push_back(insn_of(program(), insn::mov(Reg::r1, Reg::r6)));
            code.push_back(call);
            code.push_back(insn_of(program(), insn::store(Width::dw, Reg::fp, slot, Reg::r0)));
        }
        code.push_back(insn_of(program(), insn::mov(Reg::r1, Reg::r6)));
        return code;
    }

    Unit function_of(std::size_t number) {
        Subprogram made;
        made.at = program().at;
        if (job_.target.variables) {
            const NamedVariable& variable = (*job_.target.variables)[number];
            made.name = variable.to_text();
            made.code = variable_function(*variable.value, made.at);
        } else {
            made.name = cat("arg", number);
            made.code = static_argument_function((*job_.target.static_arguments)[number], made.at);
        }
        made.is_generated = true;
        return resolve_function(job_, made);
    }

    LinkContext& job_;
    std::vector<Unit>& units_;
    std::map<std::size_t, __s16> slots_;  // by argument or variable: its offset from r10
};

}  // namespace

bool take_fields(LinkContext& job, std::vector<Unit>& units) {
    return FieldTaker(job, units).take();
}

}  // namespace gpufs::linking
