#include "lang/adhoc/flags.h"

#include <string_view>

#include "base/error.h"
#include "lang/print_fmt/expr.h"
#include "lang/program/call_flags.h"

namespace gpufs {
namespace {

// The list of names in the event's print fmt for exactly this field.
void take_names(const EventFormat& event, const Field& field, ValueType& type) {
    if (event.print_format.find("__print_") == std::string::npos) return;
    CTree tree;
    try {
        parse_print_arguments(event, tree);
    } catch (const Error&) {
        return;  // its records are shown by their fields, too
    }
    for (const CNode& node : tree.nodes) {
        if (node.op != CNode::Op::flags && node.op != CNode::Op::symbolic) continue;
        const CNode* value = &tree.nodes.at(node.a);
        while (value->op == CNode::Op::cast) value = &tree.nodes.at(value->a);
        if (value->op != CNode::Op::load || value->offset != field.offset) continue;
        for (const auto& [number, name] : tree.names.at(node.value).entries) {
            if (node.op == CNode::Op::symbolic)
                type.words.emplace_back(static_cast<std::int64_t>(number), name);
            else
                type.flags.push_back({number == 0 ? ~std::uint64_t{0} : number, number, name});
        }
        return;
    }
}

}  // namespace

void name_numbers(const EventFormat& event, const Field& field, ValueType& type) {
    constexpr std::string_view kEnter = "sys_enter_";
    if (event.system == "syscalls" && event.name.starts_with(kEnter)) {
        type.flags = flags_of_call(std::string_view(event.name).substr(kEnter.size()), field.name);
    } else {
        take_names(event, field, type);
    }
}

}  // namespace gpufs
