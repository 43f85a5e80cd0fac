#include <stdexcept>

#include "base/sorted.h"
#include "lang/ir/body.h"

namespace gpufs::ir {
namespace {

// The registers that a block reads before writing them, and those that it writes.
struct BlockUse {
    LiveSet reads, writes;
};

// `writer` is scratch space, indexed by register: the end of the last block that wrote it.
BlockUse use_of(const Code::Body& body, const Block& block, std::vector<std::size_t>& writer) {
    BlockUse use;
    for (std::size_t i = block.begin; i < block.end; ++i) {
        for (const RegId reg : reads_of(body.items[i]))
            if (writer[reg] != block.end) use.reads.push_back(reg);
        for (const RegId reg : writes_of(body.items[i])) {
            writer[reg] = block.end;  // no other block has this end
            use.writes.push_back(reg);
        }
    }
    for (LiveSet* set : {&use.reads, &use.writes}) {
        sort_unique(*set);
    }
    return use;
}

std::vector<std::size_t> label_places(const Code::Body& body) {
    std::vector<std::size_t> places(body.labels, body.items.size());
    for (std::size_t i = 0; i < body.items.size(); ++i)
        if (body.items[i].kind == Item::Kind::label) places[body.items[i].label] = i;
    return places;
}

// Appends what either has.
void unite(const LiveSet& a, const LiveSet& b, LiveSet& into) {
    std::ranges::set_union(a, b, std::back_inserter(into));
}

// Backwards through the code; again while there are loops and something changes.
void solve_liveness(const Code::Body& body, std::vector<Block>& blocks) {
    std::vector<BlockUse> uses;
    uses.reserve(blocks.size());
    std::vector<std::size_t> writer(body.register_count());
    bool has_loops = false;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        uses.push_back(use_of(body, blocks[i], writer));
        for (const std::size_t next : blocks[i].successors) has_loops = has_loops || next <= i;
    }
    LiveSet live, other;
    for (bool changes = true; changes;) {
        changes = false;
        for (std::size_t at = blocks.size(); at-- > 0;) {
            Block& block = blocks[at];
            live.clear();
            for (const std::size_t next : block.successors) {
                other.clear();
                unite(live, blocks[next].live_in, other);
                live.swap(other);
            }
            block.live_out = live;
            other.clear();
            std::ranges::set_difference(live, uses[at].writes, std::back_inserter(other));
            live.clear();
            unite(other, uses[at].reads, live);
            if (live == block.live_in) continue;
            block.live_in = live;
            changes = has_loops;
        }
    }
}

}  // namespace

bool Item::ends_flow() const {
    if (kind == Kind::fall_through) return true;
    return is_insn() && (op.code == (BPF_JMP | BPF_JA) || op.code == (BPF_JMP | BPF_EXIT));
}

bool Item::is_pure() const {
    switch (kind) {
        case Kind::insn: {
            const int code = BPF_CLASS(op.code);
            return code == BPF_ALU || code == BPF_ALU64 || code == BPF_LD || code == BPF_LDX;
        }
        case Kind::load_field:
        case Kind::field_address:
        case Kind::slot_address:
            return true;
        case Kind::label:
        case Kind::fall_through:
            return false;
    }
    return false;
}

RegSet reads_of(const Item& item) {
    RegSet regs;
    switch (item.kind) {
        case Item::Kind::insn: {
            const BpfEffects e = effects_of(item.op);
            if (e.reads_dst) regs.add(item.dst);
            if (e.reads_src) regs.add(item.src);
            if (e.reads_r0) regs.add(0);
            for (RegId n = 1; e.is_call && n <= item.arguments; ++n) regs.add(n);
            break;
        }
        case Item::Kind::load_field:
        case Item::Kind::field_address:
            regs.add(item.src);
            break;
        case Item::Kind::fall_through:
            regs.add(1);
            break;
        case Item::Kind::label:
        case Item::Kind::slot_address:
            break;
    }
    return regs;
}

RegSet writes_of(const Item& item) {
    RegSet regs;
    switch (item.kind) {
        case Item::Kind::insn: {
            const BpfEffects e = effects_of(item.op);
            if (e.writes_dst) regs.add(item.dst);
            if (e.writes_src) regs.add(item.src);
            if (e.writes_r0) regs.add(0);
            for (RegId n = 1; e.is_call && n <= 5; ++n) regs.add(n);
            break;
        }
        case Item::Kind::load_field:
        case Item::Kind::field_address:
        case Item::Kind::slot_address:
            regs.add(item.dst);
            break;
        case Item::Kind::label:
        case Item::Kind::fall_through:
            break;
    }
    return regs;
}

std::vector<Block> find_blocks(const Code::Body& body) {
    const auto& items = body.items;
    std::vector<Block> blocks;
    std::vector<std::size_t> block_at(items.size());  // indexed by a block's first item
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool begins = i == 0 || items[i].kind == Item::Kind::label ||
                            items[i - 1].is_jump() || items[i - 1].ends_flow();
        if (begins) blocks.push_back({i, i, {}, {}, {}});
        block_at[i] = blocks.size() - 1;
        blocks.back().end = i + 1;
    }
    const auto places = label_places(body);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Item& last = items[blocks[i].end - 1];
        if (last.is_jump()) {
            const std::size_t target = places[last.label];
            if (target == items.size()) throw std::logic_error("a jump to a label without a place");
            blocks[i].successors.push_back(block_at[target]);
        }
        if (last.ends_flow()) continue;
        if (i + 1 == blocks.size()) throw std::logic_error("the code runs off its end");
        blocks[i].successors.push_back(i + 1);
    }
    solve_liveness(body, blocks);
    return blocks;
}

void LiveWalk::insert(RegId reg) {
    if (contains(reg)) return;
    index_[reg] = static_cast<std::uint32_t>(regs_.size());
    regs_.push_back(reg);
}

void LiveWalk::erase(RegId reg) {
    if (!contains(reg)) return;
    const RegId last = regs_.back();
    regs_[index_[reg]] = last;
    index_[last] = index_[reg];
    index_[reg] = kNone;
    regs_.pop_back();
}

void LiveWalk::start(const LiveSet& live_out) {
    while (!regs_.empty()) erase(regs_.back());
    for (const RegId reg : live_out) insert(reg);
}

void LiveWalk::step_over(const Item& item) {
    for (const RegId reg : writes_of(item)) erase(reg);
    for (const RegId reg : reads_of(item)) insert(reg);
}

std::vector<Loop> find_loops(const Code::Body& body) {
    const auto places = label_places(body);
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < body.items.size(); ++i) {
        const Item& item = body.items[i];
        if (item.is_jump() && places[item.label] <= i) loops.push_back({places[item.label], i});
    }
    return loops;
}

bool follows(const std::vector<Item>& items, std::size_t at, std::uint32_t label) {
    while (++at < items.size() && items[at].kind == Item::Kind::label)
        if (items[at].label == label) return true;
    return false;
}

void remove_dead_code(Code::Body& body, std::vector<Block>& blocks) {
    for (;;) {
        std::vector<bool> is_dead(body.items.size());
        bool found = false;
        LiveWalk live(body.register_count());
        for (const Block& block : blocks) {
            live.start(block.live_out);
            for (std::size_t i = block.end; i-- > block.begin;) {
                const Item& item = body.items[i];
                // A write to a hardware register always has a reader.
                const bool is_unread =
                    item.is_pure() && is_temp(item.dst) && !live.contains(item.dst);
                if (is_unread || (item.is_jump() && follows(body.items, i, item.label)))
                    is_dead[i] = found = true;
                else
                    live.step_over(item);
            }
        }
        if (!found) return;
        std::size_t i = 0;
        std::erase_if(body.items, [&](const Item&) { return is_dead[i++]; });
        blocks = find_blocks(body);
    }
}

}  // namespace gpufs::ir
