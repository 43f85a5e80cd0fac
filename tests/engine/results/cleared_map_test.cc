#include "engine/results/cleared_map.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "engine/results/table_map.h"

namespace gpufs {
namespace {

// Values of two words, by keys of one.
class Numbers : public TableMap {
public:
    explicit Numbers(std::uint32_t most = 100, std::uint32_t type = BPF_MAP_TYPE_HASH)
        : spec_(TableMap::spec()) {
        spec_.max_entries = most;
        spec_.type = type;
    }
    const BpfMapSpec& spec() const override { return spec_; }
    void add(std::uint64_t key, std::uint64_t first, std::uint64_t second) {
        std::vector<std::uint64_t> words(2);
        lookup(bytes_of(key), std::as_writable_bytes(std::span(words)));
        words[0] += first;
        words[1] += second;
        update(bytes_of(key), std::as_bytes(std::span(words)));
    }
    std::size_t entries() const {
        std::size_t count = 0;
        for_each([&](auto, auto) { ++count; });
        return count;
    }

private:
    BpfMapSpec spec_;
};

using Entries = std::map<std::uint64_t, std::vector<std::uint64_t>>;

template <class Walk>
Entries seen(Walk&& walk) {
    Entries all;
    walk([&](std::span<const std::byte> key, std::span<const std::byte> value) {
        std::uint64_t of = 0;
        std::memcpy(&of, key.data(), sizeof of);
        std::vector<std::uint64_t>& words = all[of];
        words.resize(value.size() / sizeof of);
        std::memcpy(words.data(), value.data(), value.size());
    });
    return all;
}
Entries shown(const ClearedMap& map) {
    return seen([&](const ProgramMap::Visit& visit) { map.for_each(visit); });
}
Entries taken(ClearedMap& map) {
    return seen([&](const ProgramMap::Visit& visit) { map.take_each(visit); });
}

BOOST_AUTO_TEST_SUITE(cleared_maps)

BOOST_AUTO_TEST_CASE(what_was_taken_is_not_shown_again) {
    Numbers kernel;
    kernel.add(1, 3, 30);
    kernel.add(2, 0, 0);
    ClearedMap map(kernel, 2);
    BOOST_TEST((shown(map) == Entries{{1, {3, 30}}, {2, {0, 0}}}));
    BOOST_TEST((taken(map) == Entries{{1, {3, 30}}, {2, {0, 0}}}));
    BOOST_TEST(shown(map).empty());
    kernel.add(1, 1, 9);
    kernel.add(3, 5, 5);
    BOOST_TEST((shown(map) == Entries{{1, {1, 9}}, {3, {5, 5}}}));
    BOOST_TEST((taken(map) == Entries{{1, {1, 9}}, {3, {5, 5}}}));
    BOOST_TEST(kernel.entries() == 3u);
}

BOOST_AUTO_TEST_CASE(zeros_are_shown_until_it_is_cleared) {
    Numbers kernel;
    kernel.add(1, 3, 0);
    ClearedMap map(kernel, 2);
    map.zero();
    BOOST_TEST((shown(map) == Entries{{1, {0, 0}}}));
    kernel.add(1, 2, 0);
    BOOST_TEST((taken(map) == Entries{{1, {2, 0}}}));
    map.zero();
    BOOST_TEST(shown(map).empty());
}

BOOST_AUTO_TEST_CASE(words_that_are_not_added_to_stay) {
    Numbers kernel;
    kernel.add(1, 3, 77);
    ClearedMap map(kernel, 1);
    taken(map);
    kernel.add(1, 1, 0);
    BOOST_TEST((shown(map) == Entries{{1, {1, 77}}}));
}

BOOST_AUTO_TEST_CASE(an_entry_is_looked_up_as_it_is_shown) {
    Numbers kernel;
    kernel.add(1, 3, 4);
    ClearedMap map(kernel, 2);
    const std::uint64_t key = 1, other = 2;
    std::vector<std::uint64_t> words(2);
    const auto value = std::as_writable_bytes(std::span(words));
    BOOST_TEST(map.lookup(bytes_of(key), value));
    taken(map);
    BOOST_TEST(!map.lookup(bytes_of(key), value));
    kernel.add(1, 5, 6);
    BOOST_TEST(map.lookup(bytes_of(key), value));
    BOOST_TEST((words == std::vector<std::uint64_t>{5, 6}));
    BOOST_TEST(!map.lookup(bytes_of(other), value));
}

BOOST_AUTO_TEST_CASE(a_map_that_is_more_than_half_full_has_room_again) {
    Numbers kernel(4);
    ClearedMap map(kernel, 2);
    for (const std::uint64_t key : {1, 2}) kernel.add(key, 1, 1);
    taken(map);
    BOOST_TEST(kernel.entries() == 2u);
    kernel.add(1, 6, 6);
    kernel.add(3, 9, 9);
    BOOST_TEST((taken(map) == Entries{{1, {6, 6}}, {3, {9, 9}}}));
    BOOST_TEST(kernel.entries() == 0u);
    kernel.add(1, 2, 2);
    BOOST_TEST((shown(map) == Entries{{1, {2, 2}}}));
}

BOOST_AUTO_TEST_CASE(elements_of_an_array_stay) {
    Numbers kernel(2, BPF_MAP_TYPE_ARRAY);
    ClearedMap map(kernel, 1);
    for (const std::uint64_t key : {0, 1}) kernel.add(key, 1, 1);
    map.clear();
    BOOST_TEST(kernel.entries() == 2u);
    BOOST_TEST(shown(map).empty());
    kernel.add(1, 2, 0);
    BOOST_TEST((shown(map) == Entries{{1, {2, 1}}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
