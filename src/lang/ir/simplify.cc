#include <algorithm>
#include <bit>
#include <optional>

#include "lang/insn/insn.h"
#include "lang/ir/body.h"
#include "lang/ir/ops.h"

// Operations that change nothing, numbers that need no register, and stores that others cover.
namespace gpufs::ir {
namespace {

constexpr __u8 kSizeBits = 0x18;  // of a store's code

bool is_alu(const Item& item) {
    const int kind = BPF_CLASS(item.op.code);
    return item.is_insn() && (kind == BPF_ALU || kind == BPF_ALU64);
}

// What the item puts into its register, where that is a number of 32 bits.
std::optional<std::uint64_t> number_of(const Item& item) {
    if (!is_alu(item) || BPF_OP(item.op.code) != BPF_MOV || BPF_SRC(item.op.code) != BPF_K)
        return std::nullopt;
    const auto number = static_cast<std::uint64_t>(std::int64_t{item.op.imm});
    return BPF_CLASS(item.op.code) == BPF_ALU64 ? number : converted(number, kU32);
}

// By register: the number of a temp that never holds anything else.
std::vector<std::optional<std::uint64_t>> find_numbers(const Code::Body& body) {
    std::vector<std::optional<std::uint64_t>> numbers(body.register_count());
    std::vector<bool> is_written(body.register_count());
    for (const Item& item : body.items)
        for (const RegId reg : writes_of(item)) {
            numbers[reg] = is_written[reg] || !is_temp(reg) ? std::nullopt : number_of(item);
            is_written[reg] = true;
        }
    return numbers;
}

// Makes the number the item's immediate, in the place of its source register.
bool take_number(Item& item, std::uint64_t number) {
    const int kind = BPF_CLASS(item.op.code), op = BPF_OP(item.op.code);
    if (kind == BPF_STX) {
        if (BPF_MODE(item.op.code) != BPF_MEM || !fits_s32(number)) return false;
        item.op.code = static_cast<__u8>(BPF_ST | BPF_MEM | BPF_SIZE(item.op.code));
    } else if (kind == BPF_ALU || kind == BPF_ALU64 || kind == BPF_JMP || kind == BPF_JMP32) {
        const bool computes = kind == BPF_ALU || kind == BPF_ALU64;
        const bool is_short = kind == BPF_ALU || kind == BPF_JMP32;
        if (BPF_SRC(item.op.code) != BPF_X || (computes && (op == BPF_END || item.op.off != 0)))
            return false;
        if (is_short) number = converted(number, kS32);
        if (computes && (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH))
            number &= is_short ? 31 : 63;
        const bool divides = computes && (op == BPF_DIV || op == BPF_MOD);
        if (!fits_s32(number) || (divides && number == 0)) return false;
        item.op.code = static_cast<__u8>((item.op.code & ~BPF_X) | BPF_K);
    } else {
        return false;
    }
    item.op.imm = static_cast<__s32>(number);
    item.src = 0;
    return true;
}

// x + 0, x << 0, x * 1 and the like, in 64 bits.
bool changes_nothing(const Item& item) {
    if (!is_alu(item) || BPF_CLASS(item.op.code) != BPF_ALU64 || BPF_SRC(item.op.code) != BPF_K)
        return false;
    switch (BPF_OP(item.op.code)) {
        case BPF_ADD:
        case BPF_SUB:
        case BPF_OR:
        case BPF_XOR:
        case BPF_LSH:
        case BPF_RSH:
        case BPF_ARSH:
            return item.op.imm == 0;
        case BPF_MUL:
        case BPF_DIV:
            return item.op.imm == 1;
        default:
            return false;
    }
}

// x & 0, x * 0
bool is_always_zero(const Item& item) {
    const int op = BPF_OP(item.op.code);
    return is_alu(item) && BPF_SRC(item.op.code) == BPF_K && item.op.imm == 0 &&
           (op == BPF_AND || op == BPF_MUL);
}

// Returns whether anything has changed.
bool use_numbers(Code::Body& body) {
    const auto numbers = find_numbers(body);
    bool has_changed = false;
    for (Item& item : body.items) {
        if (!item.is_insn() || item.is_call()) continue;
        if (effects_of(item.op).reads_src && numbers[item.src])
            has_changed = take_number(item, *numbers[item.src]) || has_changed;
        if (!is_always_zero(item)) continue;
        item.op = insn::mov(Reg::r0, 0);
        has_changed = true;
    }
    return std::erase_if(body.items, changes_nothing) != 0 || has_changed;
}

// A store into a slot.
struct Store {
    std::uint32_t slot;
    int begin, bytes;

    int end() const { return begin + bytes; }
    bool covers(const Store& other) const {
        return slot == other.slot && begin <= other.begin && other.end() <= end();
    }
};

std::optional<Store> store_of(const Item& item) {
    const int kind = BPF_CLASS(item.op.code);
    if (!item.is_insn() || item.slot == kNone || (kind != BPF_ST && kind != BPF_STX) ||
        BPF_MODE(item.op.code) != BPF_MEM)
        return std::nullopt;
    return Store{item.slot, item.op.off, static_cast<int>(bytes_of(gpufs::width_of(item.op)))};
}

bool stores_zero(const Item& item) {
    return BPF_CLASS(item.op.code) == BPF_ST && item.op.imm == 0;
}

// By register: of a temp, how many of its low bits may be others than zeros.
std::vector<int> find_bits(const Code::Body& body) {
    std::vector<int> bits(body.register_count(), 64), writes(body.register_count());
    for (std::size_t reg = kFirstTemp; reg < bits.size(); ++reg) {
        const Type type = body.types[reg - kFirstTemp];
        if (!type.is_signed) bits[reg] = type.bytes * 8;
    }
    for (const Item& item : body.items)
        for (const RegId reg : writes_of(item)) ++writes[reg];
    for (std::size_t i = 1; i < body.items.size(); ++i) {
        const Item &before = body.items[i - 1], &item = body.items[i];
        const bool is_shifted_copy = before.is_move() && before.dst == item.dst && item.is_insn() &&
                                     item.op.code == (BPF_ALU64 | BPF_RSH | BPF_K);
        if (is_shifted_copy && is_temp(item.dst) && writes[item.dst] == 2)
            bits[item.dst] = std::min(bits[item.dst], 64 - item.op.imm);
    }
    return bits;
}

// Would a wider store write zeros behind the bytes that this one writes?
bool ends_with_zeros(const Item& item, int bytes, const std::vector<int>& bits) {
    if constexpr (std::endian::native != std::endian::little) return false;
    if (BPF_CLASS(item.op.code) == BPF_ST) {
        const auto number = static_cast<std::uint64_t>(std::int64_t{item.op.imm});
        return converted(number, {static_cast<std::uint8_t>(bytes), false}) == number;
    }
    return bits[item.src] <= bytes * 8;
}

void widen(Item& item, int bytes) {
    const auto width = static_cast<__u8>(width_of({static_cast<std::uint8_t>(bytes), false}));
    item.op.code = static_cast<__u8>((item.op.code & ~kSizeBits) | width);
}

// Of two stores with nothing in between that reads memory: the one that says all, if there is one.
std::optional<Item> merged(const Item& first, const Item& second,
                           const std::vector<StackSlot>& slots, const std::vector<int>& bits) {
    const Store a = *store_of(first), b = *store_of(second);
    if (b.covers(a)) return second;
    if (a.slot != b.slot) return std::nullopt;
    if (a.covers(b) && a.begin == b.begin && stores_zero(first) &&
        ends_with_zeros(second, b.bytes, bits)) {
        Item made = second;
        widen(made, a.bytes);
        return made;
    }
    const auto both = static_cast<std::size_t>(a.bytes) * 2;
    const bool is_aligned =
        both <= slots[a.slot].alignment && a.begin % static_cast<int>(both) == 0;
    if (a.end() == b.begin && a.bytes == b.bytes && is_aligned && stores_zero(second) &&
        ends_with_zeros(first, a.bytes, bits)) {
        Item made = first;
        widen(made, a.bytes * 2);
        return made;
    }
    return std::nullopt;
}

// May the store as well be behind the item, which is none?
bool may_wait(const Item& store, const Item& item) {
    const bool is_of_registers = is_alu(item) || item.kind == Item::Kind::slot_address ||
                                 (item.is_insn() && BPF_CLASS(item.op.code) == BPF_LD);
    return is_of_registers && !(effects_of(store.op).reads_src && item.dst == store.src);
}

void merge_stores(Code::Body& body) {
    std::vector<Item>& items = body.items;
    const std::vector<int> bits = find_bits(body);
    std::vector<bool> is_gone(items.size());
    std::size_t last = items.size();  // the store in front; the end if it may not be put off
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool has_last = last != items.size();
        if (!store_of(items[i])) {
            if (has_last && !may_wait(items[last], items[i])) last = items.size();
            continue;
        }
        if (const auto made =
                has_last ? merged(items[last], items[i], body.slots, bits) : std::nullopt) {
            is_gone[last] = true;
            items[i] = *made;
        }
        last = i;
    }
    std::size_t i = 0;
    std::erase_if(items, [&](const Item&) { return is_gone[i++]; });
}

}  // namespace

void simplify(Code::Body& body, std::vector<Block>& blocks) {
    while (use_numbers(body)) {
        blocks = find_blocks(body);
        remove_dead_code(body, blocks);
    }
    merge_stores(body);
    blocks = find_blocks(body);
}

}  // namespace gpufs::ir
