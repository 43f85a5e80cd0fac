#include "vm/map.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <random>

#include "base/error.h"

namespace gpufs {
namespace {

namespace data = boost::unit_test::data;

using Words = std::vector<std::uint64_t>;

// A map of numbers by numbers, with two CPUs.
class Numbers {
public:
    explicit Numbers(bpf_map_type type, std::uint32_t entries = 3)
        : map_({type, "m", 4, 8, entries, 0}, 2, memory_) {}

    int set(std::uint32_t key, std::uint64_t value, std::uint64_t flags = BPF_ANY,
            std::size_t cpu = 0) {
        return map_.update_copy(bytes(key), bytes(value), flags, cpu);
    }
    int erase(std::uint32_t key) { return map_.erase(bytes(key)); }
    std::uint64_t address(std::uint32_t key, std::size_t cpu = 0) {
        return map_.lookup_address(bytes(key), cpu);
    }
    std::uint64_t at(std::uint64_t address) {
        std::uint64_t value = 0;
        const std::byte* found = memory_.find_readable(address, 8);
        BOOST_TEST_REQUIRE(found != nullptr);
        std::memcpy(&value, found, 8);
        return value;
    }
    // Of all CPUs; empty where there is no such key.
    Words whole(std::uint32_t key) const {
        Words words(map_.whole_value_bytes() / 8);
        return map_.lookup(bytes(key), std::as_writable_bytes(std::span(words))) ? words : Words{};
    }
    std::vector<std::uint32_t> keys() const {
        std::vector<std::uint32_t> keys;
        map_.for_each([&](std::span<const std::byte> key, std::span<const std::byte>) {
            std::uint32_t number = 0;
            std::memcpy(&number, key.data(), sizeof number);
            keys.push_back(number);
        });
        std::ranges::sort(keys);
        return keys;
    }
    InterpretedMap& map() { return map_; }
    VmMemory& memory() { return memory_; }

private:
    template <class T>
    static std::span<const std::byte> bytes(const T& value) {
        return std::as_bytes(std::span(&value, 1));
    }

    VmMemory memory_;
    InterpretedMap map_;
};

using Keys = std::vector<std::uint32_t>;

BOOST_AUTO_TEST_SUITE(interpreted_map)

BOOST_DATA_TEST_CASE(a_hash_keeps_what_fits_and_says_what_the_kernel_says,
                     data::make({BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_PERCPU_HASH}), type) {
    Numbers map(type);
    BOOST_TEST(map.address(1) == 0u);
    BOOST_TEST(map.set(1, 10, BPF_EXIST) == -ENOENT);
    BOOST_TEST(map.set(1, 10, BPF_NOEXIST) == 0);
    BOOST_TEST(map.set(1, 10, BPF_NOEXIST) == -EEXIST);
    BOOST_TEST(map.set(1, 11, BPF_EXIST) == 0);
    BOOST_TEST(map.set(1, 11, BPF_F_LOCK) == -EINVAL);
    BOOST_TEST(map.at(map.address(1)) == 11u);
    BOOST_TEST(map.set(2, 20) == 0);
    BOOST_TEST(map.set(3, 30) == 0);
    BOOST_TEST(map.set(4, 40) == -E2BIG);
    BOOST_TEST(map.set(3, 31) == 0);  // is there: needs no room
    BOOST_TEST(map.erase(2) == 0);
    BOOST_TEST(map.erase(2) == -ENOENT);
    BOOST_TEST(map.set(4, 40) == 0);
    BOOST_TEST(map.keys() == (Keys{1, 3, 4}));
}

BOOST_AUTO_TEST_CASE(who_looked_a_value_up_keeps_it_when_another_is_set) {
    Numbers hash(BPF_MAP_TYPE_HASH), array(BPF_MAP_TYPE_ARRAY);
    for (Numbers* map : {&hash, &array}) map->set(1, 10);
    const std::uint64_t in_hash = hash.address(1), in_array = array.address(1);
    for (Numbers* map : {&hash, &array}) map->set(1, 11);
    BOOST_TEST(hash.at(in_hash) == 10u);
    BOOST_TEST(hash.at(hash.address(1)) == 11u);
    BOOST_TEST(array.at(in_array) == 11u);
    hash.erase(1);
    BOOST_TEST(hash.at(in_hash) == 10u);
}

BOOST_AUTO_TEST_CASE(each_cpu_has_its_copy_and_a_new_entry_has_zeros_elsewhere) {
    Numbers map(BPF_MAP_TYPE_PERCPU_HASH, 1);
    map.set(1, 10, BPF_ANY, 0);
    map.set(1, 11, BPF_ANY, 1);
    BOOST_TEST(map.at(map.address(1, 0)) == 10u);
    BOOST_TEST(map.at(map.address(1, 1)) == 11u);
    BOOST_TEST(map.whole(1) == (Words{10, 11}));
    map.erase(1);
    map.set(2, 20, BPF_ANY, 1);
    BOOST_TEST(map.whole(2) == (Words{0, 20}));
    Numbers array(BPF_MAP_TYPE_PERCPU_ARRAY);
    array.set(2, 7, BPF_ANY, 1);
    BOOST_TEST(array.whole(2) == (Words{0, 7}));
}

BOOST_DATA_TEST_CASE(an_array_has_all_its_elements_and_no_others,
                     data::make({BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_PERCPU_ARRAY}), type) {
    Numbers map(type);
    BOOST_TEST(map.keys() == (Keys{0, 1, 2}));
    BOOST_TEST(map.at(map.address(2)) == 0u);
    BOOST_TEST(map.address(3) == 0u);
    BOOST_TEST(map.set(2, 5) == 0);
    BOOST_TEST(map.set(3, 5) == -E2BIG);
    BOOST_TEST(map.set(2, 5, BPF_NOEXIST) == -EEXIST);
    BOOST_TEST(map.erase(2) == -EINVAL);
    BOOST_TEST(map.whole(2)[0] == 5u);
}

BOOST_AUTO_TEST_CASE(an_lru_hash_drops_what_was_used_the_longest_time_ago) {
    Numbers map(BPF_MAP_TYPE_LRU_HASH);
    for (const std::uint32_t key : {1, 2, 3}) map.set(key, key);
    map.address(1);
    BOOST_TEST(map.set(4, 4) == 0);
    BOOST_TEST(map.keys() == (Keys{1, 3, 4}));
    map.set(3, 30);
    BOOST_TEST(map.set(5, 5) == 0);
    BOOST_TEST(map.keys() == (Keys{3, 4, 5}));
    map.erase(4);
    BOOST_TEST(map.set(6, 6) == 0);
    BOOST_TEST(map.keys() == (Keys{3, 5, 6}));
}

BOOST_AUTO_TEST_CASE(equal_stacks_have_one_number_and_a_full_map_keeps_no_more) {
    VmMemory memory;
    InterpretedMap map({BPF_MAP_TYPE_STACK_TRACE, "s", 4, 24, 3, 0}, 1, memory);
    const Words a{1, 2}, longer{1, 2, 3, 4}, cut{1, 2, 3};
    const int id = map.keep_stack(a);
    BOOST_TEST(map.keep_stack(longer) != id);
    BOOST_TEST(map.keep_stack(longer) == map.keep_stack(cut));  // three frames fit
    BOOST_TEST(map.keep_stack(a) == id);
    Words found(3);
    const auto number = static_cast<std::uint32_t>(id);
    BOOST_TEST(
        map.lookup(std::as_bytes(std::span(&number, 1)), std::as_writable_bytes(std::span(found))));
    BOOST_TEST(found == (Words{1, 2, 0}));
    // Its size is a power of 2.
    BOOST_TEST(map.keep_stack(Words{7}) >= 0);
    BOOST_TEST(map.keep_stack(Words{8}) >= 0);
    BOOST_TEST(map.keep_stack(Words{9}) == -EEXIST);
}

BOOST_AUTO_TEST_CASE(readers_take_entries_out_and_set_whole_values) {
    Numbers map(BPF_MAP_TYPE_PERCPU_HASH);
    map.set(1, 10);
    map.set(2, 20);
    std::size_t visited = 0;
    map.map().take_each([&](auto, auto value) {
        BOOST_TEST(value.size() == 16u);
        ++visited;
    });
    BOOST_TEST(visited == 2u);
    BOOST_TEST(map.keys() == Keys{});
    Numbers array(BPF_MAP_TYPE_ARRAY);
    const std::uint32_t key = 1;
    const std::uint64_t value = 9;
    array.map().update(std::as_bytes(std::span(&key, 1)), std::as_bytes(std::span(&value, 1)));
    BOOST_TEST(array.at(array.address(1)) == 9u);
}

BOOST_AUTO_TEST_CASE(nothing_is_behind_a_value_or_in_front_of_it) {
    Numbers map(BPF_MAP_TYPE_PERCPU_HASH);
    for (const std::uint32_t key : {1, 2, 3}) map.set(key, key);
    const std::uint64_t address = map.address(2);
    BOOST_TEST(map.memory().find_writable(address + 4, 4) != nullptr);
    BOOST_TEST(map.memory().find_writable(address + 4, 8) == nullptr);
    BOOST_TEST(map.memory().find_readable(address + 8, 1) == nullptr);
    BOOST_TEST(map.memory().find_readable(address - 1, 1) == nullptr);
    BOOST_TEST(map.memory().find_kernel(address + 6).size() == 2u);
    BOOST_TEST(map.memory().find_user(address).empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_made_is_refused) {
    VmMemory memory;
    const auto refusal = [&](const BpfMapSpec& spec) -> std::string {
        try {
            InterpretedMap(spec, 1, memory);
        } catch (const Error& e) {
            return e.what();
        }
        return {};
    };
    BOOST_TEST(refusal({BPF_MAP_TYPE_LPM_TRIE, "t", 4, 8, 1, 0}) ==
               "map 't' is of a type that cannot be interpreted: 11");
    BOOST_TEST(refusal({BPF_MAP_TYPE_ARRAY, "t", 4, 1 << 20, 1 << 20, 0}) ==
               "no room for a map of 1048577 entries of 1048576 bytes");
}

// The index against what the library has, with keys that come and go.
BOOST_AUTO_TEST_CASE(the_index_of_keys_finds_what_is_there_and_nothing_else) {
    std::mt19937_64 random(1);
    for (const std::size_t key_bytes : {1, 3, 8, 21}) {
        KeyIndex index(key_bytes);
        std::map<std::vector<std::byte>, std::uint32_t> expected;
        for (int step = 0; step < 20'000; ++step) {
            std::vector<std::byte> key(key_bytes);
            const std::uint64_t bits = random() % 300;
            std::memcpy(key.data(), &bits, std::min<std::size_t>(key_bytes, 8));
            const auto known = expected.find(key);
            const auto found = index.find(key);
            BOOST_REQUIRE(found.has_value() == (known != expected.end()));
            if (!found) {
                expected[key] = index.insert(key);
                continue;
            }
            BOOST_REQUIRE(*found == known->second);
            if (random() % 3 == 0) {
                known->second = index.move(*found);
            } else if (random() % 2 == 0) {
                index.erase(*found);
                expected.erase(known);
            }
            BOOST_REQUIRE(index.size() == expected.size());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
