#include "engine/results/running_part.h"

#include <algorithm>

#include "base/cat.h"

namespace gpufs {

std::string RunningPart::name_in_whole(std::string_view name) const {
    return cat(part_.name, '.', name);
}

const RecordLayout* RunningPart::find_own(const RecordLayout& layout) const {
    const std::string prefix = name_in_whole("");
    if (!layout.name.starts_with(prefix)) return nullptr;
    return part_.find_record(std::string_view(layout.name).substr(prefix.size()));
}

bool RunningPart::is_there() const {
    return std::ranges::any_of(whole_.program().programs, [&](const ProbeProgram& one) {
        return one.name.starts_with(name_in_whole(""));
    });
}

}  // namespace gpufs
