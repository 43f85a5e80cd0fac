#include "lang/ir/aggregate.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <limits>
#include <stdexcept>

#include "engine/results/map_contents.h"
#include "lang/insn/map_world.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;
using Words = std::vector<std::uint64_t>;

// One map of values, and a program that adds the context's first word under its second as the key.
Program adder(const Aggregation& how, bpf_map_type type, std::uint64_t entries = 4) {
    Program program;
    program.name = "adder";
    MapDeclaration map;
    map.name = "seen";
    map.type = type;
    map.aggregation = how;
    map.max_entries = entries;
    declare_aggregation(program, std::move(map));
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Temp value = code.load({context, 0}, {8, how.is_signed});
    const ir::Slot key = code.new_slot(4, 4);
    code.store(key, code.load({context, 8}, ir::kU64), ir::kU32);
    append_aggregation(code, *program.find_map("seen"), key, value, how.is_signed);
    code.leave(0);
    ProbeProgram probe;
    probe.name = "add";
    probe.code = code.assemble();
    program.programs.push_back(std::move(probe));
    return program;
}

Aggregation of(Kind kind, bool is_signed = false) {
    Aggregation how;
    how.kind = kind;
    how.is_signed = is_signed;
    return how;
}

class Adder {
public:
    Adder(const Aggregation& how, bpf_map_type type, std::uint64_t entries = 4)
        : world_(adder(how, type, entries)) {}

    Adder& add(std::uint64_t value, std::uint64_t key = 0) {
        const std::uint64_t context[] = {value, key};
        world_.run(0, {}, std::as_bytes(std::span(context)));
        return *this;
    }
    Words at(std::uint32_t key = 0) { return world_.words("seen", key); }
    std::uint64_t refused() { return world_.words("seen_refused").at(0); }
    // The only slot that counts something.
    std::size_t slot() {
        const Words words = at();
        std::size_t found = words.size();
        for (std::size_t i = 0; i < words.size(); ++i)
            if (words[i] != 0) found = found == words.size() && words[i] == 1 ? i : ~std::size_t{0};
        return found;
    }

private:
    test::MapWorld world_;
};

std::size_t slot_of(const Aggregation& how, std::uint64_t value) {
    return Adder(how, BPF_MAP_TYPE_PERCPU_ARRAY, 1).add(value).slot();
}

constexpr std::uint64_t minus(std::uint64_t n) {
    return 0 - n;
}

BOOST_AUTO_TEST_SUITE(aggregate_code)

BOOST_AUTO_TEST_CASE(counts_and_sums_add_up_by_key) {
    Adder count(of(Kind::count), BPF_MAP_TYPE_PERCPU_HASH);
    count.add(7, 1).add(7, 2).add(9, 1);
    BOOST_TEST(count.at(1) == Words{2});
    BOOST_TEST(count.at(2) == Words{1});
    BOOST_TEST(count.at(3) == Words{});
    Adder sum(of(Kind::sum, true), BPF_MAP_TYPE_HASH);
    sum.add(minus(7), 1).add(5, 1);
    BOOST_TEST(sum.at(1) == Words{minus(2)});
    Adder avg(of(Kind::avg), BPF_MAP_TYPE_PERCPU_ARRAY, 1);
    avg.add(10).add(5);
    BOOST_TEST(avg.at() == (Words{2, 15}));
}

BOOST_AUTO_TEST_CASE(extremes_are_of_the_values_that_came_whatever_their_sign) {
    for (const bool is_signed : {false, true}) {
        Adder least(of(Kind::min, is_signed), BPF_MAP_TYPE_HASH);
        Adder most(of(Kind::max, is_signed), BPF_MAP_TYPE_HASH);
        Adder stats(of(Kind::stats, is_signed), BPF_MAP_TYPE_HASH);
        for (Adder* one : {&least, &most, &stats}) one->add(5).add(minus(3)).add(0);
        BOOST_TEST(least.at() == (Words{is_signed ? minus(3) : 0, 1}));
        BOOST_TEST(most.at() == (Words{is_signed ? 5 : minus(3), 1}));
        BOOST_TEST(stats.at() == (Words{3, 2, is_signed ? minus(3) : 0, is_signed ? 5 : minus(3)}));
    }
}

BOOST_AUTO_TEST_CASE(extremes_that_could_be_wrong_are_not_made) {
    for (const auto type :
         {BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_PERCPU_HASH})
        for (const Kind kind : {Kind::min, Kind::max, Kind::stats})
            BOOST_CHECK_THROW(adder(of(kind), type), std::logic_error);
}

BOOST_AUTO_TEST_CASE(log2_counts_by_the_number_of_bits) {
    BOOST_TEST(slot_of(of(Kind::log2), 0) == 0u);
    for (std::size_t bit = 0; bit < 64; ++bit) {
        const std::uint64_t low = std::uint64_t{1} << bit;
        BOOST_TEST(slot_of(of(Kind::log2), low) == bit + 1);
        BOOST_TEST(slot_of(of(Kind::log2), low + (low - 1)) == bit + 1);
    }
    BOOST_TEST(slot_of(of(Kind::log2, true), minus(1)) == 0u);
    BOOST_TEST(slot_of(of(Kind::log2, true), 1) == 1u);
}

// The bounds of slots are written down in one more place, where they are shown; here they are
// looked for by trying.
BOOST_AUTO_TEST_CASE(log_linear_has_as_many_slots_for_each_power_of_two) {
    Aggregation how = of(Kind::log_linear);
    how.sub_bits = 2;
    for (std::uint64_t n = 0; n < 8; ++n) BOOST_TEST(slot_of(how, n) == n);
    // 8 to 15 in steps of 2, 16 to 31 in steps of 4.
    for (std::uint64_t n = 8; n < 16; ++n) BOOST_TEST(slot_of(how, n) == 8 + (n - 8) / 2);
    for (std::uint64_t n = 16; n < 32; ++n) BOOST_TEST(slot_of(how, n) == 12 + (n - 16) / 4);
    const std::size_t slots = how.bytes() / 8;
    BOOST_TEST(slot_of(how, ~std::uint64_t{0}) == slots - 1);
    how.is_signed = true;
    BOOST_TEST(slot_of(how, minus(5)) == 0u);
    how = of(Kind::log_linear);
    BOOST_TEST(slot_of(how, 0) == 0u);
    BOOST_TEST(slot_of(how, 1) == 1u);
    BOOST_TEST(slot_of(how, ~std::uint64_t{0}) == how.bytes() / 8 - 1);
}

BOOST_AUTO_TEST_CASE(linear_has_a_slot_below_and_one_above) {
    Aggregation how = of(Kind::linear);
    how.low = 10;
    how.high = 40;
    how.step = 10;
    BOOST_TEST(slot_of(how, 0) == 0u);
    BOOST_TEST(slot_of(how, 9) == 0u);
    BOOST_TEST(slot_of(how, 10) == 1u);
    BOOST_TEST(slot_of(how, 39) == 3u);
    BOOST_TEST(slot_of(how, 40) == 4u);
    BOOST_TEST(slot_of(how, ~std::uint64_t{0}) == 4u);
    how.is_signed = true;
    BOOST_TEST(slot_of(how, minus(1)) == 0u);
    how.low = -20;
    how.high = 20;
    how.step = 20;
    BOOST_TEST(slot_of(how, minus(21)) == 0u);
    BOOST_TEST(slot_of(how, minus(20)) == 1u);
    BOOST_TEST(slot_of(how, minus(1)) == 1u);
    BOOST_TEST(slot_of(how, 0) == 2u);
    BOOST_TEST(slot_of(how, 20) == 3u);
    // Unsigned values and bounds below 0: none is below, and all are above a bound of 0.
    how.is_signed = false;
    BOOST_TEST(slot_of(how, 0) == 2u);
    BOOST_TEST(slot_of(how, ~std::uint64_t{0}) == 3u);
    how.high = 0;
    BOOST_TEST(slot_of(how, 0) == 2u);
}

BOOST_AUTO_TEST_CASE(a_histogram_of_a_key_begins_empty) {
    Adder hist(of(Kind::log2), BPF_MAP_TYPE_PERCPU_HASH);
    hist.add(1, 1).add(1, 1).add(4, 2);
    Words one(65), two(65);
    one[1] = 2;
    two[3] = 1;
    BOOST_TEST(hist.at(1) == one);
    BOOST_TEST(hist.at(2) == two);
}

BOOST_AUTO_TEST_CASE(keys_without_room_are_counted_and_no_others) {
    for (const Kind kind : {Kind::count, Kind::log2, Kind::max}) {
        Adder adder(of(kind), BPF_MAP_TYPE_HASH, 3);
        for (std::uint64_t key = 0; key < 10; ++key) adder.add(1, key).add(1, key);
        BOOST_TEST(adder.refused() == 14u);
        BOOST_TEST(adder.at(2) != Words{});
        BOOST_TEST(adder.at(3) == Words{});
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
