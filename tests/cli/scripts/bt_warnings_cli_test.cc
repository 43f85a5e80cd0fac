#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "base/cat.h"
#include "cli/scripts/script_support.h"
#include "kernel/bpf/support.h"
#include "kernel/host/kernel_version.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

namespace ut = boost::unit_test;

// What a script's run tells of what went wrong in it.
namespace gpufs {
namespace {

using test::Ended;

Ended run_of(const std::string& script, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"bt", "-q"});
    options.insert(options.end(), {"-e", script});
    return test::gpufs(options);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(scripts_warnings)

BOOST_AUTO_TEST_CASE(a_division_by_zero_is_one_and_is_told) {
    const Ended ended = run_of("begin { @z = 0; print(10 / @z); $x = 7; $x %= @z; print($x) }");
    BOOST_TEST(ended.out == "1\n1\n\n\n@z: 0\n");
    const std::string said =
        ": WARNING: Divide or modulo by 0 detected. This can lead to unexpected results. 1 is "
        "being used as the result.\n";
    BOOST_TEST(ended.err == cat("stdin:1:23-30", said, "stdin:1:47-49", said));
    BOOST_TEST(run_of("begin { @z = 0; print(10 / @z) }", {"--no-warnings"}).err == "");
}

BOOST_AUTO_TEST_CASE(an_index_that_an_array_does_not_have_is_told) {
    const Ended ended = run_of(
        "struct s { int x[4]; char last[1]; } begin { @i = 3; $p = (struct s *)curtask; "
        "$own = pton(\"1.2.3.4\"); $a = $p->x[@i]; print($own[@i]); @i++; $a = $p->x[@i]; "
        "$b = $p->last[@i]; print($own[@i]); clear(@i) }");
    const std::string said =
        ": WARNING: Array access out of bounds. This can lead to unexpected results.\n";
    BOOST_TEST(ended.out == "4\n0\n\n\n", ended.err);
    BOOST_TEST(ended.err == cat("stdin:1:154-156", said, "stdin:1:189-191", said));
}

BOOST_AUTO_TEST_CASE(a_buffer_that_is_too_long_is_told) {
    const Ended ended = run_of("begin { $b = buf(curtask, 2000) }");
    BOOST_TEST(test::has(ended.err,
                         "stdin:1:14-32: WARNING: buf() length is too long and will be shortened "
                         "to 256 bytes (see max_strlen)\n"),
               ended.err);
}

BOOST_AUTO_TEST_CASE(a_range_that_is_cut_is_told,
                     *ut::precondition(test::has_helper{BPF_FUNC_loop})) {
    const Ended ended =
        run_of("begin { $n = (int64)nsecs; for ($i : 0..$n) { if ($i > 3) { break } } }");
    BOOST_TEST(ended.err ==
               "stdin:1:41-43: WARNING: A loop has at most 8388608 turns. The range has more, and "
               "those behind them are left out.\n");
    BOOST_TEST(test::script_refusal("begin { for ($i : 0..8388609) { @ = $i } }") ==
               "stdin:1:22-29: ERROR: a loop has at most 8388608 turns\n"
               "HINT: a loop in a loop has more\n");
}

BOOST_AUTO_TEST_CASE(a_loop_without_an_end_is_refused_with_what_would_help) {
    const std::string told = run_of("begin { while (1) { @x++ } }").err;
    BOOST_TEST(test::has(told, running_kernel() >= KernelVersion{5, 17, 0}
                                   ? "\nHINT: the kernel sees no end of this loop: let it end at a "
                                     "number of turns, which a variable or a register counts\n"
                                   : "Linux 5.17 or later"),
               told);
}

BOOST_AUTO_TEST_CASE(a_full_map_is_told_once_with_its_place) {
    const std::string said =
        ": WARNING: Map full; can't update element. Try increasing max_map_keys config or manually "
        "setting the max entries in a map declaration e.g. `let @a = hash(5000)`\n"
        "Additional Info - helper: map_update_elem, retcode: -7\n";
    const std::string plain = "let @a = hash(1); begin { @a[1] = 1; @a[2] = 2; @a[3] = 3 }";
    const Ended ended = run_of(plain);
    BOOST_TEST(ended.out == "\n\n@a[1]: 1\n");
    BOOST_TEST(ended.err == cat("stdin:1:27-32", said, plain, '\n', std::string(26, ' '),
                                "~~~~~\n2 lost: 2 values whose key found no room in '@a'\n"));
    const std::string counted =
        "let @a = percpuhash(1); begin { @a[1] = count(); @a[2] = count() }";
    BOOST_TEST(run_of(counted).err ==
               cat("stdin:1:33-38", said, counted, '\n', std::string(32, ' '),
                   "~~~~~\n1 lost: 1 value whose key found no room in '@a'\n"));
}

BOOST_AUTO_TEST_CASE(elements_that_are_not_there_are_told_where_that_is_asked_for) {
    const std::string script = "begin { @[1] = 1; print(@[2]); delete(@[3]) }";
    BOOST_TEST(run_of(script).err == "");
    BOOST_TEST(run_of(script, {"-k"}).err ==
               cat("stdin:1:25-29: WARNING: Can't lookup map element because it does not exist.\n"
                   "Additional Info - helper: map_lookup_elem, retcode: 0\n",
                   script, '\n', std::string(24, ' '), "~~~~\n",
                   "stdin:1:39-43: WARNING: Can't delete map element because it does not exist.\n"
                   "Additional Info - helper: map_delete_elem, retcode: -2\n",
                   script, '\n', std::string(38, ' '), "~~~~\n"));
    BOOST_TEST(
        run_of("begin { print(@[2]); @[1] = 1 }", {"-k", "-f", "json"}).out ==
        "{\"type\": \"helper_error\", \"msg\": \"Success\", \"helper\": \"map_lookup_elem\", "
        "\"retcode\": 0, \"filename\": \"stdin\", \"line\": 1, \"col\": 15}\n"
        "{\"type\": \"value\", \"data\": 0}\n"
        "{\"type\": \"map\", \"data\": {\"@\": {\"1\": 1}}}\n");
}

BOOST_AUTO_TEST_CASE(memory_that_cannot_be_read_is_told_where_that_is_asked_for) {
    const std::string script =
        "struct s { int n; } begin { $n = ((struct s *)uptr(1)).n; printf(\"%d%s\", $n, "
        "str(uptr(2))) }";
    BOOST_TEST(run_of(script).err == "");
    BOOST_TEST(run_of(script, {"-k"}).err ==
               cat("stdin:1:35-57: WARNING: Bad address\n"
                   "Additional Info - helper: probe_read_user, retcode: -14\n",
                   script, '\n', std::string(34, ' '), "~~~~~~~~~~~~~~~~~~~~~~\n",
                   "stdin:1:78-90: WARNING: Bad address\n"
                   "Additional Info - helper: probe_read_user_str, retcode: -14\n",
                   script, '\n', std::string(77, ' '), "~~~~~~~~~~~~\n"));
    // What can be read is not.
    BOOST_TEST(
        run_of("begin { @ = str(\"text\"); $t = curtask; print($t.pid > 0); }", {"-k"}).err == "");
}

BOOST_AUTO_TEST_CASE(a_file_that_cat_cannot_open_is_told) {
    BOOST_TEST(run_of("begin { cat(\"/proc/none\") }").err ==
               "ERROR: failed to open file '/proc/none' (No such file or directory)\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
