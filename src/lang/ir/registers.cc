#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/sorted.h"
#include "lang/insn/insn.h"
#include "lang/ir/body.h"

// Register allocation by graph colouring: two temps that are live at the same time cannot share a
// register; a temp that is live across a call cannot have r0 to r5. Temps that cannot be coloured
// are spilled, and the colouring starts again.
namespace gpufs::ir {
namespace {

using Mask = std::uint16_t;            // set of registers
constexpr Mask kAllRegisters = 0x3ff;  // r0 to r9
constexpr Mask kCallerSaved = 0x3f;    // r0 to r5
constexpr unsigned kNoColour = 255;

// Callee-saved registers are used last.
constexpr unsigned kOrder[] = {0, 2, 3, 4, 5, 1, 6, 7, 8, 9};

constexpr double kNeverSpill = std::numeric_limits<double>::infinity();

struct Node {
    Mask forbidden = 0;
    std::vector<RegId> neighbours;  // temps
    std::vector<RegId> moves;       // registers and temps it is copied from or to
    double cost = 0;                // of spilling: reads and writes, weighted higher in loops
    unsigned colour = kNoColour;
};

Mask bit(unsigned reg) {
    return static_cast<Mask>(1u << reg);
}

class Colouring {
public:
    Colouring(const Code::Body& body, const std::vector<Block>& blocks,
              const std::vector<bool>& is_tiny)
        : body_(body), nodes_(body.register_count()), joined_(body.register_count()) {
        std::iota(joined_.begin(), joined_.end(), RegId{0});
        find_interference(blocks);
        find_costs(is_tiny);
    }

    // Makes one of temps that are copied to each other, where the whole surely finds a register.
    void join_copies() {
        for (const Item& item : body_.items) {
            if (!item.is_move() || !is_temp(item.dst) || !is_temp(item.src)) continue;
            const RegId a = joined(item.dst), b = joined(item.src);
            if (a != b && !is_neighbour(a, b) && stays_easy(a, b)) join(a, b);
        }
    }

    // Colours the temps; returns those that must be spilled.
    std::vector<RegId> colour() {
        std::vector<RegId> spilled;
        auto order = removal_order();
        for (auto it = order.rbegin(); it != order.rend(); ++it)
            if (!choose_colour(nodes_[*it])) spilled.push_back(*it);
        return spilled;
    }

    unsigned colour_of(RegId reg) const { return is_temp(reg) ? nodes_[joined(reg)].colour : reg; }

private:
    RegId joined(RegId reg) const {
        while (joined_[reg] != reg) reg = joined_[reg];
        return reg;
    }

    bool is_neighbour(RegId a, RegId b) const {
        return std::ranges::binary_search(nodes_[a].neighbours, b);
    }

    static std::vector<RegId> united(const std::vector<RegId>& a, const std::vector<RegId>& b) {
        std::vector<RegId> all;
        std::ranges::set_union(a, b, std::back_inserter(all));
        return all;
    }

    // Briggs' test: of the neighbours of both, fewer than there are registers for both may be
    // without a register themselves.
    bool stays_easy(RegId a, RegId b) const {
        Node both;
        both.forbidden = static_cast<Mask>(nodes_[a].forbidden | nodes_[b].forbidden);
        std::size_t hard = 0;
        for (const RegId reg : united(nodes_[a].neighbours, nodes_[b].neighbours))
            if (nodes_[reg].neighbours.size() >= room(nodes_[reg])) ++hard;
        return hard < room(both);
    }

    // `b` becomes a part of `a`.
    void join(RegId a, RegId b) {
        Node &whole = nodes_[a], &part = nodes_[b];
        for (const RegId reg : part.neighbours) {
            auto& theirs = nodes_[reg].neighbours;
            theirs.erase(std::ranges::lower_bound(theirs, b));
            const auto at = std::ranges::lower_bound(theirs, a);
            if (at == theirs.end() || *at != a) theirs.insert(at, a);
        }
        whole.neighbours = united(whole.neighbours, part.neighbours);
        whole.forbidden = static_cast<Mask>(whole.forbidden | part.forbidden);
        whole.moves.insert(whole.moves.end(), part.moves.begin(), part.moves.end());
        whole.cost += part.cost;
        part = {};
        joined_[b] = a;
    }

    void interfere(RegId a, RegId b) {
        if (a == b) return;
        if (is_temp(a) && is_temp(b)) {
            nodes_[a].neighbours.push_back(b);
            nodes_[b].neighbours.push_back(a);
        } else if (is_temp(a)) {
            nodes_[a].forbidden |= bit(b);
        } else if (is_temp(b)) {
            nodes_[b].forbidden |= bit(a);
        }
    }

    void find_interference(const std::vector<Block>& blocks) {
        LiveWalk live(body_.register_count());
        for (const Block& block : blocks) {
            live.start(block.live_out);
            for (std::size_t i = block.end; i-- > block.begin;) {
                const Item& item = body_.items[i];
                for (const RegId written : writes_of(item))
                    for (const RegId other : live.regs())
                        // A copy and its source have the same value, so they may share a register.
                        if (!item.is_move() || other != item.src) interfere(written, other);
                if (item.kind == Item::Kind::field_address) interfere(item.dst, item.src);
                live.step_over(item);
            }
        }
        for (Node& node : nodes_) {
            auto& all = node.neighbours;
            sort_unique(all);
        }
    }

    void find_costs(const std::vector<bool>& is_tiny) {
        std::vector<int> depth_changes(body_.items.size() + 1);
        for (const Loop& loop : find_loops(body_)) {
            ++depth_changes[loop.first];
            --depth_changes[loop.last + 1];
        }
        int depth = 0;
        for (std::size_t i = 0; i < body_.items.size(); ++i) {
            depth += depth_changes[i];
            double weight = 1;
            for (int n = 0; n < std::min(depth, 8); ++n) weight *= 10;
            const Item& item = body_.items[i];
            for (const RegId reg : reads_of(item)) nodes_[reg].cost += weight;
            for (const RegId reg : writes_of(item)) nodes_[reg].cost += weight;
            if (!item.is_move()) continue;
            nodes_[item.dst].moves.push_back(item.src);
            nodes_[item.src].moves.push_back(item.dst);
        }
        for (std::size_t reg = 0; reg < nodes_.size(); ++reg)
            if (is_tiny[reg]) nodes_[reg].cost = kNeverSpill;
    }

    static std::size_t room(const Node& node) {
        return static_cast<std::size_t>(
            std::popcount(static_cast<Mask>(kAllRegisters & ~node.forbidden)));
    }

    // The order in which temps are removed from the graph: first those that certainly find a
    // register, given the temps left; if there is none, the one with the lowest ratio of spill cost
    // to number of neighbours.
    std::vector<RegId> removal_order() const {
        std::vector<std::size_t> degree(nodes_.size());
        std::vector<bool> is_out(nodes_.size());
        std::vector<RegId> order, easy;
        std::vector<RegId> rest;
        for (RegId reg = kFirstTemp; reg < nodes_.size(); ++reg) {
            if (nodes_[reg].cost == 0) continue;  // removed from the code
            degree[reg] = nodes_[reg].neighbours.size();
            rest.push_back(reg);
            if (degree[reg] < room(nodes_[reg])) easy.push_back(reg);
        }
        const auto take_out = [&](RegId reg) {
            is_out[reg] = true;
            order.push_back(reg);
            for (const RegId other : nodes_[reg].neighbours)
                if (!is_out[other] && degree[other]-- == room(nodes_[other])) easy.push_back(other);
        };
        for (;;) {
            while (!easy.empty()) {
                const RegId reg = easy.back();
                easy.pop_back();
                if (!is_out[reg]) take_out(reg);
            }
            std::erase_if(rest, [&](RegId reg) { return is_out[reg]; });
            if (rest.empty()) return order;
            const auto price = [&](RegId reg) {
                return nodes_[reg].cost / static_cast<double>(degree[reg] + 1);
            };
            take_out(*std::ranges::min_element(rest, {}, price));
        }
    }

    // The registers of copies of the neighbours that have none yet.
    Mask wanted_beside(const Node& node) const {
        Mask wanted = 0;
        for (const RegId other : node.neighbours) {
            if (nodes_[other].colour != kNoColour) continue;
            for (const RegId copy : nodes_[other].moves) {
                const unsigned colour = colour_of(copy);
                if (colour != kNoColour && colour != kFramePointer)
                    wanted = static_cast<Mask>(wanted | (bit(colour) & ~nodes_[other].forbidden));
            }
        }
        return wanted;
    }

    bool choose_colour(Node& node) {
        Mask free = static_cast<Mask>(kAllRegisters & ~node.forbidden);
        for (const RegId other : node.neighbours)
            if (nodes_[other].colour != kNoColour)
                free = static_cast<Mask>(free & ~bit(nodes_[other].colour));
        if (free == 0) return false;
        // Prefer the register of a copy, which makes the copy redundant; if it has none yet, one
        // that it can have.
        for (const RegId other : node.moves) {
            const unsigned colour = colour_of(other);
            if (colour != kNoColour && colour != kFramePointer && (free & bit(colour))) {
                node.colour = colour;
                return true;
            }
        }
        for (const RegId other : node.moves)
            if (const Mask both = static_cast<Mask>(free & ~nodes_[joined(other)].forbidden);
                is_temp(other) && both != 0)
                free = both;
        if (const Mask others = static_cast<Mask>(free & ~wanted_beside(node));
            others & kCallerSaved)
            free = others;
        for (const unsigned reg : kOrder)
            if (free & bit(reg)) {
                node.colour = reg;
                return true;
            }
        return false;
    }

    const Code::Body& body_;
    std::vector<Node> nodes_;
    std::vector<RegId> joined_;  // by temp: the one that it has become a part of, or itself
};

// Spills temps to the stack: a temp is loaded before each item that reads it, into a new temp only
// for that item, and stored after each item that writes it. A temp that only ever holds one number
// or address is recomputed before each use instead.
class Spiller {
public:
    Spiller(Code::Body& body, std::vector<bool>& is_tiny, const std::vector<RegId>& spilled)
        : body_(body), is_tiny_(is_tiny), homes_(body.register_count()) {
        for (const RegId reg : spilled) homes_[reg].is_spilled = true;
        find_constants();
        for (const RegId reg : spilled) {
            if (homes_[reg].constant) continue;
            homes_[reg].slot = static_cast<std::uint32_t>(body_.slots.size());
            body_.slots.push_back({8, 8});
        }
    }

    void rewrite() {
        std::vector<Item> items;
        items.swap(body_.items);
        for (const Item& item : items) rewrite(item);
    }

private:
    struct Home {
        bool is_spilled = false;
        std::optional<Item> constant;
        std::uint32_t slot = kNone;
    };

    static bool is_constant(const Item& item) {
        if (item.kind == Item::Kind::slot_address) return true;
        if (!item.is_insn()) return false;
        const int code = item.op.code;
        return is_wide(item.op) || code == (BPF_ALU64 | BPF_MOV | BPF_K) ||
               code == (BPF_ALU | BPF_MOV | BPF_K);
    }

    void find_constants() {
        std::vector<unsigned> writes(homes_.size());
        for (const Item& item : body_.items)
            for (const RegId reg : writes_of(item)) ++writes[reg];
        for (const Item& item : body_.items)
            if (is_constant(item) && homes_[item.dst].is_spilled && writes[item.dst] == 1)
                homes_[item.dst].constant = item;
    }

    const Home* find_home(RegId reg) const {
        return reg < homes_.size() && homes_[reg].is_spilled ? &homes_[reg] : nullptr;
    }

    void rewrite(Item item) {
        const RegSet reads = reads_of(item), writes = writes_of(item);
        const auto is_in = [](const RegSet& set, RegId reg) {
            return std::ranges::find(set, reg) != set.end();
        };
        const Home* dst_home = item.is_call() ? nullptr : find_home(item.dst);
        const Home* src_home = item.is_call() ? nullptr : find_home(item.src);
        if (!is_in(reads, item.dst) && !is_in(writes, item.dst)) dst_home = nullptr;
        if (!is_in(reads, item.src) && !is_in(writes, item.src)) src_home = nullptr;

        if (dst_home && dst_home->constant && is_in(writes, item.dst) && is_constant(item))
            return;  // computed where it is read
        if (item.is_move() && rewrite_move(item, dst_home, src_home)) return;

        const RegId dst = item.dst, src = item.src;
        if (dst_home) item.dst = tiny();
        if (src_home) item.src = dst_home && src == dst ? item.dst : tiny();
        if (dst_home && is_in(reads, dst)) fetch(*dst_home, item.dst, item);
        if (src_home && is_in(reads, src) && item.src != item.dst) fetch(*src_home, item.src, item);
        body_.items.push_back(item);
        if (dst_home && is_in(writes, dst))
            keep(*dst_home, item.dst, item);
        else if (src_home && is_in(writes, src))
            keep(*src_home, item.src, item);
    }

    // A copy from or to the stack is one load or store.
    bool rewrite_move(const Item& item, const Home* dst_home, const Home* src_home) {
        if (src_home && !dst_home) {
            fetch(*src_home, item.dst, item);
            return true;
        }
        if (dst_home && !src_home) {
            keep(*dst_home, item.src, item);
            return true;
        }
        return false;
    }

    RegId tiny() {
        is_tiny_.push_back(true);
        return body_.new_temp(kU64);
    }

    void fetch(const Home& home, RegId into, const Item& user) {
        Item item;
        if (home.constant) {
            item = *home.constant;
        } else {
            item.op = insn::load(Width::dw, Reg::r0, Reg::r0, 0);
            item.src = kFramePointer;
            item.slot = home.slot;
        }
        item.dst = into;
        add(item, user);
    }

    void keep(const Home& home, RegId from, const Item& user) {
        Item item;
        item.op = insn::store(Width::dw, Reg::r0, 0, Reg::r0);
        item.dst = kFramePointer;
        item.src = from;
        item.slot = home.slot;
        add(item, user);
    }

    void add(Item item, const Item& user) {
        item.origin = user.origin;
        item.at = user.at;
        body_.items.push_back(item);
    }

    Code::Body& body_;
    std::vector<bool>& is_tiny_;
    std::vector<Home> homes_;
};

void put_registers(const Colouring& colouring, Code::Body& body) {
    for (Item& item : body.items) {
        item.dst = colouring.colour_of(item.dst);
        item.src = colouring.colour_of(item.src);
    }
}

}  // namespace

void assign_registers(Code::Body& body, std::vector<Block> blocks) {
    constexpr int kMaxRounds = 100;
    std::vector<bool> is_tiny(body.register_count());
    for (int round = 0; round < kMaxRounds; ++round) {
        Colouring joined(body, blocks, is_tiny);
        joined.join_copies();
        if (joined.colour().empty()) return put_registers(joined, body);
        // A part may find a register where the whole does not.
        Colouring colouring(body, blocks, is_tiny);
        const std::vector<RegId> spilled = colouring.colour();
        if (spilled.empty()) return put_registers(colouring, body);
        Spiller(body, is_tiny, spilled).rewrite();
        blocks = find_blocks(body);
    }
    throw std::logic_error("the register allocator does not come to an end");
}

}  // namespace gpufs::ir
