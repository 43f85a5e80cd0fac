#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/run_gpufs.h"

namespace gpufs::test {

// Runs gpufs as long as something happens in this process: attached before it begins, and ended
// when it is over.
Ended trace(std::vector<std::string> args, const std::function<void()>& work);

// Does the work in a thread of this name, on a CPU if one is given.
std::jthread in_thread(const std::string& name, const std::function<void()>& work, int cpu = -1);

// The condition that holds for the thread "gp-ours".
inline const std::string kOurs = "comm == \"gp-ours\"";

// The count that a JSON text gives behind a piece of it, or -1.
long count_behind(const std::string& text, const std::string& piece);

// A slot of a histogram in JSON.
std::string slot(std::uint64_t from, std::uint64_t to, int count);

}  // namespace gpufs::test
