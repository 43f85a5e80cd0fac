#pragma once

#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "engine/monitor/adhoc_variables.h"
#include "engine/places/kernel_facts.h"
#include "lang/adhoc/adhoc.h"

namespace gpufs {

// Resolves the words of an ad-hoc command, KIND:TARGET as in parse_probe_word(), to events with
// this machine's formats, each once; a pattern of tracepoints becomes all matching events. Adds a
// mistake for each word that names no event. Where functions are asked for, looks also for those of
// a pattern; on kernels whose probes have no cookies (before Linux 5.15) each becomes an event.
// Where probes are told apart, each static probe of a pattern becomes one. A
// place in a program becomes an event for each of its addresses, as of find_variables().
std::vector<AdhocEvent> find_adhoc_events(const SourceText& source,
                                          std::span<const AdhocWord> words, KernelFacts& machine,
                                          Diagnostics& mistakes, AdhocLookup& lookup);

}  // namespace gpufs
