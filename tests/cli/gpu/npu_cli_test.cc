#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitor npu, held against what a driver without a device was told to do.
namespace gpufs {
namespace {

using test::Json;
using test::kGame;
using test::only;
using test::Told;

std::string job(const std::string& event, int context, int number) {
    return cat("job event=", event, " ctx_id=", context, " engine_id=0 job_id=", number, '\n');
}
std::string created(int context) {
    return job("create", context, 0);
}
std::string message(const std::string& event, const std::string& type, int number, int result = 0) {
    return cat("jsm event=", event, " type=", type, " request_id=", number, " result=", result,
               '\n');
}

// Three jobs, the second behind the first; one that is not done, one of before, and one that was
// created only.
std::string jobs() {
    return job("done", 9, 0x901) + created(3) + job("submit", 3, 0x301) + "sleep 10000\n" +
           created(3) + job("submit", 3, 0x302) + "sleep 20000\n" + job("done", 3, 0x301) +
           "sleep 30000\n" + job("done", 3, 0x302) + created(4) + job("submit", 4, 0x301) +
           "sleep 5000\n" + job("done", 4, 0x301) + created(4) + job("submit", 4, 0x402) +
           created(4);
}

const std::string kMessages =
    message("[tx]", "VPU_JSM_MSG_REGISTER_DB", 1) + "sleep 5000\n" +
    message("[rx]", "VPU_JSM_MSG_REGISTER_DB_DONE", 1) +
    message("[rx]", "VPU_JSM_MSG_JOB_DONE", 0) + message("[rx]", "VPU_JSM_MSG_JOB_DONE", 0) +
    message("[tx]", "VPU_JSM_MSG_ENGINE_RESET", 2) +
    message("[rx]", "VPU_JSM_MSG_ENGINE_RESET_DONE", 2, 12) +
    message("[rx]", "Unknown+JSM+message+type", 77) +
    "pm event=runtime+suspend\nsleep 5000\npm event=runtime+suspend+done\n"
    "pm event=resume\nsleep 6000\npm event=resume+done\npm event=resume+done\n";

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(npu, *ut::precondition(test::has_toy_driver))

BOOST_AUTO_TEST_CASE(jobs_wait_for_those_in_front_and_are_with_the_npu) {
    const Told told({"npu", "lines=1", "min_us=60s"}, test::driver_work({jobs()}));
    const auto took = [&](const char* step, const char* column) {
        return told.sum("took", {{"comm", kGame}, {"engine", "compute"}, {"step", step}}, column);
    };
    for (const char* step : {"behind others", "on the NPU", "submit to done"})
        BOOST_TEST(took(step, "count") == 3, step);
    BOOST_TEST(took("behind others", "max") >= 20'000);
    BOOST_TEST(took("behind others", "min") == 0);
    BOOST_TEST(took("on the NPU", "min") >= 5'000);
    BOOST_TEST(took("on the NPU", "max") >= 30'000);
    BOOST_TEST(took("submit to done", "max") >= 50'000);
    BOOST_TEST(only(told.rows("left", {{"comm", kGame}}))["count"].number() == 1);
    BOOST_TEST(told.records("event", {{"what", "SUBMIT"}}).size() == 4u);
    BOOST_TEST(told.records("event", {{"what", "DONE"}}).size() == 3u);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(messages_power_and_resets_are_told) {
    const Told told({"npu"}, test::driver_work({kMessages}));
    const Json answer = only(told.rows("answers", {{"type", "REGISTER_DB"}}));
    BOOST_TEST(answer["count"].number() == 1);
    BOOST_TEST(answer["min"].number() >= 5'000);
    BOOST_TEST(told.sum("answers", {}, "count") == 2);
    BOOST_TEST(told.sum("told", {{"type", "JOB_DONE"}}, "count") == 2);
    BOOST_TEST(told.sum("told", {{"type", "Unknown JSM message type"}}, "count") == 1);
    const Json failed = only(told.rows("failed", {}));
    BOOST_TEST(failed["key"]["type"].text == "ENGINE_RESET");
    BOOST_TEST(failed["key"]["result"].text == "internal error");
    BOOST_TEST(only(told.records("reset", {}))["reason"].text == "engine reset");
    BOOST_TEST(told.sum("powers", {{"change", "runtime suspend"}}, "min") >= 5'000);
    BOOST_TEST(told.sum("powers", {{"change", "resume"}}, "min") >= 6'000);
    BOOST_TEST(told.sum("powers", {}, "count") == 2);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(jobs_of_one_process_only_are_told) {
    const Told told({"npu", "pid=1"}, test::driver_work({jobs()}));
    for (const char* map : {"took", "left"}) BOOST_TEST(told.rows(map, {}).empty(), map);
}

BOOST_AUTO_TEST_SUITE_END()

// Of Linux 7.3: the texts that tell submissions from ends are not in it.
BOOST_AUTO_TEST_CASE(npu_tells_jobs_of_a_recording, *ut::label("pure")) {
    const Told told(test::gpufs(
        {"run", "npu", "-i", "tests/data/trace_dat/npu-7.3.dat", "--json", "--strict"}));
    const auto took = [&](const char* step, const char* column) {
        return told.sum("took", {{"engine", "compute"}, {"step", step}}, column);
    };
    for (const char* step : {"behind others", "on the NPU", "submit to done"})
        BOOST_TEST(took(step, "count") == 2, step);
    BOOST_TEST(took("behind others", "max") >= 20'000);
    BOOST_TEST(took("on the NPU", "min") >= 30'000);
    BOOST_TEST(took("submit to done", "max") >= 50'000);
    BOOST_TEST(only(told.rows("left", {}))["count"].number() == 1);
    BOOST_TEST(told.rows("answers", {}).empty());
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
