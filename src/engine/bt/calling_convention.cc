#include "engine/bt/calling_convention.h"

#include <algorithm>
#include <string>

#include "lang/dwarf/numbers.h"
#include "lang/program/function_fields.h"
#include "lang/program/registers.h"

namespace gpufs::bt {
namespace {

using DwarfKind = DwarfType::Kind;

// In a damaged file a structure may be in itself, by ways whose number doubles with each level.
constexpr int kDeepestStructure = 32, kMostStructures = 1'000;
constexpr std::uint64_t kWordBytes = 8, kSmallStructure = 16;
#ifdef __aarch64__
constexpr bool kIsArm = true;
#else
constexpr bool kIsArm = false;
#endif
constexpr std::int64_t kFirstOnStack = kIsArm ? 0 : 8;

// An object of C++ that is not copied byte by byte. Not all compilers say it.
bool is_by_address(const DwarfType& type, int depth, int& left) {
    const DwarfEntry structure = type.defined().entry;
    const auto told = number_of(structure, dw::AT_calling_convention);
    if (told || depth > kDeepestStructure || --left < 0) return told == dw::CC_pass_by_reference;
    bool is_it = false;
    for_each_child(structure, [&](const DwarfEntry& child) {
        const unsigned tag = child.tag();
        if (tag == dw::TAG_subprogram)  // a destructor of its own
            is_it = name_of(child).starts_with('~') && !find_attribute(child, dw::AT_defaulted);
        else if (tag == dw::TAG_member || tag == dw::TAG_inheritance)
            is_it = is_by_address(type_of(child).stripped(), depth + 1, left);
        return !is_it;
    });
    return is_it;
}
bool is_by_address(const DwarfType& type) {
    int left = kMostStructures;
    return is_by_address(type, 0, left);
}

// Whether the word of the structure at `at` has something that is no floating point number.
bool has_integer(const DwarfType& structure, std::uint64_t at, int depth, int& left) {
    if (depth > kDeepestStructure || --left < 0) return true;
    return std::ranges::any_of(members(structure), [&](const DwarfMember& member) {
        const DwarfType type = type_of(member.entry).stripped();
        const std::uint64_t end = member.at + type.bytes().value_or(1);
        if (end <= at || member.at >= at + kWordBytes) return false;
        if (type.kind() == DwarfKind::structure)
            return has_integer(type.defined(), at - std::min(at, member.at), depth + 1, left);
        DwarfType element = type;
        for (int i = 0; element.kind() == DwarfKind::array && i < kDeepestStructure; ++i)
            element = element.target().stripped();
        return element.kind() != DwarfKind::floating;
    });
}

bool has_integer(const DwarfType& structure, std::uint64_t at) {
    int left = kMostStructures;
    return has_integer(structure, at, 0, left);
}

std::size_t words_of(std::uint64_t bytes) {
    return static_cast<std::size_t>((bytes + kWordBytes - 1) / kWordBytes);
}

}  // namespace

bool is_register_size(std::uint64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

// On x86-64 the return address is in front, and where no registers can have the result, the address
// at which it is to be put is the first parameter.
CallingConvention::CallingConvention(const DwarfType& result) : stack_(kFirstOnStack) {
    for (const Field& field : function_registers(ProbeTarget::Kind::uprobe).fields)
        if (field.name.starts_with("arg")) registers_.push_back(field.offset);
    const DwarfType type = result.stripped();
    if (!kIsArm && type.kind() == DwarfKind::structure &&
        (is_by_address(type) || type.bytes().value_or(0) > kSmallStructure))
        take(1);
}

StaticArgument CallingConvention::place_of(const DwarfType& type) {
    const DwarfType bare = type.stripped();
    const std::uint64_t bytes = bare.bytes().value_or(0);
    if (bare.kind() == DwarfKind::floating) {
        take_floating(bytes);
        return {};
    }
    if (bare.kind() == DwarfKind::structure) {
        take_structure(bare, bytes);
        return {};
    }
    StaticArgument place = take(std::max<std::size_t>(words_of(bytes), 1));
    if (!is_register_size(bytes)) return {};
    place.bytes = bytes;
    place.is_signed = bare.is_signed();
    return place;
}

StaticArgument CallingConvention::take(std::size_t words) {
    StaticArgument place;
    if (next_ + words <= registers_.size()) {
        place.kind = StaticArgument::Kind::in_register;
        place.base = registers_[next_];
        next_ += words;
        return place;
    }
    if (kIsArm) next_ = registers_.size();  // what follows is behind it
    place.kind = StaticArgument::Kind::in_memory;
    place.base = register_offset("sp");
    take_on_stack(words * kWordBytes, true);
    place.number = stack_ - static_cast<std::int64_t>(words * kWordBytes);
    return place;
}

// A number of 16 bytes is at a multiple of them, which the first place is.
void CallingConvention::take_on_stack(std::uint64_t bytes, bool is_number) {
    if (is_number && bytes > kWordBytes) {
        const std::int64_t from_first = stack_ - kFirstOnStack;
        stack_ += from_first % (2 * std::int64_t{kWordBytes});
    }
    stack_ += static_cast<std::int64_t>(words_of(bytes) * kWordBytes);
}

// A long double of x86-64 is always on the stack.
void CallingConvention::take_floating(std::uint64_t bytes) {
    const bool is_in_register = floating_left_ != 0 && (kIsArm || bytes <= kWordBytes);
    if (is_in_register)
        --floating_left_;
    else
        take_on_stack(bytes, true);
}

// A large one is copied to the stack on x86-64, and passed by its address on arm64; a small one is
// in registers, those of floating point numbers for words that have nothing else.
void CallingConvention::take_structure(const DwarfType& type, std::uint64_t bytes) {
    if (is_by_address(type) || (kIsArm && bytes > kSmallStructure)) {
        take(1);
        return;
    }
    if (bytes > kSmallStructure) return take_on_stack(bytes, false);
    const std::size_t words = words_of(bytes);
    std::size_t whole = 0;
    for (std::size_t i = 0; i < words; ++i) whole += has_integer(type, i * kWordBytes);
    const std::size_t floating = words - whole;
    if (next_ + whole > registers_.size() || floating > floating_left_)
        return take_on_stack(bytes, false);
    next_ += whole;
    floating_left_ -= floating;
}

}  // namespace gpufs::bt
