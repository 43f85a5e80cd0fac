#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lang/print_fmt/c_tokens.h"
#include "lang/print_fmt/expr.h"

namespace gpufs {

inline constexpr CType kInt{CType::Kind::integer, 4, true};
inline constexpr CType kUnsignedLong{CType::Kind::integer, 8, false};
inline constexpr CType kText{CType::Kind::text, 0, false};
inline constexpr CType kAddress{CType::Kind::address, 8, false};

// A name without a known value: a kernel variable, a constant that the kernel did not resolve when
// it wrote the format, or the size of a structure.
class UnknownName : public Error {
    using Error::Error;
};

// Parses the arguments of one print fmt into a tree. Throws Error with a short reason.
class PrintParser {
public:
    PrintParser(const EventFormat& event, CTree& tree, std::string_view text)
        : event_(event), tree_(tree), tokens_(text) {}

    // "expr, expr, ..." up to the end of the text.
    std::vector<CNodeId> arguments();

private:
    CNodeId argument();

    // Nodes. Constants are folded as they are added.
    CNodeId add(CNode node);
    CType type_of(CNodeId id) const { return tree_.nodes[id].type; }
    CType::Kind kind_of(CNodeId id) const { return type_of(id).kind; }
    CNodeId constant(std::uint64_t value, CType type);
    CNodeId literal(std::string_view joined);
    CNodeId cast_to(CType type, CNodeId a);
    CNodeId as_number(CNodeId id) const;
    CNodeId as_bytes(CNodeId id) const;
    CNodeId binary(CNode::Op op, CType type, CNodeId a, CNodeId b);
    CNodeId arithmetic(CNode::Op op, CNodeId a, CNodeId b);
    CNodeId comparison(CNode::Op op, CNodeId a, CNodeId b);
    CNodeId element(CNodeId from, CNodeId at);

    // Expressions, loosest first.
    struct Operator;
    CNodeId expression();
    CNodeId binary_above(int level);
    CNodeId combine(const Operator& o, CNodeId left, CNodeId right);
    CNodeId unary();
    CNodeId unary_number(CNode::Op op);
    CNodeId size_of();
    CNodeId postfix(CNodeId id);
    CNodeId primary();
    CNodeId text();
    CNodeId character();
    CNodeId number();
    CNodeId parenthesis();
    CNodeId converted(CType type, CNodeId a);
    CNodeId statement_expression();

    // Names, fields and the functions of a print fmt.
    CNodeId named(std::string_view name);
    CNodeId call(std::string_view name);
    CNodeId get_field(std::string_view function);
    CNodeId print_hex(CNode::Op op);
    CNodeId print_array();
    CNodeId print_dynamic_array();
    CNodeId seconds(bool whole);
    CNodeId flags();
    CNodeId symbolic();
    CNodeId named_values(CNode::Op op, CNodeId value, CNames names);
    CNodeId field(std::string_view name);
    CNodeId located(const Field& field, std::size_t element);
    CNodeId rect_member(CNodeId id, std::string_view name);
    CNodeId rect_side(std::string_view begin, std::string_view end);
    const Field* find_dynamic(std::string_view name) const;
    const Field* expect_dynamic();
    std::optional<std::string> literal_text(CNodeId id) const;

    const EventFormat& event_;
    CTree& tree_;
    CTokens tokens_;
    std::map<std::string, CNodeId, std::less<>> locals_;  // of a statement expression
    // By node: the depth of its tree, and how many nodes its evaluation visits.
    std::vector<std::uint16_t> depths_;
    std::vector<std::uint32_t> steps_;
    int nesting_ = 0;
};

}  // namespace gpufs
