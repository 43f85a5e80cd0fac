#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/kernel_abi.h"
#include "base/sorted.h"
#include "lang/ir/body.h"

// Finds out which slots may share bytes of the stack, and assigns their offsets.
namespace gpufs::ir {
namespace {

// The slots whose address each register may hold, anywhere in the code. A slot whose address is
// stored to memory lives through all of the code, because the address may be loaded again at any
// time.
class AddressFlow {
public:
    explicit AddressFlow(const Code::Body& body)
        : slots_(body.register_count()), is_kept_(body.slots.size()) {
        for (const Item& item : body.items)
            if (item.kind == Item::Kind::slot_address) slots_[item.dst].push_back(item.slot);
        for (bool changes = true; changes;) {
            changes = false;
            for (const Item& item : body.items) changes = flow(item) || changes;
        }
    }

    const std::vector<std::uint32_t>& slots_of(RegId reg) const { return slots_[reg]; }
    bool is_kept(std::uint32_t slot) const { return is_kept_[slot]; }

private:
    bool flow(const Item& item) {
        if (!item.is_insn()) return false;
        const int kind = BPF_CLASS(item.op.code);
        const BpfEffects e = effects_of(item.op);
        if (kind == BPF_STX)
            for (const std::uint32_t slot : slots_[item.src]) is_kept_[slot] = true;
        // A hardware register holds an address only between a copy and its call.
        const bool flows = (kind == BPF_ALU || kind == BPF_ALU64) && e.reads_src;
        if (!flows || !is_temp(item.src) || !is_temp(item.dst) || item.src == item.dst)
            return false;
        bool changes = false;
        for (const std::uint32_t slot : slots_[item.src]) {
            auto& known = slots_[item.dst];
            if (std::ranges::find(known, slot) != known.end()) continue;
            known.push_back(slot);
            changes = true;
        }
        return changes;
    }

    std::vector<std::vector<std::uint32_t>> slots_;  // by register
    std::vector<bool> is_kept_;                      // by slot
};

// A slot used in a loop may be used again in the next iteration.
void extend_over_loops(Lifetime& lifetime, const std::vector<Loop>& loops) {
    for (bool grows = !lifetime.is_empty(); grows;) {
        grows = false;
        for (const Loop& loop : loops) {
            const auto first = static_cast<std::uint32_t>(loop.first);
            const auto last = static_cast<std::uint32_t>(loop.last);
            const bool is_inside = lifetime.first <= first && last <= lifetime.last;
            if (is_inside || lifetime.last < first || last < lifetime.first) continue;
            lifetime.include(first);
            lifetime.include(last);
            grows = true;
        }
    }
}

}  // namespace

std::vector<Lifetime> find_lifetimes(const Code::Body& body, const std::vector<Block>& blocks) {
    std::vector<Lifetime> lifetimes(body.slots.size());
    const AddressFlow addresses(body);
    LiveWalk live(body.register_count());
    for (const Block& block : blocks) {
        live.start(block.live_out);
        std::uint32_t next_call = static_cast<std::uint32_t>(block.end) - 1;
        for (std::size_t i = block.end; i-- > block.begin;) {
            const Item& item = body.items[i];
            const auto at = static_cast<std::uint32_t>(i);
            for (const RegId reg : live.regs())
                for (const std::uint32_t slot : addresses.slots_of(reg))
                    lifetimes[slot].include(at);
            if (item.is_call()) next_call = at;
            // A copy to an argument register: in use until the call.
            if (item.is_move() && !is_temp(item.dst))
                for (const std::uint32_t slot : addresses.slots_of(item.src))
                    lifetimes[slot].include(next_call);
            live.step_over(item);
            for (const RegId reg : reads_of(item))
                for (const std::uint32_t slot : addresses.slots_of(reg))
                    lifetimes[slot].include(at);
            if (item.slot != kNone) lifetimes[item.slot].include(at);
        }
    }
    const std::vector<Loop> loops = find_loops(body);
    for (std::size_t slot = 0; slot < lifetimes.size(); ++slot) {
        if (addresses.is_kept(static_cast<std::uint32_t>(slot))) {
            lifetimes[slot].include(0);
            lifetimes[slot].include(static_cast<std::uint32_t>(body.items.size()));
        }
        extend_over_loops(lifetimes[slot], loops);
    }
    return lifetimes;
}

void add_spill_lifetimes(const Code::Body& body, const std::vector<Loop>& loops,
                         std::vector<Lifetime>& lifetimes) {
    const std::size_t first = lifetimes.size();
    lifetimes.resize(body.slots.size());
    for (const Item& item : body.items)
        if (item.slot != kNone && item.slot >= first) lifetimes[item.slot].include(item.origin);
    for (std::size_t slot = first; slot < lifetimes.size(); ++slot)
        extend_over_loops(lifetimes[slot], loops);
}

std::vector<int> place_slots(const std::vector<StackSlot>& slots,
                             const std::vector<Lifetime>& lifetimes, std::size_t stack_bytes) {
    // Large ones first: small ones fit into the gaps.
    std::vector<std::size_t> order(slots.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    sort_stably(order, std::greater<>(), [&](std::size_t i) { return slots[i].bytes; });

    std::vector<int> begins(slots.size());
    std::vector<std::size_t> placed;
    int deepest = 0;
    for (const std::size_t slot : order) {
        if (lifetimes[slot].is_empty()) continue;
        const int bytes = static_cast<int>(slots[slot].bytes);
        const int alignment = static_cast<int>(slots[slot].alignment);
        const auto aligned_below = [&](int depth) {
            return -((depth + bytes + alignment - 1) / alignment * alignment);
        };
        int begin = aligned_below(0);
        for (bool moves = true; moves;) {
            moves = false;
            for (const std::size_t other : placed) {
                const int other_end = begins[other] + static_cast<int>(slots[other].bytes);
                const bool shares = begin < other_end && begins[other] < begin + bytes;
                if (!shares || !lifetimes[slot].overlaps(lifetimes[other])) continue;
                begin = aligned_below(-begins[other]);
                moves = true;
            }
        }
        begins[slot] = begin;
        placed.push_back(slot);
        deepest = std::max(deepest, -begin);
    }
    if (deepest > static_cast<int>(stack_bytes))
        throw StackError(
            cat("the generated code needs ", deepest, " bytes of stack; there are ", stack_bytes));
    return begins;
}

}  // namespace gpufs::ir
