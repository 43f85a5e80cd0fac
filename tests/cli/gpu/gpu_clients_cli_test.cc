#include <fcntl.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>

#include "base/cat.h"
#include "base/file.h"
#include "kernel/host/gpus.h"
#include "support/gpu_truth.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

// What the drivers of GPUs count for their clients. The toy displays' driver tells what its
// parameters say.
namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Json;
using test::parse_json_lines;

// The GPUs that --list tells, by driver; the last one of several.
std::map<std::string, Json> gpus() {
    std::map<std::string, Json> found;
    for (const Json& told : parse_json_lines(test::gpufs({"watch", "--list", "--json"}).out))
        if (told.members.contains("gpu")) found[told["driver"].text] = told;
    return found;
}

// The display to look at, as /dev/dri has it: "card1". The list, which tries all monitors, is long
// about it.
std::string toy_card() {
    std::string card;
    for (const Gpu& gpu : find_gpus())
        if (gpu.driver == "toy_display") card = gpu.name;
    return card;
}

std::string parameter(const std::string& name) {
    return "/sys/module/toy_display/parameters/" + name;
}

// The uses of a GPU that gpufs told, in order: one a process and interval.
std::vector<Json> uses_of(const std::string& gpu, const std::string& json) {
    std::vector<Json> uses;
    for (const Json& told : parse_json_lines(json)) {
        if (!told.members.contains("gpu_use") || told["gpu_use"].text != gpu) continue;
        for (const Json& process : told["processes"].items) uses.push_back(process);
    }
    return uses;
}

// The sum of what an engine worked.
long long busy_ns(const std::vector<Json>& uses, const std::string& name) {
    long long sum = 0;
    for (const Json& use : uses)
        for (const Json& engine : use["engines"].items)
            if (engine["engine"].text == name) sum += engine["busy_ns"].number();
    return sum;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(gpu_clients)

BOOST_AUTO_TEST_CASE(processes_that_this_user_may_not_look_at_are_counted,
                     *ut::precondition(test::has_toy_display)) {
    const Ended nobody = test::gpufs_as_nobody({"doctor"});
    BOOST_TEST(has(nobody.err, "not looked at: the open files of "), nobody.err);
    BOOST_TEST(!has(test::gpufs({"doctor"}).err, "not looked at"));
}

BOOST_AUTO_TEST_CASE(gpus_are_listed_with_their_drivers_and_holders,
                     *ut::precondition(test::has_toy_display) *
                         ut::precondition(test::has_vgem_and_virtio)) {
    const Fd held = open_file("/dev/dri/" + toy_card(), O_RDWR);
    const auto found = gpus();
    BOOST_TEST_REQUIRE(found.contains("virtio_gpu"));
    BOOST_TEST(found.at("virtio_gpu")["device"].text == "1af4:1050");
    BOOST_TEST_REQUIRE(found.contains("vgem"));
    BOOST_TEST_REQUIRE(found.contains("toy_display"));
    const Json& toy = found.at("toy_display");
    BOOST_TEST(toy["slot"].text == "toy_display.1");
    BOOST_TEST(toy["gpu"].text == toy_card());
    BOOST_TEST(toy["holders"].number() == 1);
    BOOST_TEST(found.at("vgem")["holders"].number() == 0);
    BOOST_TEST(has(test::gpufs({"doctor"}).out,
                   cat("GPU               ", toy["gpu"].text,
                       ": toy_display, at toy_display.1, open in 1 process\n")));
}

// The command ends when gpufs has told what the driver counted for it meanwhile. Its children have
// the same file open.
BOOST_AUTO_TEST_CASE(what_the_driver_counted_in_the_intervals_is_told_once,
                     *ut::precondition(test::has_toy_display)) {
    const std::string card = toy_card();
    const test::TempFile out;
    write_all(open_file(parameter("gfx_ns"), O_WRONLY).get(), "0", "gfx_ns");
    write_all(open_file(parameter("video_ns"), O_WRONLY).get(), "7", "video_ns");
    write_all(open_file(parameter("vram_kib"), O_WRONLY).get(), "4096", "vram_kib");
    const std::string work = cat(
        "exec 8<>/dev/dri/", card, " 9<&8\n", "until grep -q '\"gpu_use\":\"", card, "\"' ",
        out.path(), "; do sleep 0.1; done\n", "echo 5000000 > ", parameter("gfx_ns"),
        "; echo 3000007 > ", parameter("video_ns"), "\n", "until grep -q '\"busy_ns\":5000000' ",
        out.path(), " && grep -q '\"busy_ns\":3000000' ", out.path(), "; do sleep 0.1; done\n");
    const Ended ran = test::gpufs({"watch", "fence", "--json", "--interval", "100ms", "-o",
                                   out.path(), "--", "sh", "-c", work});
    BOOST_TEST(ran.status == 0, ran.err);
    const std::vector<Json> uses = uses_of(card, read_file(out.path()));
    BOOST_TEST(busy_ns(uses, "gfx") == 5'000'000);
    BOOST_TEST(busy_ns(uses, "video") == 7 + 3'000'000);
    BOOST_TEST_REQUIRE(!uses.empty());
    for (const Json& use : uses) {
        BOOST_TEST(use["comm"].text == "sh");
        BOOST_TEST(use["clients"].number() == 1);
        BOOST_TEST_REQUIRE(use["memory"].items.size() == 1u);
        const Json& vram = use["memory"].items[0];
        BOOST_TEST(vram["region"].text == "vram");
        BOOST_TEST(vram["total_bytes"].number() == 4096 * 1024);
        BOOST_TEST(vram["resident_bytes"].number() == 2048 * 1024);
    }
}

BOOST_AUTO_TEST_CASE(only_the_processes_that_were_asked_for_are_told,
                     *ut::precondition(test::has_toy_display)) {
    const std::string card = toy_card();
    const Fd held = open_file("/dev/dri/" + card, O_RDWR);
    const auto told = [&](std::vector<std::string> args) {
        args.insert(args.begin(), {"watch", "fence", "--interval", "100ms", "--json"});
        const Ended ran = test::gpufs(args);
        BOOST_TEST(ran.status == 0, ran.err);
        return uses_of(card, ran.out);
    };
    const std::vector<Json> own = told({"-p", cat(::getpid()), "--duration", "1s"});
    BOOST_TEST(!own.empty());
    for (const Json& use : own) BOOST_TEST(use["pid"].number() == ::getpid());
    BOOST_TEST(told({"-p", "1", "--duration", "1s"}).empty());
    BOOST_TEST(told({"--", "sleep", "1"}).empty());
    BOOST_TEST(!told({"--all", "--", "sleep", "1"}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
