#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/extend.h"
#include "lang/event/field_value.h"
#include "lang/print_fmt/expr.h"
#include "lang/print_fmt/kernel_printf.h"

namespace gpufs {
namespace {

using Op = CNode::Op;
using Kind = CType::Kind;

template <class T>
T load_as(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// Converts the value to its type and widens it to 64 bits.
std::uint64_t narrowed(std::uint64_t value, CType type) {
    if (type.is_bool) return value != 0;
    return type.size == 0 ? value : extend(value, type.size, type.is_signed);
}

std::uint64_t load_at(RecordBytes record, std::size_t offset, CType type) {
    const std::size_t size = type.kind == Kind::address ? 8 : type.size;
    if (offset > record.size() || size > record.size() - offset) return 0;
    const std::byte* const at = record.data() + offset;
    switch (size) {
        case 1:
            return narrowed(load_as<std::uint8_t>(at), type);
        case 2:
            return narrowed(load_as<std::uint16_t>(at), type);
        case 4:
            return narrowed(load_as<std::uint32_t>(at), type);
        case 8:
            return load_as<std::uint64_t>(at);
        default:
            return 0;
    }
}

std::uint32_t location(RecordBytes record, const CNode& node) {
    const RecordBytes word = slice(record, node.offset, 4);
    return word.empty() ? 0 : load_as<std::uint32_t>(word.data());
}

std::uint64_t divided(std::uint64_t a, std::uint64_t b, CType type, bool remainder) {
    if (b == 0) return 0;
    if (!type.is_signed) return remainder ? a % b : a / b;
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    if (y == -1) return remainder ? 0 : 0 - a;  // the lowest number has no positive counterpart
    return static_cast<std::uint64_t>(remainder ? x % y : x / y);
}

void append_flags(const CNames& names, std::uint64_t flags, std::string& out) {
    bool is_first = true;
    const auto separate = [&] {
        if (!is_first) out += names.delimiter;
        is_first = false;
    };
    for (const auto& [mask, name] : names.entries) {
        if (flags == 0) break;
        if ((flags & mask) != mask) continue;
        flags &= ~mask;
        separate();
        out += name;
    }
    if (flags == 0) return;
    separate();
    append_number(out, flags, {.base = 16, .special = true});
}

void append_symbolic(const CNames& names, std::uint64_t value, std::string& out) {
    const auto it = std::ranges::find(names.entries, value, &CNames::Entry::value);
    // An empty name counts as none: the kernel tests whether anything was printed.
    if (it != names.entries.end() && !it->name.empty())
        out += it->name;
    else
        append_number(out, value, {.base = 16, .special = true});
}

void append_array(RecordBytes bytes, std::size_t count, std::size_t size, std::string& out) {
    out += '{';
    const bool good = size == 1 || size == 2 || size == 4 || size == 8;
    for (std::size_t i = 0; i < count; ++i) {
        const RecordBytes element = good ? slice(bytes, i * size, size) : RecordBytes{};
        if (element.empty()) break;
        if (i) out += ',';
        const CType type{Kind::integer, static_cast<std::uint8_t>(size), false};
        append_number(out, load_at(element, 0, type), {.base = 16, .special = true});
    }
    out += '}';
}

}  // namespace

std::uint64_t CTree::integer(CNodeId id, RecordBytes record) const {
    const CNode& n = nodes[id];
    const auto a = [&] { return integer(n.a, record); };
    const auto b = [&] { return integer(n.b, record); };
    const auto is_less = [&](CNodeId left, CNodeId right, bool or_equal) {
        const std::uint64_t x = integer(left, record), y = integer(right, record);
        if (x == y) return or_equal;
        // The operands carry the common type they were converted to.
        const CType& type = nodes[left].type;
        return type.is_signed ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y) : x < y;
    };
    switch (n.op) {
        case Op::constant:
            return n.value;
        case Op::load:
            return load_at(record, n.offset, n.type);
        case Op::cast:
            return narrowed(a(), n.type);
        case Op::negate:
            return narrowed(0 - a(), n.type);
        case Op::complement:
            return narrowed(~a(), n.type);
        case Op::logical_not:
            return a() == 0;
        case Op::add:
            return narrowed(a() + b(), n.type);
        case Op::subtract:
            return narrowed(a() - b(), n.type);
        case Op::multiply:
            return narrowed(a() * b(), n.type);
        case Op::divide:
            return narrowed(divided(a(), b(), n.type, false), n.type);
        case Op::modulo:
            return narrowed(divided(a(), b(), n.type, true), n.type);
        case Op::shift_left:
            return narrowed(a() << (b() & 63), n.type);
        case Op::shift_right: {
            const std::uint64_t x = a();
            const unsigned by = static_cast<unsigned>(b() & 63);
            return n.type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> by)
                                    : x >> by;
        }
        case Op::bit_and:
            return a() & b();
        case Op::bit_or:
            return a() | b();
        case Op::bit_xor:
            return a() ^ b();
        case Op::less:
            return is_less(n.a, n.b, false);
        case Op::less_equal:
            return is_less(n.a, n.b, true);
        case Op::equal:
            return a() == b();
        case Op::not_equal:
            return a() != b();
        case Op::logical_and:
            return a() != 0 && b() != 0;
        case Op::logical_or:
            return a() != 0 || b() != 0;
        case Op::choose:
            return a() != 0 ? b() : integer(n.c, record);
        case Op::index: {
            const RecordBytes from = bytes(n.a, record);
            const std::uint64_t i = b();
            return i < from.size() ? load_at(from, i * n.type.size, n.type) : 0;
        }
        case Op::length_of:
            return location(record, n) >> 16;
        default:
            return 0;
    }
}

RecordBytes CTree::bytes(CNodeId id, RecordBytes record) const {
    const CNode& n = nodes[id];
    switch (n.op) {
        case Op::record:
            return record;
        case Op::field_bytes:
            // A field without a size is the flexible array at the record's end.
            if (n.size == 0 && n.offset <= record.size()) return record.subspan(n.offset);
            return slice(record, n.offset, n.size);
        case Op::located_bytes:
        case Op::relative_bytes: {
            const std::uint32_t word = location(record, n);
            const std::size_t from = n.op == Op::relative_bytes ? n.offset + 4 : 0;
            return slice(record, from + (word & 0xffff), word >> 16);
        }
        case Op::plus_bytes: {
            const RecordBytes from = bytes(n.a, record);
            const std::uint64_t by = integer(n.b, record) * std::max<std::uint64_t>(n.type.size, 1);
            return by < from.size() ? from.subspan(by) : RecordBytes{};
        }
        case Op::cast:
            return bytes(n.a, record);
        case Op::choose:
            return bytes(integer(n.a, record) != 0 ? n.b : n.c, record);
        default:
            return {};
    }
}

void CTree::append_text(CNodeId id, RecordBytes record, const AddressNames& address_names,
                        std::string& out) const {
    const CNode& n = nodes[id];
    if (n.op == Op::choose)
        return append_text(integer(n.a, record) != 0 ? n.b : n.c, record, address_names, out);
    if (n.type.kind == Kind::bytes) {
        out += up_to_nul(bytes(id, record));
        return;
    }
    switch (n.op) {
        case Op::literal:
            out.append(literals, n.value, n.size);
            return;
        case Op::flags:
            return append_flags(names[n.value], integer(n.a, record), out);
        case Op::symbolic:
            return append_symbolic(names[n.value], integer(n.a, record), out);
        case Op::hex:
        case Op::hex_joined: {
            RecordBytes shown = bytes(n.a, record);
            const auto limit = static_cast<std::int64_t>(integer(n.b, record));
            if (limit < 0) return;
            shown =
                shown.first(std::min<std::size_t>(shown.size(), static_cast<std::uint64_t>(limit)));
            return append_hex_bytes(out, shown, n.op == Op::hex ? ' ' : '\0');
        }
        case Op::array:
            return append_array(bytes(n.a, record), integer(n.b, record), integer(n.c, record),
                                out);
        case Op::bitmap: {
            const RecordBytes words = bytes(n.a, record);
            return append_bitmap(out, words.size() * 8, words);
        }
        case Op::quoted: {
            // A probe that could not read the string stores length 0.
            const RecordBytes place = bytes(n.a, record);
            if (place.empty()) {
                out += "(fault)";
                return;
            }
            out += '"';
            out += up_to_nul(place);
            out += '"';
            return;
        }
        case Op::unknown:
            out += '?';
            return;
        default: {
            const std::uint64_t address = integer(id, record);
            if (address == 0) {
                out += "(null)";
                return;
            }
            if (const auto text = address_names.text ? address_names.text(address) : std::nullopt)
                out += *text;
            else
                append_number(out, address, {.base = 16, .special = true});
        }
    }
}

}  // namespace gpufs
