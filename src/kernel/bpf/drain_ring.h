#pragma once

#include <cstddef>

namespace gpufs {

// Passes all records of a ring to `on_record`, including those that arrive meanwhile. Gives space
// back after each eighth of the ring. Returns the number of records.
template <class Ring, class OnRecord>
std::size_t drain_ring(Ring& ring, OnRecord&& on_record) {
    std::size_t count = 0;
    while (const auto record = ring.next()) {
        on_record(*record);
        ++count;
        ring.release_if_full();
    }
    ring.release();
    return count;
}

}  // namespace gpufs
