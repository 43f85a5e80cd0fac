#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "engine/monitor/monitor.h"
#include "engine/results/map_contents.h"
#include "lang/asm/assembler.h"
#include "support/map_entries.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using Words = std::vector<std::uint64_t>;

// A monitor whose maps this test fills itself.
class Filled {
public:
    explicit Filled(const std::string& maps, bool turns = false)
        : monitor_(assemble({"t.bpf", maps + ".prog p begin\n  r0 = 0\n  exit\n"}, {}),
                   choice(turns), machine_),
          reader_(monitor_) {}

    static Monitor::Choice choice(bool turns) {
        Monitor::Choice choice;
        choice.turns = turns;
        return choice;
    }
    // The same words on each CPU of a per-CPU map.
    void set(const char* map, std::uint32_t key, const Words& words) {
        ProgramMap& to = *monitor_.map(map);
        std::vector<std::byte> value(to.whole_value_bytes());
        for (std::size_t at = 0; at < value.size(); at += to.copy_bytes())
            std::memcpy(value.data() + at, words.data(), words.size() * sizeof(words[0]));
        to.update(std::as_bytes(std::span(&key, 1)), value);
    }
    // "key: word word", in the order of keys.
    static std::map<std::uint32_t, Words> by_key(const MapEntries& entries) {
        std::map<std::uint32_t, Words> made;
        for (const MapEntry& entry : entries) {
            std::uint32_t key = 0;
            std::memcpy(&key, entry.key.data(), sizeof key);
            made[key] = {entry.words.begin(), entry.words.end()};
        }
        return made;
    }
    std::map<std::uint32_t, Words> read(const char* map) { return by_key(reader_.read(map)); }
    std::map<std::uint32_t, Words> take(const char* map) {
        monitor_.turn();
        return by_key(reader_.take(map));
    }
    // Reads and clears.
    std::map<std::uint32_t, Words> clear(const char* map) {
        const auto before = read(map);
        reader_.clear(map);
        return before;
    }
    const Monitor& monitor() const { return monitor_; }
    MapReader& reader() { return reader_; }

private:
    KernelFacts machine_;
    Monitor monitor_;
    MapReader reader_;
};

using Counts = std::map<std::uint32_t, Words>;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(map_reader)

BOOST_AUTO_TEST_CASE(what_is_taken_out_of_a_hash_is_gone) {
    Filled filled(".map n hash key u32, value count, max 8\n", true);
    filled.set("n", 1, {5});
    filled.set("n", 2, {7});
    const Counts both{{1, {5}}, {2, {7}}};
    BOOST_TEST((filled.read("n") == both));
    BOOST_TEST((filled.take("n") == both));
    BOOST_TEST(filled.read("n").empty());
    filled.set("n", 2, {1});
    BOOST_TEST((filled.take("n") == Counts{{2, {1}}}));
}

BOOST_AUTO_TEST_CASE(extremes_of_an_array_begin_anew_at_each_turn) {
    Filled filled(".map n array value max, max 2\n.map h array value log2, max 2\n", true);
    filled.set("n", 1, {9, 1});
    filled.set("h", 1920 + 40, {2, 90, ~std::uint64_t{44}, 46});
    filled.take("n");
    BOOST_TEST((Filled::by_key(filled.reader().take("h")) == Counts{{1, {2, 90, 44, 46}}}));
    filled.set("n", 1, {3, 1});
    filled.set("h", 1920 + 40, {1, 45, ~std::uint64_t{45}, 45});
    BOOST_TEST((filled.take("n") == Counts{{1, {3, 1}}}));
    BOOST_TEST((Filled::by_key(filled.reader().take("h")) == Counts{{1, {1, 45, 45, 45}}}));
    BOOST_TEST(filled.take("n").empty());
    BOOST_TEST(filled.take("n").empty());
}

BOOST_AUTO_TEST_CASE(a_cleared_array_of_sums_is_remembered_not_emptied) {
    Filled filled(".map n array value sum(s64), max 4\n");
    filled.set("n", 0, {5});
    filled.set("n", 2, {7});
    BOOST_TEST((filled.clear("n") == Counts{{0, {5}}, {2, {7}}}));
    BOOST_TEST(filled.read("n").empty());
    // The array goes on from where it was: 8 more, and back to 0.
    filled.set("n", 0, {13});
    filled.set("n", 2, {0});
    const Counts since{{0, {8}}, {2, {static_cast<std::uint64_t>(-7)}}};
    BOOST_TEST((filled.read("n") == since));
    BOOST_TEST((filled.clear("n") == since));
    BOOST_TEST(filled.clear("n").empty());
}

BOOST_AUTO_TEST_CASE(extremes_in_an_array_begin_anew) {
    Filled filled(".map n array value max, max 2\n");
    filled.set("n", 1, {9, 1});
    BOOST_TEST((filled.clear("n") == Counts{{1, {9, 1}}}));
    BOOST_TEST(filled.read("n").empty());
}

// An array of histograms has an element for each bucket; the least is kept as its complement.
BOOST_AUTO_TEST_CASE(of_histograms_in_an_array_a_bucket_has_what_came_since) {
    Filled filled(".map n array value log2, max 2\n");
    const auto set = [&](std::uint32_t bucket, std::uint64_t count, std::uint64_t total,
                         std::uint64_t least, std::uint64_t most) {
        filled.set("n", 1920 + bucket, {count, total, ~least, most});
    };
    set(40, 2, 90, 44, 46);
    set(3, 1, 3, 3, 3);
    BOOST_TEST((filled.clear("n") == Counts{{1, {3, 93, 3, 46}}}));
    BOOST_TEST(filled.read("n").empty());
    set(40, 3, 137, 44, 47);
    const std::vector<test::OwnEntry> since = test::own_entries(filled.reader().read("n"));
    filled.reader().clear("n");
    BOOST_TEST((since.at(0).buckets == std::vector<HistogramBucket>{{40, 1, 47, 47, 47}}));
    BOOST_TEST((since.at(0).words == Words{1, 47, 47, 47}));
    set(3, 3, 9, 3, 3);
    BOOST_TEST((filled.clear("n") == Counts{{1, {2, 6, 3, 3}}}));
}

BOOST_AUTO_TEST_CASE(hash_maps_that_are_or_were_full_are_named) {
    Filled filled(
        ".map a hash key u32, value count, max 2\n"
        ".map b hash key u32, value count, max 2\n"
        ".map c lru_hash key u32, value count, max 1\n"
        ".map d array value count, max 1\n");
    using Names = std::vector<std::string>;
    filled.set("a", 1, {1});
    filled.set("c", 1, {1});
    filled.set("d", 0, {1});
    BOOST_TEST(filled.reader().full_maps() == Names{});
    filled.set("a", 2, {1});
    BOOST_TEST(filled.reader().full_maps() == Names{"a"});
    filled.clear("a");
    filled.set("b", 1, {1});
    filled.set("b", 2, {1});
    BOOST_TEST(filled.reader().full_maps() == (Names{"a", "b"}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
