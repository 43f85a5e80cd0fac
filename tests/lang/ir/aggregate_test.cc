#include "lang/ir/aggregate.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <numeric>
#include <random>

#include "engine/results/map_contents.h"
#include "lang/insn/map_world.h"
#include "lang/insn/program_text.h"
#include "support/rounds.h"
#include "view/monitor/histogram.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;
using Words = std::vector<std::uint64_t>;

// One map of values, and a program that adds the context's first word under its second as the key.
Program adder(const Aggregation& how, bpf_map_type type, std::uint64_t entries) {
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
    const ir::Slot key = code.new_slot(12, 4);
    code.store(key, code.load({context, 8}, ir::kU64), ir::kU32);
    append_aggregation(code, *program.find_map("seen"), key, value);
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
        : world_(adder(how, type, entries), kCpus) {}

    Adder& add(std::uint64_t value, std::uint64_t key = 0) {
        const std::uint64_t context[] = {value, key};
        world_.run(0, target_, std::as_bytes(std::span(context)));
        return *this;
    }
    Adder& on_cpu(std::uint32_t cpu) {
        world_.world.now.cpu = cpu;
        return *this;
    }
    // As on a kernel before Linux 5.12.
    Adder& without_atomics() {
        world_.features.clear();
        return *this;
    }
    // Null where there is none.
    const test::OwnEntry* entry(std::uint32_t key = 0) {
        entries_ = world_.entries("seen");
        for (const test::OwnEntry& one : entries_) {
            std::uint32_t number = 0;
            std::memcpy(&number, one.key.data(), sizeof number);
            if (number == key) return &one;
        }
        return nullptr;
    }
    Words at(std::uint32_t key = 0) {
        const test::OwnEntry* found = entry(key);
        return found ? found->words : Words{};
    }
    std::uint64_t refused() { return world_.words("seen.refused").at(0); }
    static constexpr std::size_t kCpus = 3;

private:
    test::MapWorld world_;
    LinkTarget target_;
    std::vector<test::OwnEntry> entries_;
};

// The bucket of a value.
std::size_t slot_of(const Aggregation& how, std::uint64_t value) {
    return Adder(how, BPF_MAP_TYPE_PERCPU_ARRAY, 1).add(value).entry()->buckets.at(0).number;
}

constexpr std::uint64_t minus(std::uint64_t n) {
    return 0 - n;
}

constexpr bpf_map_type kTypes[] = {BPF_MAP_TYPE_HASH,     BPF_MAP_TYPE_PERCPU_HASH,
                                   BPF_MAP_TYPE_LRU_HASH, BPF_MAP_TYPE_LRU_PERCPU_HASH,
                                   BPF_MAP_TYPE_ARRAY,    BPF_MAP_TYPE_PERCPU_ARRAY};

BOOST_AUTO_TEST_SUITE(aggregate_code)

BOOST_AUTO_TEST_CASE(a_function_is_the_same_alone_and_beside_maps_that_are_alike) {
    const auto map_of = [](std::string name, Kind kind, bpf_map_type type, std::size_t key_bytes) {
        MapDeclaration map;
        map.name = std::move(name);
        map.type = type;
        map.aggregation = of(kind);
        map.max_entries = 7;
        map.key.add("key", integer_value(key_bytes));
        return map;
    };
    const auto text_of = [](const Program& program, std::string_view function) {
        Program alone;
        alone.guards = program.guards;
        alone.subprograms = {*program.find_subprogram(function)};
        return program_text(alone);
    };
    for (const Kind kind : {Kind::count, Kind::stats, Kind::max, Kind::log2})
        for (const bpf_map_type type : kTypes)
            for (const std::size_t bytes : {4u, 8u}) {
                const MapDeclaration last = map_of("last", kind, type, bytes);
                Program together, alone;
                AggregateFunctions functions(together);
                functions.define(map_of("first", kind, type, 4), {4, false});
                functions.define(map_of("other", Kind::sum, type, 4), {4, false});
                functions.define(last, {4, false});
                AggregateFunctions(alone).define(last, {4, false});
                BOOST_TEST(text_of(together, "add.last") == text_of(alone, "add.last"));
            }
}

BOOST_AUTO_TEST_CASE(counts_and_sums_add_up_by_key) {
    Adder count(of(Kind::count), BPF_MAP_TYPE_PERCPU_HASH);
    count.add(7, 1).add(7, 2).on_cpu(2).add(9, 1);
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

BOOST_AUTO_TEST_CASE(extremes_are_of_the_values_that_came_whatever_their_sign_and_map) {
    for (const bpf_map_type type : kTypes) {
        for (const bool is_signed : {false, true}) {
            Adder least(of(Kind::min, is_signed), type);
            Adder most(of(Kind::max, is_signed), type);
            Adder stats(of(Kind::stats, is_signed), type), old(of(Kind::stats, is_signed), type);
            old.without_atomics();
            for (Adder* one : {&least, &most, &stats, &old})
                one->add(5).on_cpu(1).add(minus(3)).on_cpu(2).add(0);
            const Words all{3, 2, is_signed ? minus(3) : 0, is_signed ? 5 : minus(3)};
            BOOST_TEST(least.at() == (Words{is_signed ? minus(3) : 0, 1}));
            BOOST_TEST(most.at() == (Words{is_signed ? 5 : minus(3), 1}));
            BOOST_TEST(stats.at() == all);
            BOOST_TEST(old.at() == all);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_only_value_is_both_extremes_even_one_at_the_end_of_its_type) {
    for (const bool is_signed : {false, true})
        for (const std::uint64_t value :
             {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} >> 1})
            BOOST_TEST(Adder(of(Kind::stats, is_signed), BPF_MAP_TYPE_HASH).add(value).at() ==
                       (Words{1, value, value, value}));
}

// The bounds of buckets are written down in one more place, where they are shown; here they are
// looked for by trying.
BOOST_AUTO_TEST_CASE(log_linear_has_as_many_buckets_for_each_power_of_two) {
    Aggregation how = of(Kind::log_linear);
    how.sub_bits = 2;
    for (std::uint64_t n = 0; n < 8; ++n) BOOST_TEST(slot_of(how, n) == n);
    // 8 to 15 in steps of 2, 16 to 31 in steps of 4.
    for (std::uint64_t n = 8; n < 16; ++n) BOOST_TEST(slot_of(how, n) == 8 + (n - 8) / 2);
    for (std::uint64_t n = 16; n < 32; ++n) BOOST_TEST(slot_of(how, n) == 12 + (n - 16) / 4);
    BOOST_TEST(slot_of(how, ~std::uint64_t{0}) == how.buckets() - 1);
    how.is_signed = true;
    BOOST_TEST(slot_of(how, minus(5)) == 0u);
    how = of(Kind::log_linear);
    BOOST_TEST(slot_of(how, 0) == 0u);
    BOOST_TEST(slot_of(how, 1) == 1u);
    BOOST_TEST(slot_of(how, ~std::uint64_t{0}) == how.buckets() - 1);
}

BOOST_AUTO_TEST_CASE(log2_has_32_buckets_for_each_power_of_two) {
    const Aggregation how = of(Kind::log2);
    for (std::uint64_t n = 0; n < 64; ++n) BOOST_TEST(slot_of(how, n) == n);
    const auto stride = static_cast<unsigned>(58 / test::rounds(58));
    for (unsigned bits = 6; bits < 64; bits += stride) {
        const std::uint64_t low = std::uint64_t{1} << bits, step = low / 32;
        BOOST_TEST(slot_of(how, low) == (bits - 4) * 32);
        BOOST_TEST(slot_of(how, low + step - 1) == (bits - 4) * 32);
        BOOST_TEST(slot_of(how, low + step) == (bits - 4) * 32 + 1);
        BOOST_TEST(slot_of(how, low + (low - 1)) == (bits - 4) * 32 + 31);
    }
    BOOST_TEST(how.buckets() == 1920u);
    BOOST_TEST(slot_of(of(Kind::log2, true), minus(1)) == 0u);
    BOOST_TEST(slot_of(of(Kind::log2, true), 1) == 1u);
}

BOOST_AUTO_TEST_CASE(linear_has_a_bucket_below_and_one_above) {
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

BOOST_AUTO_TEST_CASE(a_histogram_has_a_stats_for_each_bucket_of_each_key) {
    for (const bpf_map_type type : kTypes) {
        Adder hist(of(Kind::log2), type, 4);
        hist.add(1, 1).on_cpu(2).add(1, 1).add(65, 1).on_cpu(1).add(64, 1).add(4, 2);
        BOOST_TEST((hist.entry(1)->buckets ==
                    std::vector<HistogramBucket>{{1, 2, 2, 1, 1}, {64, 2, 129, 64, 65}}));
        BOOST_TEST(hist.at(1) == (Words{4, 131, 1, 65}));
        BOOST_TEST((hist.entry(2)->buckets == std::vector<HistogramBucket>{{4, 1, 4, 4, 4}}));
        BOOST_TEST(hist.entry(0) == nullptr);
    }
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

BOOST_AUTO_TEST_CASE(an_index_that_an_array_does_not_have_is_counted) {
    for (const Kind kind : {Kind::count, Kind::log2}) {
        for (const bpf_map_type type : {BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_PERCPU_ARRAY}) {
            Adder adder(of(kind), type, 3);
            adder.add(1, 2).add(1, 3).add(1, 0xffffffff);
            BOOST_TEST(adder.refused() == 2u);
            BOOST_TEST(adder.at(2).at(0) == 1u);
            BOOST_TEST(adder.at(0) == Words{});
        }
    }
}

BOOST_AUTO_TEST_CASE(percentiles_of_log2_are_less_than_1_6_percent_from_the_truth) {
    std::mt19937_64 random(2);
    for (int round = test::rounds(20); round > 0; --round) {
        Adder adder(of(Kind::log2), BPF_MAP_TYPE_ARRAY, 1);
        std::vector<std::uint64_t> values;
        const std::uint64_t span = std::uint64_t{1} << (10 + random() % 30);
        for (int i = 0; i < 200; ++i) {
            values.push_back(random() % (i % 3 == 0 ? span : span / 64));
            adder.add(values.back());
        }
        std::ranges::sort(values);
        const std::vector<HistogramBucket> buckets = adder.entry()->buckets;
        for (std::uint64_t per_mille = 5; per_mille <= 1000; per_mille += 5) {
            const std::uint64_t truth = values[per_mille / 5 - 1];
            const std::uint64_t told = percentile(of(Kind::log2), buckets, per_mille).value;
            const std::uint64_t off = told > truth ? told - truth : truth - told;
            BOOST_TEST(static_cast<double>(off) <= static_cast<double>(truth) / 62);
        }
    }
}

// Any values, on any CPU, in any map: the same as adding them up here.
BOOST_AUTO_TEST_CASE(whatever_is_added_is_what_a_model_has) {
    std::mt19937_64 random(1);
    const auto value = [&] {
        const std::uint64_t bits = random() >> (random() % 64);
        return random() % 4 == 0 ? minus(bits) : bits;
    };
    for (int round = test::rounds(60); round > 0; --round) {
        const Kind kinds[] = {Kind::count, Kind::sum,  Kind::min,        Kind::max,   Kind::avg,
                              Kind::stats, Kind::log2, Kind::log_linear, Kind::linear};
        Aggregation how = of(kinds[random() % std::size(kinds)], random() % 2 == 0);
        how.sub_bits = static_cast<unsigned>(random() % 7);
        how.low = -100;
        how.high = 1000;
        how.step = 7;
        const bpf_map_type type = kTypes[random() % std::size(kTypes)];
        Adder adder(how, type, 400);
        std::map<std::uint32_t, std::vector<std::uint64_t>> model;
        for (int i = 0; i < 60; ++i) {
            const auto key = static_cast<std::uint32_t>(random() % 3);
            model[key].push_back(value());
            adder.on_cpu(static_cast<std::uint32_t>(random() % Adder::kCpus))
                .add(model[key].back(), key);
        }
        for (auto& [key, values] : model) {
            const auto is_less = [&](std::uint64_t a, std::uint64_t b) {
                return how.is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b)
                                     : a < b;
            };
            std::ranges::sort(values, is_less);
            const std::uint64_t count = values.size(), least = values.front(), most = values.back();
            const std::uint64_t total =
                std::accumulate(values.begin(), values.end(), std::uint64_t{0});
            const auto expected = [&]() -> Words {
                switch (how.kind) {
                    case Kind::count:
                        return {count};
                    case Kind::sum:
                        return {total};
                    case Kind::avg:
                        return {count, total};
                    case Kind::min:
                        return {least, 1};
                    case Kind::max:
                        return {most, 1};
                    default:
                        return {count, total, least, most};
                }
            };
            BOOST_TEST(adder.at(key) == expected());
            if (!how.is_histogram()) continue;
            // Each bucket's values are those between its extremes, and no others.
            auto next = values.begin();
            for (const HistogramBucket& one : adder.entry(key)->buckets) {
                const auto end = next + static_cast<std::ptrdiff_t>(one.count);
                BOOST_TEST(one.least == *next);
                BOOST_TEST(one.most == *(end - 1));
                BOOST_TEST(one.total == std::accumulate(next, end, std::uint64_t{0}));
                next = end;
            }
            BOOST_TEST((next == values.end()));
        }
        BOOST_TEST(adder.refused() == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
