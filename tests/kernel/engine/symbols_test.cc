#define BOOST_TEST_DYN_LINK
#include "engine/symbols/symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <semaphore>
#include <set>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/text.h"
#include "engine/monitor/monitor.h"
#include "engine/symbols/kernel_symbols.h"
#include "kernel/elf/elf_symbols.h"
#include "kernel/host/kallsyms.h"
#include "lang/asm/assembler.h"
#include "lang/symbols/kernel_functions.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/skip.h"
#include "support/temp_folder.h"
#include "view/monitor/live_symbols.h"
#include "view/trace/frame_text.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Nest;
using test::TempFolder;
std::string at(Symbols& symbols, std::uint32_t pid, std::uint64_t address,
               FramePlace place = FramePlace::innermost) {
    return to_text(symbols.user(pid, address, place));
}

// A watched process that is gone, as the table knows it.
void end(Symbols& symbols, Nest& nest) {
    nest.end();
    symbols.drain();
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(symbols)

BOOST_AUTO_TEST_CASE(an_address_of_a_process_has_a_name_and_a_line) {
    for (const std::string program : {"nest", "nest-fixed", "nest-dwarf4"}) {
        Nest nest({Nest::build_file(program)});
        Symbols symbols(CodeFile::Lines::yes);
        const auto inner = nest.address("inner");
        const std::string source = cat(" at nest.cc:", nest.ask("line"));
        BOOST_TEST(at(symbols, nest.pid(), inner) ==
                   cat("nest::inner<int> (", program, ")", source));
        const Frame second = symbols.user(nest.pid(), inner + 1);
        BOOST_TEST(second.name == "nest::inner<int>");
        BOOST_TEST(second.offset == 1u);
        BOOST_TEST(symbols.user(nest.pid(), nest.address("outer")).name == "nest::outer");
    }
}

BOOST_AUTO_TEST_CASE(where_a_call_returns_to_belongs_to_the_caller) {
    Nest nest;
    Symbols symbols;
    const auto inner = nest.address("inner");
    BOOST_TEST(at(symbols, nest.pid(), inner) == "nest::inner<int> (nest)");
    BOOST_TEST(at(symbols, nest.pid(), inner + 1, FramePlace::outer) ==
               "nest::inner<int>+0x1 (nest)");
    const Frame before = symbols.user(nest.pid(), inner, FramePlace::outer);
    BOOST_TEST(before.name != "nest::inner<int>");
}

BOOST_AUTO_TEST_CASE(what_nobody_knows_is_an_address) {
    Nest nest;
    Symbols symbols;
    BOOST_TEST(at(symbols, nest.pid(), 0x10) == "0x10");
    BOOST_TEST(at(symbols, nest.pid(), 0x10, FramePlace::outer) == "0x10");
    BOOST_TEST(at(symbols, 0, 0x1234) == "0x1234");
    BOOST_TEST(at(symbols, 0x3fffffff, 0x1234) == "0x1234");
    BOOST_TEST(to_text(symbols.kernel(0x1234)) == "0x1234");
    BOOST_TEST(symbols.fds().empty());
}

BOOST_AUTO_TEST_CASE(threads_answer_as_their_process) {
    Symbols symbols;
    const auto here = reinterpret_cast<std::uint64_t>(&test::gpufs_test_measured);
    BOOST_TEST(symbols.user(static_cast<std::uint32_t>(::getpid()), here).name ==
               "gpufs_test_measured");
    const auto libc = reinterpret_cast<std::uint64_t>(&::getppid);
    BOOST_TEST(at(symbols, static_cast<std::uint32_t>(::gettid()), libc) == "getppid (libc.so.6)");
}

// The kernel's names differ between machines; where one has two, the shorter one is told.
#if defined __aarch64__
constexpr const char *kInVdso = "__kernel_clock_gettime", *kShown = kInVdso;
#else
constexpr const char *kInVdso = "__vdso_clock_gettime", *kShown = "clock_gettime";
#endif
BOOST_AUTO_TEST_CASE(the_vdso_has_names) {
    void* const vdso = ::dlopen("linux-vdso.so.1", RTLD_NOLOAD | RTLD_LAZY);
    BOOST_TEST_REQUIRE(vdso);
    void* const function = ::dlsym(vdso, kInVdso);
    BOOST_TEST_REQUIRE(function);
    Symbols symbols;
    BOOST_TEST(at(symbols, static_cast<std::uint32_t>(::getpid()),
                  reinterpret_cast<std::uint64_t>(function)) == cat(kShown, " [vdso]"));
    ::dlclose(vdso);
}

BOOST_AUTO_TEST_CASE(code_made_at_run_time_has_the_names_of_its_list) {
    Nest nest;
    Symbols symbols;
    symbols.watch();
    const auto code = nest.address("code");
    BOOST_TEST(at(symbols, nest.pid(), code + 4) == "Lmade;::at run time+0x4 [jit]");
    const Frame behind = symbols.user(nest.pid(), code + 0x40);
    BOOST_TEST((behind == Frame{{}, {}, code + 0x40, {}}));
    const std::uint32_t pid = nest.pid();
    end(symbols, nest);
    BOOST_TEST(symbols.user(pid, code).name == "Lmade;::at run time");
    ::unlink(cat("/tmp/perf-", pid, ".map").c_str());
}

BOOST_AUTO_TEST_CASE(a_library_that_comes_later_is_seen) {
    // Without a side-band: by looking again.
    Nest nest;
    Symbols symbols;
    BOOST_TEST(symbols.user(nest.pid(), nest.address("inner")).name == "nest::inner<int>");
    const auto work = nest.address("load " + Nest::build_file("plug.so"));
    BOOST_TEST(at(symbols, nest.pid(), work + 1) == "plug_work+0x1 (plug.so)");
}

BOOST_AUTO_TEST_CASE(a_stripped_library_has_its_debug_file) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run(
        "cp $B/plug.so . && objcopy --only-keep-debug --compress-debug-sections plug.so "
        "plug.debug && objcopy --strip-all --add-gnu-debuglink=plug.debug plug.so && "
        "cp plug.so alone.so && objcopy -R .gnu_debuglink alone.so"));
    for (const bool has_debug_file : {true, false}) {
        Nest nest;
        Symbols symbols(CodeFile::Lines::yes);
        const auto work =
            nest.address("load " + directory.file(has_debug_file ? "plug.so" : "alone.so"));
        BOOST_TEST(at(symbols, nest.pid(), work) ==
                   (has_debug_file ? "plug_work (plug.so) at plug.cc:9" : "plug_work (alone.so)"));
        // The static function in front of it is in the debug file only.
        BOOST_TEST(symbols.user(nest.pid(), work - 1).name ==
                   (has_debug_file ? "plug_hidden" : ""));
    }
}

BOOST_AUTO_TEST_CASE(lines_that_are_packed_in_any_way_are_read) {
    for (const char* way : {"zlib-gabi", "zlib-gnu"}) {
        const TempFolder directory;
        BOOST_TEST_REQUIRE(
            directory.run(cat("objcopy --compress-debug-sections=", way, " $B/plug.so packed.so")));
        Nest nest;
        Symbols symbols(CodeFile::Lines::yes);
        const auto work = nest.address("load " + directory.file("packed.so"));
        BOOST_TEST(at(symbols, nest.pid(), work) == "plug_work (packed.so) at plug.cc:9", way);
    }
}

BOOST_AUTO_TEST_CASE(without_a_function_the_place_in_the_file_is_told) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("objcopy --strip-all $B/plug.so bare.so"));
    Nest nest;
    Symbols symbols;
    const auto work = nest.address("load " + directory.file("bare.so"));
    const CodeFile code(open_file(directory.file("bare.so"), O_RDONLY), "bare.so", RootDirectory(),
                        CodeFile::Lines::no);
    BOOST_TEST(code.size() == 1u);
    const Frame hidden = symbols.user(nest.pid(), work - 1);
    BOOST_TEST(hidden.name == "");
    BOOST_TEST(hidden.module == "bare.so");
    const auto function = find_functions(directory.file("bare.so"), "plug_work");
    BOOST_TEST_REQUIRE(function.size() == 1u);
    BOOST_TEST(code.address_of(function[0].offset - 1).value() == hidden.offset);
}

BOOST_AUTO_TEST_CASE(a_process_that_is_gone_still_answers) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("cp $B/plug.so late.so"));
    Symbols symbols;
    symbols.watch();
    Nest nest;
    const auto inner = nest.address("inner");
    const auto work = nest.address("load " + directory.file("late.so"));
    // A deleted file, which no path leads to.
    symbols.drain();
    BOOST_TEST_REQUIRE(directory.run("rm late.so"));
    const std::uint32_t pid = nest.pid();
    end(symbols, nest);
    BOOST_TEST(!file_exists(cat("/proc/", pid)));
    BOOST_TEST(at(symbols, pid, inner + 1) == "nest::inner<int>+0x1 (nest)");
    BOOST_TEST(at(symbols, pid, work) == "plug_work (late.so)");
    BOOST_TEST(symbols.lost() == 0u);
}

BOOST_AUTO_TEST_CASE(a_process_that_ran_before_is_remembered) {
    Nest nest;
    const auto inner = nest.address("inner");
    Symbols symbols;
    symbols.watch();
    symbols.remember_all();
    const std::uint32_t pid = nest.pid();
    end(symbols, nest);
    BOOST_TEST(at(symbols, pid, inner) == "nest::inner<int> (nest)");
}

BOOST_AUTO_TEST_CASE(a_fork_has_what_its_parent_had) {
    Nest nest;
    Symbols symbols;
    symbols.watch();
    const auto work = nest.address("load " + Nest::build_file("plug.so"));
    const auto child = static_cast<std::uint32_t>(std::stoul(nest.ask("fork")));
    symbols.drain();
    end(symbols, nest);
    BOOST_TEST(at(symbols, child, work) == "plug_work (plug.so)");
}

BOOST_AUTO_TEST_CASE(an_exec_changes_what_addresses_mean) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("cp $B/nest-fixed other"));
    Symbols symbols;
    symbols.watch();
    Nest nest({Nest::build_file("nest-fixed")});
    const auto inner = nest.address("inner");
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto before = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(now.tv_nsec);
    nest.tell("exec " + directory.file("other"));
    BOOST_TEST(nest.address("inner") == inner);
    BOOST_TEST(at(symbols, nest.pid(), inner) == "nest::inner<int> (other)");
    BOOST_TEST(to_text(symbols.user(nest.pid(), inner, FramePlace::innermost, before)) ==
               "nest::inner<int> (nest-fixed)");
}

BOOST_AUTO_TEST_CASE(an_exec_by_another_thread_is_no_end) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("cp $B/nest-fixed other"));
    Symbols symbols;
    symbols.watch();
    Nest nest({Nest::build_file("nest-fixed")});
    const auto inner = nest.address("inner");
    nest.tell("exec-in-thread " + directory.file("other"));
    BOOST_TEST(nest.address("inner") == inner);
    BOOST_TEST(at(symbols, nest.pid(), inner) == "nest::inner<int> (other)");
    const auto work = nest.address("load " + Nest::build_file("plug.so"));
    BOOST_TEST(at(symbols, nest.pid(), work) == "plug_work (plug.so)");
}

BOOST_AUTO_TEST_CASE(a_main_thread_may_end_before_the_others) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("cp $B/plug.so late.so"));
    Nest nest;
    Symbols symbols, looks_now;
    symbols.watch();
    symbols.remember(nest.pid());
    BOOST_TEST(nest.ask("leave") == "left");
    symbols.drain();
    const auto work = nest.address("load " + directory.file("late.so"));
    symbols.drain();
    BOOST_TEST_REQUIRE(directory.run("rm late.so"));
    BOOST_TEST(at(symbols, nest.pid(), work) == "plug_work (late.so)");
    BOOST_TEST(at(looks_now, nest.pid(), work) == "plug_work (late.so)");
}

BOOST_AUTO_TEST_CASE(an_exec_ends_the_list_of_code_made_at_run_time) {
    Nest nest;
    Symbols symbols;
    symbols.watch();
    BOOST_TEST(symbols.user(nest.pid(), nest.address("code")).name == "Lmade;::at run time");
    nest.tell("exec " + Nest::build_file("nest"));
    // The new list is as long as the old one.
    BOOST_TEST(symbols.user(nest.pid(), nest.address("code")).name == "Lmade;::at run time");
    ::unlink(cat("/tmp/perf-", nest.pid(), ".map").c_str());
}

// Changes its own root when told, of all threads alone.
class RootedThread {
public:
    explicit RootedThread(const std::string& directory) : base_(open_file(directory, O_PATH)) {
        thread_ = std::thread([this] {
            tid_ = ::unshare(CLONE_FS) == 0 ? ::gettid() : 0;
            for (done_.release(), go_.acquire(); !root_.empty(); done_.release(), go_.acquire())
                if (::fchdir(base_.get()) != 0 || ::chroot(root_.c_str()) != 0) tid_ = 0;
        });
        done_.acquire();
    }
    ~RootedThread() {
        root_.clear();
        go_.release();
        thread_.join();
    }
    // Below the directory. The thread's id; 0 when that failed.
    int enter(const std::string& root) {
        root_ = root;
        go_.release();
        done_.acquire();
        return tid_;
    }

private:
    Fd base_;
    int tid_ = 0;
    std::string root_;
    std::binary_semaphore go_{0}, done_{0};
    std::thread thread_;
};

BOOST_AUTO_TEST_CASE(roots_of_old_containers_are_not_held) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(
        directory.run("mkdir $(seq 1000 1399) && cp $B/plug.so 1000/ && cp $B/plug.so 1399/"));
    RootedThread thread(directory.file(""));
    MappedFiles files(CodeFile::Lines::no);
    const std::size_t before = list_directory("/proc/self/fd").size();
    const auto add = [&](int root) {
        const int tid = thread.enter(std::to_string(root));
        BOOST_TEST_REQUIRE(tid != 0);
        struct stat status {};
        ::stat(directory.file(cat(root, "/plug.so")).c_str(), &status);
        const std::uint64_t inode = status.st_ino ? status.st_ino : 1ull << 60;
        const auto number = static_cast<std::uint64_t>(root);
        return files.add(tid, {0x1000, 0x2000, 0, number, inode, 0, "/plug.so"});
    };
    const auto first = add(1000);
    for (int root = 1001; root < 1399; ++root) add(root);
    const auto last = add(1399);
    // With both libraries, which are open.
    BOOST_TEST(list_directory("/proc/self/fd").size() - before == 256u + 2);
    BOOST_TEST(files.code(first));
    BOOST_TEST(files.code(last));
}

BOOST_AUTO_TEST_CASE(a_container_has_its_own_files_and_debug_files) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run(
        "mkdir -p inside lib/debug usr/lib/debug/inside && cp $B/plug.so inside/boxed.so && "
        "objcopy --only-keep-debug inside/boxed.so boxed.debug && "
        "objcopy --strip-all --add-gnu-debuglink=boxed.debug inside/boxed.so && "
        "ln -s /real usr/lib/debug/inside/boxed.debug && mv boxed.debug real"));
    Symbols symbols(CodeFile::Lines::yes);
    symbols.watch();
    Nest nest;
    BOOST_TEST(nest.ask("enter " + directory.file("")) == "in");
    const auto work = nest.address("load /inside/boxed.so");
    symbols.drain();
    const std::uint32_t pid = nest.pid();
    end(symbols, nest);
    BOOST_TEST(at(symbols, pid, work) == "plug_work (boxed.so) at plug.cc:9");
}

BOOST_AUTO_TEST_CASE(lines_are_those_of_addr2line,
                     *ut::precondition(test::has_program{"addr2line"})) {
    const TempFolder directory;
    for (const std::string name : {"nest", "nest-fixed", "nest-dwarf4", "plug.so"}) {
        const std::string path = Nest::build_file(name);
        // Every fourth byte of what the file has for code. Lines only: of DWARF 5, addr2line 2.40
        // takes the wrong file for functions that come from headers.
        BOOST_TEST_REQUIRE(directory.run(
            cat("objdump -d ", path,
                " | sed -n 's/^ *\\([0-9a-f]*[048c]\\):.*/\\1/p' >addresses && addr2line -s -e ",
                path, " <addresses | sed 's/ (disc.*//; s/.*://; s/?/0/' >lines")));
        const std::string addresses = read_file(directory.file("addresses")),
                          wanted = read_file(directory.file("lines"));
        const CodeFile code(open_file(path, O_RDONLY), path, RootDirectory(), CodeFile::Lines::yes);
        SourceLines lines(code.lines());
        std::string found;
        for (const std::string_view address : lines_of(addresses)) {
            const auto line = lines.find(std::stoull(std::string(address), nullptr, 16));
            found += cat(line ? line->line : 0, '\n');
        }
        BOOST_TEST(!found.empty());
        BOOST_TEST(found == wanted);
    }
}

BOOST_AUTO_TEST_CASE(addresses_of_the_kernel_have_names) {
    Symbols symbols;
    BOOST_TEST(symbols.why_no_kernel_names() == "");
    const std::string all = read_file("/proc/kallsyms");
    const auto place = all.find(" T schedule\n");
    BOOST_TEST_REQUIRE(place != all.npos);
    const auto address = std::stoull(all.substr(all.rfind('\n', place) + 1, 16), nullptr, 16);
    BOOST_TEST(to_text(symbols.kernel(address + 4)) == "schedule+0x4");
    BOOST_TEST(to_text(symbols.kernel(address + 1, FramePlace::outer)) == "schedule+0x1");
}

// How much this process has read since it began.
std::uint64_t bytes_read() {
    const std::string io = read_file("/proc/self/io");
    return std::stoull(io.substr(io.find("rchar: ") + 7));
}

BOOST_AUTO_TEST_CASE(the_kernel_s_names_are_read_when_the_first_one_is_asked_for) {
    constexpr std::uint64_t kKallsyms = 1 << 20, kNowhere = ~std::uint64_t{0} >> 1;
    const std::uint64_t before = bytes_read();
    KernelSymbols symbols(KernelSymbols::Way::kallsyms);
    BOOST_TEST(bytes_read() - before < kKallsyms);
    BOOST_TEST(!symbols.find(kNowhere).has_value());
    const std::uint64_t once = bytes_read();
    BOOST_TEST(once - before > kKallsyms);
    BOOST_TEST(!symbols.find(kNowhere).has_value());
    BOOST_TEST(symbols.why_no_names() == "");
    BOOST_TEST(bytes_read() - once < kKallsyms);
}

BOOST_AUTO_TEST_CASE(notes_read_no_names_of_the_kernel) {
    KernelFacts machine;
    const Monitor monitor(assemble({"t.bpf",
                                    ".map stacks stacks max 8\n"
                                    ".map n hash key kstack(stacks), value count, max 8\n"
                                    ".prog p begin\nr0 = 0\nexit\n"},
                                   {}),
                          {}, machine);
    LiveSymbols symbols(monitor, CodeFile::Lines::no);
    const std::uint64_t before = bytes_read();
    symbols.watch(0);
    BOOST_TEST(symbols.notes().empty());
    BOOST_TEST(bytes_read() - before < 1u << 20);
}

// Each function of the kernel and of its modules, with what lies 3 bytes behind its begin.
BOOST_AUTO_TEST_CASE(the_kernel_names_addresses_as_its_list_does) {
    if (!KernelNamer::load()) return test::skip("needs bpf_snprintf: Linux 5.13 or later");
    KernelSymbols asked, listed(KernelSymbols::Way::kallsyms);
    std::vector<std::uint64_t> addresses;
    std::size_t lines = 0;
    for_each_line(kallsyms_text(), [&](std::string_view line) {
        const auto symbol = parse_kallsyms_line(line);
        // What programs of others are called may change meanwhile, and the kernel itself does not
        // look among what tracers make ("__builtin__ftrace"). Modules have all theirs asked for:
        // the list has functions that the kernel has freed, too.
        if (!symbol || !symbol->is_code() || symbol->module == "bpf") return;
        if (symbol->module.starts_with("__builtin__")) return;
        if (!symbol->module.empty() || ++lines % 16 == 0) addresses.push_back(symbol->address + 3);
    });
    BOOST_TEST(addresses.size() > 1000u);
    const std::uint64_t before = bytes_read();
    for (const std::uint64_t address : addresses) asked.find(address);
    BOOST_TEST(bytes_read() - before < 1u << 20);
    // A module's functions for its begin go meanwhile.
    std::set<std::uint64_t> remain;
    for_each_line(kallsyms_text(), [&](std::string_view line) {
        if (const auto symbol = parse_kallsyms_line(line)) remain.insert(symbol->address + 3);
    });
    std::size_t differ = 0;
    for (const std::uint64_t address : addresses) {
        const auto a = asked.find(address), b = listed.find(address);
        const bool is_same =
            a && b && a->name == b->name && a->module == b->module && a->offset == b->offset;
        if (!is_same && remain.contains(address) && ++differ < 5)
            BOOST_ERROR(hex(address) << ": " << (a ? cat(a->name, '+', a->offset) : "nothing")
                                     << ", " << (b ? cat(b->name, '+', b->offset) : "nothing"));
    }
    BOOST_TEST(differ == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_side_band_wakes_its_reader) {
    Symbols symbols;
    symbols.watch();
    std::vector<pollfd> waits;
    for (const int fd : symbols.fds()) waits.push_back({fd, POLLIN, 0});
    BOOST_TEST_REQUIRE(!waits.empty());
    BOOST_TEST(::poll(waits.data(), waits.size(), 0) == 0);
    // Each shell maps some ten files, about 1 kB of records.
    int ready = 0;
    for (int i = 0; i < 400 && ready == 0; ++i) {
        BOOST_TEST_REQUIRE(std::system("true") == 0);
        ready = ::poll(waits.data(), waits.size(), 0);
    }
    BOOST_TEST(ready > 0);
    symbols.drain();
    BOOST_TEST(::poll(waits.data(), waits.size(), 0) == 0);
    BOOST_TEST(symbols.lost() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
