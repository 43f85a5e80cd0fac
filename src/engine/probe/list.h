#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/session/session.h"

namespace gpufs {

// A dynamic probe of a session: an event with one place in code, or several.
struct SessionProbe {
    std::string event;  // "gpufs:readline"
    bool is_user = false, is_return = false;
    struct Place {
        std::string text;      // as the kernel writes it: "/bin/bash:0x0000000000001139"
        std::string function;  // in a program: "readline+0x10"; empty where no symbol says it
    };
    std::vector<Place> places;
    std::string arguments;  // as the first place has them; empty if there are none
    // How often it was hit while somebody had it enabled. Absent where the kernel's list of hits
    // does not tell it from another's.
    std::optional<std::uint64_t> hits;
    // Hits that the kernel missed; only of probes in the kernel.
    std::optional<std::uint64_t> missed;

    // "/bin/bash:readline+0x10", "vfs_read"; with what the kernel writes where no symbol is known.
    std::string place_text() const;
};

// In the order in which they were made.
std::vector<SessionProbe> read_session_probes(const Session& session);

}  // namespace gpufs
