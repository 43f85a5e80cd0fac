#include "engine/recording/wanted_records.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>

#include "base/cat.h"
#include "base/file.h"
#include "engine/recording/recorded_events.h"
#include "view/losses.h"

namespace gpufs {
namespace {

Events soft_interrupts() {
    auto events = std::make_unique<RecordedEvents>();
    for (const char* name : {"softirq_entry", "softirq_exit"})
        events->add("irq", read_file(cat("tests/data/formats/6.18/events/irq/", name, "/format")));
    return Events(std::move(events));
}

// Records of soft interrupts, which hold one number, `vec`.
class Source {
public:
    void add(std::uint64_t time, std::size_t stream, const char* event, int pid, unsigned vec,
             Loss lost_before = {}) {
        const EventFormat& format = *events_.find_format(cat("irq:", event));
        std::vector<std::byte>& bytes = bytes_.emplace_back(12);
        const auto id = static_cast<std::uint16_t>(format.id);
        std::memcpy(bytes.data(), &id, sizeof id);
        std::memcpy(bytes.data() + format.find("common_pid")->offset, &pid, sizeof pid);
        std::memcpy(bytes.data() + format.find("vec")->offset, &vec, sizeof vec);
        records_.push_back({time, static_cast<int>(stream), lost_before, bytes, stream});
    }
    const TraceRecord* next() { return at_ < records_.size() ? &records_[at_++] : nullptr; }

private:
    Events events_ = soft_interrupts();
    std::deque<std::vector<std::byte>> bytes_;
    std::deque<TraceRecord> records_;
    std::size_t at_ = 0;
};

Source some_records() {
    Source source;
    source.add(10, 0, "softirq_entry", 7, 1);
    source.add(20, 0, "softirq_exit", 7, 1);
    source.add(30, 1, "softirq_entry", 8, 2);
    source.add(40, 0, "softirq_entry", 0, 3);
    return source;
}

RecordChoice of_event(const char* word) {
    RecordChoice choice;
    choice.events = {word};
    return choice;
}

RecordChoice under(const std::string& condition) {
    RecordChoice choice;
    choice.condition = parse_expression({"--if", condition});
    return choice;
}

// "10 20+5": the times of the wanted records, and how many were lost in front of each.
std::string picked(Source source, RecordChoice choice) {
    TraceContext context;
    context.events = soft_interrupts();
    context.tasks.add(8, "worker");
    WantedRecords wanted(context, std::move(choice));
    std::string text;
    while (const TraceRecord* record = wanted.next(source)) {
        text += cat(text.empty() ? "" : " ", record->timestamp);
        if (!record->lost_before.is_zero()) text += cat("+", loss_text(record->lost_before));
    }
    const LossLedger losses = wanted.losses();
    return losses.is_complete() ? text : cat(text, "; ", losses_text(losses));
}

BOOST_AUTO_TEST_SUITE(wanted_records)

BOOST_AUTO_TEST_CASE(records_are_picked_by_event_condition_task_cpu_and_time) {
    BOOST_TEST(picked(some_records(), {}) == "10 20 30 40");
    BOOST_TEST(picked(some_records(), of_event("softirq_entry")) == "10 30 40");
    BOOST_TEST(picked(some_records(), under("vec >= 2")) == "30 40");
    BOOST_TEST(picked(some_records(), under("common_pid == 7")) == "10 20");
    BOOST_TEST(picked(some_records(), under("CPU == 1")) == "30");
    BOOST_TEST(picked(some_records(), under("COMM == \"worker\"")) == "30");
    RecordChoice choice;
    choice.pids = {0, 8};
    BOOST_TEST(picked(some_records(), choice) == "30 40");
    choice.cpus = {0};
    BOOST_TEST(picked(some_records(), choice) == "40");
    choice = {};
    choice.from = 20;
    choice.to = 30;
    BOOST_TEST(picked(some_records(), choice) == "20 30");
}

BOOST_AUTO_TEST_CASE(what_was_lost_before_others_is_told_with_the_next_of_the_same_stream) {
    Source source;
    source.add(10, 0, "softirq_exit", 7, 1, Loss::exactly(3));
    source.add(20, 0, "softirq_exit", 7, 1, Loss::exactly(2));
    source.add(30, 1, "softirq_entry", 7, 1, Loss::exactly(4));
    source.add(40, 0, "softirq_entry", 7, 1);
    source.add(50, 0, "softirq_entry", 7, 1);
    source.add(60, 1, "softirq_exit", 7, 1, Loss::at_least(1));
    source.add(70, 1, "softirq_entry", 7, 1, Loss::exactly(1));
    source.add(80, 1, "softirq_entry", 7, 1);
    BOOST_TEST(picked(std::move(source), of_event("softirq_entry")) ==
               "30+4 40+5 50 70+2 or more 80; "
               "11 or more lost: 11 or more events that the recording lost, in 5 places");
}

BOOST_AUTO_TEST_CASE(an_event_without_the_field_is_not_wanted) {
    TraceContext context;
    context.events = soft_interrupts();
    RecordChoice choice = under("prev_pid == 1");
    choice.events = {"softirq_entry"};
    BOOST_CHECK_THROW(WantedRecords(context, choice), SourceError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
