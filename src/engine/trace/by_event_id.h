#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace gpufs {

// A cache by event id: a value is made when the first record of its event comes.
template <class T>
class ByEventId {
public:
    // Returns the value, made by `make(id)` if necessary. The reference stays valid. All negative
    // ids, which truncated records have, share one value.
    template <class Make>
    const T& get(int id, const Make& make) {
        const auto index = static_cast<std::size_t>(std::max(id, -1) + 1);
        if (index >= made_.size()) made_.resize(index + 1);
        if (!made_[index]) made_[index] = std::make_unique<const T>(make(id));
        return *made_[index];
    }

private:
    std::vector<std::unique_ptr<const T>> made_;
};

}  // namespace gpufs
