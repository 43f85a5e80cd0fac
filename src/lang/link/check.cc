#include "lang/link/check.h"

#include "lang/link/unit.h"

namespace gpufs {

void check_code(const Program& program, const IncompleteCode& incomplete, Diagnostics& mistakes) {
    const ProbeProgram no_probe;
    const LinkTarget no_machine;
    linking::LinkContext job{program, no_probe, no_machine};
    std::vector<linking::Unit> units = linking::all_units(job, incomplete);
    linking::check_memory(job, units);
    mistakes.add(job.mistakes);
}

}  // namespace gpufs
