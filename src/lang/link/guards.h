#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lang/program/code.h"

namespace gpufs::linking {

// A condition of a guard, or its opposite. Which conditions hold is known only on a machine.
struct Literal {
    std::size_t condition = 0;  // guards that ask for the same have the same number
    bool negated = false;
    bool is_event = false;  // Guard::Kind::is_event: at most one of these holds at a time

    Literal opposite() const { return {condition, !negated, is_event}; }
    friend bool operator==(const Literal&, const Literal&) = default;
};

// A conjunction of literals: what is known of the machine at one place of the code. It remembers
// kMost literals and forgets what comes after, so that each operation is cheap; to know less is
// always right.
class Knowledge {
public:
    static constexpr std::size_t kMost = 64;

    bool implies(const Literal& literal) const;
    bool excludes(const Literal& literal) const { return implies(literal.opposite()); }
    void add(const Literal& literal);
    // Keeps what `other` has, too. Returns whether it forgets anything.
    bool keep_common(const Knowledge& other);

private:
    std::vector<Literal> literals_;
};

// The guards of a program as a tree: a node is a literal under the literals of its outer nodes, and
// holds where all of them do. Guards that say the same are one node. Node 0 always holds.
class GuardTree {
public:
    explicit GuardTree(std::span<const Guard> guards);

    // Of a CodeItem's `guard`, an index plus 1.
    std::size_t node_of(std::size_t guard) const { return nodes_of_guards_.at(guard); }
    std::size_t outer(std::size_t node) const { return nodes_[node].outer; }
    const Literal& literal(std::size_t node) const { return nodes_[node].literal; }
    // The other branch of the same .if, where the text has one.
    std::optional<std::size_t> opposite(std::size_t node) const;

    // From the outermost node to this one; without node 0.
    std::vector<std::size_t> path_to(std::size_t node) const;
    Knowledge knowledge_in(std::size_t node) const;

    // Is there a machine on which it holds? Not where an .if is in its own .else.
    bool is_possible(std::size_t node) const { return nodes_[node].is_possible; }
    // Can both hold on one machine?
    bool can_meet(std::size_t a, std::size_t b) const;

private:
    struct Node {
        std::size_t outer = 0;
        Literal literal = {};
        bool is_possible = true;
    };
    std::vector<Node> nodes_;
    std::vector<std::size_t> nodes_of_guards_;
    std::vector<std::optional<std::size_t>> opposites_;
};

}  // namespace gpufs::linking
