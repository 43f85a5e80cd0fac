#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "base/cat.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/monitor/unwind_choice.h"
#include "support/needs.h"
#include "support/skip.h"
#include "support/temp_folder.h"
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

Told told_of(const std::string& work, const std::vector<std::string>& options = {},
             const std::vector<std::string>& variables = environment()) {
    Child::Setup setup;
    setup.argv = gpufs_command(options);
    for (const std::string& word :
         {std::string("--"), beside_gpufs(kCudaWork), work, cat(kThreads), cat(kCount)})
        setup.argv.push_back(word);
    setup.environment = variables;
    return Told(Child(setup).wait());
}

const Told::Wanted kOfCudaWork = {{"comm", kCudaWork}};
Told::Wanted ours(Told::Wanted more) {
    more.insert(kOfCudaWork.begin(), kOfCudaWork.end());
    return more;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(cuda, *ut::precondition(test::has_file{"uprobe_events"}))

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

// The names of kernels are those of its first calls.
BOOST_AUTO_TEST_CASE(a_library_that_only_the_command_finds_is_followed_from_its_first_call) {
    const Told told = told_of("launches", {}, {"LD_LIBRARY_PATH="});
    const long long each = kThreads * kCount;
    const auto launches = [&](const char* kernel) {
        return told.sum("launches", ours({{"kernel", kernel}}), "count");
    };
    BOOST_TEST(launches("add_vectors") == 2 * each);
    BOOST_TEST(launches("scale<float>") == 3 * each);
    BOOST_TEST(told.sum("graphs", kOfCudaWork, "count") == kThreads * (kCount + 1));
}

// Where no file of the library is found; "sh" has none.
BOOST_AUTO_TEST_CASE(a_library_that_is_nowhere_is_waited_for_as_long_as_the_command_runs) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "run", "hip", "--", "sh", "-c", "exit 0"};
    setup.environment = {"LD_LIBRARY_PATH="};
    const auto ran = Child(setup).wait();
    BOOST_TEST(ran.status == 0);
    BOOST_TEST(ran.err ==
               "0 records, 0 lost\nno process loaded a library 'libamdhip64.so*'\n"
               "sh ended with exit status 0\n");
    setup.argv = {test::gpufs_binary(), "run", "hip"};
    const auto refused = Child(setup).wait();
    BOOST_TEST(refused.status == 3);
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

BOOST_AUTO_TEST_CASE(launches_go_to_the_gpu_of_the_context_that_a_thread_has) {
    constexpr long long kTimes = 4;
    Child::Setup setup;
    setup.argv = gpufs_command({"--", beside_gpufs(kCudaWork), "gpus", cat(kTimes)});
    setup.environment = environment();
    const Told told(Child(setup).wait());
    struct OfGpu {
        const char* gpu;
        long long launches, graphs;
    };
    for (const OfGpu& one : {OfGpu{"-", 1, 1}, OfGpu{"0", 3, 1}, OfGpu{"2", 2 + 5, 2},
                             OfGpu{"3", 7, 1}, OfGpu{"5", 4, 1}, OfGpu{"6", 6, 1}}) {
        const Told::Wanted of = ours({{"gpu", one.gpu}});
        BOOST_TEST(told.sum("streams", of, "count") == one.launches * kTimes, one.gpu);
        BOOST_TEST(told.sum("graphs", of, "count") == one.graphs, one.gpu);
    }
    BOOST_TEST(told.sum("took", ours({{"call", "cuCtxCreate"}}), "count") == 1);
}

test::Ended run_stacks(const std::vector<std::string>& options) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "run", "cuda"};
    setup.argv.insert(setup.argv.end(), options.begin(), options.end());
    for (const std::string& word :
         {std::string("--"), beside_gpufs(kCudaWork), std::string("stacks"), cat(kCount)})
        setup.argv.push_back(word);
    setup.environment = environment();
    return Child(setup).wait();
}

// The frames of the program's own work, and what it launched.
BOOST_AUTO_TEST_CASE(folded_launches_are_stacks_with_the_kernel_as_their_leaf) {
    const test::Ended ended = run_stacks({"--folded"});
    BOOST_TEST(ended.status == 0);
    long all = 0;
    std::map<std::string, long> counts;
    for (const std::string_view line : lines_of(ended.out)) {
        BOOST_TEST(line.starts_with("gpufs-cuda-work;"), line);
        const auto last = line.rfind(' ');
        const std::string_view stack = line.substr(0, last);
        BOOST_TEST(stack.ends_with(";add_vectors"), line);
        const long count = std::stol(std::string(line.substr(last)));
        all += count;
        counts[std::string(stack.substr(
            std::min(stack.find("(anonymous namespace)::stacks"), stack.size())))] += count;
    }
    BOOST_TEST(all == 2 * kCount, ended.out);
    // The program's code without a file comes in the moment before: tables that know of it may come
    // too late, and the last line says how many stacks were taken otherwise, or cut short.
    const bool is_whole = !test::has(ended.err, " user stack");
    for (const char* suffix : {"", "_ptsz"}) {
        const long count = counts[cat(
            "(anonymous namespace)::stacks (gpufs-cuda-work);py::forward:/model.py "
            "[jit];launch_layer",
            suffix, " (gpufs-cuda-work);cuLaunchKernel", suffix, " (libcuda.so.1);add_vectors")];
        BOOST_TEST((is_whole ? count == kCount : count <= kCount), ended.out + ended.err);
    }
}

BOOST_AUTO_TEST_CASE(by_stack_tells_who_took_memory_and_who_waited) {
    const Told told(run_stacks({"--by", "stack", "--json"}));
    const auto inner_frames = [](const Json& row) {
        std::vector<std::string> names;
        for (const Json& frame : row["key"]["user"].items) names.push_back(frame.text);
        names.resize(std::min<std::size_t>(names.size(), 2));
        return names;
    };
    // Of one place there may be two stacks: one was taken before the program's tables were there.
    const auto check = [&](const char* what, long long count) {
        const Told::Wanted wanted = ours({{"what", what}});
        BOOST_TEST(told.sum("owners", wanted, "count") == count, what);
        BOOST_TEST(told.sum("owners", wanted, "sum") == count * 1000, what);
        for (const Json& row : told.rows("owners", wanted))
            BOOST_TEST(
                inner_frames(row) == (std::vector<std::string>{"cuMemAlloc_v2 (libcuda.so.1)",
                                                               "take_memory (gpufs-cuda-work)"}),
                boost::test_tools::per_element());
    };
    check("allocated", kCount);
    check("not freed", kCount - 1);
    const std::vector<Json> waits = told.rows("waits", ours({{"call", "cuCtxSynchronize"}}));
    BOOST_TEST(!waits.empty());
    for (const Json& wait : waits) BOOST_TEST(wait["min"].number() >= 2000);
    BOOST_TEST(told.sum("launched", kOfCudaWork, "count") == 2 * kCount);
}

// The tables of a program that has the library are there before the first stack is taken.
BOOST_AUTO_TEST_CASE(stacks_of_a_program_that_runs_already_are_whole) {
    KernelFacts machine;
    const auto kernel = unwind_kernel(machine);
    if (!kernel || !kernel->has_callbacks) return test::skip("needs bpf_loop: Linux 5.17 or later");
    Child::Setup setup;
    setup.argv = {beside_gpufs(kCudaWork), "bench", "100000000000"};
    setup.environment = environment();
    Child work(setup);
    const auto has_library = [&] {
        return read_file(cat("/proc/", work.pid(), "/maps")).find("libcuda.so") !=
               std::string::npos;
    };
    while (!has_library()) std::this_thread::sleep_for(1ms);
    setup.argv = gpufs_command({"--by", "stack", "--duration", "300ms"});
    const Told told(Child(setup).wait());
    work.send(SIGKILL);
    BOOST_TEST(told.sum("launched", kOfCudaWork, "count") > 0);
    for (const Json& row : told.rows("launched", kOfCudaWork))
        BOOST_TEST(row["key"]["user"].items.back().text.starts_with("_start"));
    BOOST_TEST(told.err().find("by frame pointers") == std::string::npos, told.err());
}

BOOST_AUTO_TEST_CASE(by_takes_stack_only_and_of_monitors_that_have_some, *ut::label("pure")) {
    const auto refused = [](const std::vector<std::string>& words) {
        const test::Ended ended = test::gpufs(words);
        BOOST_TEST(ended.status == 2);
        return ended.err;
    };
    BOOST_TEST(refused({"run", "cuda", "--by", "kernel"}) ==
               "gpufs: --by takes 'stack', not 'kernel'\n");
    BOOST_TEST(refused({"run", "syscalls", "--by", "stack"}) ==
               "gpufs: --by stack: this counts nothing by stack\n");
}

BOOST_AUTO_TEST_CASE(collectives_of_a_library_that_has_them_built_in_are_counted) {
    const test::TempFolder directory;
    BOOST_TEST_REQUIRE(
        directory.run("cp $B/cuda/libnccl.so.2 libtorch_cuda.so && "
                      "ln -s $B/cuda/libcuda.so.1 libcuda.so.1"));
    Child::Setup setup;
    setup.argv = gpufs_command({"--", "env", cat("LD_PRELOAD=", directory.file("libtorch_cuda.so")),
                                beside_gpufs(kCudaWork), "collectives", "1", cat(kCount)});
    setup.environment = {cat("LD_LIBRARY_PATH=", directory.file(""))};
    const Told told(Child(setup).wait());
    BOOST_TEST(told.sum("groups", ours({{"collective", "AllReduce"}}), "sum") == kCount * 2000);
    BOOST_TEST(told.sum("groups", kOfCudaWork, "count") == 4 * kCount);
}

// What a program's two kernels are called that were launched before anybody looked, and then 40
// times each. `handles`: what the driver's are.
std::vector<std::string> names_of_kernels(const std::string& program,
                                          const std::string& handles = "") {
    const test::TempFolder directory;
    const std::string in = directory.file("in"), held = directory.file("held");
    for (const std::string& fifo : {in, held})
        BOOST_TEST_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    Child::Setup setup;
    setup.argv = {"sh", "-c", cat("exec 9<>", held, "; exec ", program, " stubs 40 < ", in)};
    setup.environment = environment();
    setup.environment.push_back(cat("GPUFS_CUDA_HANDLES=", handles));
    Child work(setup);
    Fd keeps_open{::open(in.c_str(), O_WRONLY | O_CLOEXEC)};
    BOOST_TEST_REQUIRE(work.wait_for_output("ready\n", 120s));
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
        names.push_back(cat(row["key"]["kernel"].text, ' ', row["key"]["grid"].text));
    }
    std::ranges::sort(names);
    return names;
}

const std::vector<std::string> kNamesOfKernels{"add_vectors 5x6x7", "scale<float> 1x2x3"};

// A kernel's name was asked for before: its handle has it, whatever the program is made of.
BOOST_AUTO_TEST_CASE(kernels_of_a_program_that_runs_already_have_their_names) {
    const test::TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("objcopy --strip-all $B/gpufs-cuda-work bare"));
    for (const std::string& program :
         {beside_gpufs(kCudaWork), beside_gpufs("gpufs-cuda-all"), directory.file("bare")})
        BOOST_TEST(names_of_kernels(program) == kNamesOfKernels, boost::test_tools::per_element());
}

// With other texts: a call that told a name made that known.
BOOST_AUTO_TEST_CASE(kernels_whose_handles_have_no_names_are_unknown) {
    for (const char* handles : {"numbers", "other"})
        BOOST_TEST(names_of_kernels(beside_gpufs(kCudaWork), handles) ==
                       (std::vector<std::string>{"unknown 1x2x3", "unknown 5x6x7"}),
                   boost::test_tools::per_element());
}

// Its files are in a file system that only it has.
BOOST_AUTO_TEST_CASE(a_program_in_a_container_is_seen, *ut::label("pure")) {
    const test::TempFolder directory;
    const std::string there = directory.file("files");
    BOOST_TEST_REQUIRE(::mkdir(there.c_str(), 0700) == 0);
    const std::string start = cat("mount -t tmpfs none ", there, " && cp -rL ",
                                  beside_gpufs("cuda"), ' ', beside_gpufs(kCudaWork), ' ', there,
                                  " && LD_LIBRARY_PATH= exec ", there, '/', kCudaWork, " \"$@\"");
    BOOST_TEST(names_of_kernels(cat("unshare --mount sh -c '", start, "' sh")) == kNamesOfKernels,
               boost::test_tools::per_element());
    BOOST_TEST(list_directory(there).empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
