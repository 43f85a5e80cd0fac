#pragma once

#include <string>
#include <vector>

namespace gpufs {

// One thing this kernel or this user can do, or not.
struct Finding {
    enum class Answer { yes, no, could_not_tell };
    Answer answer;
    std::string what;    // "hist triggers"
    std::string detail;  // what was seen: a path, a value, a list
    std::string fix;     // the one thing to do about a no
};

// Looks at this machine. Changes nothing and needs no root; what a user may not see is answered
// with could_not_tell.
std::vector<Finding> examine_machine();

}  // namespace gpufs
