#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "base/cat.h"
#include "base/fd.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitor cuda, over a libcuda.so.1 and a runtime library of our own, which a program calls
// that knows how often.
namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Json;
using test::Told;

const std::string kCudaWork = "gpufs-cuda-work";
constexpr long long kThreads = 3, kCount = 7;

std::string beside_gpufs(const std::string& name) {
    const std::string binary = test::gpufs_binary();
    return binary.substr(0, binary.rfind('/') + 1) + name;
}

std::vector<std::string> gpufs_command(const std::vector<std::string>& options) {
    std::vector<std::string> argv{test::gpufs_binary(), "run", "cuda", "--json", "--strict"};
    argv.insert(argv.end(), options.begin(), options.end());
    return argv;
}

// Where the loader is told to look for the libraries.
std::vector<std::string> environment() {
    return {"LD_LIBRARY_PATH=" + beside_gpufs("cuda")};
}

Told told_of(const std::string& work, const std::vector<std::string>& options = {}) {
    Child::Setup setup;
    setup.argv = gpufs_command(options);
    for (const std::string& word :
         {std::string("--"), beside_gpufs(kCudaWork), work, cat(kThreads), cat(kCount)})
        setup.argv.push_back(word);
    setup.environment = environment();
    return Told(Child(setup).wait());
}

const Told::Wanted kOfCudaWork = {{"comm", kCudaWork}};
Told::Wanted ours(Told::Wanted more) {
    more.insert(kOfCudaWork.begin(), kOfCudaWork.end());
    return more;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(cuda,
                      *ut::label("last_guest") * ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(launches_are_counted_once_by_kernel_grid_and_stream) {
    const Told told = told_of("launches");
    const auto launches = [&](const char* kernel, const char* grid, const char* block) {
        return told.sum("launches", ours({{"kernel", kernel}, {"grid", grid}, {"block", block}}),
                        "count");
    };
    const long long each = kThreads * kCount;
    BOOST_TEST(launches("add_vectors", "70x50x30", "32x4x2") == each);
    BOOST_TEST(launches("add_vectors", "1x1x1", "64x1x1") == each);
    BOOST_TEST(launches("scale<float>", "3x2x1", "1x2x3") == each);
    BOOST_TEST(launches("scale<float>", "9x8x7", "6x5x4") == 2 * each);
    BOOST_TEST(told.sum("launches", kOfCudaWork, "count") == 5 * each);

    BOOST_TEST(told.sum("streams", ours({{"stream", "default"}}), "count") == each);
    for (long long stream = 1; stream <= kThreads; ++stream) {
        const Told::Wanted one = ours({{"stream", cat(stream)}});
        BOOST_TEST(told.sum("streams", one, "count") == 4 * kCount);
        BOOST_TEST(told.sum("graphs", one, "count") == kCount + 1);
    }
    BOOST_TEST(told.sum("streams", kOfCudaWork, "count") == 5 * each);
    BOOST_TEST(told.sum("graphs", kOfCudaWork, "count") == kThreads * (kCount + 1));
    BOOST_TEST(told.rows("failures", kOfCudaWork).empty());
}

BOOST_AUTO_TEST_CASE(what_is_not_freed_is_told) {
    const Told told = told_of("memory");
    // Of COUNT times 1000, 1001, ... bytes: those of the first are never freed.
    const long long first = 1000 * kThreads;
    const long long all = kThreads * (kCount * 1000 + kCount * (kCount - 1) / 2);
    const auto check = [&](const char* memory, const char* what, long long count, long long bytes) {
        const auto rows = told.rows("memories", ours({{"memory", memory}, {"what", what}}));
        BOOST_TEST_REQUIRE(rows.size() == 1u, memory << ' ' << what);
        BOOST_TEST(rows[0]["count"].number() == count, memory << ' ' << what);
        BOOST_TEST(rows[0]["sum"].number() == bytes, memory << ' ' << what);
    };
    struct Kind {
        const char* memory;
        long long times;
    };
    for (const Kind& kind : {Kind{"managed", 2}, Kind{"pool", 3}, Kind{"host", 4}}) {
        check(kind.memory, "allocated", kThreads * kCount, kind.times * all);
        check(kind.memory, "freed", kThreads * (kCount - 1), kind.times * (all - first));
        check(kind.memory, "not freed", kThreads, kind.times * first);
    }
    // Beside each there is one of ten lines, which is freed.
    check("device", "allocated", 2 * kThreads * kCount, 11 * all);
    check("device", "freed", kThreads * (2 * kCount - 1), 11 * all - first);
    check("device", "not freed", kThreads, first);
    BOOST_TEST(told.sum("failures", ours({{"call", "cuMemAlloc"}, {"result", "out of memory"}}),
                        "count") == kThreads);
    BOOST_TEST(told.sum("failures", ours({{"call", "cuMemFree"}, {"result", "invalid value"}}),
                        "count") == kThreads);
    BOOST_TEST(told.sum("failures", kOfCudaWork, "count") == 2 * kThreads);
}

BOOST_AUTO_TEST_CASE(copies_have_bytes_and_a_direction_and_waits_take_their_time) {
    const Told told = told_of("copies");
    const long long each = kThreads * kCount;
    const auto check = [&](const char* way, long long count, long long bytes) {
        BOOST_TEST(told.sum("copies", ours({{"way", way}}), "count") == count, way);
        BOOST_TEST(told.sum("copies", ours({{"way", way}}), "sum") == bytes, way);
    };
    check("host to device", 3 * each, each * (5000 + 6000 + 7000));
    check("device to host", 2 * each, each * (300 + 64 * 5));
    check("device to device", 2 * each, each * (20 + 32 * 3 * 2));
    check("by address", each, each << 20);
    check("set", each, each * 100);
    BOOST_TEST(told.sum("speeds", ours({{"way", "host to device"}}), "count") == 2 * each);
    BOOST_TEST(told.sum("speeds", kOfCudaWork, "count") == 4 * each);
    // A copy's own wait, and its own launch, are part of it.
    BOOST_TEST(told.rows("launches", kOfCudaWork).empty());
    for (const char* call : {"cuStreamSynchronize", "cuCtxSynchronize", "cuMemcpyDtoH"}) {
        const auto rows = told.rows("took", ours({{"call", call}}));
        BOOST_TEST_REQUIRE(rows.size() == 1u, call);
        BOOST_TEST(rows[0]["count"].number() == each, call);
        BOOST_TEST(rows[0]["min"].number() >= 2000, call);  // which it sleeps
    }
}

BOOST_AUTO_TEST_CASE(collectives_have_bytes_by_their_types) {
    const Told told = told_of("collectives");
    const long long each = kThreads * kCount;
    const auto check = [&](const char* what, long long count, long long bytes) {
        const Told::Wanted one = ours({{"collective", what}});
        BOOST_TEST(told.sum("groups", one, "count") == count, what);
        BOOST_TEST(told.sum("groups", one, "sum") == bytes, what);
    };
    check("AllReduce", each, each * 2000);
    check("Broadcast", 2 * each, each * (400 + 80));  // one way to ask for it calls the other
    check("Send", each, each * 7);
    BOOST_TEST(told.sum("groups", kOfCudaWork, "count") == 4 * each);
}

// What a program's two kernels are called that were launched before anybody looked, and then 40
// times each.
std::vector<std::string> names_of_kernels(const std::string& program) {
    const test::TempDirectory directory;
    const std::string in = directory.file("in"), held = directory.file("held");
    for (const std::string& fifo : {in, held})
        BOOST_TEST_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    Child::Setup setup;
    setup.argv = {"sh", "-c", cat("exec 9<>", held, "; exec ", program, " stubs 40 < ", in)};
    setup.environment = environment();
    Child work(setup);
    Fd keeps_open{::open(in.c_str(), O_WRONLY | O_CLOEXEC)};
    BOOST_TEST_REQUIRE(work.wait_for_output("ready\n", 30s));
    // Nobody says where the library is: the process has it mapped.
    Child::Setup watch;
    watch.argv = gpufs_command({"-p", cat(work.pid()), "--", "sh", "-c",
                                cat("exec 9< ", held, "; echo > ", in, "; cat <&9")});
    const Told told(Child(watch).wait());
    keeps_open = Fd();  // it ends, even if nobody told it to go on
    BOOST_TEST(work.wait().status == 0);
    std::vector<std::string> names;
    for (const Json& row : told.rows("launches", {})) {
        BOOST_TEST(row["count"].number() == 40);
        names.push_back(row["key"]["kernel"].text);
    }
    std::ranges::sort(names);
    return names;
}

// A kernel's name was asked for before: the program's own function stands for it.
BOOST_AUTO_TEST_CASE(kernels_of_a_program_that_runs_already_have_the_names_of_its_functions) {
    const std::vector<std::string> names{"add_vectors", "scale<float>"};
    for (const char* program : {"gpufs-cuda-work", "gpufs-cuda-all"})
        BOOST_TEST(names_of_kernels(beside_gpufs(program)) == names,
                   boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(kernels_of_a_stripped_program_are_unknown_functions_of_its_file) {
    const test::TempDirectory directory;
    BOOST_TEST_REQUIRE(directory.run("objcopy --strip-all $B/gpufs-cuda-work bare"));
    const std::vector<std::string> names = names_of_kernels(directory.file("bare"));
    BOOST_TEST_REQUIRE(names.size() == 2u);
    for (const std::string& name : names) BOOST_TEST(name.starts_with("unknown (bare+0x"), name);
    BOOST_TEST(names[0] != names[1]);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
