#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <ostream>

#include "base/cat.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

// What bash offers behind these words, of which the last is being typed.
std::string offered(const std::string& words) {
    const auto folder = std::filesystem::absolute(test::gpufs_binary()).parent_path();
    const std::string script = cat("PATH=", folder.string(),
                                   ":$PATH\n"
                                   ". src/cmd/completion.bash\n"
                                   "COMP_WORDS=(",
                                   words,
                                   ") COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                   "_gpufs\n"
                                   "echo \"${COMPREPLY[*]}\"\n");
    const test::Ended ended = test::Child({{"bash", "-c", script}, {}, false, false, {}}).wait();
    BOOST_TEST(ended.err == "");
    return std::string(trim(ended.out));
}

struct Case {
    std::string words, offered;
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.words;
}
const Case kCases[] = {
    {"gpufs tri", "trigger"},
    {"gpufs help st", "stall stats stacks status start stop"},
    {"gpufs trigger --s", "--session"},
    {"gpufs run of", "off-cpu"},
    {"gpufs run off-cpu m", "min_us="},
    {"gpufs watch drm fe", "fence"},
    {"gpufs watch drm j", "jobs="},
    {"gpufs count x by k", "kstack"},
    {"gpufs recipe sh", "show"},
    {"gpufs report -i src/cmd/completion", "src/cmd/completion.bash"},
    {"gpufs diff src/cmd/completion", "src/cmd/completion.bash"},
    {"gpufs stacks x --flame src/cmd/completion", "src/cmd/completion.bash"},
    {"gpufs export src/cmd/completion", "src/cmd/completion.bash"},
    {"gpufs export x.dat --perfetto src/cmd/completion", "src/cmd/completion.bash"},
};

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(completion, *ut::label("pure"))

BOOST_DATA_TEST_CASE(bash_offers_what_there_is, ut::data::make(kCases), one) {
    BOOST_TEST(offered(one.words) == one.offered);
}

BOOST_AUTO_TEST_CASE(sessions_are_offered_by_their_names) {
    const test::TempSession session;
    BOOST_TEST(
        test::gpufs({"filter", "-e", "sched_switch", "prev_pid == 1", "--session", session.name()})
            .status == 0);
    BOOST_TEST(test::has(offered("gpufs show --session ''"), session.name()));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
