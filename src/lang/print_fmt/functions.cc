#include <algorithm>
#include <utility>

#include "lang/print_fmt/parser.h"

// Names in a print fmt: fields, constants, and functions such as __print_flags().

namespace gpufs {
namespace {

using Op = CNode::Op;
using Kind = CType::Kind;

// Names from kernel headers that occur in formats. Constants whose values never changed:
struct NamedNumber {
    std::string_view name;
    std::uint64_t value;
};
constexpr NamedNumber kNumbers[] = {
    {"true", 1},
    {"false", 0},
    {"PIPE_A", 0},
    {"PIPE_B", 1},
    {"PIPE_C", 2},
    {"PIPE_D", 3},
    {"HRTIMER_MODE_ABS", 0},
    {"HRTIMER_MODE_ABS_SOFT", 4},
    {"HRTIMER_MODE_ABS_HARD", 8},
    {"HRTIMER_MODE_ABS_PINNED", 2},
    {"HRTIMER_MODE_ABS_PINNED_SOFT", 6},
    {"HRTIMER_MODE_ABS_PINNED_HARD", 10},
    {"HRTIMER_MODE_REL", 1},
    {"HRTIMER_MODE_REL_SOFT", 5},
    {"HRTIMER_MODE_REL_HARD", 9},
    {"HRTIMER_MODE_REL_PINNED", 3},
    {"HRTIMER_MODE_REL_PINNED_SOFT", 7},
    {"HRTIMER_MODE_REL_PINNED_HARD", 11},
    {"IOPRIO_CLASS_NONE", 0},
    {"IOPRIO_CLASS_RT", 1},
    {"IOPRIO_CLASS_BE", 2},
    {"IOPRIO_CLASS_IDLE", 3},
    {"IOPRIO_CLASS_INVALID", 7},
    {"TCP_ESTABLISHED", 1},
    {"TCP_SYN_SENT", 2},
    {"TCP_SYN_RECV", 3},
    {"TCP_FIN_WAIT1", 4},
    {"TCP_FIN_WAIT2", 5},
    {"TCP_TIME_WAIT", 6},
    {"TCP_CLOSE", 7},
    {"TCP_CLOSE_WAIT", 8},
    {"TCP_LAST_ACK", 9},
    {"TCP_LISTEN", 10},
    {"TCP_CLOSING", 11},
    {"TCP_NEW_SYN_RECV", 12},
    {"PM_QOS_ADD_REQ", 0},
    {"PM_QOS_UPDATE_REQ", 1},
    {"PM_QOS_REMOVE_REQ", 2},
    {"FAULT_FLAG_WRITE", 1},
    {"FAULT_FLAG_MKWRITE", 2},
    {"FAULT_FLAG_ALLOW_RETRY", 4},
    {"FAULT_FLAG_RETRY_NOWAIT", 8},
    {"FAULT_FLAG_KILLABLE", 16},
    {"FAULT_FLAG_TRIED", 32},
    {"FAULT_FLAG_USER", 64},
    {"FAULT_FLAG_REMOTE", 128},
    {"FAULT_FLAG_INSTRUCTION", 256},
    {"FAULT_FLAG_INTERRUPTIBLE", 512},
};
// Functions that give a word for a truth value (linux/string_choices.h):
struct Choice {
    std::string_view function, yes, no;
};
constexpr Choice kChoices[] = {
    {"str_yes_no", "yes", "no"},
    {"str_on_off", "on", "off"},
    {"str_true_false", "true", "false"},
    {"str_enabled_disabled", "enabled", "disabled"},
    {"str_enable_disable", "enable", "disable"},
    {"str_read_write", "read", "write"},
    {"str_high_low", "high", "low"},
    {"yesno", "yes", "no"},
    {"onoff", "on", "off"},
};
// The members of struct drm_rect, all int:
constexpr std::string_view kRectMembers[] = {"x1", "y1", "x2", "y2"};

std::uint32_t narrow(std::size_t size) {
    return static_cast<std::uint32_t>(size);
}

}  // namespace

CNodeId PrintParser::named(std::string_view name) {
    if (name == "REC" || name == "__entry")
        return add({.op = Op::record, .type = {Kind::bytes, 1, false}});
    if (const auto it = locals_.find(name); it != locals_.end()) return it->second;
    if (const auto* const it = std::ranges::find(kNumbers, name, &NamedNumber::name);
        it != std::end(kNumbers))
        return constant(it->value, kInt);
    if (name == "NULL") return constant(0, kAddress);
    if (tokens_.accept("(")) return call(name);
    throw UnknownName(cat("'", name, "' has no value"));
}

// A call of `name`; its "(" is already consumed.
CNodeId PrintParser::call(std::string_view name) {
    if (name.starts_with("__get_") || name == "__probe_str") return get_field(name);
    if (name == "__print_flags" || name == "__print_flags_u64") return flags();
    if (name == "__print_symbolic" || name == "__print_symbolic_u64") return symbolic();
    if (name == "__print_hex") return print_hex(Op::hex);
    if (name == "__print_hex_str") return print_hex(Op::hex_joined);
    if (name == "__print_array") return print_array();
    if (name == "__print_dynamic_array") return print_dynamic_array();
    if (name == "__print_ns_to_secs") return seconds(true);
    if (name == "__print_ns_without_secs") return seconds(false);
    if (name == "__builtin_expect") {
        const CNodeId value = expression();
        tokens_.expect(",");
        expression();
        tokens_.expect(")");
        return value;
    }
    if (name == "__builtin_constant_p") {
        const CNodeId value = expression();
        tokens_.expect(")");
        return constant(tree_.nodes[value].op == CNode::Op::constant, kInt);
    }
    if (const auto* const it = std::ranges::find(kChoices, name, &Choice::function);
        it != std::end(kChoices)) {
        const CNodeId truth = as_number(expression());
        tokens_.expect(")");
        const CNodeId yes = literal(it->yes), no = literal(it->no);
        return add({.op = Op::choose, .type = kText, .a = truth, .b = yes, .c = no});
    }
    if (name == "drm_rect_width") return rect_side("x1", "x2");
    if (name == "drm_rect_height") return rect_side("y1", "y2");
    throw Error(cat("calls ", name, "()"));
}

// __get_str(field) and its kin; for a __rel_loc field the same names with "rel_" in them.
CNodeId PrintParser::get_field(std::string_view function) {
    const Field* const found = expect_dynamic();
    tokens_.expect(")");
    if (function == "__probe_str")
        return add({.op = Op::quoted, .type = kText, .a = located(*found, 1)});
    function.remove_prefix(std::string_view("__get_").size());
    if (function.starts_with("rel_")) function.remove_prefix(4);
    if (function == "str") return located(*found, 1);
    if (function == "dynamic_array" || function == "sockaddr") return located(*found, 0);
    if (function == "bitmask" || function == "cpumask")
        return add({.op = Op::bitmap, .type = kText, .a = located(*found, 1)});
    if (function == "dynamic_array_len")
        return add({.op = Op::length_of, .type = kInt, .offset = narrow(found->offset), .size = 4});
    throw Error(cat("calls __get_", function, "()"));
}

CNodeId PrintParser::print_hex(Op op) {
    const CNodeId from = as_bytes(expression());
    tokens_.expect(",");
    const CNodeId count = as_number(expression());
    tokens_.expect(")");
    return add({.op = op, .type = kText, .a = from, .b = count});
}

CNodeId PrintParser::print_array() {
    const CNodeId from = as_bytes(expression());
    tokens_.expect(",");
    const CNodeId count = as_number(expression());
    tokens_.expect(",");
    const CNodeId size = as_number(expression());
    tokens_.expect(")");
    return add({.op = Op::array, .type = kText, .a = from, .b = count, .c = size});
}

// __print_dynamic_array(field, size of an element)
CNodeId PrintParser::print_dynamic_array() {
    const Field* const found = expect_dynamic();
    tokens_.expect(",");
    const CNodeId size = as_number(expression());
    tokens_.expect(")");
    const CNodeId length =
        add({.op = Op::length_of, .type = kInt, .offset = narrow(found->offset), .size = 4});
    return add({.op = Op::array,
                .type = kText,
                .a = located(*found, 0),
                .b = arithmetic(Op::divide, length, size),
                .c = size});
}

CNodeId PrintParser::seconds(bool whole) {
    const CNodeId ns = cast_to(kUnsignedLong, as_number(expression()));
    tokens_.expect(")");
    const CNodeId second = constant(1'000'000'000, kUnsignedLong);
    if (whole) return arithmetic(Op::divide, ns, second);
    return cast_to({Kind::integer, 4, false}, arithmetic(Op::modulo, ns, second));
}

CNodeId PrintParser::flags() {
    const CNodeId value = as_number(expression());
    tokens_.expect(",");
    CNames names;
    names.delimiter = literal_text(expression()).value_or("");
    return named_values(Op::flags, value, std::move(names));
}

CNodeId PrintParser::symbolic() {
    return named_values(Op::symbolic, as_number(expression()), {});
}

// ", { value, "name" }, ... )". The kernel leaves constant names in it that only its headers
// define; such an entry is dropped, and its value prints as a number. A null name ends the list.
CNodeId PrintParser::named_values(Op op, CNodeId value, CNames names) {
    bool ended = false;
    while (tokens_.accept(",")) {
        tokens_.expect("{");
        const CTokens start = tokens_;
        try {
            if (!tokens_.is("}")) {
                const std::uint64_t number = tree_.integer(as_number(expression()), {});
                tokens_.expect(",");
                auto name = literal_text(expression());
                ended = ended || !name;
                if (!ended) names.entries.push_back({number, std::move(*name)});
            }
        } catch (const UnknownName&) {
            tokens_ = start;
            while (!tokens_.is("}") && !tokens_.at_end()) tokens_.advance();
        }
        tokens_.expect("}");
    }
    tokens_.expect(")");
    tree_.names.push_back(std::move(names));
    return add({.op = op, .type = kText, .a = value, .value = tree_.names.size() - 1});
}

// The text of a literal; absent for a null pointer.
std::optional<std::string> PrintParser::literal_text(CNodeId id) const {
    const CNode& node = tree_.nodes[id];
    if (node.op == Op::literal) return tree_.literals.substr(node.value, node.size);
    if (node.type.kind != Kind::text && tree_.integer(id, {}) == 0) return std::nullopt;
    throw Error("names a value by something that is no string");
}

const Field* PrintParser::find_dynamic(std::string_view name) const {
    const Field* const found = event_.find(name);
    return found && found->is_dynamic() ? found : nullptr;
}

// The dynamic field whose name comes next.
const Field* PrintParser::expect_dynamic() {
    const std::string_view name = tokens_.expect_word();
    const Field* const found = find_dynamic(name);
    if (!found) throw Error(cat("names a field '", name, "' that the event does not have"));
    return found;
}

// REC->name. A dynamic field's own four bytes are REC->__data_loc_name.
CNodeId PrintParser::field(std::string_view name) {
    for (const std::string_view prefix : {"__data_loc_", "__rel_loc_"}) {
        if (!name.starts_with(prefix)) continue;
        if (const Field* const f = find_dynamic(name.substr(prefix.size())))
            return add({.op = Op::load,
                        .type = {Kind::integer, 4, false},
                        .offset = narrow(f->offset),
                        .size = 4});
    }
    const Field* const f = event_.find(name);
    if (!f) throw Error(cat("names a field '", name, "' that the event does not have"));
    if (f->is_dynamic()) return located(*f, f->is_string ? 1 : f->element_size);

    CNode node{.op = Op::field_bytes,
               .type = {Kind::bytes, 0, false},
               .offset = narrow(f->offset),
               .size = narrow(f->size)};
    const auto size_in_type = [](std::size_t size) {
        return static_cast<std::uint8_t>(size <= 8 ? size : 0);
    };
    const bool is_scalar = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
    if (f->is_array) {
        node.type.size = f->is_string ? std::uint8_t{1} : size_in_type(f->element_size);
        node.type.is_signed = f->is_signed;
    } else if (f->is_pointer && f->size == 8) {
        node.op = Op::load;
        node.type = kAddress;
    } else if (is_scalar) {
        node.op = Op::load;
        node.type = {Kind::integer, size_in_type(f->size), f->is_signed,
                     f->type == "bool" || f->type == "_Bool"};
    }
    return add(node);
}

CNodeId PrintParser::located(const Field& f, std::size_t element) {
    const bool relative = f.place == Field::Place::rel_loc;
    return add({.op = relative ? Op::relative_bytes : Op::located_bytes,
                .type = {Kind::bytes, static_cast<std::uint8_t>(element <= 8 ? element : 0), false},
                .offset = narrow(f.offset),
                .size = 4});
}

CNodeId PrintParser::rect_member(CNodeId id, std::string_view name) {
    const auto* const member = std::ranges::find(kRectMembers, name);
    if (member == std::end(kRectMembers)) throw Error("looks into a structure");
    const CNodeId ints = add({.op = Op::cast, .type = {Kind::bytes, 4, true}, .a = as_bytes(id)});
    return element(ints, constant(static_cast<std::uint64_t>(member - kRectMembers), kInt));
}

CNodeId PrintParser::rect_side(std::string_view begin, std::string_view end) {
    const CNodeId rect = as_bytes(expression());
    tokens_.expect(")");
    const CNodeId far = rect_member(rect, end);
    return arithmetic(Op::subtract, far, rect_member(rect, begin));
}

}  // namespace gpufs
