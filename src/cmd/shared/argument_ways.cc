#include "cmd/shared/argument_ways.h"

#include <algorithm>

#include "view/table.h"

namespace gpufs {

std::string ways_table(const std::vector<ArgumentWay>& ways, Controls controls) {
    using Align = Table::Align;
    const bool has_programs =
        std::ranges::any_of(ways, [](const ArgumentWay& way) { return !way.program.empty(); });
    std::vector<Table::Column> columns{
        {"AT", Align::left}, {"NAME", Align::left}, {"TYPE", Align::left}, {"WHERE", Align::left}};
    columns.push_back({has_programs ? "READ BY TRACEFS" : "READ AS", Align::left});
    if (has_programs) columns.push_back({"BY THE PROGRAM", Align::left});
    Table table(std::move(columns));
    for (const ArgumentWay& way : ways) {
        std::vector<std::string> row{printable(way.place, controls), way.name,
                                     printable(way.c_type, controls), way.where, way.fetch};
        if (has_programs) row.push_back(way.program);
        table.add(row);
    }
    return table.to_text();
}

}  // namespace gpufs
