#pragma once

#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "engine/monitor/kernel_facts.h"
#include "lang/adhoc/adhoc.h"

namespace gpufs {

// The events that words of an ad-hoc command name, KIND:TARGET as parse_probe_word() takes it, with
// this machine's formats; a pattern of tracepoints becomes all that match. Complains of words that
// name no event, under each.
std::vector<AdhocEvent> find_adhoc_events(const SourceText& source,
                                          std::span<const AdhocWord> words, KernelFacts& machine,
                                          Diagnostics& mistakes);

}  // namespace gpufs
