#define BOOST_TEST_DYN_LINK
#include "view/trace/kernel_records.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "base/cat.h"

namespace gpufs {
namespace {

// As they are read when `most` bytes come at a time.
std::vector<std::string> records_of(std::string_view file, std::size_t most = 1 << 16) {
    std::vector<std::string> records;
    std::string text;
    for (;;) {
        const std::string_view piece = file.substr(0, most);
        file.remove_prefix(piece.size());
        text += piece;
        while (const std::size_t length = first_record_length(text, piece.empty())) {
            records.push_back(text.substr(0, length));
            text.erase(0, length);
        }
        if (piece.empty()) return records;
    }
}

std::string shown(std::string_view record, Controls controls = Controls::escaped) {
    std::string out;
    append_record(out, record, controls);
    return out;
}

const std::string kPlain = "         python3-5217    [001] d..2.   220.941431: sched_waking: a=1\n";
const std::string kNameBegins =
    "          evil\nx-5217    (    812) [000]   220.9: sched_waking: comm=evil\nx pid=3\n";
const std::string kStack =
    "           evil\n-5217    [001] d..2. 3: <stack trace>\n"
    " => __schedule\n"
    " => schedule\n";

BOOST_AUTO_TEST_SUITE(kernel_records)

BOOST_AUTO_TEST_CASE(a_newline_in_a_name_does_not_end_a_record) {
    const std::vector<std::string> all = {
        "# tracer: nop\n",
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n",
        kPlain,
        kNameBegins,
        kStack,
        "CPU:1 [LOST 5 EVENTS]\n",
        kNameBegins,
        "##### CPU 1 buffer started ####\n",
        kPlain};
    std::string file;
    for (const std::string& record : all) file += record;
    for (const std::size_t most : {1u, 7u, 300u, 65536u})
        BOOST_TEST(records_of(file, most) == all, boost::test_tools::per_element());
    // The last newline may be missing.
    BOOST_TEST(records_of(kPlain.substr(0, kPlain.size() - 1)).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_record_is_one_line_or_those_of_its_stack) {
    BOOST_TEST(shown(kPlain) == kPlain);
    BOOST_TEST(shown(kNameBegins) ==
               "         evil\\nx-5217    (    812) [000]   220.9: sched_waking: comm=evil\\nx "
               "pid=3\n");
    BOOST_TEST(shown(kNameBegins, Controls::raw) == kNameBegins);
    BOOST_TEST(shown(kStack) ==
               "          evil\\n-5217    [001] d..2. 3: <stack trace>\n"
               " => __schedule\n"
               " => schedule\n");
}

BOOST_AUTO_TEST_CASE(a_name_does_not_look_like_a_stack_or_a_record) {
    const std::string stack = cat(kPlain, " next=<stack trace>\n => evil\n");
    BOOST_TEST(records_of(stack).size() == 1u);
    BOOST_TEST(!is_stack_record(stack));
    const std::string columns = cat(kPlain, "a-1 [000] 1.2: e\n");  // fewer than 16 characters
    BOOST_TEST(records_of(columns).size() == 1u);
}

BOOST_AUTO_TEST_CASE(lines_of_other_columns_are_records) {
    const std::string graph =
        " 0)               |  do_syscall_64() {\n"
        " 0)   0.501 us    |    __x64_sys_getpid();\n";
    BOOST_TEST(records_of(graph).size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
