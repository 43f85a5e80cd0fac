#include "engine/recording/perf_maps.h"

#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "engine/recording/made_record.h"
#include "support/nest.h"
#include "support/run_gpufs.h"

namespace gpufs {
namespace {

constexpr std::int32_t kProcess = 4711;
constexpr std::uint64_t kBase = 0x7f0000000000, kLength = 0x100000;

// A program of the tests, and where its main() is in the file: it is linked so that addresses are
// offsets.
const std::string& program() {
    static const std::string path = test::Nest::build_file("nest");
    return path;
}
std::uint64_t main_offset() {
    const test::Ended nm = test::shell(cat("nm ", program(), " | awk '$3 == \"main\" {print $1}'"));
    return std::stoull(nm.out, nullptr, 16);
}
std::string build_id() {
    return CodeFile(open_file(program(), O_RDONLY), program(), RootDirectory(), CodeFile::Lines::no)
        .build_id();
}

struct Mmap2 {
    std::string path = program(), build_id{};
    std::uint64_t inode = 0, begin = kBase, length = kLength, offset = 0;
    std::int32_t process = kProcess;
    int protection = PROT_READ | PROT_EXEC;

    std::vector<std::byte> body() const {
        std::vector<std::byte> bytes(64 + path.size() + 1);
        put_at(bytes, 0, process);
        put_at(bytes, 8, begin);
        put_at(bytes, 16, length);
        put_at(bytes, 24, offset);
        if (build_id.empty()) {
            put_at(bytes, 40, inode);
        } else {
            put_at(bytes, 32, static_cast<std::uint8_t>(build_id.size()));
            std::memcpy(bytes.data() + 36, build_id.data(), build_id.size());
        }
        put_at(bytes, 56, protection);
        std::memcpy(bytes.data() + 64, path.data(), path.size());
        return bytes;
    }
};

void map(PerfMaps& maps, const Mmap2& what) {
    maps.map_with_file(what.body(), !what.build_id.empty());
}

std::string named(PerfMaps& maps, std::uint64_t address, std::int32_t process = kProcess) {
    const auto symbol = maps.find(process, address);
    return symbol ? cat(symbol->name, '+', symbol->offset, " (", symbol->module, ')') : "none";
}

std::uint64_t inode_of(const std::string& path) {
    struct stat status {};
    BOOST_TEST_REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_ino;
}

BOOST_AUTO_TEST_SUITE(perf_maps)

BOOST_AUTO_TEST_CASE(a_function_is_found_by_the_files_build_id) {
    PerfMaps maps;
    map(maps, {.build_id = build_id()});
    BOOST_TEST(named(maps, kBase + main_offset() + 1) == "main+1 (nest)");
    BOOST_TEST(named(maps, kBase - 1) == "none");
    BOOST_TEST(named(maps, kBase + kLength) == "none");
    BOOST_TEST(named(maps, kBase + main_offset(), kProcess + 1) == "none");
    BOOST_TEST(maps.note() == "");
}

BOOST_AUTO_TEST_CASE(the_vdso_of_this_kernel_has_functions) {
    Fd image = open_vdso();
    if (!image) return;  // a machine without one
    const test::Ended nm = test::shell(cat("nm -D /proc/", ::getpid(), "/fd/", image.get(),
                                           " | awk '$3 ~ /^__(vdso|kernel)_clock_gettime/ "
                                           "{print $1; exit}'"));
    const std::uint64_t offset = std::stoull(nm.out, nullptr, 16);
    std::string id =
        CodeFile(std::move(image), std::string(kVdsoPath), RootDirectory(), CodeFile::Lines::no)
            .build_id();
    PerfMaps maps, others, unknown;
    map(maps, {.path = std::string(kVdsoPath), .build_id = id});
    const std::string name = named(maps, kBase + offset + 1);
    BOOST_TEST(name.ends_with("clock_gettime+1 ([vdso])"), name);
    id[0] = static_cast<char>(id[0] ^ 1);
    map(others, {.path = std::string(kVdsoPath), .build_id = id});
    BOOST_TEST(named(others, kBase + offset + 1) == "none");
    BOOST_TEST(others.note() == "");
    map(unknown, {.path = std::string(kVdsoPath)});
    BOOST_TEST(named(unknown, kBase + offset + 1) == "none");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_another_one_by_now_has_no_functions) {
    std::string other = build_id();
    other[0] = static_cast<char>(other[0] ^ 1);
    PerfMaps by_id, by_inode, gone;
    map(by_id, {.build_id = other});
    BOOST_TEST(named(by_id, kBase + main_offset()) == "none");
    BOOST_TEST(by_id.note() ==
               cat("without functions, for this machine's files are not those that were mapped: ",
                   program()));
    map(by_inode, {.inode = inode_of(program()) + 1});
    BOOST_TEST(named(by_inode, kBase + main_offset()) == "none");
    map(gone, {.path = "/nonexistent/program"});
    BOOST_TEST(named(gone, kBase + main_offset()) == "none");
    BOOST_TEST(gone.note().ends_with(": /nonexistent/program"));
}

BOOST_AUTO_TEST_CASE(without_a_build_id_the_inode_decides_or_what_perf_collected) {
    PerfMaps by_inode, collected;
    map(by_inode, {.inode = inode_of(program())});
    BOOST_TEST(named(by_inode, kBase + main_offset()) == "main+0 (nest)");
    collected.add_build_id(program(), build_id());
    map(collected, {.inode = inode_of(program()) + 1});
    BOOST_TEST(named(collected, kBase + main_offset()) == "main+0 (nest)");
}

BOOST_AUTO_TEST_CASE(a_new_mapping_takes_the_place_of_what_was_there) {
    PerfMaps maps;
    const std::uint64_t at = kBase + main_offset();
    map(maps, {.build_id = build_id()});
    map(maps, {.path = "/nonexistent/lib.so", .begin = at & ~std::uint64_t{0xfff}, .length = 4096});
    BOOST_TEST(named(maps, at) == "none");
    // What is left of the old one is where it was, in memory and in the file.
    map(maps, {.build_id = build_id(),
               .begin = at & ~std::uint64_t{0xfff},
               .length = 4096,
               .offset = main_offset() & ~std::uint64_t{0xfff}});
    BOOST_TEST(named(maps, at) == "main+0 (nest)");
    // Data is no code.
    map(maps, {.path = "/nonexistent/lib.so", .protection = PROT_READ});
    BOOST_TEST(named(maps, at) == "main+0 (nest)");
}

BOOST_AUTO_TEST_CASE(a_child_has_its_parents_memory_until_it_executes) {
    PerfMaps maps;
    map(maps, {.build_id = build_id()});
    maps.fork(kProcess + 1, kProcess);
    BOOST_TEST(named(maps, kBase + main_offset(), kProcess + 1) == "main+0 (nest)");
    maps.exec(kProcess + 1);
    BOOST_TEST(named(maps, kBase + main_offset(), kProcess + 1) == "none");
    BOOST_TEST(named(maps, kBase + main_offset()) == "main+0 (nest)");
}

// Its first thread may end before the others; a child that shares its memory keeps it.
BOOST_AUTO_TEST_CASE(a_process_has_its_memory_until_another_has_its_number) {
    PerfMaps maps;
    map(maps, {.build_id = build_id()});
    maps.fork(kProcess, kProcess);
    maps.fork(kProcess + 1, kProcess);
    maps.exit(kProcess);
    BOOST_TEST(named(maps, kBase + main_offset()) == "main+0 (nest)");
    maps.exit(kProcess);
    BOOST_TEST(named(maps, kBase + main_offset()) == "main+0 (nest)");
    BOOST_TEST(named(maps, kBase + main_offset(), kProcess + 1) == "main+0 (nest)");
    constexpr std::uint64_t kOther = kBase + 2 * kLength;
    map(maps, {.build_id = build_id(), .begin = kOther});
    BOOST_TEST(named(maps, kBase + main_offset()) == "none");
    BOOST_TEST(named(maps, kOther + main_offset()) == "main+0 (nest)");
    maps.exit(kProcess);
    maps.fork(kProcess, kProcess + 2);  // nobody knows what that has mapped
    BOOST_TEST(named(maps, kOther + main_offset()) == "none");
}

BOOST_AUTO_TEST_CASE(of_processes_that_ended_the_newest_are_known) {
    PerfMaps maps;
    constexpr std::int32_t kMany = 1100;
    for (std::int32_t i = 0; i < kMany; ++i) {
        map(maps, {.build_id = build_id(), .process = kProcess + i});
        maps.exit(kProcess + i);
    }
    BOOST_TEST(named(maps, kBase + main_offset()) == "none");
    BOOST_TEST(named(maps, kBase + main_offset(), kProcess + kMany - 1) == "main+0 (nest)");
}

// What one of two maps that share their memory is its own.
BOOST_AUTO_TEST_CASE(a_child_that_maps_something_does_not_change_its_parent) {
    PerfMaps maps;
    map(maps, {.build_id = build_id()});
    maps.fork(kProcess + 1, kProcess);
    map(maps, {.path = "/nonexistent/lib.so"});
    BOOST_TEST(named(maps, kBase + main_offset()) == "none");
    BOOST_TEST(named(maps, kBase + main_offset(), kProcess + 1) == "main+0 (nest)");
}

BOOST_AUTO_TEST_CASE(a_record_that_is_cut_maps_nothing) {
    PerfMaps maps;
    const std::vector<std::byte> body = Mmap2{.build_id = build_id()}.body();
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{8}, std::size_t{32}, std::size_t{64}}) {
        maps.map_with_file(std::span(body).first(bytes), true);
        maps.map(std::span(body).first(std::min<std::size_t>(bytes, 32)));
    }
    BOOST_TEST(named(maps, kBase + main_offset()) == "none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
