#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE gpufs
#include <algorithm>
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/test_case_counter.hpp>
#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/skip.h"

namespace ut = boost::unit_test;

namespace {

// Counts test cases and writes "passed failed skipped" to $GPUFS_TALLY when all is done, for
// tests/run.sh to add up, and the names of those that passed to $GPUFS_PASSED; says which took
// longest.
class Tally : public ut::test_observer {
public:
    Tally() { ut::framework::register_observer(*this); }
    ~Tally() override {
        ut::framework::deregister_observer(*this);
        say_slowest();
        if (const char* path = std::getenv("GPUFS_TALLY"))
            std::ofstream(path) << passed_ << ' ' << failed_ << ' ' << skipped_ << '\n';
        if (const char* path = std::getenv("GPUFS_PASSED")) std::ofstream(path) << passed_names_;
    }

    // Behind the collector of results, which we ask.
    int priority() override { return 1000; }

    // A case that checks nothing cannot fail: it counts as failed.
    void test_unit_finish(const ut::test_unit& unit, unsigned long took_us) override {
        if (unit.p_type != ut::TUT_CASE) return;
        took_us_.emplace_back(took_us, unit.full_name());
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
            passed_names_ += unit.full_name() + '\n';
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

    void say_slowest() {
        constexpr std::size_t kTold = 25;
        std::ranges::sort(took_us_, std::greater());
        unsigned long all = 0;
        for (const auto& [took, name] : took_us_) all += took;
        if (took_us_.size() < kTold) return;
        std::cout << "the slowest of " << all / 1'000'000 << " s:\n";
        for (std::size_t i = 0; i < kTold; ++i)
            std::cout << "  " << took_us_[i].first / 1000 << " ms  " << took_us_[i].second << '\n';
    }

    std::vector<std::pair<unsigned long, std::string>> took_us_;
    std::string passed_names_;
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

// $GPUFS_SHARE, "2/3", runs the second third of the cases: several guests share them, by their
// names. Of those that the file $GPUFS_PASSED_ELSEWHERE lists, a third of that share.
class Share : public ut::test_tree_visitor {
public:
    Share() {
        const char* share = std::getenv("GPUFS_SHARE");
        if (!share) return;
        std::istringstream words(share);
        char slash = 0;
        if (!(words >> mine_ >> slash >> all_) || slash != '/' || mine_ < 1 || mine_ > all_)
            throw std::invalid_argument("GPUFS_SHARE is no share: " + std::string(share));
        if (const char* path = std::getenv("GPUFS_PASSED_ELSEWHERE")) {
            std::ifstream names(path);
            for (std::string name; std::getline(names, name);) elsewhere_.insert(name);
        }
        ut::traverse_test_tree(ut::framework::master_test_suite(), *this, true);
    }
    void visit(const ut::test_case& one) override {
        const std::string name = one.full_name();
        const std::size_t hash = std::hash<std::string>()(name);
        if (hash % all_ != mine_ - 1 || (elsewhere_.contains(name) && hash / all_ % 3 != 0))
            ut::framework::get(one.p_id, ut::TUT_CASE).p_run_status.value =
                ut::test_unit::RS_DISABLED;
    }

private:
    std::size_t mine_ = 0, all_ = 0;
    std::set<std::string> elsewhere_;
};
BOOST_TEST_GLOBAL_FIXTURE(Share);

// What a shell lets a background job ignore, the programs under test are not to ignore.
struct Foreground {
    Foreground() {
        for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    }
};
BOOST_TEST_GLOBAL_FIXTURE(Foreground);

}  // namespace
