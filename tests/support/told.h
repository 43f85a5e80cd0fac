#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/json.h"
#include "support/run_gpufs.h"

namespace gpufs::test {

// What a monitor tells in JSON: while a command does its work, or over a recording.
class Told {
public:
    // `gpufs run MONITOR... --json -- COMMAND...`, to the end, which must be a good one.
    Told(const std::vector<std::string>& monitor, const std::vector<std::string>& command);

    // What it told otherwise: its output and its end, which must be a good one.
    explicit Told(Ended ended);

    // What it says to people, and what the command says.
    const std::string& err() const { return ended_.err; }

    // Values that a row's key or a record must have.
    using Wanted = std::map<std::string, std::string>;
    // The rows of a map that have them, of the first of its reports where there are some.
    std::vector<Json> rows(const std::string& map, const Wanted& wanted) const;
    // The sum of a number of these rows.
    long long sum(const std::string& map, const Wanted& wanted, const std::string& column) const;
    // The values of all records of this name that have them.
    std::vector<Json> records(const std::string& name, const Wanted& wanted) const;
    long long lost() const;

private:
    Ended ended_;
    std::vector<Json> lines_;
};

// The one that was found; the case ends where there is none or are several.
Json only(const std::vector<Json>& found);

}  // namespace gpufs::test
