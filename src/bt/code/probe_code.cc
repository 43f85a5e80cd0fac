#include "bt/code/probe_code.h"

#include <set>

#include "bt/syntax/walk.h"
#include "lang/ir/followed.h"
#include "lang/ir/scratch.h"

namespace gpufs::bt {
namespace {

// The variables that the functions of loops over maps must reach: the others stay in registers,
// where the verifier knows their values.
std::set<std::size_t> shared_variables(const Instance& instance) {
    std::set<std::size_t> shared;
    const auto look = [&](const auto& self, const Block& block, bool is_inside) -> void {
        for (const StmtPtr& stmt : block) {
            const bool is_loop = stmt->kind == Stmt::Kind::for_map;
            if (const auto known = instance.declares.find(stmt.get());
                known != instance.declares.end() && (is_inside || is_loop))
                shared.insert(known->second);
            if (is_inside)
                for_each_expr(*stmt, [&](const Expr& expr) {
                    if (const auto use = instance.uses.find(&expr); use != instance.uses.end())
                        shared.insert(use->second);
                });
            self(self, stmt->body, is_inside || is_loop);
            self(self, stmt->otherwise, is_inside || is_loop);
        }
    };
    look(look, instance.probe->body, false);
    return shared;
}

}  // namespace

ProbeCode::ProbeCode(const Instance& instance, ScriptCode& shared)
    : instance_(instance), shared_(shared) {}

void ProbeCode::fail(const SourceRef& at, const std::string& message,
                     const std::string& hint) const {
    throw SourceError(shared_.script().sources.at(at.source), at.span, message, hint);
}

void ProbeCode::place_variables() {
    const std::set<std::size_t> shared = shared_variables(instance_);
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
            place.bytes = is_shared ? allocate_in_frame(variable.type->bytes)
                                    : allocate(variable.type->bytes);
            if (variable.starts_empty) zero(*place.bytes, variable.type->bytes);
        }
        variables_.push_back(place);
    }
}

void ProbeCode::filter_pids(ir::Label otherwise) {
    const Provider provider = instance_.provider();
    const bool is_own = provider == Provider::begin || provider == Provider::end ||
                        provider == Provider::interval || provider == Provider::self;
    if (!is_own) append_pid_test(code_, shared_.options().pids, otherwise);
}

std::vector<CodeItem> ProbeCode::compile(bool has_frame) {
    code_ = ir::Code();
    has_frame_ = has_frame;
    wants_frame_ = false;
    stack_bytes_ = 0;
    frame_bytes_ = kWord;  // the first word says that it is in use
    code_.set_source(instance_.probe->at);
    context_ = code_.argument(1);
    out_ = code_.new_label();
    const ir::Label end = code_.new_label();
    filter_pids(end);
    if (has_frame) {
        const ir::Temp frame = code_.call(shared_.claim_function(), {});
        code_.branch(ir::Cmp::eq, ir::kU64, frame, 0, end);
        frame_ = frame;
    }
    place_variables();
    if (instance_.probe->predicate) unless(*instance_.probe->predicate, *out_);
    emit(instance_.probe->body);
    code_.bind(*out_);
    if (has_frame) append_release(code_, *frame_);
    code_.bind(end);
    code_.leave(0);
    if (wants_frame_) return {};
    return code_.assemble();
}

}  // namespace gpufs::bt
