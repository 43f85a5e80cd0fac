#pragma once

#include <cstddef>

namespace gpufs {

// Hands over all records of a ring there are, and those that come meanwhile; gives space back as it
// goes, each eighth of the ring. Returns how many.
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
