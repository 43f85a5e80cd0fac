#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE gpufs
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>

namespace ut = boost::unit_test;

// Writes "passed failed skipped" to $GPUFS_TALLY when all is done, for tests/run.sh to add up.
class Tally : public ut::test_observer {
public:
    Tally() { ut::framework::register_observer(*this); }
    ~Tally() override { ut::framework::deregister_observer(*this); }

    void test_finish() override {
        const char* path = std::getenv("GPUFS_TALLY");
        if (!path) return;
        const auto& results =
            ut::results_collector.results(ut::framework::master_test_suite().p_id);
        std::ofstream(path) << results.p_test_cases_passed << ' '
                            << results.p_test_cases_failed + results.p_test_cases_aborted << ' '
                            << results.p_test_cases_skipped << '\n';
    }
};
BOOST_TEST_GLOBAL_FIXTURE(Tally);
