#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace gpufs {

// What is made once of each event, when its first record comes, and found by the id in records.
template <class T>
class ByEventId {
public:
    // `make(id)` makes it. Stays where it is. Negative ids, of records that are cut, are one.
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
