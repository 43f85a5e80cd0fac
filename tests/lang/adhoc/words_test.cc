#define BOOST_TEST_DYN_LINK
#include "lang/adhoc/words.h"

#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"
#include "lang/asm/probe_word.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(adhoc_words)

BOOST_AUTO_TEST_CASE(words_are_functions_of_a_file) {
    const auto in_file = [](std::vector<std::string> words, std::size_t events) {
        set_file(words, "libc", events);
        return join(words, " ");
    };
    BOOST_TEST(in_file({"malloc,free", "sched:sched_switch", "by", "comm"}, SIZE_MAX) ==
               "uprobe:libc:malloc uprobe:libc:free sched:sched_switch by comm");
    BOOST_TEST(in_file({"malloc", "arg0", "by", "pid"}, 1) == "uprobe:libc:malloc arg0 by pid");
    BOOST_TEST(in_file({}, 1) == "");
    BOOST_TEST(in_file({"ns::f(int, A<B, C>),main,a.c:12"}, 1) ==
               "uprobe:libc:ns::f(int, A<B, C>) uprobe:libc:main uprobe:libc:a.c:12");
}

BOOST_AUTO_TEST_CASE(a_file_whose_path_has_other_signs_stands_in_quotes) {
    for (const char* file : {"./a b", "./a,b", "./a\"b"}) {
        std::vector<std::string> words = {"main", "by", "comm"};
        set_file(words, file, 1);
        BOOST_TEST(words.front() == cat("uprobe:\"", file, "\":main"));
        const SourceText source{"count", words.front()};
        const ProbeTarget target = parse_probe_word(source, 0, {0, source.text.size()});
        BOOST_TEST(target.name == cat(file, ":main"));
    }
}

BOOST_AUTO_TEST_CASE(an_end_belongs_to_a_function_and_to_a_system_call) {
    const auto with_end = [](std::vector<std::string> words) {
        add_end(words, 1);
        return join(words, " ");
    };
    BOOST_TEST(with_end({"uprobe:libc:malloc", "by", "comm"}) ==
               "uprobe:libc:malloc uretprobe:libc:malloc by comm");
    BOOST_TEST(with_end({"kprobe:vfs_read"}) == "kprobe:vfs_read kretprobe:vfs_read");
    BOOST_TEST(with_end({"fentry:vfs_read"}) == "fentry:vfs_read fexit:vfs_read");
    BOOST_TEST(with_end({"sys_enter_read"}) == "sys_enter_read sys_exit_read");
    BOOST_TEST(with_end({"tracepoint:syscalls:sys_enter_read"}) ==
               "tracepoint:syscalls:sys_enter_read tracepoint:syscalls:sys_exit_read");
    for (const char* none : {"sched:sched_switch", "uretprobe:libc:malloc", "by"})
        BOOST_TEST(with_end({none}) == none);
    BOOST_TEST(with_end({"kprobe:a", "kprobe:b"}) == "kprobe:a kprobe:b");
}

BOOST_AUTO_TEST_CASE(each_of_several_starts_has_its_end) {
    std::vector<std::string> words = {"sys_enter_read,kprobe:a", "by", "comm"};
    BOOST_TEST(add_end(words, 1));
    BOOST_TEST(join(words, " ") == "sys_enter_read,kprobe:a sys_exit_read,kretprobe:a by comm");
    words = {"sys_enter_read,sched:sched_switch"};
    BOOST_TEST(!add_end(words, 1));
    BOOST_TEST(join(words, " ") == "sys_enter_read,sched:sched_switch");
    words = {"f,g(int, long)", "by", "comm"};
    const std::vector<std::size_t> became = set_file(words, "./x", 2);
    BOOST_TEST_REQUIRE(became.size() == 1u);
    BOOST_TEST(became[0] == 2u);
    BOOST_TEST(add_end(words, became[0]));
    BOOST_TEST(join(words, " ") ==
               "uprobe:./x:f uprobe:./x:g(int, long) uretprobe:./x:f uretprobe:./x:g(int, long) by "
               "comm");
    words = {"f,a.c:12"};
    BOOST_TEST(!add_end(words, set_file(words, "./x", 2).front()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
