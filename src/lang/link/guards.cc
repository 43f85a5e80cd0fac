#include "lang/link/guards.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace gpufs::linking {

bool Knowledge::implies(const Literal& literal) const {
    return std::ranges::any_of(literals_, [&](const Literal& known) {
        if (known == literal) return true;
        return literal.negated && literal.is_event && known.is_event && !known.negated &&
               known.condition != literal.condition;
    });
}

void Knowledge::add(const Literal& literal) {
    if (literals_.size() < kMost && !implies(literal)) literals_.push_back(literal);
}

bool Knowledge::keep_common(const Knowledge& other) {
    return std::erase_if(literals_, [&](const Literal& known) { return !other.implies(known); }) >
           0;
}

GuardTree::GuardTree(std::span<const Guard> guards) : nodes_(1), nodes_of_guards_(1) {
    using Place = std::tuple<std::size_t, std::size_t, bool>;  // outer node, condition, negated
    std::map<std::pair<Guard::Kind, std::string>, std::size_t> conditions;
    std::map<Place, std::size_t> known;
    for (const Guard& guard : guards) {
        const auto named = conditions.emplace(std::pair(guard.kind, guard.name), conditions.size());
        const Literal literal{named.first->second, guard.negated,
                              guard.kind == Guard::Kind::is_event};
        const std::size_t outer = nodes_of_guards_.at(guard.outer);
        const auto [place, is_new] =
            known.emplace(Place(outer, literal.condition, literal.negated), nodes_.size());
        if (is_new)
            nodes_.push_back({outer, literal,
                              nodes_[outer].is_possible && !knowledge_in(outer).excludes(literal)});
        nodes_of_guards_.push_back(place->second);
    }
    opposites_.resize(nodes_.size());
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        const Literal other = nodes_[i].literal.opposite();
        const auto it = known.find(Place(nodes_[i].outer, other.condition, other.negated));
        if (it != known.end()) opposites_[i] = it->second;
    }
}

std::optional<std::size_t> GuardTree::opposite(std::size_t node) const {
    return opposites_[node];
}

std::vector<std::size_t> GuardTree::path_to(std::size_t node) const {
    std::vector<std::size_t> path;
    for (; node != 0; node = outer(node)) path.push_back(node);
    std::ranges::reverse(path);
    return path;
}

Knowledge GuardTree::knowledge_in(std::size_t node) const {
    Knowledge knowledge;
    for (; node != 0; node = outer(node)) knowledge.add(literal(node));
    return knowledge;
}

bool GuardTree::can_meet(std::size_t a, std::size_t b) const {
    const Knowledge in_a = knowledge_in(a);
    for (; b != 0; b = outer(b))
        if (in_a.excludes(literal(b))) return false;
    return true;
}

}  // namespace gpufs::linking
