#pragma once

#include <string>

#include "lang/program/program.h"

namespace gpufs {

// Code that knows the running task's files by their paths. A map of file paths has what
// lang/program/file_path.h says for each file that was met, by a number that is made of where its
// name is: the directory's place in memory, the name and the mount. One path has several numbers
// where the kernel forgot a directory meanwhile.
//
// The code reads the kernel's structures, whose members it takes from BTF, in a bounded loop.

// "file_path.NAME": its argument is a file's number among those of the running task. It returns
// the key in the map, or 0 where the task has no such file.
std::string file_path_function(std::string_view map);

// Declares a map of at most so many files, "NAME.scratch", the function, and "NAME.refused", which
// counts the files that found no room.
void declare_file_paths(Program& program, const std::string& name, std::uint64_t files);

}  // namespace gpufs
