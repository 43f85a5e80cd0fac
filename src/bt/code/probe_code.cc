#include "bt/code/probe_code.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "bt/syntax/walk.h"
#include "bt/types/functions.h"
#include "lang/ir/feature_guard.h"
#include "lang/ir/followed.h"
#include "lang/ir/scratch.h"

namespace gpufs::bt {
namespace {

// What walks stacks or adds to time series has much on the stack of BPF.
bool needs_much_stack(const Expr& expr) {
    constexpr Fn kDeep[] = {Fn::kstack, Fn::ustack, Fn::tseries, Fn::len};
    if (expr.kind != Expr::Kind::call && expr.kind != Expr::Kind::identifier) return false;
    const FunctionRow* const row = find_function(expr.text);
    return row && std::ranges::find(kDeep, row->function) != std::end(kDeep);
}

// The context of an iterator's program is bpf_iter__NAME: the `meta` of all, then the object and
// what goes with it. The program also runs when there are no more objects: jumps then.
void append_begin_of_object(ir::Code& code, ir::Temp context, ir::Label none) {
    const ir::Temp object = code.load({context, kWord}, ir::kU64);
    code.branch(ir::Cmp::eq, ir::kU64, object, 0, none);
}

// Tells the kernel that there is something to read, so that reading stops here.
void append_end_of_object(ir::Code& code, ir::Temp context) {
    const ir::Slot byte = code.new_slot(1, 1);
    code.store({byte, 0}, 0, ir::kU8);
    const ir::Temp meta = code.load({context, 0}, ir::kU64), seq = code.load({meta, 0}, ir::kU64);
    code.call(BPF_FUNC_seq_write, {seq, code.address(byte), 1});
}

}  // namespace

ProbeCode::ProbeCode(const Instance& instance, ScriptCode& shared)
    : instance_(instance), shared_(shared), predicate_reads_(*instance.probe) {}

void ProbeCode::fail(const SourceRef& at, const std::string& message, std::string_view hint) const {
    throw SourceError(shared_.script().sources.at(at.source), at.span, message, hint);
}

std::set<std::size_t> ProbeCode::variables_in_memory() const {
    std::set<std::size_t> found;
    const auto visit = [&](const auto& node, bool is_inside) {
        if constexpr (std::is_same_v<std::decay_t<decltype(node)>, Stmt>) {
            const auto known = instance_.declares.find(&node);
            if (is_inside && known != instance_.declares.end()) found.insert(known->second);
        } else {
            const bool takes_address =
                node.kind == Expr::Kind::unary && node.unary == UnaryOp::address_of;
            const Expr& of = takes_address ? *node.operands[0] : node;
            const auto use = instance_.uses.find(&of);
            if ((is_inside || takes_address) && use != instance_.uses.end())
                found.insert(use->second);
        }
    };
    InsideOfLoops walker([&](const Stmt& stmt) { return is_called(stmt); }, visit);
    walker.walk(*instance_.probe);
    return found;
}

void ProbeCode::place_variables() {
    const std::set<std::size_t> shared = variables_in_memory();
    variables_.clear();
    for (const Variable& variable : instance_.variables) {
        VariablePlace place;
        const bool is_shared = shared.contains(variables_.size());
        if (!variable.type) {
            variables_.push_back(place);  // never assigned, never read
            continue;
        }
        if (variable.type->is_scalar() && !is_shared) {
            place.number = code_.new_temp(ir_type(*variable.type));
            code_.assign(*place.number, 0);
        } else {
            const std::size_t bytes = variable.type->bytes + room_behind(*variable.type);
            place.bytes = is_shared ? allocate_in_frame(bytes) : allocate(bytes);
            if (variable.starts_empty) zero(*place.bytes, variable.type->bytes);
        }
        variables_.push_back(place);
    }
}

void ProbeCode::filter_pids(ir::Label otherwise) {
    const Provider provider = instance_.provider();
    const bool is_own = provider == Provider::begin || provider == Provider::end ||
                        provider == Provider::interval || provider == Provider::self ||
                        provider == Provider::iter;
    if (!is_own) append_pid_test(code_, shared_.options().pids, otherwise);
}

// Callbacks of loops have much on theirs, too.
bool ProbeCode::has_deep_calls() const {
    bool found = false;
    const auto visit = [&](const auto& node, bool is_inside) {
        found = found || is_inside;
        if constexpr (std::is_same_v<std::decay_t<decltype(node)>, Expr>)
            found = found || needs_much_stack(node);
    };
    InsideOfLoops walker([&](const Stmt& stmt) { return is_called(stmt); }, visit);
    walker.walk(*instance_.probe);
    return found;
}

std::vector<CodeItem> ProbeCode::compile() {
    const Memory first = has_deep_calls() ? Memory::stack : Memory::whole_stack;
    const auto made = [&](std::string_view label_prefix) {
        std::vector<CodeItem> code = compile_once(first, label_prefix);
        return wants_frame_ ? compile_once(Memory::frame, label_prefix) : code;
    };
    std::vector<CodeItem> code = made(".");
    if (!has_called_range_) return code;
    const auto guard = [&](std::vector<CodeItem>& items, bool has_callbacks) {
        const std::size_t which =
            feature_guard(shared_.program(), "callbacks", has_callbacks, instance_.probe->at);
        for (CodeItem& item : items) item.guard = which;
    };
    guard(code, true);
    has_callbacks_ = false;
    std::vector<CodeItem> without = made(".b");
    guard(without, false);
    code.insert(code.end(), std::make_move_iterator(without.begin()),
                std::make_move_iterator(without.end()));
    return code;
}

std::vector<CodeItem> ProbeCode::compile_once(Memory memory, std::string_view label_prefix) {
    code_ = ir::Code();
    has_frame_ = memory == Memory::frame;
    has_whole_stack_ = memory == Memory::whole_stack;
    wants_frame_ = false;
    read_.clear();
    stack_bytes_ = 0;
    frame_bytes_ = kWord;  // the first word says that it is in use
    code_.set_source(instance_.probe->at);
    context_ = code_.argument(1);
    out_ = code_.new_label();
    end_ = out_;
    const ir::Label end = code_.new_label();
    filter_pids(end);
    if (instance_.provider() == Provider::iter) append_begin_of_object(code_, *context_, end);
    stop_after_exit(end);
    if (has_frame_) {
        const ir::Temp frame = code_.call(shared_.claim_function(), {});
        code_.branch(ir::Cmp::eq, ir::kU64, frame, 0, end);
        frame_ = frame;
    }
    place_variables();
    if (instance_.probe->predicate) unless(*instance_.probe->predicate, *out_);
    emit(instance_.probe->body);
    code_.bind(*out_);
    if (has_frame_) append_release(code_, *frame_);
    if (instance_.provider() == Provider::iter) append_end_of_object(code_, *context_);
    code_.bind(end);
    code_.leave(0);
    if (wants_frame_) return {};
    try {
        return code_.assemble(label_prefix, has_whole_stack_ ? kWholeStackBytes : kBpfStackBytes);
    } catch (const ir::StackError& e) {
        if (!has_whole_stack_) {
            const SourceRef& at = instance_.points.front().at;
            throw SourceError(shared_.script().sources.at(at.source), at.span, e.what(),
                              "fewer values at a time: maps keep them from probe to probe");
        }
        wants_frame_ = true;
        return {};
    }
}

}  // namespace gpufs::bt
