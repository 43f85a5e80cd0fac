#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE gpufs
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/test_case_counter.hpp>
#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "support/skip.h"

namespace ut = boost::unit_test;

namespace {

// Counts test cases and writes "passed failed skipped" to $GPUFS_TALLY when all is done, for
// tests/run.sh to add up.
class Tally : public ut::test_observer {
public:
    Tally() { ut::framework::register_observer(*this); }
    ~Tally() override {
        ut::framework::deregister_observer(*this);
        if (const char* path = std::getenv("GPUFS_TALLY"))
            std::ofstream(path) << passed_ << ' ' << failed_ << ' ' << skipped_ << '\n';
    }

    // Behind the collector of results, which we ask.
    int priority() override { return 1000; }

    // A case that checks nothing cannot fail: it counts as failed.
    void test_unit_finish(const ut::test_unit& unit, unsigned long) override {
        if (unit.p_type != ut::TUT_CASE) return;
        const std::string reason = gpufs::test::take_skip_reason();
        const ut::test_results& results = ut::results_collector.results(unit.p_id);
        if (!results.passed()) {
            ++failed_;
        } else if (!reason.empty()) {
            say_skipped(unit, 1, reason);
        } else if (results.p_assertions_passed == 0) {
            std::cout << "error: in \"" << unit.full_name() << "\": it checked nothing\n";
            ++failed_;
        } else {
            ++passed_;
        }
    }
    // A suite whose precondition fails is skipped as a whole.
    void test_unit_skipped(const ut::test_unit& unit, ut::const_string reason) override {
        ut::test_case_counter counter;
        ut::traverse_test_tree(unit.p_id, counter, true);
        if (counter.p_count != 0)
            say_skipped(unit, counter.p_count, {reason.begin(), reason.end()});
    }

private:
    void say_skipped(const ut::test_unit& unit, unsigned long cases, const std::string& reason) {
        std::cout << "skipped: " << unit.full_name();
        if (cases > 1) std::cout << ", " << cases << " cases";
        std::cout << ": " << reason << '\n';
        skipped_ += cases;
    }

    unsigned long passed_ = 0, failed_ = 0, skipped_ = 0;
};
BOOST_TEST_GLOBAL_FIXTURE(Tally);

// Ends a test case that hangs. A limit on a suite would be one on all of its cases together.
class Patience : public ut::test_tree_visitor {
public:
    Patience() { ut::traverse_test_tree(ut::framework::master_test_suite(), *this, true); }
    void visit(const ut::test_case& one) override {
        // The longest takes a minute of CPU time under the sanitizers: room for a busy machine.
        constexpr unsigned kSeconds = 1800;
        ut::framework::get(one.p_id, ut::TUT_CASE).p_timeout.value = kSeconds;
    }
};
BOOST_TEST_GLOBAL_FIXTURE(Patience);

// What a shell lets a background job ignore, the programs under test are not to ignore.
struct Foreground {
    Foreground() {
        for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    }
};
BOOST_TEST_GLOBAL_FIXTURE(Foreground);

}  // namespace
