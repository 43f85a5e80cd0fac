#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <utility>

#include "base/cat.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

// Probes are in the library that a process has mapped, whatever its path leads to by now.
namespace gpufs {
namespace {

constexpr std::chrono::milliseconds kTurn{200};
constexpr int kMostTurns = 300;

// A process that has loaded a library, whose function it calls.
class Loaded {
public:
    Loaded(test::Nest& nest, const std::string& library)
        : nest_(nest), call_(cat("call 0x", nest.ask(cat("load ", library)), " 1")) {}

    // Whether gpufs counts calls of the function.
    bool are_counted_by(std::vector<std::string> words) const {
        words.insert(words.begin(), {test::gpufs_binary(), "count"});
        words.insert(words.end(), {"-p", cat(nest_.pid()), "--interval", "100ms"});
        test::Child::Setup setup;
        setup.argv = std::move(words);
        test::Child gpufs(setup);
        bool is_counted = false;
        for (int turn = 0; turn < kMostTurns && !is_counted; ++turn) {
            BOOST_TEST_REQUIRE(nest_.ask(call_) == "called");
            is_counted = gpufs.wait_for_output("plug_work: ", kTurn);
        }
        return is_counted;
    }

private:
    test::Nest& nest_;
    std::string call_;
};

void check_all_ways(const Loaded& loaded) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"uprobe:libreplaced:plug_work"},
          {"plug_work", "-x", "libreplaced.so.1"},
          {"uprobe:libreplaced.so*:plug_work"}})
        BOOST_TEST(loaded.are_counted_by(words), join(words, " "));
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(replaced_libraries)

BOOST_AUTO_TEST_CASE(a_library_that_was_replaced_is_probed_where_it_is_mapped) {
    const test::TempFolder folder;
    BOOST_REQUIRE(folder.run("cp $B/plug.so libreplaced.so.1"));
    test::Nest nest;
    const Loaded loaded(nest, folder.file("libreplaced.so.1"));
    BOOST_REQUIRE(folder.run("cp $B/plug.so new && mv new libreplaced.so.1"));
    check_all_ways(loaded);
    BOOST_TEST(loaded.are_counted_by({"plug_work", "-x", folder.file("libreplaced.so.1")}));
}

BOOST_AUTO_TEST_CASE(a_library_below_the_root_of_a_process_is_probed) {
    const test::TempFolder folder;
    BOOST_REQUIRE(folder.run(
        "mkdir -p root/lib && cp $B/plug.so root/lib/libreplaced.so.1 && cp $B/nest root && "
        "for one in $(ldd $B/nest | grep -o '/[^ ]*'); do "
        "mkdir -p root/${one%/*} && cp $one root/$one; done"));
    test::Nest nest({"chroot", folder.file("root"), "/nest"});
    check_all_ways(Loaded(nest, "/lib/libreplaced.so.1"));
}

// Only the kernel's own link leads to it, which takes a capability.
BOOST_AUTO_TEST_CASE(a_library_that_cannot_be_opened_is_told,
                     *ut::precondition(test::has_program{"setpriv"})) {
    const test::TempFolder folder;
    const std::string library = folder.file("libreplaced.so.1");
    BOOST_REQUIRE(folder.run("cp $B/plug.so libreplaced.so.1"));
    test::Nest nest;
    const Loaded loaded(nest, library);
    BOOST_REQUIRE(folder.run("rm libreplaced.so.1"));
    test::Child::Setup setup;
    setup.argv = {"setpriv",
                  "--bounding-set=-sys_admin,-checkpoint_restore",
                  "--inh-caps=-all",
                  test::gpufs_binary(),
                  "count",
                  "uprobe:libreplaced:plug_work",
                  "-p",
                  cat(nest.pid())};
    const test::Ended told = test::Child(setup).wait();
    BOOST_TEST(told.status == 1);
    BOOST_TEST(told.err.starts_with(cat("gpufs: cannot open '", library, "', which process ",
                                        nest.pid(), " has mapped\n")),
               told.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
