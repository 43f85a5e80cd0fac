#include "lang/probe/definition.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs {
namespace {

ProbeDefinition parse_definition(const std::string& text) {
    return parse_probe_definition({"probe", text});
}

ProbePlace parse_place(const std::string& text) {
    return parse_probe_place({"probe", text}, {0, text.size()}, text,
                             [](const std::string& word) { return word == "libc"; });
}

template <class Work>
std::string words_of_refusal(Work&& work) {
    try {
        work();
    } catch (const SourceError& e) {
        return cat(e.what(), e.hint().empty() ? "" : "\nhint: ", e.hint());
    }
    return "nothing is wrong";
}

BOOST_AUTO_TEST_SUITE(probe_definitions)

BOOST_AUTO_TEST_CASE(the_kernels_form_has_a_name_a_place_and_arguments) {
    const std::string text = "r16:done /bin/bash:readline  a=%ax b=$retval";
    const ProbeDefinition d = parse_definition(text);
    BOOST_TEST(d.is_return);
    BOOST_TEST(d.most_active == "16");
    BOOST_TEST(d.name.value() == "done");
    BOOST_TEST(d.place == "/bin/bash:readline");
    BOOST_TEST_REQUIRE(d.arguments.size() == 2u);
    BOOST_TEST(text.substr(d.arguments[1].begin) == "b=$retval");
    BOOST_TEST(text.substr(d.place_at.begin, d.place_at.end - d.place_at.begin) == d.place);
}

BOOST_AUTO_TEST_CASE(short_forms_leave_out_the_name) {
    for (const char* text : {"do_nanosleep t=%di", "p:do_nanosleep t=%di", "p do_nanosleep t=%di",
                             "p: do_nanosleep t=%di"}) {
        const ProbeDefinition d = parse_definition(text);
        BOOST_TEST(d.place == "do_nanosleep", text);
        BOOST_TEST(!d.name, text);
        BOOST_TEST(d.arguments.size() == 1u, text);
        BOOST_TEST(!d.is_return, text);
    }
    BOOST_TEST(parse_definition("vfs_read%return $retval").is_return);
    BOOST_TEST(parse_definition("vfs_read%return $retval").place == "vfs_read");
    BOOST_TEST(parse_definition("r:/bin/a=b/x:f").place == "/bin/a=b/x:f");
}

BOOST_AUTO_TEST_CASE(the_parameters_of_a_function_may_have_blanks) {
    for (const char* place :
         {"./x:ns::f(A const&, long, char*)", "./x:ns::f<unsigned long>(unsigned long)",
          "./x:ns::C::f(int, long) const", "./x:operator<(A const&, int)", "./a(b:f"}) {
        const ProbeDefinition d = parse_definition(cat("p:one ", place, " n req->len"));
        BOOST_TEST(d.place == place);
        BOOST_TEST(d.arguments.size() == 2u, place);
    }
    BOOST_TEST(parse_place("./x:ns::f(A const&, long, char*)").name ==
               "ns::f(A const&, long, char*)");
}

BOOST_AUTO_TEST_CASE(a_place_is_in_the_kernel_in_a_file_or_a_static_probe) {
    using Kind = ProbePlace::Kind;
    const ProbePlace kernel = parse_place("gpu_sched:drm_sched_job_done+0x10");
    BOOST_TEST((kernel.kind == Kind::function));
    BOOST_TEST(kernel.file == "gpu_sched");
    BOOST_TEST(kernel.name == "drm_sched_job_done");
    BOOST_TEST(kernel.offset == 16u);
    const ProbePlace library = parse_place("libc:malloc");
    BOOST_TEST((library.kind == Kind::in_file));
    BOOST_TEST(library.name == "malloc");
    const ProbePlace offset = parse_place("./a.out:0x1139(0x4010)");
    BOOST_TEST((offset.kind == Kind::in_file));
    BOOST_TEST(offset.file == "./a.out");
    BOOST_TEST(offset.name == "");
    BOOST_TEST(offset.offset == 0x1139u);
    BOOST_TEST(offset.counter == 0x4010u);
    const ProbePlace fixed = parse_place("usdt:/usr/bin/python3:python:gc__start");
    BOOST_TEST((fixed.kind == Kind::static_probe));
    BOOST_TEST(fixed.file == "/usr/bin/python3");
    BOOST_TEST(fixed.provider == "python");
    BOOST_TEST(fixed.name == "gc__start");
    BOOST_TEST(parse_place("usdt:python3:gc__start").provider == "*");
    BOOST_TEST(parse_place("/bin/x:operator+").name == "operator+");
}

BOOST_AUTO_TEST_CASE(mistakes_are_shown_where_they_are) {
    BOOST_TEST(words_of_refusal([] { parse_definition("p:grp/open do_sys_open"); }) ==
               "probe:1:3: error: a probe's group is that of its session\n"
               "p:grp/open do_sys_open\n"
               "  ^~~~~~~~\n"
               "hint: write the name alone: open; --session NAME chooses another session");
    BOOST_TEST(words_of_refusal([] { parse_definition("p:a-b do_sys_open"); }) ==
               "probe:1:3: error: 'a-b' cannot name an event\n"
               "p:a-b do_sys_open\n"
               "  ^~~\n"
               "hint: letters, digits and '_', at most 63, with no digit first");
    BOOST_TEST(words_of_refusal([] { parse_definition("-:open"); }) ==
               "probe:1:1: error: this defines no probe\n"
               "-:open\n"
               "^~~~~~\n"
               "hint: 'gpufs probe remove NAME' removes one");
    BOOST_TEST(words_of_refusal([] { parse_place("/bin/bash"); }) ==
               "probe:1:1: error: '/bin/bash' names a file and no place in it\n"
               "/bin/bash\n"
               "^~~~~~~~~\n"
               "hint: write FILE:FUNCTION or FILE:0xOFFSET");
    BOOST_TEST(words_of_refusal([] { parse_place("libc:m*+4"); }) ==
               "probe:1:1: error: a pattern of functions takes no offset\n"
               "libc:m*+4\n"
               "^~~~~~~~~\n"
               "hint: each of them has other instructions");
    BOOST_TEST(words_of_refusal([] { parse_place("usdt:python3"); }) ==
               "probe:1:1: error: 'usdt:python3' names no static probe\n"
               "usdt:python3\n"
               "^~~~~~~~~~~~\n"
               "hint: write usdt:FILE:PROVIDER:NAME");
    BOOST_TEST(words_of_refusal([] { parse_place("f+0xzz"); }) ==
               "probe:1:1: error: 'f+0xzz' has no number where one belongs\n"
               "f+0xzz\n"
               "^~~~~~\n"
               "hint: such as 0x39 or 57");
    BOOST_CHECK_THROW(parse_definition("  "), UsageError);
}

BOOST_AUTO_TEST_CASE(an_event_is_named_for_its_function) {
    BOOST_TEST(event_name_for("readline", false) == "readline");
    BOOST_TEST(event_name_for("readline", true) == "readline__return");
    BOOST_TEST(event_name_for("f.isra.0", false) == "f_isra_0");
    BOOST_TEST(event_name_for("0x1139", false) == "at_0x1139");
    BOOST_TEST(event_name_for(std::string(100, 'x'), true).size() == 63u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
