#include "lang/ir/feature_guard.h"

#include <utility>

namespace gpufs {

std::size_t feature_guard(Program& program, std::string_view feature, bool is_there,
                          const SourceRef& at, std::size_t outer) {
    for (std::size_t i = 0; i < program.guards.size(); ++i) {
        const Guard& guard = program.guards[i];
        if (guard.kind == Guard::Kind::has_feature && guard.name == feature &&
            guard.negated != is_there && guard.outer == outer)
            return i + 1;
    }
    Guard guard;
    guard.kind = Guard::Kind::has_feature;
    guard.name = feature;
    guard.negated = !is_there;
    guard.outer = outer;
    guard.at = at;
    program.guards.push_back(std::move(guard));
    return program.guards.size();
}

void append_guarded(std::vector<CodeItem>& to, std::vector<CodeItem> code, std::size_t guard) {
    to.reserve(to.size() + code.size());
    for (CodeItem& item : code) {
        item.guard = guard;
        to.push_back(std::move(item));
    }
}

}  // namespace gpufs
