#pragma once

// What programs share that do one of several works: the first word says which, numbers how much.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace works {

using Numbers = std::vector<long>;
struct Work {
    std::size_t numbers;  // so many it takes
    std::function<void(const Numbers&)> run;
};

// Throws with errno's words.
inline void check(bool is_well, const std::string& what) {
    if (!is_well) throw std::runtime_error(what + ": " + std::strerror(errno));
}

// Throws where there is no such work, or it takes another number of numbers.
inline void run(const std::map<std::string, Work>& works, const std::vector<std::string>& words) {
    const auto work = words.empty() ? works.end() : works.find(words[0]);
    if (work == works.end() || words.size() != work->second.numbers + 1)
        throw std::runtime_error("no such work");
    Numbers numbers;
    for (std::size_t i = 1; i < words.size(); ++i) numbers.push_back(std::stol(words[i]));
    work->second.run(numbers);
}

// What main() of such a program does and returns.
inline int run_main(const std::map<std::string, Work>& works, int argc, char** argv) try {
    run(works, {argv + 1, argv + argc});
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
}

}  // namespace works
