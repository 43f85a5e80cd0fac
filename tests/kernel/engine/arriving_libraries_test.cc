#include "engine/monitor/arriving_libraries.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>

#include "base/hex.h"
#include "engine/results/map_contents.h"
#include "engine/symbols/symbols.h"
#include "lang/asm/assembler.h"
#include "support/files_left.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Nest;
using test::TempFolder;

std::string text_with(const std::string& pattern) {
    std::string text =
        ".map n array value count, max 1\n"
        ".map ends array value count, max 1\n"
        ".prog none begin\n"
        "      exit 0\n";
    for (const auto& [map, kind] : {std::pair("n", "uprobe"), std::pair("ends", "uretprobe")})
        text += cat(".prog p_", map, " optional ", kind, " \"", pattern,
                    ":plug_work\"\n"
                    "      r1 = map[",
                    map,
                    "][0]\n"
                    "      r2 = 1\n"
                    "      lock *(u64 *)(r1 + 0) += r2\n"
                    "      exit 0\n");
    return text;
}

// A monitor that counts begins and ends of plug_work() in libraries of a name, and what processes
// do meanwhile.
class Watching {
public:
    explicit Watching(const std::string& pattern)
        : monitor_(assemble({"t.bpf", text_with(pattern)}, {}), {}, machine_), arriving_(monitor_) {
        symbols_.watch([this](const SideBandRecord& record) { arriving_.take(record); });
        monitor_.attach();
    }

    bool awaits() const { return arriving_.are_awaited(); }
    std::vector<std::string> attach() {
        symbols_.drain();
        return arriving_.attach();
    }
    // May open only so many files more.
    std::vector<std::string> attach_with(std::size_t files_left) {
        symbols_.drain();
        const test::FilesLeft few(files_left);
        return arriving_.attach();
    }
    std::vector<std::string> look_around() {
        arriving_.look_around();
        return arriving_.attach();
    }
    std::size_t places() const { return monitor_.sites().size() - 1; }
    std::uint64_t calls() const {
        BOOST_TEST(count_of("n") == count_of("ends"));
        return count_of("n");
    }

private:
    std::uint64_t count_of(const char* map) const {
        const auto entries = MapReader(monitor_).read(map);
        return entries.empty() ? 0 : entries[0].words[0];
    }

    KernelFacts machine_;
    Monitor monitor_;
    ArrivingLibraries arriving_;
    Symbols symbols_;
};

void call(Nest& nest, std::uint64_t function, int times) {
    BOOST_TEST(nest.ask(cat("call ", hex(function), ' ', times)) == "called");
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(arriving_libraries, *ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(a_library_that_is_loaded_later_is_attached_to_once) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(
        directory.run("cp $B/plug.so gpufs-arriving.so.1 && cp $B/plug.so other.so"));
    Watching watching("gpufs-arriving.so*");
    BOOST_TEST(watching.awaits());
    BOOST_TEST(watching.places() == 0u);
    Nest nest;
    const std::uint64_t work = nest.address("load " + directory.file("gpufs-arriving.so.1"));
    const std::uint64_t other = nest.address("load " + directory.file("other.so"));
    BOOST_TEST(watching.attach().empty());
    BOOST_TEST(watching.places() == 2u);
    call(nest, work, 5);
    call(nest, other, 3);
    BOOST_TEST(watching.calls() == 5u);
    // The probe is in the file, whoever maps it.
    Nest second;
    const std::uint64_t again = second.address("load " + directory.file("gpufs-arriving.so.1"));
    BOOST_TEST(watching.attach().empty());
    BOOST_TEST(watching.look_around().empty());
    BOOST_TEST(watching.places() == 2u);
    call(second, again, 4);
    BOOST_TEST(watching.calls() == 9u);
}

BOOST_AUTO_TEST_CASE(the_library_of_a_container_is_one_of_its_own) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("cp $B/plug.so gpufs-arriving.so"));
    Watching watching("gpufs-arriving.so*");
    Nest nest;
    BOOST_TEST_REQUIRE(nest.ask("enter " + directory.file("")) == "in");
    const std::uint64_t work = nest.address("load /gpufs-arriving.so");
    BOOST_TEST(watching.attach().empty());
    call(nest, work, 6);
    BOOST_TEST(watching.calls() == 6u);
}

BOOST_AUTO_TEST_CASE(a_program_that_loads_a_library_is_found_by_it) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("cp $B/plug.so gpufs-arriving.so"));
    Watching watching("@gpufs-arriving.so*");
    Nest nest;
    const std::uint64_t work = nest.address("load " + directory.file("gpufs-arriving.so"));
    // It has no function of this name; nothing is refused, and nothing counted.
    BOOST_TEST(watching.attach().empty());
    BOOST_TEST(watching.places() == 0u);
    call(nest, work, 2);
    BOOST_TEST(watching.calls() == 0u);
}

// Between the monitor's search and the watch.
BOOST_AUTO_TEST_CASE(what_was_mapped_before_the_watch_is_found_by_a_second_look) {
    const TempFolder directory;
    BOOST_TEST_REQUIRE(directory.run("cp $B/plug.so gpufs-arriving.so"));
    Watching watching("gpufs-arriving.so*");
    Nest nest;
    const std::uint64_t work = nest.address("load " + directory.file("gpufs-arriving.so"));
    BOOST_TEST(watching.look_around().empty());
    BOOST_TEST(watching.places() == 2u);
    call(nest, work, 1);
    BOOST_TEST(watching.calls() == 1u);
}

// Begins without ends would never be over.
BOOST_AUTO_TEST_CASE(where_not_all_can_be_attached_to_a_library_none_is) {
    const TempFolder directory;
    std::set<std::size_t> places;
    bool was_refused = false;
    for (std::size_t left = 0; left < 24 && !places.contains(2); ++left) {
        const std::string name = cat("gpufs-arriving-", left, ".so");
        BOOST_TEST_REQUIRE(directory.run("cp $B/plug.so " + name));
        Watching watching(name + "*");
        Nest nest;
        const std::uint64_t work = nest.address("load " + directory.file(name));
        const bool is_refused = !watching.attach_with(left).empty();
        was_refused = was_refused || is_refused;
        if (is_refused) BOOST_TEST(watching.places() == 0u);
        places.insert(watching.places());
        call(nest, work, 3);
        BOOST_TEST(watching.calls() == (watching.places() == 2 ? 3u : 0u), left);
    }
    BOOST_TEST((places == std::set<std::size_t>{0, 2}));
    BOOST_TEST(was_refused);
}

BOOST_AUTO_TEST_CASE(a_library_without_a_pattern_is_not_awaited) {
    const Watching watching("/lib/gpufs-none.so");
    BOOST_TEST(!watching.awaits());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
