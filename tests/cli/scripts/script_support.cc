#include "cli/scripts/script_support.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/pieces.h"
#include "support/run_gpufs.h"

namespace gpufs::test {
namespace {

std::string outcome_of(const std::string& script) {
    const Ended ended = gpufs({"bt", "-q", "-e", script});
    BOOST_TEST(ended.status == 0, ended.err);
    std::string out = ended.out;
    if (const auto maps = out.find("\n\n"); maps != out.npos) out.erase(maps, 2);
    return out.starts_with('\n') ? out.substr(1) : out;  // nothing but maps
}

}  // namespace

void check_outcomes(std::span<const ScriptOutcome> cases) {
    for (const ScriptOutcome& one : cases) BOOST_TEST_CONTEXT(one.script) {
            BOOST_TEST(outcome_of(one.script) == one.out);
        }
}

std::string script_refusal(const std::string& script, const std::vector<std::string>& options) {
    std::vector<std::string> line{"bt", "-q"};
    line.insert(line.end(), options.begin(), options.end());
    line.insert(line.end(), {"-e", script});
    const Ended ended = gpufs(line);
    BOOST_TEST(ended.status != 0, script);
    std::string told;
    for (const std::string_view one : lines_of(ended.err))
        if (one.find("ERROR: ") != one.npos || one.starts_with("HINT: "))
            told += std::string(one) + '\n';
    return told;
}

}  // namespace gpufs::test
