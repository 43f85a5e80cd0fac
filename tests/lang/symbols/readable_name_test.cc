#define BOOST_TEST_DYN_LINK
#include "lang/symbols/readable_name.h"

#include <boost/test/unit_test.hpp>

#include "lang/program/function_pattern.h"

namespace gpufs {
namespace {

constexpr const char* kTwo = "_ZN2ns1fEiPKc";  // ns::f(int, char const*)

BOOST_AUTO_TEST_SUITE(readable_names)

BOOST_AUTO_TEST_CASE(a_function_is_known_by_its_name_with_parameters_or_without) {
    for (const char* name : {"ns::f", "ns::f(int, char const*)", "ns::f(int,charconst*)"})
        BOOST_TEST(ReadableName(name).is_of(kTwo), name);
    for (const char* name : {"f", "ns::f(int)", "ns::f()", "ns::g", "s::f"})
        BOOST_TEST(!ReadableName(name).is_of(kTwo), name);
    BOOST_TEST(ReadableName("ns::f(int) const").has_parameters());
    BOOST_TEST(!ReadableName("ns::f<int (*)()>").has_parameters());
}

BOOST_AUTO_TEST_CASE(a_template_needs_no_return_type) {
    constexpr const char* kTwice = "_ZN2ns5twiceIiEET_S1_";  // int ns::twice<int>(int)
    BOOST_TEST(ReadableName("ns::twice<int>").is_of(kTwice));
    BOOST_TEST(ReadableName("ns::twice<int>(int)").is_of(kTwice));
}

BOOST_AUTO_TEST_CASE(copies_have_the_name_of_their_function) {
    for (const char* name : {"ns::f", "ns::f(int, char const*)", kTwo}) {
        BOOST_TEST(ReadableName(name).is_of("_ZN2ns1fEiPKc.isra.0"), name);
        BOOST_TEST(ReadableName(name).is_of("_ZN2ns1fEiPKc.constprop.0.isra.0"), name);
        BOOST_TEST(!ReadableName(name).is_of("_ZN2ns1fEiPKc.cold"), name);
    }
    BOOST_TEST(ReadableName("work").is_of("work.isra.0"));
    BOOST_TEST(!ReadableName("work").is_of("worker.isra.0"));
}

BOOST_AUTO_TEST_CASE(signs_in_types_make_no_pattern) {
    BOOST_TEST(is_function_pattern("work*"));
    BOOST_TEST(is_function_pattern("_ZN2ns*"));
    BOOST_TEST(is_function_pattern("main.(*Server).*"));
    BOOST_TEST(!is_function_pattern("ns::f(char const*)"));
    BOOST_TEST(!is_function_pattern("f(char*)"));
    BOOST_TEST(!is_function_pattern("ns::operator*"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
