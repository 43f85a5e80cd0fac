#include "engine/gpu/usage.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "view/gpu/usage_text.h"

namespace gpufs {
namespace {

const std::vector<Gpu> kGpus = {
    {"card0", "amdgpu", "1002:73bf", "0000:03:00.0", "", {"card0", "renderD128"}},
    {"nvidia0", "nvidia", "10de:2335", "0000:41:00.0", "NVIDIA H200", {"nvidia0"}}};

// A moment, in ms, at which processes have files open.
class Moment {
public:
    explicit Moment(std::uint64_t ms) { found_.taken_ns = ms * 1'000'000; }
    Moment& process(int pid, const std::string& comm) {
        found_.processes.push_back({pid, comm, {}});
        return *this;
    }
    // Of the process that was named last.
    Moment& file(const std::string& node, const std::string& fdinfo) {
        auto& files = found_.processes.back().files;
        files.push_back({node, static_cast<int>(files.size()) + 3, fdinfo, found_.taken_ns});
        return *this;
    }
    GpuClients clients() const { return join_gpu_clients(kGpus, found_); }

private:
    GpuProcesses found_;
};

std::string client(int id, const std::string& keys) {
    return cat("drm-driver:\tamdgpu\ndrm-client-id:\t", id, '\n', keys);
}
std::string gfx(int id, long ns) {
    return client(id, cat("drm-engine-gfx:\t", ns, " ns\n"));
}

std::string tables(const std::vector<GpuUse>& uses) {
    std::string text;
    for (const GpuUse& use : uses) text += usage_text(kGpus[use.gpu], use);
    return text;
}
// What happened between two moments.
std::string between(const Moment& from, const Moment& to) {
    return tables(GpuUsage(from.clients()).take(to.clients()));
}

BOOST_AUTO_TEST_SUITE(gpu_usage)

BOOST_AUTO_TEST_CASE(engines_are_busy_by_the_difference_of_their_times) {
    const std::string before = "drm-engine-gfx:\t1000000 ns\ndrm-engine-dec:\t5 ns\n";
    const std::string after =
        "drm-engine-gfx:\t26000000 ns\ndrm-engine-dec:\t5 ns\ndrm-engine-enc:\t0 ns\n"
        "drm-memory-vram:\t2048 KiB\ndrm-memory-gtt:\t0\n";
    BOOST_TEST(between(Moment(1).process(42, "game").file("card0", client(1, before)),
                       Moment(101).process(42, "game").file("card0", client(1, after))) ==
               "card0 (amdgpu) by process\n"
               "COMM  PID    GFX   DEC     VRAM\n"
               "game   42  25.0%  0.0%  2.0 MiB\n");
}

BOOST_AUTO_TEST_CASE(several_processes_have_a_sum_and_the_busiest_is_first) {
    Moment from(1), to(101);
    from.process(5, "idle").file("card0", gfx(1, 7));
    from.process(6, "busy").file("renderD128", gfx(2, 0));
    to.process(5, "idle").file("card0", gfx(1, 7));
    to.process(6, "busy").file("renderD128", gfx(2, 50'000'000));
    BOOST_TEST(between(from, to) ==
               "card0 (amdgpu) by process\n"
               "COMM  PID    GFX\n"
               "busy    6  50.0%\n"
               "idle    5   0.0%\n"
               "all     -  50.0%\n");
}

BOOST_AUTO_TEST_CASE(a_share_is_that_of_all_engines_of_a_name) {
    const std::string two = "drm-engine-capacity-video:\t2\ndrm-engine-video:\t";
    BOOST_TEST(between(Moment(1).process(5, "a").file("card0", client(1, two + "1 ns\n")),
                       Moment(11).process(5, "a").file("card0", client(1, two + "5000001 ns\n"))) ==
               "card0 (amdgpu) by process\nCOMM  PID  VIDEO\na       5  25.0%\n");
}

BOOST_AUTO_TEST_CASE(a_client_of_several_descriptors_and_processes_is_counted_once) {
    Moment from(1), to(101);
    for (Moment* moment : {&from, &to})
        for (const int pid : {5, 6}) {
            moment->process(pid, "a");
            for (int i = 0; i < 3; ++i)
                moment->file("card0", gfx(1, moment == &from ? 5 : 10'000'005));
        }
    const GpuClients clients = to.clients();
    BOOST_TEST(clients.clients.size() == 1u);
    BOOST_TEST(clients.holders == (std::vector<std::size_t>{2, 0}),
               boost::test_tools::per_element());
    BOOST_TEST(between(from, to) ==
               "card0 (amdgpu) by process\nCOMM  PID    GFX\na       5  10.0%\n");
}

BOOST_AUTO_TEST_CASE(clients_of_a_process_add_up) {
    const Moment from = Moment(1).process(5, "a").file("card0", gfx(1, 1)).file("card0", gfx(2, 1));
    const Moment to = Moment(101)
                          .process(5, "a")
                          .file("card0", gfx(1, 10'000'001))
                          .file("card0", gfx(2, 20'000'001));
    const auto uses = GpuUsage(from.clients()).take(to.clients());
    BOOST_TEST(uses.at(0).processes.at(0).clients == 2u);
    BOOST_TEST(tables(uses) == "card0 (amdgpu) by process\nCOMM  PID    GFX\na       5  30.0%\n");
}

BOOST_AUTO_TEST_CASE(a_client_that_came_counts_from_its_beginning_but_not_beyond_the_interval) {
    const Moment none(1);
    BOOST_TEST(between(none, Moment(101).process(5, "a").file("card0", gfx(1, 40'000'000))) ==
               "card0 (amdgpu) by process\nCOMM  PID    GFX\na       5  40.0%\n");
    BOOST_TEST(between(none, Moment(101).process(5, "a").file("card0", gfx(1, 900'000'000'000))) ==
               "card0 (amdgpu) by process\nCOMM  PID     GFX\na       5  100.0%\n");
}

BOOST_AUTO_TEST_CASE(a_client_that_went_is_gone) {
    BOOST_TEST(between(Moment(1).process(5, "a").file("card0", gfx(1, 5)), Moment(2)).empty());
}

BOOST_AUTO_TEST_CASE(a_counter_that_falls_back_counts_again_above_what_it_was) {
    const auto at = [](std::uint64_t ms, long ns) {
        return Moment(ms).process(5, "a").file("card0", gfx(1, ns)).clients();
    };
    const auto share = [](const std::vector<GpuUse>& uses) {
        return *uses.at(0).processes.at(0).engines.at(0).share;
    };
    GpuUsage usage(at(1, 50'000'000));
    BOOST_TEST(share(usage.take(at(101, 20'000'000))) == 0.0);
    BOOST_TEST(share(usage.take(at(201, 60'000'000))) == 0.1);
}

BOOST_AUTO_TEST_CASE(cycles_are_shares_of_all_cycles_or_of_the_most) {
    const auto xe = [](int id, long cycles, long all) {
        return client(id, cat("drm-cycles-rcs:\t", cycles, "\ndrm-total-cycles-rcs:\t", all, '\n'));
    };
    BOOST_TEST(between(Moment(1).process(5, "a").file("card0", xe(1, 100, 1000)),
                       Moment(9).process(5, "a").file("card0", xe(1, 400, 2000))) ==
               "card0 (amdgpu) by process\nCOMM  PID    RCS\na       5  30.0%\n");
    // A client that came is compared with what the others saw pass; the first one with nothing.
    Moment both(9);
    both.process(5, "a").file("card0", xe(1, 100, 2000));
    both.process(6, "b").file("card0", xe(2, 500, 2000));
    BOOST_TEST(between(Moment(1).process(5, "a").file("card0", xe(1, 100, 1000)), both) ==
               "card0 (amdgpu) by process\nCOMM  PID    RCS\nb       6  50.0%\n"
               "a       5   0.0%\nall     -  50.0%\n");
    BOOST_TEST(between(Moment(1), Moment(9).process(5, "a").file("card0", xe(1, 5, 2000))) ==
               "card0 (amdgpu) by process\nCOMM  PID  RCS\na       5    -\n");
    const std::string mali = "drm-maxfreq-x:\t1 MHz\ndrm-cycles-x:\t";
    BOOST_TEST(between(Moment(1).process(5, "a").file("card0", client(1, mali + "1\n")),
                       Moment(11).process(5, "a").file("card0", client(1, mali + "5001\n"))) ==
               "card0 (amdgpu) by process\nCOMM  PID      X\na       5  50.0%\n");
}

BOOST_AUTO_TEST_CASE(who_has_a_gpu_open_whose_driver_does_not_count_is_told) {
    const Moment now = Moment(1)
                           .process(7, "train")
                           .file("nvidia0", "")
                           .file("nvidia0", "")
                           .process(8, "x")
                           .file("nvidia7", "");
    BOOST_TEST(between(now, now) == "nvidia0 (nvidia) by process\nCOMM   PID\ntrain    7\n");
}

BOOST_AUTO_TEST_CASE(the_object_has_all_that_the_driver_told) {
    const std::string memory = "drm-total-vram:\t4 KiB\ndrm-resident-vram:\t1 KiB\n";
    GpuUsage usage(Moment(1).process(5, "a").file("card0", gfx(1, 1)).clients());
    const auto uses = usage.take(
        Moment(101).process(5, "a").file("card0", gfx(1, 12'345'001) + memory).clients());
    BOOST_TEST(
        usage_json(kGpus[0], uses.at(0)) ==
        R"({"gpu_use":"card0","processes":[{"comm":"a","pid":5,"clients":1,)"
        R"("engines":[{"engine":"gfx","capacity":1,"busy_ns":12345000,"busy_percent":12.3}],)"
        R"("memory":[{"region":"vram","total_bytes":4096,"shared_bytes":null,)"
        R"("resident_bytes":1024,"active_bytes":null,"purgeable_bytes":null}]}]})");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
