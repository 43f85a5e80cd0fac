#define BOOST_TEST_DYN_LINK
#include "lang/symbols/function_name.h"

#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(function_names)

std::string bare(std::string_view demangled) {
    const auto [name, clone] = without_types(demangled);
    return cat(name, '|', clone);
}

BOOST_AUTO_TEST_CASE(a_mangled_name_becomes_what_its_author_wrote) {
    BOOST_TEST(function_name("main") == "main");
    BOOST_TEST(function_name("_Z3addii") == "add");
    BOOST_TEST(function_name("_ZNSt6vectorIiSaIiEE9push_backERKi") ==
               "std::vector<int, std::allocator<int> >::push_back");
    BOOST_TEST(function_name("_ZNK5gpufs7Monitor3mapESt17basic_string_viewIcSt11char_traitsIcEE") ==
               "gpufs::Monitor::map");
    BOOST_TEST(function_name("_Z5twiceIiET_S0_") == "twice<int>");
    BOOST_TEST(function_name("_Z3addii.isra.0") == "add [clone .isra.0]");
    BOOST_TEST(function_name("_Znwm") == "operator new");
    BOOST_TEST(function_name("_ZN4core3fmt5write17h0123456789abcdefE") == "core::fmt::write");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_taken_apart_stays) {
    BOOST_TEST(function_name("") == "");
    BOOST_TEST(function_name("_Z") == "_Z");
    BOOST_TEST(function_name("_Zebra") == "_Zebra");
    BOOST_TEST(function_name("_RNvC5crate4main") == "_RNvC5crate4main");
    BOOST_TEST(bare("") == "|");
    BOOST_TEST(bare("f((") == "f((|");
    BOOST_TEST(bare("f)") == "f)|");
    BOOST_TEST(bare("a > b") == "a > b|");
    BOOST_TEST(bare("vtable for A") == "vtable for A|");
    BOOST_TEST(bare("void (*f(int))(char)") == "void (*f(int))(char)|");
}

BOOST_AUTO_TEST_CASE(types_go_and_the_parts_of_a_name_stay) {
    BOOST_TEST(bare("f()") == "f|");
    BOOST_TEST(bare("void f<int>(int) const") == "f<int>|");
    BOOST_TEST(bare("std::enable_if<(1)>(2), int>::type A::f<B<C> >(D (*)(E)) const &") ==
               "std::enable_if<(1)>(2), int>::type A::f<B<C> >(D (*)(E)) const &|");
    BOOST_TEST(bare("unsigned long A<B<C> >::f<D>(E (*)(F)) volatile &&") == "A<B<C> >::f<D>|");
    BOOST_TEST(bare("(anonymous namespace)::f(int)") == "(anonymous namespace)::f|");
    BOOST_TEST(bare("int (anonymous namespace)::f<int>(int)") == "(anonymous namespace)::f<int>|");
    BOOST_TEST(bare("f(int)::{lambda(char)#1}::operator()(char) const") ==
               "f(int)::{lambda(char)#1}::operator()|");
    BOOST_TEST(bare("A::operator<(A const&) const") == "A::operator<|");
    BOOST_TEST(bare("bool operator< <A, B>(A const&, B const&)") == "operator< <A, B>|");
    BOOST_TEST(bare("std::ostream& operator<< <A>(std::ostream&, A const&)") == "operator<< <A>|");
    BOOST_TEST(bare("A::operator->() const") == "A::operator->|");
    BOOST_TEST(bare("A::operator unsigned long() const") == "A::operator unsigned long|");
    BOOST_TEST(bare("operator new[](unsigned long)") == "operator new[]|");
    BOOST_TEST(bare("my_operator(int)") == "my_operator|");
    BOOST_TEST(bare("f(int) [clone .cold]") == "f| [clone .cold]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
