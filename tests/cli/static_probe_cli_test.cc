#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "base/cat.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/temp_folder.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// Monitors at the static probes of tests/programs/probed.cc, whose arguments are known.
namespace gpufs {
namespace {

using test::only;
using test::Told;

std::string probed_file(const char* name) {
    return std::filesystem::canonical(test::Nest::build_file(name));
}

// FILE stands for the program.
constexpr std::string_view kEachForm = R"(.licence "GPL"
.struct  heard    { number s64, text str16 }
.struct  three    { first s64, second s64, third s64 }
.struct  formed   { global s64, far s64 }
.map     listened hash key heard, value count, max 16
.map     passed   hash key three, value count, max 16
.map     sizes    hash key s64, value count, max 16
.map     forms    hash key formed, value count, max 16
.stack   v        { h heard, t three, s s64, f formed }
.prog    hears    usdt FILE:probed:listened
         r6 = r1
         zero v.h
         r1 = @arg0(r6)
         *(u64 *)(r10 + v.h.number) = r1
         call probe_read_user_str(&v.h.text, sizeof(v.h.text), @arg1(r6))
         add listened[&v.h]
         exit 0
.prog    passes   usdt FILE:probed:passed
         r2 = @arg0(r1)
         r3 = @arg1(r1)
         r4 = @arg2(r1)
         *(u64 *)(r10 + v.t.first) = r2
         *(u64 *)(r10 + v.t.second) = r3
         *(u64 *)(r10 + v.t.third) = r4
         add passed[&v.t]
         exit 0
.prog    has_size usdt FILE:probed:of-sizes
         copy v.s, @arg0(r1)
         add sizes[&v.s]
         exit 0
.prog    has_form optional usdt FILE:prob*:{of__forms,of__others}
         zero v.f
         .if @arg2
         copy v.f.global, @arg0(r1)
         copy v.f.far, @arg2(r1)
         .endif
         add forms[&v.f]
         exit 0
)";

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(static_probe, *ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(programs_read_the_arguments_of_each_place) {
    for (const char* name : {"probed", "probed-fixed"}) {
        const test::TempFolder folder;
        std::string text(kEachForm);
        for (std::size_t at = 0; (at = text.find("FILE", at)) != text.npos;)
            text.replace(at, 4, probed_file(name));
        std::ofstream(folder / "forms.bpf") << text;
        const Told told({folder / "forms.bpf", "--strict"},
                        {"sh", "-c", cat("printf '3\\n-10\\n' | ", probed_file(name))});
        const auto heard = [&](const char* number) {
            return only(told.rows("listened", {{"number", number}, {"text", "text"}}))["count"]
                .number();
        };
        for (const char* number : {"3", "4", "-10", "-9"}) BOOST_TEST(heard(number) == 1);
        BOOST_TEST(told.rows("listened", {}).size() == 4u);
        for (const char* number : {"3", "-10"}) {
            BOOST_TEST(
                only(told.rows("passed",
                               {{"first", number}, {"second", "7"}, {"third", number}}))["count"]
                    .number() == 1);
            BOOST_TEST(only(told.rows("sizes", {{"key", number}}))["count"].number() == 2);
        }
        BOOST_TEST(only(told.rows("forms", {{"global", "7"}, {"far", "0"}}))["count"].number() ==
                   2);
        BOOST_TEST(told.lost() == 0);
    }
}

// What a question tells in JSON while the program works on 3, 3 and -10.
test::Ended asked(std::vector<std::string> question) {
    const std::string work =
        cat("printf '3\\n3\\n-10\\n' | ", probed_file("probed"), " >/dev/null");
    for (const char* word : {"--json", "--strict", "--", "sh", "-c"}) question.emplace_back(word);
    question.push_back(work);
    return test::gpufs(question);
}

BOOST_AUTO_TEST_CASE(questions_have_arguments_as_fields) {
    const std::string probe = cat("usdt:", probed_file("probed"), ":probed:");
    const test::Ended counted = asked({"count", probe + "passed", "by", "arg0,arg1"});
    BOOST_TEST(test::has(counted.out, R"({"key":{"arg0":3,"arg1":7},"count":2})"), counted.out);
    BOOST_TEST(test::has(counted.out, R"({"key":{"arg0":-10,"arg1":7},"count":1})"), counted.out);
    // Two places, whose argument has 4 bytes at one and 8 at the other.
    const test::Ended sizes = asked({"stats", probe + "of-sizes", "arg0", "--if", "arg0 < 0"});
    BOOST_TEST(test::has(sizes.out, R"("count":2,"sum":-20,)"), cat(sizes.out, sizes.err));
    const test::Ended texts = asked({"count", probe + "listened", "by", "str(arg1)"});
    BOOST_TEST(test::has(texts.out, "\"text\"},\"count\":6}"), cat(texts.out, texts.err));
}

BOOST_AUTO_TEST_CASE(questions_tell_the_probes_of_a_pattern_apart) {
    const std::string file = cat("usdt:", probed_file("probed"), ":");
    const test::Ended counted = asked({"count", file + "prob*:{passed,of-sizes}", "by", "probe"});
    for (const char* one : {"probed:passed\"},\"count\":3", "probed:of__sizes\"},\"count\":"})
        BOOST_TEST(test::has(counted.out, cat("{\"probe\":\"", file, one)),
                   cat(counted.out, counted.err));
}

BOOST_AUTO_TEST_CASE(an_argument_that_is_not_there_is_told_at_its_place) {
    const test::TempFolder folder;
    const std::string file = probed_file("probed"), text = (folder / "wrong.bpf").string();
    const auto refusal = [&](const char* code) {
        std::ofstream(text) << ".prog p usdt " << file << ":probed:of__forms\n        " << code
                            << "\n        exit 0\n";
        return test::gpufs({"run", text, "--", "true"});
    };
    const test::Ended missing = refusal("r2 = @arg3(r1)");
    BOOST_TEST(missing.status == 2);
    BOOST_TEST(missing.err == cat("gpufs: ", text, ":2:14: error: '", file,
                                  ":probed:of__forms' has 3 arguments: there is no arg3\n"
                                  "        r2 = @arg3(r1)\n"
                                  "             ^~~~~\n"));
    const test::Ended unreadable = refusal("r2 = @arg1(r1)");
#if defined __aarch64__
    constexpr const char* kFloat = "8f@d0";
#else
    constexpr const char* kFloat = "8f@%xmm0";
#endif
    BOOST_TEST(unreadable.err == cat("gpufs: ", text, ":2:14: error: arg1 is at '", kFloat,
                                     "' in the program, where it cannot be read\n"
                                     "        r2 = @arg1(r1)\n"
                                     "             ^~~~~\n"));
}

BOOST_AUTO_TEST_CASE(a_static_probe_that_no_library_has_is_told) {
    const test::TempFolder folder;
    std::ofstream(folder / "none.bpf") << ".prog p usdt libc.so*:nobody:nothing\n        exit 0\n";
    const test::Ended ended = test::gpufs({"run", folder / "none.bpf", "--duration", "1ms"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(test::has(ended.err, "has no static probe 'nobody:nothing'\n"), ended.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
