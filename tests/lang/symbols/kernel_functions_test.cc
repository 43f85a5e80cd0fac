#include "lang/symbols/kernel_functions.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdint>

#include "base/cat.h"

namespace gpufs {
namespace {

std::string in_words(const std::vector<KernelFunction>& functions) {
    std::string text;
    for (const KernelFunction& f : functions)
        text += cat(f.wanted, "=", f.name, "@", f.module, " ");
    return text;
}

BOOST_AUTO_TEST_SUITE(kernel_functions)

BOOST_AUTO_TEST_CASE(finds_functions_of_the_kernel_and_of_modules) {
    const std::string text =
        "0000000000000000 T vfs_open\n"
        "0000000000000000 D vfs_open_data\n"
        "0000000000000000 d jiffies\n"
        "0000000000000000 t copied.isra.0\n"
        "0000000000000000 t copied.isra.0.cold\n"
        "0000000000000000 t whole\n"
        "0000000000000000 t whole.constprop.0\n"
        "0000000000000000 t cut.part.0\n"
        "0000000000000000 t drm_sched_job_timedout\t[gpu_sched]\n"
        "cut";
    const TextPieces kallsyms = [&](const auto& take) { take(text); };
    BOOST_TEST(in_words(find_kernel_functions({"vfs_open", "jiffies", "cut"}, kallsyms)) ==
               "vfs_open=vfs_open@ ");
    BOOST_TEST(in_words(find_kernel_functions({"drm_sched_job_timedout"}, kallsyms)) ==
               "drm_sched_job_timedout=drm_sched_job_timedout@gpu_sched ");
    BOOST_TEST(in_words(find_kernel_functions({"copied", "whole"}, kallsyms)) ==
               "whole=whole@ copied=copied.isra.0@ ");
}

BOOST_AUTO_TEST_CASE(lines_of_traceable_functions_are_a_name_and_a_module) {
    const auto own = parse_traceable_line("vfs_read");
    BOOST_REQUIRE(own);
    BOOST_TEST(own->name == "vfs_read");
    BOOST_TEST(own->module == "");
    const auto loaded = parse_traceable_line("drm_open [drm]");
    BOOST_REQUIRE(loaded);
    BOOST_TEST(loaded->name == "drm_open");
    BOOST_TEST(loaded->module == "drm");
    BOOST_TEST(!parse_traceable_line("__ftrace_invalid_address___160 [drm]"));
    BOOST_TEST(!parse_traceable_line(""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
