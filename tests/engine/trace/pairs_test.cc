#include "engine/trace/pairs.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "base/cat.h"
#include "engine/trace/kernel_events.h"

namespace gpufs {
namespace {

// The two events of soft interrupts, and their records.
class SoftInterrupts {
public:
    RecordPairs pairs(std::size_t most) {
        return {events_, {"irq:softirq_entry", "irq:softirq_exit", {"vec", "CPU"}, most}};
    }
    void begin(RecordPairs& pairs, std::uint64_t time, int cpu, unsigned vec) {
        add(pairs, "softirq_entry", time, cpu, vec);
    }
    void end(RecordPairs& pairs, std::uint64_t time, int cpu, unsigned vec) {
        add(pairs, "softirq_exit", time, cpu, vec);
    }

private:
    void add(RecordPairs& pairs, const char* name, std::uint64_t time, int cpu, unsigned vec) {
        const EventFormat& format = *events_.find_format(cat("irq:", name));
        std::byte bytes[16] = {};
        const auto id = static_cast<std::uint16_t>(format.id);
        std::memcpy(bytes, &id, sizeof id);
        std::memcpy(bytes + format.find("vec")->offset, &vec, sizeof vec);
        pairs.add({time, cpu, {}, bytes});
    }

    Events events_ = kernel_events(Tracefs("tests/data/formats/6.18"));
};

std::string times_of(const RecordPairs& pairs) {
    std::string text;
    for (const RecordPairs::Pair& pair : pairs.longest())
        text += cat(pair.took_ns, "@", pair.begin.timestamp, "/", pair.begin.cpu, " ");
    return text;
}

BOOST_AUTO_TEST_SUITE(record_pairs)

BOOST_AUTO_TEST_CASE(what_began_before_a_loss_makes_no_pair) {
    SoftInterrupts irq;
    RecordPairs pairs = irq.pairs(10);
    BOOST_TEST(pairs.longest_ns() == 0u);
    irq.begin(pairs, 100, 0, 1);
    irq.end(pairs, 107, 0, 1);
    irq.begin(pairs, 110, 0, 1);
    pairs.forget_open();
    irq.end(pairs, 900, 0, 1);
    BOOST_TEST(times_of(pairs) == "7@100/0 ");
    BOOST_TEST(pairs.longest_ns() == 7u);
    BOOST_TEST(pairs.unpaired() == 2u);
}

BOOST_AUTO_TEST_CASE(records_whose_keys_are_equal_become_pairs) {
    SoftInterrupts irq;
    RecordPairs pairs = irq.pairs(10);
    irq.begin(pairs, 100, 0, 1);
    irq.begin(pairs, 110, 1, 1);  // the same on another CPU
    irq.begin(pairs, 120, 0, 3);
    irq.end(pairs, 125, 0, 3);
    irq.end(pairs, 130, 0, 1);
    irq.end(pairs, 190, 1, 1);
    BOOST_TEST(times_of(pairs) == "80@110/1 30@100/0 5@120/0 ");
    BOOST_TEST(pairs.count() == 3u);
    BOOST_TEST(pairs.unpaired() == 0u);
    BOOST_TEST(pairs.longest()[0].bytes.size() == 16u);
}

BOOST_AUTO_TEST_CASE(only_the_longest_are_kept_and_all_are_counted) {
    SoftInterrupts irq;
    RecordPairs pairs = irq.pairs(2);
    for (const std::uint64_t took : {5u, 9u, 1u, 7u, 8u}) {
        irq.begin(pairs, 1000, 0, 1);
        irq.end(pairs, 1000 + took, 0, 1);
    }
    BOOST_TEST(times_of(pairs) == "9@1000/0 8@1000/0 ");
    BOOST_TEST(pairs.count() == 5u);
}

BOOST_AUTO_TEST_CASE(halves_without_the_other_are_counted) {
    SoftInterrupts irq;
    RecordPairs pairs = irq.pairs(2);
    irq.end(pairs, 1, 0, 1);     // began before anybody looked
    irq.begin(pairs, 10, 0, 1);  // its end was lost
    irq.begin(pairs, 20, 0, 1);
    irq.end(pairs, 25, 0, 1);
    irq.begin(pairs, 30, 0, 1);  // goes on
    BOOST_TEST(times_of(pairs) == "5@20/0 ");
    BOOST_TEST(pairs.unpaired() == 3u);
}

BOOST_AUTO_TEST_CASE(an_event_that_nobody_knows_makes_no_pair) {
    Events none;
    RecordPairs pairs(none, {"no:such", "no:other", {"f"}, 1});
    pairs.add({1, 0, {}, {}});
    BOOST_TEST(pairs.count() == 0u);
    BOOST_TEST(pairs.unpaired() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
