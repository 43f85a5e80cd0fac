#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// A client of a GPU driver: an open file of its device, with what the driver counted for it.
// Drivers print this in /proc/PID/fdinfo/FD; the kernel's Documentation/gpu/drm-usage-stats.rst has
// the keys.
struct DrmClient {
    // Counters since the file was opened. A driver has busy_ns, or cycles with what they are to be
    // divided by, or several of them.
    struct Engine {
        std::string name;                         // "gfx"
        std::optional<std::uint64_t> busy_ns;     // drm-engine-gfx
        std::optional<std::uint64_t> cycles;      // drm-cycles-gfx: busy ones
        std::optional<std::uint64_t> all_cycles;  // drm-total-cycles-gfx: busy and idle ones
        std::optional<std::uint64_t> max_hz;      // drm-maxfreq-gfx: the most cycles of a second
        std::uint64_t capacity = 1;               // how many engines of a kind share the name
        bool operator==(const Engine&) const = default;
    };
    // Bytes of its buffers in a kind of memory.
    struct Region {
        std::string name;                            // "vram"
        std::optional<std::uint64_t> total, shared;  // of all buffers, of those others have, too
        std::optional<std::uint64_t> resident;       // that take place there; old: drm-memory-vram
        std::optional<std::uint64_t> active, purgeable;  // used by jobs, free for the taking
        // Of what the driver tells, the amount that is nearest to what takes place there.
        std::optional<std::uint64_t> bytes() const { return resident ? resident : total; }
        bool operator==(const Region&) const = default;
    };
    std::string driver;               // "amdgpu"
    std::string device;               // its PCI address, "0000:03:00.0"; empty if not on PCI
    std::optional<std::uint64_t> id;  // unique among those of the device
    std::vector<Engine> engines;      // both in the order of the text
    std::vector<Region> regions;
    bool operator==(const DrmClient&) const = default;
};

// The text of a fdinfo file. Absent if it has no "drm-driver": it is another file, or the driver
// counts nothing. Ignores unknown keys and values that are no numbers.
std::optional<DrmClient> parse_drm_client(std::string_view fdinfo);

}  // namespace gpufs
