#include "lang/symbols/kallsyms.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/error.h"
#include "lang/symbols/printk_formats.h"
#include "lang/symbols/task_names.h"

namespace gpufs {
namespace {

// In pieces of some bytes, so that most lines are cut.
Kallsyms kallsyms_of(std::string text) {
    return Kallsyms([text = std::move(text)](const auto& take) {
        for (std::size_t at = 0; at < text.size(); at += 7)
            take(std::string_view(text).substr(at, 7));
    });
}

std::string at(Kallsyms& symbols, std::uint64_t address) {
    const auto s = symbols.find(address);
    if (!s) return "none";
    return cat(s->name, '+', s->offset, '/', s->size, s->module.empty() ? "" : " ", s->module);
}

BOOST_AUTO_TEST_SUITE(kallsyms)

BOOST_AUTO_TEST_CASE(an_address_is_named_by_the_function_around_it) {
    Kallsyms symbols = kallsyms_of(
        "0000000000000000 A fixed_percpu_data\n"
        "ffffffff81000000 T _stext\n"
        "ffffffff81000000 T _text\n"
        "ffffffff81000040 t __pfx_do_one\n"
        "ffffffff81000050 t do_one\n"
        "ffffffff81000090 T last_function\n"
        "ffffffff81000100 D some_data\n"
        "ffffffff81000200 B more_data\n"
        "ffffffffc0300000 t mock_isr\t[mock_gpu]\n"
        "ffffffffc0300020 t .Ltmp3\t[mock_gpu]\n"
        "ffffffffc0300020 t mock_run\t[mock_gpu]\n"
        "ffffffffc0300028 t $x.7\t[mock_gpu]\n"
        "ffffffffc030002c t L0\x01\t[mock_gpu]\n"
        "ffffffffc0300030 t $data\t[mock_gpu]\n"
        "ffffffffc0200000 t early_function\t[early]\n"
        "ffff800012345678 T far_away\n");
    BOOST_TEST(!symbols.is_hidden());
    // The kernel answers with the first name of several.
    BOOST_TEST(at(symbols, 0xffffffff81000000) == "_stext+0/64");
    BOOST_TEST(at(symbols, 0xffffffff81000045) == "__pfx_do_one+5/16");
    BOOST_TEST(at(symbols, 0xffffffff81000050) == "do_one+0/64");
    BOOST_TEST(at(symbols, 0xffffffff810000ff) == "last_function+111/112");
    // Data are not kept, but end what is before them.
    BOOST_TEST(at(symbols, 0xffffffff81000100) == "none");
    BOOST_TEST(at(symbols, 0xffffffff81000250) == "none");
    BOOST_TEST(at(symbols, 0xffffffffc0200010) == "early_function+16/1048576 early");
    BOOST_TEST(at(symbols, 0xffffffffc0300010) == "mock_isr+16/32 mock_gpu");
    // Marks of the compiler in modules are no names.
    BOOST_TEST(at(symbols, 0xffffffffc0300022) == "mock_run+2/16 mock_gpu");
    BOOST_TEST(at(symbols, 0xffffffffc030002e) == "mock_run+14/16 mock_gpu");
    BOOST_TEST(at(symbols, 0xffffffffc0300031).starts_with("$data+1/"));
    BOOST_TEST(at(symbols, 0xffff800012345679) == "far_away+1/0");
    BOOST_TEST(at(symbols, 0xffffffff80ffffff) == "none");
    BOOST_TEST(at(symbols, 0x1000) == "none");
}

// As Linux 7.3 lists what it frees of modules that are loaded while functions are traced.
BOOST_AUTO_TEST_CASE(a_freed_function_names_what_no_module_has_taken) {
    Kallsyms symbols = kallsyms_of(
        "ffffffff81000000 T _stext\n"
        "ffffffffc0432010 t raid6_gen\t[raid6_pq]\n"
        "ffffffffc0434010 t raid6_recover\t[raid6_pq]\n"
        "ffffffffc0430010 T xor_gen\t[xor]\n"
        "ffffffffc0439100 T raid6_init\t[raid6_pq]\n"
        "ffffffffc0433290 T xor_force\t[xor]\n"
        "ffffffffc0432000 T xor_init\t[xor]\n"
        "ffffffffc0434800 T xor_calibrate\t[xor]\n"
        "ffffffffc043a000 t ftrace_trampoline\t[__builtin__ftrace]\n");
    BOOST_TEST(at(symbols, 0xffffffffc0433293) == "raid6_gen+4739/8192 raid6_pq");
    BOOST_TEST(at(symbols, 0xffffffffc0432011) == "raid6_gen+1/8192 raid6_pq");
    BOOST_TEST(at(symbols, 0xffffffffc0434804).starts_with("raid6_recover+2036/"));
    BOOST_TEST(at(symbols, 0xffffffffc0439104) == "raid6_init+4/3840 raid6_pq");
    BOOST_TEST(at(symbols, 0xffffffffc0430014) == "xor_gen+4/8192 xor");
    BOOST_TEST(at(symbols, 0xffffffffc043a001) == "ftrace_trampoline+1/0 __builtin__ftrace");
}

BOOST_AUTO_TEST_CASE(hidden_addresses_are_noticed) {
    Kallsyms symbols = kallsyms_of("0000000000000000 T _stext\n0000000000000000 t do_one\n");
    BOOST_TEST(symbols.is_hidden());
    BOOST_TEST(at(symbols, 0) == "none");
    Kallsyms missing(pieces_of_file("/no/such/file"));
    BOOST_CHECK_THROW(missing.find(1), SysError);
}

BOOST_AUTO_TEST_CASE(strings_of_the_kernel_are_unescaped) {
    const auto texts = parse_printk_formats(
        "0xffffffff8281942f : \"thaw_processes\"\n"
        "0xffffffff82819430 : \"n=%d \\\"q\\\" \\\\ \\n\"\n"
        "garbage\n");
    BOOST_TEST(texts.size() == 2u);
    BOOST_TEST(texts.at(0xffffffff8281942f) == "thaw_processes");
    BOOST_TEST(texts.at(0xffffffff82819430) == "n=%d \"q\" \\ \n");
}

BOOST_AUTO_TEST_CASE(tasks_have_the_names_the_kernel_gives_them) {
    TaskNames tasks;
    tasks.add(812, "python3");
    BOOST_TEST(tasks.comm(812) == "python3");
    BOOST_TEST(tasks.comm(0) == "<idle>");
    BOOST_TEST(tasks.comm(813) == "<...>");
    BOOST_TEST(tasks.comm(-1) ==
               "<X"
               "XX>");
    BOOST_TEST(tasks.tgid(812) == 0);
}

BOOST_AUTO_TEST_CASE(names_of_tasks_are_taken_anew_and_kept) {
    std::string lines = "812 python3\n9 rcu sched\n";
    TaskNames tasks([&] { return lines; }, [] { return std::string("812 800\n"); });
    BOOST_TEST(tasks.comm(812) == "<...>");
    tasks.refresh();
    lines = "9 rcu_sched\n";
    tasks.refresh();
    BOOST_TEST(tasks.comm(812) == "python3");
    BOOST_TEST(tasks.tgid(812) == 800);
    BOOST_TEST(tasks.comm(9) == "rcu_sched");
}

BOOST_AUTO_TEST_CASE(names_of_tasks_may_have_newlines) {
    TaskNames tasks;
    tasks.add_lines("812 a\nb\n\n9 rcu sched\n10 c\n");
    BOOST_TEST(tasks.comm(812) == "a\nb");
    BOOST_TEST(tasks.comm(9) == "rcu sched");
    BOOST_TEST(tasks.comm(10) == "c");
}

BOOST_AUTO_TEST_CASE(a_recording_has_processes_behind_the_names) {
    TaskNames tasks;
    tasks.add_lines("812 a\nb\n9 rcu sched\n");
    BOOST_TEST(tasks.to_recorded() == "9 rcu sched\n812 a\\nb\n");
    tasks.add_process(812, 800);
    const std::string recorded = tasks.to_recorded();
    BOOST_TEST(recorded == cat("9 rcu sched\n812 a\\nb\n", '\0', "812 800\n"));
    TaskNames read;
    read.add_recorded(recorded + std::string(100, '\0'));
    BOOST_TEST(read.comm(9) == "rcu sched");
    BOOST_TEST(read.comm(812) == "a\\nb");
    BOOST_TEST(read.tgid(812) == 800);
    // Cut in the middle, and without the table.
    TaskNames cut;
    cut.add_recorded("9 rcu sched\n812 a");
    BOOST_TEST(cut.comm(812) == "a");
    BOOST_TEST(cut.tgid(812) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
