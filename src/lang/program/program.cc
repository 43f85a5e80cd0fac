#include "lang/program/program.h"

#include <algorithm>

#include "base/find_by_name.h"

namespace gpufs {

bool RecordLayout::is_for_freeze() const {
    return std::ranges::find(actions, Action::Kind::freeze, &Action::kind) != actions.end();
}

const MapDeclaration* Program::find_map(std::string_view map) const {
    return find_by_name(maps, map);
}
const RecordLayout* Program::find_record(std::string_view record) const {
    return find_by_name(records, record);
}
const Parameter* Program::find_parameter(std::string_view parameter) const {
    return find_by_name(parameters, parameter);
}
const Subprogram* Program::find_subprogram(std::string_view subprogram) const {
    return find_by_name(subprograms, subprogram);
}

}  // namespace gpufs
