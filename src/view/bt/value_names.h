#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/symbols/symbols.h"

namespace gpufs::bt {

// What a script's values mean outside of the script: a live run asks the machine, a recording
// itself.
class ValueNames {
public:
    virtual ~ValueNames() = default;

    // What stands at an address. A frame without a name is printed as its address.
    virtual Frame kernel(std::uint64_t address, FramePlace place) = 0;
    virtual Frame user(std::uint32_t pid, std::uint64_t address, FramePlace place) = 0;
    virtual std::optional<Symbols::FilePlace> file_place(std::uint32_t pid,
                                                         std::uint64_t address) = 0;
    // The addresses of a stack in a stack map, innermost first. Empty if there is none.
    virtual std::vector<std::uint64_t> frames(const std::string& map, std::int32_t id) = 0;
    // Of a uid. Empty if nobody has it.
    virtual std::string user_name(std::uint64_t uid) = 0;
    // Of a thread, by its id. Empty if it is not known.
    virtual std::string task_name(std::uint32_t tid) = 0;
    // "unified:/system.slice". Empty if there is none.
    virtual std::string cgroup_path(std::uint64_t id) = 0;
    // A time as ns since 1970. In the order of Type::Kind::timestamp's numbers.
    enum class Clock { boot, monotonic, tai };
    virtual std::uint64_t wall_ns(Clock clock, std::uint64_t ns) = 0;
};

}  // namespace gpufs::bt
