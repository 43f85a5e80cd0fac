#include <algorithm>
#include <optional>

#include "base/suggest.h"
#include "lang/asm/forms.h"
#include "lang/insn/effects.h"
#include "lang/insn/helpers.h"
#include "lang/insn/insn.h"
#include "lang/insn/listing.h"
#include "lang/insn/names.h"

namespace gpufs {
namespace {

std::int64_t imm64_of(const bpf_insn& low, const bpf_insn& high) {
    return static_cast<std::int64_t>(static_cast<__u32>(low.imm) |
                                     static_cast<std::uint64_t>(static_cast<__u32>(high.imm))
                                         << 32);
}

// The lines of one unit become its code.
class UnitAssembler {
public:
    explicit UnitAssembler(AsmWork& work) : work_(work), log_(work.errors) {}

    // Whether the code is complete, without a mistake in its lines.
    bool assemble(const AsmUnit& unit, std::vector<CodeItem>& code) {
        const std::size_t before = work_.errors.size();
        code_ = &code;
        code.reserve(2 * unit.lines.size());  // a form is several instructions
        for (const AsmUnit::Line& line : unit.lines) {
            if (work_.errors.is_full()) return false;
            add(line);
        }
        end_log();
        return is_complete_ && work_.errors.size() == before;
    }

private:
    void complain(const SourceRef& at, std::string_view message, std::string_view hint = {}) {
        work_.errors.error(work_.sources[at.source], at.span, message, hint);
    }

    void add(const AsmUnit::Line& line) {
        const SourceText& source = work_.sources[line.source];
        const AsmLine parts = split_asm_line(source, line.span, after_log_);
        line_ = line;
        if (parts.kind == AsmLine::Kind::empty && parts.labels.empty()) return;
        after_log_ = parts.is_from_log();
        if (parts.kind == AsmLine::Kind::noise) return;
        if (!parts.index) end_log();
        for (const Span label : parts.labels) add_label(source, label);
        if (parts.kind != AsmLine::Kind::code) return;
        try {
            if (!parts.is_from_log()) {
                if (const auto steps = parse_form(work_, line.source, parts.code)) {
                    for (const FormStep& step : *steps) add_step(step);
                    return;
                }
            }
            const AsmNames names = work_.symbols.names_for(source);
            const ParsedInsn parsed = parse_insn_line(source, parts, names);
            if (parts.index)
                begin_log().add(source, parts, parsed);
            else
                add_insn(parsed);
        } catch (const SourceError& mistake) {
            if (!parts.index || begin_log().add_mistake(source, parts))
                work_.errors.error(source, mistake);
            is_complete_ = false;
        } catch (const AlreadyTold&) {
            if (parts.index) begin_log().add_mistake(source, parts);
            is_complete_ = false;
        }
    }

    void add_label(const SourceText& source, Span name) {
        CodeItem item = new_item(name);
        item.kind = CodeItem::Kind::label;
        item.name = source.text.substr(name.begin, name.end - name.begin);
        if (find_register(item.name))
            return complain(item.at, cat("'", item.name, "' is a register, not a label"));
        code_->push_back(std::move(item));
    }

    CodeItem new_item(Span at) const {
        CodeItem item;
        item.guard = line_.guard;
        item.at = {line_.source, at};
        return item;
    }

    void add_step(const FormStep& step) {
        if (step.kind == CodeItem::Kind::insn) return add_insn(step.insn, step.text);
        CodeItem item = new_item(step.insn.span);
        item.kind = step.kind;
        item.insn = step.insn.insns[0];
        item.text = step.text;
        const InsnRef& field = step.insn.refs[0];
        item.relocation = field.to;
        item.relocation.at = {line_.source, field.span};
        code_->push_back(std::move(item));
    }

    // `text` is the instruction's where the line has more than it.
    void add_insn(const ParsedInsn& parsed, const std::string& text = {}) {
        const auto& insns = parsed.insns;
        for (std::size_t i = 0; i < insns.size(); ++i) {
            CodeItem item = new_item(parsed.span);
            item.text = text;
            item.insn = insns[i];
            if (is_wide(insns[i])) {
                if (i + 1 == insns.size())
                    return complain(item.at, "half an instruction of 16 bytes",
                                    "both halves belong into one .quad");
                item.imm64 = imm64_of(insns[i], insns[i + 1]);
                ++i;
            }
            if (item.insn.dst_reg > kFramePointer || item.insn.src_reg > kFramePointer)
                return complain(item.at, "no instruction has these registers");
            const BpfEffects effects = effects_of(item.insn);
            if ((effects.writes_dst && item.insn.dst_reg == kFramePointer) ||
                (effects.writes_src && item.insn.src_reg == kFramePointer))
                return complain(item.at, "r10 is the frame pointer and cannot be written");
            if (!refer(parsed, item)) continue;
            // The linker looks at the numbers that are known only later.
            const bool is_known = item.relocation.kind == Relocation::Kind::none;
            const __s32 number = item.insn.imm;
            if (const std::string why = refused_operand(item.insn, number);
                is_known && !why.empty())
                return complain(item.at, cat("the number is ", number, ": ", why));
            code_->push_back(std::move(item));
        }
    }

    // An item has one relocation; a jump that needs it for its number has its label as its name.
    bool refer(const ParsedInsn& parsed, CodeItem& item) {
        for (const InsnRef& ref : parsed.refs) {
            Relocation relocation = ref.to;
            relocation.at = {line_.source, ref.span};
            if (!check_name(relocation, item)) return false;
            if (relocation.kind == Relocation::Kind::label && parsed.refs.size() > 1) {
                item.name = relocation.name;
            } else if (item.relocation.kind == Relocation::Kind::none) {
                item.relocation = std::move(relocation);
            } else {
                complain(relocation.at, "one name is known only later, two are one too many",
                         "put one of them into a register first");
                return false;
            }
        }
        const bool is_local_call =
            item.insn.code == (BPF_JMP | BPF_CALL) && item.insn.src_reg == BPF_PSEUDO_CALL;
        const bool is_function = is_wide(item.insn) && item.insn.src_reg == BPF_PSEUDO_FUNC;
        if ((is_local_call || is_function) && item.relocation.kind == Relocation::Kind::none) {
            complain(item.at, "a function of the program is called by its name",
                     "declare it with .func");
            return false;
        }
        return true;
    }

    bool check_name(const Relocation& to, const CodeItem& item) {
        const std::string& name = to.name;
        const Program& program = work_.program;
        switch (to.kind) {
            case Relocation::Kind::map:
            case Relocation::Kind::map_value:
                return check_map(to);
            case Relocation::Kind::subprogram:
            case Relocation::Kind::callback: {
                if (program.find_subprogram(name) || is_generated(work_, name)) return true;
                std::vector<std::string> known = names_of(program.subprograms);
                const bool is_call = to.kind == Relocation::Kind::subprogram;
                if (is_call)
                    for (const std::string& helper : helper_names()) {
                        known.push_back(helper);
                        known.push_back("bpf_" + helper);
                    }
                complain(to.at,
                         cat("no ", is_call ? "helper or function" : "function", " is named '",
                             name, "'"),
                         did_you_mean(name, known));
                return false;
            }
            case Relocation::Kind::parameter:
                if (program.find_parameter(name)->type != Parameter::Type::text ||
                    is_wide(item.insn))
                    return true;
                complain(to.at, cat("parameter '", name, "' is a text"),
                         cat("its address is loaded by 'r1 = ", name, " ll'"));
                return false;
            default:
                return true;
        }
    }

    bool check_map(const Relocation& to) {
        const MapDeclaration* map = work_.program.find_map(to.name);
        if (!map && work_.symbols.is_forgiven(to.name)) throw AlreadyTold();
        if (!map) {
            complain(to.at, cat("no map is named '", to.name, "'"),
                     did_you_mean(to.name, names_of(work_.program.maps)));
            return false;
        }
        if (to.kind != Relocation::Kind::map_value) return true;
        if (map->type != BPF_MAP_TYPE_ARRAY) {
            complain(to.at, cat("map '", to.name, "' has no value at a fixed address"),
                     "only arrays and .global have; look the value up with map_lookup_elem");
            return false;
        }
        if (to.addend < 0 || static_cast<std::uint64_t>(to.addend) >= map->value_bytes()) {
            complain(to.at, cat("offset ", to.addend, " is outside the value of map '", to.name,
                                "', which has ", map->value_bytes(), " bytes"));
            return false;
        }
        return true;
    }

    // The stretch of a log that the line belongs to.
    InsnSequence& begin_log() {
        if (!log_start_) log_start_ = line_;
        return log_;
    }

    // The stretch is in order now, whatever order its lines came in.
    void end_log() {
        if (!log_start_) return;
        const AsmUnit::Line after = line_;
        line_ = *log_start_;
        log_.end_log();
        const auto& insns = log_.insns();
        std::size_t next_ref = 0;
        for (std::size_t i = 0; i < insns.size(); ++i) {
            ParsedInsn parsed;
            parsed.insns.push_back(insns[i]);
            parsed.span = log_.places()[i].span;
            for (; next_ref < log_.refs().size() && log_.refs()[next_ref].insn == i; ++next_ref)
                parsed.refs.push_back(log_.refs()[next_ref].symbol);
            if (is_wide(insns[i]) && i + 1 < insns.size()) parsed.insns.push_back(insns[++i]);
            add_insn(parsed);
        }
        log_ = InsnSequence(work_.errors);
        log_start_.reset();
        line_ = after;
    }

    AsmWork& work_;
    std::vector<CodeItem>* code_ = nullptr;
    AsmUnit::Line line_;
    bool after_log_ = false;
    bool is_complete_ = true;
    InsnSequence log_;
    std::optional<AsmUnit::Line> log_start_;  // while lines of a log come
};

}  // namespace

void assemble_units(AsmWork& work) {
    for (AsmUnit& unit : work.units)
        unit.is_complete &= UnitAssembler(work).assemble(
            unit, unit.is_program ? work.program.programs[unit.index].code
                                  : work.program.subprograms[unit.index].code);
    define_generated(work);
}

}  // namespace gpufs
