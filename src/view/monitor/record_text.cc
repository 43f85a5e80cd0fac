#include "view/monitor/record_text.h"

#include <algorithm>
#include <cerrno>

#include "base/cat.h"
#include "view/json.h"

namespace gpufs {
namespace {

using Kind = ValueType::Kind;

// The typical width of a value; negative: aligned to the left.
int usual_width(const ValueType& type) {
    constexpr int kText = 24, kSymbol = 28, kClock = 15, kAddress = 15, kName = 16, kPid = 7;
    if (!type.words.empty()) {
        std::size_t longest = 0;
        for (const auto& [value, word] : type.words) longest = std::max(longest, word.size());
        return -static_cast<int>(longest);
    }
    if (!type.flags.empty()) return -kText;
    switch (type.kind) {
        case Kind::integer:
            return type.bytes == 8 ? 12 : type.bytes == 4 ? 8 : type.bytes == 2 ? 5 : 3;
        case Kind::process:
            return kPid;
        case Kind::time:
            return kClock;
        case Kind::text:
            return -std::min(kText, static_cast<int>(type.bytes) - 1);
        case Kind::raw_bytes:
            return -2 * static_cast<int>(type.bytes);
        case Kind::kernel_address:
        case Kind::user_address:
            return -kSymbol;
        case Kind::ip_address:
        case Kind::dimensions:
            return -kAddress;
        default:
            return -kName;
    }
}

// "PID", "WAITED(us)". The unit is omitted for a member that is named after it, "US" or "WAIT_US".
std::string column_name(const ValuePlan& plan) {
    std::string name = plan.name;
    for (char& c : name)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const std::string& unit = plan.type.unit;
    const bool says_it = plan.name == unit || plan.name.ends_with(cat('_', unit));
    return unit.empty() || says_it ? name : cat(name, '(', unit, ')');
}

}  // namespace

RecordText::RecordText(const Program& program, ValueWriter& values, LargeNumbers large)
    : program_(program), values_(values), large_(large) {
    for (const RecordLayout& layout : program.records) {
        Plan plan;
        const bool is_named = !layout.title.empty() || program.records.size() > 1;
        if (is_named) plan.front = (layout.title.empty() ? layout.name : layout.title) + ' ';
        plan_columns(plan, layout);
        for (const Action& action : layout.actions)
            plan.prints.push_back(pieces_of(layout, action));
        plan.json_front = cat("{\"record\":", json_quote(layout.name), ",\"values\":{");
        plan.json_values = plan_values(layout.layout, "id");
        for (const ValuePlan& value : plan.json_values)
            plan.json_names.push_back(
                cat(plan.json_names.empty() ? "" : ",", json_quote(value.name), ':'));
        const std::string units = units_json(plan.json_values);
        plan.json_back = units.empty() ? "}}\n" : cat("},\"units\":", units, "}\n");
        plans_.push_back(std::move(plan));
    }
}

void RecordText::plan_columns(Plan& plan, const RecordLayout& layout) const {
    for (ValuePlan& value : plan_values(layout.layout, "id")) {
        if (value.is_stack()) {
            plan.stacks.push_back(std::move(value));
            continue;
        }
        Column column;
        column.name = column_name(value);
        const int usual = usual_width(value.type);
        const int width = std::max(std::abs(usual), static_cast<int>(column.name.size()));
        column.width = usual < 0 ? -width : width;
        column.plan = std::move(value);
        plan.columns.push_back(std::move(column));
    }
    // The last column needs no padding.
    if (!plan.columns.empty() && plan.columns.back().width < 0) plan.columns.back().width = 0;
}

std::vector<RecordText::Piece> RecordText::pieces_of(const RecordLayout& layout,
                                                     const Action& action) {
    std::vector<Piece> pieces;
    for (const Action::Piece& from : action.pieces) {
        if (pieces.empty() || pieces.back().has_value) pieces.emplace_back();
        Piece& piece = pieces.back();
        piece.text += from.text;
        if (from.member.empty()) continue;
        const Member* member = layout.layout.find(from.member);
        piece.plan = plan_value(layout.layout, *member, from.format);
        piece.width = from.width;
        piece.has_value = true;
    }
    return pieces;
}

void RecordText::append_names(std::string& out, Plan& plan) const {
    plan.has_names = true;
    plan.lines_left = screen_.rows > 1 ? screen_.rows - 1 : 0;
    const std::size_t start = out.size();
    out.append(columns_of(plan.front), ' ');
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
        if (i != 0) out += "  ";
        append_padded(out, plan.columns[i].name, plan.columns[i].width);
    }
    cut_from(out, start, screen_);
    out += '\n';
}

void RecordText::count_collisions(const Plan& plan, std::span<const std::byte> record) {
    for (const ValuePlan& stack : plan.stacks)
        if (static_cast<std::int64_t>(integer_at(stack, record)) == -EEXIST) ++stack_collisions_;
}

void RecordText::columns(std::string& out, const RecordLayout& layout,
                         std::span<const std::byte> record) {
    Plan& plan = plan_of(layout);
    count_collisions(plan, record);
    if (!plan.has_names || (screen_.rows != 0 && plan.lines_left == 0)) append_names(out, plan);
    if (plan.lines_left != 0) --plan.lines_left;
    const std::size_t start = out.size();
    out += plan.front;
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
        if (i != 0) out += "  ";
        const std::size_t cell = out.size();
        values_.text(out, plan.columns[i].plan, record);
        pad_from(out, cell, plan.columns[i].width);
    }
    cut_from(out, start, screen_);
    // A kernel and a user stack are one; a second of a kind is not the first one's continuation.
    const ValuePlan* above = nullptr;
    for (const ValuePlan& stack : plan.stacks) {
        if (above && above->type.kind == stack.type.kind) out += cat("\n    ", column_name(stack));
        values_.text(out, stack, record);
        above = &stack;
    }
    out += '\n';
}

void RecordText::print(std::string& out, const RecordLayout& layout, const Action& action,
                       std::span<const std::byte> record) {
    const Plan& plan = plan_of(layout);
    count_collisions(plan, record);
    if (!layout.title.empty()) out += plan.front;
    for (const Piece& piece :
         plan.prints[static_cast<std::size_t>(&action - layout.actions.data())]) {
        out += piece.text;
        if (!piece.has_value) continue;
        const std::size_t start = out.size();
        values_.text(out, piece.plan, record);
        pad_from(out, start, piece.width);
    }
    out += '\n';
}

void RecordText::json(std::string& out, const RecordLayout& layout,
                      std::span<const std::byte> record) {
    const Plan& plan = plan_of(layout);
    count_collisions(plan, record);
    out += plan.json_front;
    for (std::size_t i = 0; i < plan.json_values.size(); ++i) {
        out += plan.json_names[i];
        values_.json(out, plan.json_values[i], record, large_);
    }
    out += plan.json_back;
}

}  // namespace gpufs
