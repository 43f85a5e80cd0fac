#pragma once

#include <string>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"

namespace gpufs::test {

// A text and all that is said to it, out of a file of such cases: "==== title", the text, "----",
// what is said.
struct Case {
    std::string title, text, said;
};
inline std::vector<Case> read_cases(const std::string& path) {
    std::vector<Case> cases;
    bool is_said = false;
    const std::string file = read_file(path);
    for (const std::string_view line : lines_of(file)) {
        if (line.starts_with("==== ")) {
            cases.push_back({std::string(line.substr(5)), {}, {}});
            is_said = false;
        } else if (line == "----") {
            is_said = true;
        } else {
            (is_said ? cases.back().said : cases.back().text) += cat(line, '\n');
        }
    }
    return cases;
}

}  // namespace gpufs::test
