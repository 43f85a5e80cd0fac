#define BOOST_TEST_DYN_LINK
#include "kernel/bpf/map.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <map>
#include <thread>

#include "base/error.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/support.h"
#include "kernel/host/cpus.h"
#include "kernel/host/kernel_version.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;
using Entries = std::map<std::uint32_t, std::uint64_t>;

// Every possible CPU gets `value` plus its position.
void put(const BpfMap& map, std::uint32_t key, std::uint64_t value) {
    std::vector<std::byte> whole(map.whole_value_bytes());
    std::uint64_t copy = value;
    for (std::size_t at = 0; at < whole.size(); at += map.copy_bytes(), ++copy)
        std::ranges::copy(bytes_of(copy), whole.begin() + static_cast<std::ptrdiff_t>(at));
    BOOST_TEST_REQUIRE(map.update(bytes_of(key), whole));
}

Entries read_all(const BpfMap& map, BpfMap::Walk walk) {
    Entries entries;
    const bool complete = map.for_each(
        [&](std::span<const std::byte> key, std::span<const std::byte> value) {
            BOOST_TEST(
                entries.emplace(value_of<std::uint32_t>(key), sum_of_cpus(map, value)).second);
        },
        walk);
    BOOST_TEST(complete);
    return entries;
}

struct Kind {
    const char* name;
    std::uint32_t type;
    std::uint32_t flags;
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) {
    return out << kind.name;
}
const Kind kKeyed[] = {
    {"hash", BPF_MAP_TYPE_HASH, 0},
    {"hash without preallocation", BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC},
    {"lru_hash", BPF_MAP_TYPE_LRU_HASH, 0},
    {"percpu_hash", BPF_MAP_TYPE_PERCPU_HASH, 0},
    {"lru_percpu_hash", BPF_MAP_TYPE_LRU_PERCPU_HASH, 0},
    {"array", BPF_MAP_TYPE_ARRAY, 0},
    {"percpu_array", BPF_MAP_TYPE_PERCPU_ARRAY, 0},
};
const Kind kHashes[] = {kKeyed[0], kKeyed[1], kKeyed[2], kKeyed[3], kKeyed[4]};

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_map)

BOOST_DATA_TEST_CASE(a_value_reads_back_as_written, ut::data::make(kKeyed), kind) {
    const BpfMap map = make_map(kind.type, 4, 8, 8, kind.flags);
    put(map, 3, 1000);
    std::vector<std::byte> value(map.whole_value_bytes());
    const std::uint32_t key = 3, absent = 99;
    BOOST_TEST_REQUIRE(map.lookup(bytes_of(key), value));
    const std::uint64_t cpus = map.is_per_cpu() ? possible_cpus().size() : 1;
    BOOST_TEST(sum_of_cpus(map, value) == 1000 * cpus + cpus * (cpus - 1) / 2);
    BOOST_TEST(!map.lookup(bytes_of(absent), value));
}

BOOST_DATA_TEST_CASE(batches_and_next_key_read_the_same, ut::data::make(kKeyed), kind) {
    // More than one batch holds, and more in some buckets than a small batch takes.
    constexpr std::uint32_t kEntries = 5000;
    const BpfMap map = make_map(kind.type, 4, 8, kEntries, kind.flags);
    for (std::uint32_t key = 0; key < kEntries; ++key) put(map, key, key * 3);
    const Entries one_by_one = read_all(map, BpfMap::Walk::one_by_one);
    const bool is_lru =
        kind.type == BPF_MAP_TYPE_LRU_HASH || kind.type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
    // An LRU map drops some before it is full: its free entries are shared out among CPUs.
    if (!is_lru) BOOST_TEST(one_by_one.size() == kEntries);
    BOOST_TEST((read_all(map, BpfMap::Walk::best) == one_by_one));
}

BOOST_DATA_TEST_CASE(batches_are_used_where_the_kernel_has_them, ut::data::make(kKeyed), kind) {
    const BpfMap map = make_map(kind.type, 4, 8, 4, kind.flags);
    put(map, 1, 7);
    // Per-CPU arrays got batches with Linux 5.13 only.
    const bool is_late = kind.type == BPF_MAP_TYPE_PERCPU_ARRAY;
    const bool expected = is_late ? running_kernel() >= KernelVersion{5, 13, 0}
                                  : BpfFeatures().has(BpfFeature::batch);
    if (!expected) {
        BOOST_CHECK_THROW(read_all(map, BpfMap::Walk::batch), UnsupportedError);
        return;
    }
    const Entries all = read_all(map, BpfMap::Walk::batch);
    BOOST_TEST(all.contains(1));
}

BOOST_DATA_TEST_CASE(taking_empties_the_map, ut::data::make(kHashes), kind) {
    for (const auto walk : {BpfMap::Walk::best, BpfMap::Walk::one_by_one}) {
        const BpfMap map = make_map(kind.type, 4, 8, 3000, kind.flags);
        for (std::uint32_t key = 0; key < 1000; ++key) put(map, key, key);
        const Entries before = read_all(map, BpfMap::Walk::best);
        Entries taken;
        BOOST_TEST(map.take_each(
            [&](std::span<const std::byte> key, std::span<const std::byte> value) {
                taken.emplace(value_of<std::uint32_t>(key), sum_of_cpus(map, value));
            },
            walk));
        BOOST_TEST((taken == before));
        BOOST_TEST(read_all(map, BpfMap::Walk::best).empty());
    }
}

// What stays is seen exactly once, whatever else comes and goes.
BOOST_AUTO_TEST_CASE(a_walk_stays_right_while_keys_come_and_go) {
    const BpfMap map = make_map(BPF_MAP_TYPE_HASH, 4, 8, 4000);
    for (std::uint32_t key = 0; key < 1000; ++key) put(map, key, 5);
    const bool has_batch = BpfFeatures().has(BpfFeature::batch);
    std::atomic<bool> stop = false;
    std::atomic<unsigned> changes = 0;
    std::jthread churn([&] {
        const std::uint64_t value = 6;
        for (std::uint32_t key = 1000; !stop; key = key < 2999 ? key + 1 : 1000, ++changes) {
            map.update(bytes_of(key), bytes_of(value));
            const std::uint32_t old = key < 1500 ? key + 1500 : key - 500;
            map.erase(bytes_of(old));
        }
    });
    for (const auto walk : {BpfMap::Walk::best, BpfMap::Walk::one_by_one})
        for (int round = 0; round < 10; ++round) {
            Entries seen;
            bool twice = false;
            const bool complete = map.for_each(
                [&](std::span<const std::byte> key, std::span<const std::byte> value) {
                    twice |=
                        !seen.emplace(value_of<std::uint32_t>(key), value_of<std::uint64_t>(value))
                             .second;
                },
                walk);
            BOOST_TEST(!twice);
            std::size_t kept = 0;
            for (const auto& [key, value] : seen) kept += key < 1000 && value == 5;
            // One by one, a walk that could not be sure says so.
            BOOST_TEST((kept == 1000u || !complete));
            if (walk == BpfMap::Walk::best && has_batch) BOOST_TEST(complete);
        }
    stop = true;
    churn.join();
    BOOST_TEST(changes > 0u);
}

BOOST_AUTO_TEST_CASE(update_and_erase_tell_what_was_there) {
    const BpfMap map = make_map(BPF_MAP_TYPE_HASH, 4, 8, 2);
    const std::uint32_t key = 1;
    const std::uint64_t value = 7;
    BOOST_TEST(!map.update(bytes_of(key), bytes_of(value), BPF_EXIST));
    BOOST_TEST(map.update(bytes_of(key), bytes_of(value), BPF_NOEXIST));
    BOOST_TEST(!map.update(bytes_of(key), bytes_of(value), BPF_NOEXIST));
    BOOST_TEST(map.erase(bytes_of(key)));
    BOOST_TEST(!map.erase(bytes_of(key)));
}

BOOST_AUTO_TEST_CASE(a_full_map_says_how_many_it_holds) {
    const BpfMap map = make_map(BPF_MAP_TYPE_HASH, 4, 8, 2, BPF_F_NO_PREALLOC);
    put(map, 1, 1);
    put(map, 2, 2);
    const std::uint32_t key = 3;
    const std::uint64_t value = 7;
    BOOST_CHECK_EXCEPTION(map.update(bytes_of(key), bytes_of(value)), SysError,
                          [](const SysError& e) {
                              BOOST_TEST(e.what() ==
                                         "cannot set a value in map 'gpufs_test': Argument list "
                                         "too long");
                              BOOST_TEST(e.hint() == "it holds 2 entries");
                              return e.code() == E2BIG;
                          });
}

BOOST_AUTO_TEST_CASE(wrong_sizes_never_reach_the_kernel) {
    const BpfMap map = make_map(BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 2);
    const std::uint32_t key = 3;
    std::byte value[7];
    BOOST_CHECK_THROW(map.lookup(bytes_of(key), value), Error);
    BOOST_CHECK_THROW(map.erase(value), Error);
}

BOOST_AUTO_TEST_CASE(an_array_maps_into_memory, *ut::precondition(has_bpf{BpfFeature::mmapable})) {
    const BpfMap map = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 3, BPF_F_MMAPABLE);
    put(map, 2, 77);
    const Mapping values = map.map_values();
    auto* numbers = reinterpret_cast<std::uint64_t*>(values.data());
    BOOST_TEST(numbers[2] == 77u);
    numbers[1] = 5;
    BOOST_TEST(counter(map, 1) == 5u);
}

BOOST_AUTO_TEST_CASE(a_frozen_map_is_only_read, *ut::precondition(has_bpf{BpfFeature::freeze})) {
    const BpfMap map = make_counters();
    map.freeze();
    BOOST_TEST(counter(map) == 0u);
    const std::uint32_t key = 0;
    const std::uint64_t value = 7;
    BOOST_CHECK_EXCEPTION(map.update(bytes_of(key), bytes_of(value)), Error, [](const Error& e) {
        BOOST_TEST(e.what() == "cannot set a value in map 'gpufs_test': it is read-only");
        return true;
    });
}

// RLIMIT_MEMLOCK of this process, as it was.
class KeepMemlock {
public:
    KeepMemlock() { ::getrlimit(RLIMIT_MEMLOCK, &before_); }
    ~KeepMemlock() { ::setrlimit(RLIMIT_MEMLOCK, &before_); }
    static rlim_t now() {
        rlimit limit{};
        ::getrlimit(RLIMIT_MEMLOCK, &limit);
        return limit.rlim_cur;
    }

private:
    rlimit before_{};
};
BOOST_AUTO_TEST_CASE(the_limit_of_locked_memory_is_raised_only_when_it_is_in_the_way) {
    const KeepMemlock keep;
    const rlimit little{64 << 10, 64 << 10};
    // Before Linux 5.11 maps that are gone count until the kernel comes to free them.
    BOOST_TEST(comes_true([&] {
        if (::setrlimit(RLIMIT_MEMLOCK, &little) != 0) return false;
        const BpfMap small = make_counters();
        return KeepMemlock::now() == little.rlim_cur;
    }));
    const BpfMap big = make_map(BPF_MAP_TYPE_HASH, 8, 8, 100'000);
    const bool is_charged = running_kernel() < KernelVersion{5, 11, 0};
    BOOST_TEST(KeepMemlock::now() == (is_charged ? RLIM_INFINITY : little.rlim_cur));
}

const std::uint32_t kOther[] = {BPF_MAP_TYPE_PERF_EVENT_ARRAY, BPF_MAP_TYPE_PROG_ARRAY,
                                BPF_MAP_TYPE_STACK_TRACE};
BOOST_DATA_TEST_CASE(maps_of_other_kinds_are_made_too, ut::data::make(kOther), type) {
    const std::uint32_t value = type == BPF_MAP_TYPE_STACK_TRACE ? 8 * 16 : 4;
    const BpfMap map = make_map(type, 4, value, 4);
    BOOST_TEST(map_info(map.fd()).spec.type == type);
}

BOOST_AUTO_TEST_CASE(a_map_is_found_by_its_number) {
    const BpfMap map = make_map(BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 16, BPF_F_NO_PREALLOC);
    put(map, 4, 10);
    const BpfMap again = BpfMap::open(map_info(map.fd()).id);
    BOOST_TEST(again.spec().name == "gpufs_test");
    BOOST_TEST(again.spec().max_entries == 16u);
    BOOST_TEST(again.spec().flags == BPF_F_NO_PREALLOC);
    BOOST_TEST((read_all(again, BpfMap::Walk::best) == read_all(map, BpfMap::Walk::best)));
    BOOST_TEST(std::ranges::count(map_ids(), map_info(map.fd()).id) == 1);
}

BOOST_AUTO_TEST_CASE(a_name_is_cut_to_what_the_kernel_takes) {
    const BpfMap map =
        BpfMap::create({BPF_MAP_TYPE_HASH, "wait-us of a very long name", 4, 8, 1, 0});
    BOOST_TEST(map_info(map.fd()).spec.name == "wait_us_of_a_ve");
}

BOOST_AUTO_TEST_CASE(a_ring_of_a_wrong_size_says_what_is_right) {
    BOOST_CHECK_EXCEPTION(make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 5000), SysError,
                          [](const SysError& e) {
                              BOOST_TEST(e.hint() ==
                                         "Linux 5.8 or later; its size is a power of 2 "
                                         "and a page at least");
                              return true;
                          });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
