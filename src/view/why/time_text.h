#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/why/accounts.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// A part of an account as it is told: all that is the same to a person.
struct TimeRow {
    TimePart part;                   // without its stack
    std::string call;                // of `blocked`: the system call, empty if there is none
    std::vector<std::string> where;  // and the functions it waits in, innermost first: two at most
};

// The account's parts, those that are told alike as one, by their time; the longest first.
std::vector<TimeRow> time_rows(const TimeAccount& account, const ValueNames& names);

// Shares in tenths of a percent, each rounded so that all together are 1000; of nothing none.
std::vector<unsigned> shares_of(const std::vector<std::uint64_t>& parts);

// A line for the account, then one for each of the rows that matter, as
//
//   game-4711: 3 threads, 6.000 s of thread time in 2.000 s
//    52.1 %   3.126 s  queued for ring gfx, behind Xorg-802
//
// `during_ns`: how long the time told was.
std::string time_text(const TimeAccount& account, const std::vector<TimeRow>& rows,
                      std::uint64_t during_ns, Controls controls);
// All of it as a JSON object on one line.
std::string time_json(const TimeAccount& account, const std::vector<TimeRow>& rows,
                      std::uint64_t during_ns);

}  // namespace gpufs
