#pragma once

#include <string>
#include <variant>

namespace gpufs {

// Why something is not there, for a person.
struct Absent {
    std::string why, hint;
};

// The file that a probe of a program or a library names: a path; a program in $PATH; or a library
// where the dynamic loader looks without being told (/etc/ld.so.cache, its default directories),
// by its whole name or without the version: "libc.so.6", "libc".
std::variant<std::string, Absent> find_code_file(const std::string& name);

}  // namespace gpufs
