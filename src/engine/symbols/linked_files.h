#pragma once

#include <string>
#include <vector>

namespace gpufs {

// The files whose code a program will have mapped in front of its first instruction: its own, the
// dynamic loader's, and the libraries that it is linked with, where ld.so(8) looks for them. Of a
// script, those of its interpreter. What cannot be read is left out.
std::vector<std::string> linked_files(std::string program);

}  // namespace gpufs
