#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "lang/event/event_format.h"
#include "lang/event/field_value.h"

namespace gpufs {

// The C expressions of a "print fmt": parsed and typed once per event, evaluated per record by
// offset, with C's promotions and signedness. REC is the record.
struct CType {
    enum class Kind : std::uint8_t {
        integer,  // of `size` bytes
        address,  // a pointer whose target is not in the record: an integer of 8 bytes
        bytes,    // an array in the record; elements of `size` bytes, 0 when not known
        text,     // a text made while printing: a literal, the names of flags, ...
    };
    Kind kind = Kind::integer;
    std::uint8_t size = 4;
    bool is_signed = true;
    bool is_bool = false;
};

using CNodeId = std::uint32_t;
inline constexpr CNodeId kNoNode = ~CNodeId{0};

struct CNode {
    enum class Op : std::uint8_t {
        // integers
        constant,
        load,
        negate,
        complement,
        logical_not,
        add,
        subtract,
        multiply,
        divide,
        modulo,
        shift_left,
        shift_right,
        bit_and,
        bit_or,
        bit_xor,
        less,
        less_equal,
        equal,
        not_equal,
        logical_and,
        logical_or,
        cast,
        index,
        length_of,
        // any type
        choose,
        // bytes
        record,
        field_bytes,
        located_bytes,
        relative_bytes,
        plus_bytes,
        // text
        literal,
        flags,
        symbolic,
        hex,
        hex_joined,
        array,
        bitmap,
        quoted,
        unknown,  // prints "?": the value is known only to the kernel
    };
    Op op = Op::constant;
    CType type;
    CNodeId a = kNoNode, b = kNoNode, c = kNoNode;
    std::uint64_t value = 0;   // constant: its value; flags, symbolic, literal: index into the tree
    std::uint32_t offset = 0;  // of the field in the record
    std::uint32_t size = 0;    // bytes of the field; length of the literal
};

// The { value, "NAME" } list of __print_flags and __print_symbolic.
struct CNames {
    struct Entry {
        std::uint64_t value;
        std::string name;
    };
    std::vector<Entry> entries;
    std::string delimiter;
};

struct CTree {
    std::vector<CNode> nodes;
    std::vector<CNames> names;
    std::string literals;

    std::uint64_t integer(CNodeId id, RecordBytes record) const;
    // Empty when the record is too short or the node is not of Kind::bytes.
    RecordBytes bytes(CNodeId id, RecordBytes record) const;
    // Appends what "%s" prints.
    void append_text(CNodeId id, RecordBytes record, const AddressNames& names,
                     std::string& out) const;
};

// A parsed "print fmt".
struct PrintArguments {
    std::string format;  // with its escapes resolved
    std::vector<CNodeId> values;
};
// Throws Error with a short reason when the text cannot be parsed.
PrintArguments parse_print_arguments(const EventFormat& event, CTree& tree);

}  // namespace gpufs
