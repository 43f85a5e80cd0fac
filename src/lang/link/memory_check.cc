#include <algorithm>
#include <optional>

#include "base/kernel_abi.h"
#include "lang/link/unit.h"

// Follows the frame pointer and the context through the code, and reports the accesses that are
// certainly wrong.
namespace gpufs::linking {
namespace {

constexpr auto kStackBytes = static_cast<std::int32_t>(kBpfStackBytes);

// What a register holds, as far as it is known on every way to an instruction.
struct Value {
    enum class Kind : std::uint8_t { unknown, stack, context };
    std::int32_t offset = 0;  // of stack and context
    Kind kind = Kind::unknown;
    bool may_be_context = false;  // on some way: the context, or an address made from it

    friend bool operator==(const Value&, const Value&) = default;
};

struct State {
    Value r[11];
    bool is_reached = false;
};

// Merges what comes on another way. Returns whether that changes anything.
bool merge(State& into, const State& from) {
    if (!into.is_reached) {
        into = from;
        into.is_reached = true;
        return true;
    }
    bool changes = false;
    for (std::size_t i = 0; i < 11; ++i) {
        if (into.r[i] == from.r[i]) continue;
        Value merged = into.r[i];
        merged.may_be_context = merged.may_be_context || from.r[i].may_be_context;
        if (merged.kind != from.r[i].kind || merged.offset != from.r[i].offset) {
            merged.kind = Value::Kind::unknown;
            merged.offset = 0;
        }
        changes = changes || merged != into.r[i];
        into.r[i] = merged;
    }
    return changes;
}

// Helpers that are given the context, and do not read the record. Those that take no arguments may
// find it in r1 by chance.
bool leaves_record_alone(std::int32_t helper) {
    switch (helper) {
        case BPF_FUNC_perf_event_output:
        case BPF_FUNC_get_stackid:
        case BPF_FUNC_get_stack:
        case BPF_FUNC_tail_call:
        case BPF_FUNC_get_attach_cookie:
        case BPF_FUNC_ktime_get_ns:
        case BPF_FUNC_ktime_get_boot_ns:
        case BPF_FUNC_ktime_get_coarse_ns:
        case BPF_FUNC_ktime_get_tai_ns:
        case BPF_FUNC_jiffies64:
        case BPF_FUNC_get_prandom_u32:
        case BPF_FUNC_get_smp_processor_id:
        case BPF_FUNC_get_numa_node_id:
        case BPF_FUNC_get_current_pid_tgid:
        case BPF_FUNC_get_current_uid_gid:
        case BPF_FUNC_get_current_task:
        case BPF_FUNC_get_current_task_btf:
        case BPF_FUNC_get_current_cgroup_id:
            return true;
        default:
            return false;
    }
}

class MemoryChecker {
public:
    MemoryChecker(LinkContext& job, std::vector<Unit>& units)
        : job_(job),
          units_(units),
          states_(units.size()),
          may_get_context_(units.size()),
          deepest_(units.size()) {
        // Callers stand in front of what they call, as a rule: then each unit is followed once.
        for (std::size_t unit = units_.size(); unit-- > 0;) work_.push_back(unit);
        while (!work_.empty()) {
            const std::size_t unit = work_.back();
            work_.pop_back();
            follow(unit);
        }
    }

    void report() {
        for (std::size_t unit = 0; unit < units_.size(); ++unit)
            for (std::size_t i = 0; i < states_[unit].size(); ++i)
                check(units_[unit].insns[i], unit, i);
        for (std::size_t unit = 0; unit < units_.size(); ++unit) check_calls(unit, 0);
    }

    bool reads_context() const { return reads_context_; }

private:
    void follow(std::size_t unit) {
        const std::vector<Insn>& insns = units_[unit].insns;
        std::vector<State>& states = states_[unit];
        states.assign(insns.size(), {});
        if (insns.empty()) return;
        State entry;
        entry.r[kFramePointer].kind = Value::Kind::stack;
        if (units_[unit].is_program) {
            entry.r[1].kind = Value::Kind::context;
            entry.r[1].may_be_context = true;
        } else {
            for (std::size_t i = 1; i <= 5; ++i) entry.r[i].may_be_context = may_get_context_[unit];
        }
        // In the order of the text: most jumps lead forward, so most ways to an instruction are
        // known before it is stepped over.
        std::vector<bool> is_waiting(insns.size());
        std::size_t next = 0;
        const auto visit = [&](std::size_t at, const State& state) {
            if (!merge(states[at], state)) return;
            is_waiting[at] = true;
            next = std::min(next, at);
        };
        visit(0, entry);
        while (next < insns.size()) {
            const std::size_t at = next++;
            if (!is_waiting[at]) continue;
            is_waiting[at] = false;
            State state = states[at];
            step(insns[at], state);
            if (insns[at].target != kNone) visit(insns[at].target, state);
            if (!insns[at].is_exit() && !insns[at].is_go()) visit(at + 1, state);
        }
    }

    void step(const Insn& insn, State& state) {
        const bpf_insn& op = insn.op;
        const BpfEffects e = effects_of(op);
        const int kind = BPF_CLASS(op.code);
        const bool is_access = kind == BPF_LDX || kind == BPF_ST || kind == BPF_STX;
        const bool loads = kind == BPF_LDX || e.writes_src;
        if (is_access) {
            const Value& base = state.r[e.writes_dst ? op.src_reg : op.dst_reg];
            if (base.may_be_context) reads_context_ = true;
            const bool stores = e.reads_src && !e.writes_dst;
            if (stores && state.r[op.src_reg].may_be_context && !is_kept_) {
                // It may come back from anywhere.
                is_kept_ = true;
                for (std::size_t unit = units_.size(); unit-- > 0;) work_.push_back(unit);
            }
        }
        if (e.is_call) return step_over_call(insn, state);
        Value result;
        result.may_be_context = loads && is_kept_;
        if (kind == BPF_ALU64 || kind == BPF_ALU) result = computed(op, state);
        if (e.writes_dst) state.r[op.dst_reg] = result;
        if (e.writes_src) state.r[op.src_reg] = result;
        if (e.writes_r0) state.r[0] = result;
    }

    static Value computed(const bpf_insn& op, const State& state) {
        const bool is_64 = BPF_CLASS(op.code) == BPF_ALU64;
        const bool from_register = effects_of(op).reads_src;
        const Value& dst = state.r[op.dst_reg];
        if (is_64 && from_register && BPF_OP(op.code) == BPF_MOV && op.off == 0)
            return state.r[op.src_reg];
        Value result;
        result.may_be_context = (BPF_OP(op.code) != BPF_MOV && dst.may_be_context) ||
                                (from_register && state.r[op.src_reg].may_be_context);
        const int code = BPF_OP(op.code);
        if (is_64 && !from_register && (code == BPF_ADD || code == BPF_SUB)) {
            result.kind = dst.kind;
            const std::int64_t by = code == BPF_ADD ? op.imm : -std::int64_t{op.imm};
            const std::int64_t offset = dst.offset + by;
            if (offset == static_cast<std::int32_t>(offset))
                result.offset = static_cast<std::int32_t>(offset);
            else
                result.kind = Value::Kind::unknown;
            if (result.kind == Value::Kind::unknown) result.offset = 0;
        }
        return result;
    }

    void step_over_call(const Insn& insn, State& state) {
        bool gives_context = false;
        for (std::size_t i = 1; i <= 5; ++i) gives_context |= state.r[i].may_be_context;
        if (insn.is_local_call() && units_[insn.callee].leaves_record_alone) gives_context = false;
        if (gives_context && insn.is_local_call()) {
            if (!may_get_context_[insn.callee]) work_.push_back(insn.callee);
            may_get_context_[insn.callee] = true;
        } else if (gives_context && !leaves_record_alone(insn.op.imm)) {
            reads_context_ = true;
        }
        for (std::size_t i = 0; i <= 5; ++i) state.r[i] = {};
        state.r[0].may_be_context = gives_context && insn.is_local_call();
    }

    // Mistakes that are certain.
    void check(const Insn& insn, std::size_t unit, std::size_t at) {
        const bpf_insn& op = insn.op;
        const BpfEffects e = effects_of(op);
        const int kind = BPF_CLASS(op.code);
        if (kind == BPF_LDX || kind == BPF_ST || kind == BPF_STX) {
            const bool is_load = e.writes_dst;
            const Value& base = states_[unit][at].r[is_load ? op.src_reg : op.dst_reg];
            const int bytes = static_cast<int>(bytes_of(width_of(op)));
            if (base.kind == Value::Kind::stack)
                check_stack(insn, units_[unit], base.offset + op.off, bytes);
            if (base.kind == Value::Kind::context)
                check_context(insn, is_load, base.offset + op.off, bytes);
            return;
        }
        if (kind == BPF_ALU64 && BPF_OP(op.code) != BPF_MOV) {
            State after = states_[unit][at];
            step(insn, after);
            const Value& made = after.r[op.dst_reg];
            if (made.kind == Value::Kind::stack) check_stack(insn, units_[unit], made.offset, 0);
        }
    }

    void check_stack(const Insn& insn, Unit& unit, int offset, int bytes) {
        if (offset < -kStackBytes)
            return job_.error(
                insn.at,
                cat("the stack has ", kStackBytes, " bytes; this is ", -offset, " below its top"),
                "keep what is large in a map");
        if (bytes > 0 && offset + bytes > 0)
            return job_.error(
                insn.at,
                cat("the stack ends at r10: this accesses ", bytes,
                    bytes == 1 ? " byte at r10" : " bytes at r10", offset < 0 ? "" : "+", offset),
                "a function's stack is below r10: r10-8 and less");
        if (bytes > 0 && offset % bytes != 0)
            return job_.error(insn.at, cat("the stack is accessed in whole words: ", bytes,
                                           " bytes at r10", offset, " are not aligned"));
        unit.stack_bytes =
            std::max(unit.stack_bytes, static_cast<std::size_t>(std::max(-offset, 0)));
    }

    void check_context(const Insn& insn, bool is_load, int offset, int bytes) {
        if (!is_load) return job_.error(insn.at, "a program cannot write to what r1 points at");
        if (job_.target.context == LinkTarget::Context::record && offset >= 0 && offset < 8)
            return job_.error(insn.at,
                              "the kernel hides the first 8 bytes of a record from programs");
        if (job_.target.context != LinkTarget::Context::other &&
            (offset < 0 || offset % bytes != 0))
            job_.error(insn.at, cat(bytes, " bytes cannot be read at offset ", offset,
                                    " of what r1 points at"));
    }

    // How much stack functions that call one another may take together is for the verifier to say.
    // Linux 6.8 rounds each one's up to 16 bytes with a JIT compiler, before to 32; since 6.13
    // tracing programs may have a private stack for each function.
    // `depth`: how many functions called this one.
    void check_calls(std::size_t unit, std::size_t depth) {
        std::optional<std::size_t>& deepest = deepest_[unit];
        if (deepest && depth <= *deepest) return;
        deepest = depth;
        chain_.push_back(unit);
        for (const Insn& insn : units_[unit].insns) {
            if (insn.callee == kNone) continue;
            if (!check_call(insn, units_[insn.callee], depth + 1)) break;
            check_calls(insn.callee, depth + 1);
        }
        chain_.pop_back();
    }

    bool check_call(const Insn& insn, const Unit& callee, std::size_t depth) {
        if (std::ranges::find(chain_, insn.callee) != chain_.end())
            job_.error(insn.at, cat("function '", callee.name, "' calls itself"),
                       "the kernel knows no recursion");
        else if (depth == kBpfCallFrames)
            job_.error(insn.at, cat("calls nest at most ", kBpfCallFrames, " deep"));
        else
            return true;
        return false;
    }

    LinkContext& job_;
    std::vector<Unit>& units_;
    std::vector<std::vector<State>> states_;  // by unit: in front of each instruction
    std::vector<bool> may_get_context_;       // by unit
    std::vector<std::size_t> chain_;          // of calls: the functions that are in progress
    std::vector<std::optional<std::size_t>>
        deepest_;                    // by unit: the depth of the deepest way to it
    std::vector<std::size_t> work_;  // units to follow, the next one last
    bool is_kept_ = false;           // the context was stored somewhere
    bool reads_context_ = false;
};

}  // namespace

bool check_memory(LinkContext& job, std::vector<Unit>& units) {
    MemoryChecker checker(job, units);
    checker.report();
    return checker.reads_context();
}

}  // namespace gpufs::linking
