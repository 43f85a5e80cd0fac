#pragma once

#include "cmd/run/run_program.h"
#include "cmd/shared/command.h"
#include "lang/adhoc/latency_hists.h"

namespace gpufs {

// A run of a question that the kernel's hist triggers answer, on this machine, without BPF: prints
// the reports of LatencyHists::program each interval and at the end, and what was lost. Of the
// choices it takes those that a program without code can have. Returns what Command::run returns.
int run_hists(Context& ctx, LatencyHists hists, const RunChoices& choices);

}  // namespace gpufs
