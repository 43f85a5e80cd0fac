#define BOOST_TEST_DYN_LINK
#include "kernel/perf/side_band.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "engine/symbols/symbols.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using Kind = SideBandRecord::Kind;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(side_band)

BOOST_AUTO_TEST_CASE(a_process_is_told_from_fork_to_exit) {
    SideBand side_band;
    test::Nest nest;
    const auto inner = nest.address("inner");
    const std::uint32_t pid = nest.pid();
    nest.end();
    struct stat file;
    BOOST_TEST_REQUIRE(::stat(test::Nest::build_file("nest").c_str(), &file) == 0);
    // Not all file systems answer: 9p has one and refuses.
    std::uint32_t generation[2] = {};
    const bool is_told = ::ioctl(open_file(test::Nest::build_file("nest"), O_RDONLY).get(),
                                 FS_IOC_GETVERSION, generation) == 0;
    std::string told;
    std::uint64_t last_ns = 0;
    side_band.drain([&](const SideBandRecord& record) {
        BOOST_TEST(record.time_ns >= last_ns);
        last_ns = record.time_ns;
        if (record.pid != pid) return;
        if (record.kind == Kind::fork) {
            told += "fork ";
            BOOST_TEST(record.parent == static_cast<std::uint32_t>(::getpid()));
        }
        if (record.kind == Kind::exec) {
            told += "exec ";
            BOOST_TEST(record.text == "nest");
        }
        if (record.kind == Kind::map && record.text == test::Nest::build_file("nest") &&
            inner >= record.start && inner < record.end) {
            told += "map ";
            BOOST_TEST(record.inode == file.st_ino);
            BOOST_TEST(record.device == file.st_dev);
            BOOST_TEST((!is_told || record.generation == generation[0]));
        }
        if (record.kind == Kind::exit && record.tid == pid) told += "exit ";
    });
    BOOST_TEST(told == "fork exec map exit ");
    BOOST_TEST(side_band.lost() == 0u);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_counted) {
    SideBand side_band(SideBand::Wakes::half_full, 4096);
    for (int round = 0; round < 50 && side_band.lost() == 0; ++round) {
        for (int i = 0; i < 10; ++i) BOOST_TEST_REQUIRE(std::system("true; true") == 0);
        // The loss is told with the next record that fits.
        side_band.drain([](const SideBandRecord&) {});
        BOOST_TEST_REQUIRE(std::system("true") == 0);
        side_band.drain([](const SideBandRecord&) {});
    }
    BOOST_TEST(side_band.lost() > 0u);
}

BOOST_AUTO_TEST_CASE(without_rights_it_is_said_what_is_missing) {
    test::Worker worker([] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 10;
        try {
            SideBand side_band;
            return 1;
        } catch (const UnsupportedError& e) {
            if (std::string(e.what()) != "cannot watch what processes map: this user may not")
                return 2;
        }
        // Nor may it see where the kernel's functions are.
        Symbols symbols;
        const std::string why = symbols.why_no_kernel_names();
        return why.starts_with(
                   "the kernel hides its addresses from this user (kernel."
                   "kptr_restrict is ") &&
                       why.ends_with("): run as root, or with CAP_SYSLOG")
                   ? 0
                   : 3;
    });
    worker.start();
    BOOST_TEST(worker.wait() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
