#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include "lang/program/program.h"

namespace gpufs {

// A kind of probe, as texts and generated programs know it. engine/places/providers.h has
// the other half of the row: how its places are found and attached to.
struct ProbeKind {
    // What stands behind the name in a text.
    enum class Syntax {
        event,     // SYSTEM:EVENT
        name,      // a function, or a path and names
        sampling,  // an event and a rate or a count
        period,
        map,
        nothing,
    };
    // Where its programs run.
    enum class Place {
        event,     // a tracepoint
        function,  // of the kernel
        file,      // code of a program or a library
        sample,
        own,  // where gpufs says so: not about the machine's work
    };
    ProbeTarget::Kind kind;
    std::string_view name;
    Syntax syntax;
    std::string_view target;  // what stands behind it, for messages
    int colons;               // in the target's name, at least
    Place place;
    bool at_return = false;      // of a function
    bool has_registers = false;  // programs get the struct pt_regs of the place

    constexpr bool is_in_file() const { return place == Place::file; }
    // Of the kernel, a program or a library, at its begin or its return.
    constexpr bool is_at_function() const {
        return place == Place::function || (is_in_file() && kind != ProbeTarget::Kind::usdt);
    }
};

inline constexpr ProbeKind kProbeKinds[] = {
    {ProbeTarget::Kind::tracepoint, "tracepoint", ProbeKind::Syntax::event, "SYSTEM:EVENT", 1,
     ProbeKind::Place::event},
    {ProbeTarget::Kind::raw_tracepoint, "raw_tracepoint", ProbeKind::Syntax::event, "SYSTEM:EVENT",
     1, ProbeKind::Place::event},
    {ProbeTarget::Kind::recorded, "recorded", ProbeKind::Syntax::event, "SYSTEM:EVENT", 1,
     ProbeKind::Place::event},
    {ProbeTarget::Kind::kprobe, "kprobe", ProbeKind::Syntax::name, "FUNCTION[+OFFSET]", 0,
     ProbeKind::Place::function, false, true},
    {ProbeTarget::Kind::kretprobe, "kretprobe", ProbeKind::Syntax::name, "FUNCTION", 0,
     ProbeKind::Place::function, true, true},
    {ProbeTarget::Kind::uprobe, "uprobe", ProbeKind::Syntax::name, "PATH:FUNCTION[+OFFSET]", 1,
     ProbeKind::Place::file, false, true},
    {ProbeTarget::Kind::uretprobe, "uretprobe", ProbeKind::Syntax::name, "PATH:FUNCTION", 1,
     ProbeKind::Place::file, true, true},
    {ProbeTarget::Kind::usdt, "usdt", ProbeKind::Syntax::name, "PATH:PROVIDER:NAME", 2,
     ProbeKind::Place::file, false, true},
    {ProbeTarget::Kind::fentry, "fentry", ProbeKind::Syntax::name, "FUNCTION", 0,
     ProbeKind::Place::function},
    {ProbeTarget::Kind::fexit, "fexit", ProbeKind::Syntax::name, "FUNCTION", 0,
     ProbeKind::Place::function, true},
    {ProbeTarget::Kind::profile, "profile", ProbeKind::Syntax::sampling,
     "[EVENT] 99hz, 10ms or EVENT COUNT", 0, ProbeKind::Place::sample},
    {ProbeTarget::Kind::interval, "interval", ProbeKind::Syntax::period, "a time such as 1s", 0,
     ProbeKind::Place::own},
    {ProbeTarget::Kind::watchpoint, "watchpoint", ProbeKind::Syntax::name,
     "0xADDRESS:LENGTH:MODE, LENGTH 1, 2, 4 or 8, MODE of r, w and x", 2, ProbeKind::Place::sample},
    {ProbeTarget::Kind::begin, "begin", ProbeKind::Syntax::nothing, "", 0, ProbeKind::Place::own},
    {ProbeTarget::Kind::end, "end", ProbeKind::Syntax::nothing, "", 0, ProbeKind::Place::own},
    {ProbeTarget::Kind::signal, "signal", ProbeKind::Syntax::name, "SIGUSR1 or SIGUSR2", 0,
     ProbeKind::Place::own},
    {ProbeTarget::Kind::each, "each", ProbeKind::Syntax::map, "MAP", 0, ProbeKind::Place::own},
    {ProbeTarget::Kind::snapshot, "snapshot", ProbeKind::Syntax::map, "MAP", 0,
     ProbeKind::Place::own},
    {ProbeTarget::Kind::iter, "iter", ProbeKind::Syntax::name, "task, task_file, bpf_map, ...", 0,
     ProbeKind::Place::own},
};

// Where the number of a line begins in a place of code, "sched.c:412", behind the last colon; 0 if
// there is none.
constexpr std::size_t line_begin(std::string_view place) {
    const std::size_t colon = place.rfind(':');
    if (colon == place.npos || colon == 0 || colon + 1 == place.size()) return 0;
    for (const char c : place.substr(colon + 1))
        if (c < '0' || c > '9') return 0;
    return colon + 1;
}

// Does a table have a row for each kind, in the order of the kinds?
template <class Row, std::size_t N>
constexpr bool has_all_probe_kinds(const Row (&rows)[N]) {
    for (std::size_t i = 0; i < N; ++i)
        if (static_cast<std::size_t>(rows[i].kind) != i) return false;
    return N == static_cast<std::size_t>(ProbeTarget::Kind::iter) + 1;
}
static_assert(has_all_probe_kinds(kProbeKinds));

constexpr const ProbeKind& probe_kind(ProbeTarget::Kind kind) {
    return kProbeKinds[static_cast<std::size_t>(kind)];
}

}  // namespace gpufs
