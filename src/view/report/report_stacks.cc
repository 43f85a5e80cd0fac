#include "view/report/report_stacks.h"

#include "base/cat.h"
#include "base/text.h"
#include "view/monitor/folded.h"
#include "view/report/report_cells.h"

namespace gpufs {

std::vector<CountedStack> counted_stacks(const MapDeclaration& map, const ReportRows& rows,
                                         ValueWriter& values) {
    if (!has_stacks(rows.key)) return {};
    const KeyPlans plans(map, rows.key);
    std::vector<CountedStack> stacks;
    for (const MapEntry& entry : rows.entries) {
        CountedStack& stack = stacks.emplace_back();
        for (std::string& cell : key_cells(plans, entry.key, values))
            stack.frames.push_back({std::move(cell), FrameKind::key});
        for (StackFrame& frame : stack_of(plans, entry.key, values))
            stack.frames.push_back(std::move(frame));
        stack.weight = weight_of(map.aggregation, entry.words);
    }
    return stacks;
}

std::string folded_text(const MapDeclaration& map, const ReportRows& rows, ValueWriter& values) {
    std::string text;
    for (CountedStack& stack : counted_stacks(map, rows, values)) {
        std::vector<std::string> fields;
        for (StackFrame& frame : stack.frames)
            fields.push_back(folded_field(std::move(frame.name)));
        text += cat(join(fields, ";"), ' ', stack.weight, '\n');
    }
    return text;
}

}  // namespace gpufs
