#pragma once

#include <string>
#include <vector>

namespace gpufs {

// Whether this kernel or this user has one capability.
struct Finding {
    enum class Answer { yes, no, could_not_tell };
    Answer answer;
    std::string what;    // "hist triggers"
    std::string detail;  // evidence: a path, a value, a list
    std::string fix;     // what to do if the answer is no
};

// Examines this machine. Changes nothing and does not need root; answers could_not_tell if this
// user may not see something.
std::vector<Finding> examine_machine();

}  // namespace gpufs
