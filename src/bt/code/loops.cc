#include <algorithm>
#include <utility>

#include "base/align.h"
#include "base/scoped_value.h"
#include "bt/code/output.h"
#include "bt/code/probe_code.h"
#include "bt/syntax/walk.h"
#include "bt/types/constants.h"

// Loops. The body of a loop over a map is a function, which the kernel calls for each element; so
// is that of a loop over a range whose length is not known or large, with those in it, where the
// kernel has bpf_loop() (Linux 5.17): the verifier would go through all turns of a loop in the
// code. Variables that such a function uses are in the frame, which it is given.
namespace gpufs::bt {

namespace {

using Kind = Type::Kind;

// What the body of a loop is given: the frame, the context, whether to leave the program
// afterwards, and where a range begins.
constexpr std::size_t kContextAt = 8, kLeaveAt = 16, kBeginAt = 24, kLoopBytes = 32;
constexpr std::int64_t kMostTurnsInCode = 128;

}  // namespace

// The body of a loop as a function of its own, which the kernel calls for each turn. First the code
// of the loop that calls it, then begin(), the code of a turn, and end().
class ProbeCode::LoopFunction {
public:
    explicit LoopFunction(ProbeCode& in);

    // What a helper takes that calls the function.
    ir::Temp address() const;
    ir::Slot given() const { return given_; }
    // Behind the loop: goes where the body went, if it left the loop by return or exit().
    void leave_if_told() const;

    // From here on the program's code is that of the function. `given`: its argument.
    void begin();
    void enter(ir::Temp given);
    // The body behind it, and the code around it again.
    void end(const Stmt& stmt);

private:
    ProbeCode& in_;
    const std::string name_;
    const ir::Slot given_;
    std::optional<ir::Temp> argument_;
    // What the program's code is about, which is that of the code around it again behind the body.
    struct Inside {
        explicit Inside(ProbeCode& in)
            : code(in.code_, ir::Code()),
              context(in.context_, in.context_),
              frame(in.frame_, in.frame_),
              out(in.out_, in.out_),
              end(in.end_, in.end_),
              stack_bytes(in.stack_bytes_, 0),
              loops(in.loops_, {}),
              variables(in.variables_, in.variables_) {}

        ScopedValue<ir::Code> code;
        ScopedValue<std::optional<ir::Temp>> context, frame;
        ScopedValue<std::optional<ir::Label>> out, end;
        ScopedValue<std::size_t> stack_bytes;
        ScopedValue<std::vector<Loop>> loops;
        ScopedValue<std::vector<VariablePlace>> variables;
    };
    std::optional<Inside> inside_;
};

bool ProbeCode::is_called(const Stmt& stmt) const {
    if (stmt.kind == Stmt::Kind::for_map) return true;
    if (stmt.kind != Stmt::Kind::for_range || !has_callbacks_) return false;
    const auto turns_of = [&](const Stmt& loop) -> std::optional<std::int64_t> {
        const auto first = constant(*loop.value), limit = constant(*loop.limit);
        if (!first || !limit || *first < *limit - kMostTurnsInCode) return std::nullopt;
        return std::max<std::int64_t>(*limit - *first, 1);
    };
    const auto own = turns_of(stmt);
    if (!own) return true;
    // The verifier follows each turn of a loop in code, and in each of them the loops in its body,
    // those that are called, too. Of a called body it does not know the variables, and so not where
    // a `while` in it ends.
    std::int64_t turns = *own;
    bool is_long = false, has_while = false;
    for_each_stmt(stmt.body, [&](const Stmt& inside) {
        has_while = has_while || inside.kind == Stmt::Kind::while_;
        is_long = is_long || inside.kind == Stmt::Kind::for_map;
        if (inside.kind != Stmt::Kind::for_range || is_long) return;
        const auto its = turns_of(inside);
        if (its) turns *= *its;
        is_long = !its || turns > kMostTurnsInCode;
    });
    return is_long && !has_while;
}

void ProbeCode::emit_while(const Stmt& stmt) {
    const Loop loop{code_.new_label(), code_.new_label()};
    code_.bind(loop.next);
    unless(*stmt.value, loop.end);
    loops_.push_back(loop);
    emit(stmt.body);
    loops_.pop_back();
    code_.jump(loop.next);
    code_.bind(loop.end);
}

void ProbeCode::emit_unroll(const Stmt& stmt) {
    const std::int64_t times = *constant(*stmt.value);
    for (std::int64_t i = 0; i < times; ++i) emit(stmt.body);
}

// The bounds are taken once; the script cannot change the counter.
void ProbeCode::emit_for_range(const Stmt& stmt) {
    if (is_called(stmt)) return emit_called_range(stmt);
    const std::size_t which = instance_.declares.at(&stmt);
    const TypePtr type = instance_.variables[which].type;
    const ir::Temp limit = code_.new_temp(ir::kS64), at = code_.new_temp(ir::kS64);
    code_.assign(at, number(*stmt.value));
    code_.assign(limit, number(*stmt.limit));
    const ir::Label again = code_.new_label();
    const Loop loop{code_.new_label(), code_.new_label()};
    code_.bind(again);
    code_.branch(ir::Cmp::ge, ir::kS64, at, limit, loop.end);
    set_variable(which, number_value(at, type));
    loops_.push_back(loop);
    emit(stmt.body);
    loops_.pop_back();
    code_.bind(loop.next);
    code_.assign(at, code_.compute(ir::Op::add, ir::kS64, at, 1));
    code_.jump(again);
    code_.bind(loop.end);
}

void ProbeCode::emit_called_range(const Stmt& stmt) {
    has_called_range_ = true;
    const ir::Temp first = code_.new_temp(ir::kS64), turns = code_.new_temp(ir::kU64);
    code_.assign(first, number(*stmt.value));
    const ir::Operand limit = number(*stmt.limit);
    const ir::Label is_empty = code_.new_label(), is_small = code_.new_label();
    code_.branch(ir::Cmp::ge, ir::kS64, first, limit, is_empty);
    code_.assign(turns, code_.compute(ir::Op::sub, ir::kU64, limit, first));
    code_.branch(ir::Cmp::le, ir::kU64, turns, kMostTurns, is_small);
    Output(*this, *stmt.limit)
        .warn(cat("A loop has at most ", kMostTurns,
                  " turns. The range has more, and those behind them are left out."));
    code_.assign(turns, kMostTurns);
    code_.bind(is_small);
    LoopFunction function(*this);
    code_.store({function.given(), kBeginAt}, first, ir::kU64);
    code_.call(BPF_FUNC_loop, {turns, function.address(), code_.address(function.given()), 0});
    function.leave_if_told();
    code_.bind(is_empty);
    if (wants_frame_) return;
    function.begin();
    const ir::Temp turn = code_.argument(1), given = code_.argument(2);
    function.enter(given);
    const std::size_t which = instance_.declares.at(&stmt);
    set_variable(which, number_value(code_.compute(ir::Op::add, ir::kS64,
                                                   code_.load({given, kBeginAt}, ir::kS64), turn),
                                     instance_.variables[which].type));
    function.end(stmt);
}

void ProbeCode::emit_for_map(const Stmt& stmt) {
    const TypedMap& map = map_of(*stmt.target);
    LoopFunction function(*this);
    code_.call(BPF_FUNC_for_each_map_elem,
               {map_symbol(map), function.address(), code_.address(function.given()), 0});
    function.leave_if_told();
    if (wants_frame_) return;
    function.begin();
    code_.argument(1);
    const ir::Temp key = code_.argument(2), value = code_.argument(3), given = code_.argument(4);
    function.enter(given);
    const std::size_t which = instance_.declares.at(&stmt);
    const Type& pair = *instance_.variables[which].type;
    const Local at = *variables_[which].bytes;
    Value element = load({value, 0}, map.value);
    if (map.value->is_aggregation()) element = aggregated(*map.value, value);
    put(load({key, 0}, map.key), pair.fields[0].type, at);
    put(element, pair.fields[1].type, at.at(pair.fields[1].offset));
    function.end(stmt);
}

ProbeCode::LoopFunction::LoopFunction(ProbeCode& in)
    : in_(in), name_(in.shared_.new_function_name("each")), given_(in.code_.new_slot(kLoopBytes)) {
    if (in_.has_frame_) in_.code_.store({given_, 0}, *in_.frame_, ir::kU64);
    in_.code_.store({given_, kContextAt}, *in_.context_, ir::kU64);
    in_.code_.store({given_, kLeaveAt}, 0, ir::kU64);
}

ir::Temp ProbeCode::LoopFunction::address() const {
    return in_.code_.symbol(Relocation::to(Relocation::Kind::callback, name_));
}

// What the body did: 1, return; 2, exit().
void ProbeCode::LoopFunction::leave_if_told() const {
    ir::Code& code = in_.code_;
    const ir::Temp told = code.load({given_, kLeaveAt}, ir::kU64);
    if (in_.functions_ > 0) code.branch(ir::Cmp::eq, ir::kU64, told, 2, *in_.end_);
    code.branch(ir::Cmp::ne, ir::kU64, told, 0, *in_.out_);
}

void ProbeCode::LoopFunction::begin() {
    inside_.emplace(in_);
}

void ProbeCode::LoopFunction::enter(ir::Temp given) {
    argument_ = given;
    in_.context_ = in_.code_.load({given, kContextAt}, ir::kU64);
    in_.frame_ = in_.code_.load({given, 0}, ir::kU64);
    for (VariablePlace& place : in_.variables_)
        if (place.bytes) place.bytes->base = *in_.frame_;
}

void ProbeCode::LoopFunction::end(const Stmt& stmt) {
    ir::Code& code = in_.code_;
    const Loop labels{code.new_label(), code.new_label()};
    in_.out_ = code.new_label();
    in_.end_ = in_.functions_ > 0 ? code.new_label() : *in_.out_;
    in_.loops_.push_back(labels);
    in_.emit(stmt.body);
    code.bind(labels.next);
    code.leave(0);
    if (in_.functions_ > 0) {
        code.bind(*in_.end_);
        code.store({*argument_, kLeaveAt}, 2, ir::kU64);
        code.leave(1);
    }
    code.bind(*in_.out_);
    code.store({*argument_, kLeaveAt}, 1, ir::kU64);
    code.bind(labels.end);
    code.leave(1);
    Subprogram body;
    body.name = name_;
    body.code = code.assemble();
    body.at = stmt.at;
    in_.shared_.program().subprograms.push_back(std::move(body));
    inside_.reset();
}

}  // namespace gpufs::bt
