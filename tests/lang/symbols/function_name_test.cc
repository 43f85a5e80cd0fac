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
    BOOST_TEST(function_signature("_Z3addii") == "add(int, int)");
    BOOST_TEST(function_signature("_ZNK2ns5Class6methodEPKc") ==
               "ns::Class::method(char const*) const");
    BOOST_TEST(function_signature("main") == "main");
    BOOST_TEST(function_name("_ZNSt6vectorIiSaIiEE9push_backERKi") ==
               "std::vector<int, std::allocator<int> >::push_back");
    BOOST_TEST(function_name("_ZNK5gpufs7Monitor3mapESt17basic_string_viewIcSt11char_traitsIcEE") ==
               "gpufs::Monitor::map");
    BOOST_TEST(function_name("_Z5twiceIiET_S0_") == "twice<int>");
    BOOST_TEST(function_signature("_Z5twiceIiET_S0_") == "twice<int>(int)");
    BOOST_TEST(function_name("_Z3addii.isra.0") == "add [clone .isra.0]");
    BOOST_TEST(function_name("_Znwm") == "operator new");
    BOOST_TEST(function_name("_ZN4core3fmt5write17h0123456789abcdefE") == "core::fmt::write");
}

// "_", "0_", "1_", ...
std::string base_62(std::size_t number) {
    constexpr std::string_view kDigits =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string digits = "_";
    for (std::size_t rest = number; rest != 0; rest = (rest - 1) / kDigits.size())
        digits.insert(digits.begin(), kDigits[(rest - 1) % kDigits.size()]);
    return digits;
}

BOOST_AUTO_TEST_CASE(a_rust_name_becomes_its_path) {
    BOOST_TEST(function_name("_RNvC5crate4main") == "crate::main");
    BOOST_TEST(function_name("_RNvC6_123foo3bar") == "123foo::bar");
    BOOST_TEST(function_name("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_") ==
               "cc::spawn::{closure#0}::{closure#0}");
    BOOST_TEST(
        function_name("_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8it"
                      "erator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_") ==
        "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::"
        "memchr::memrchr::{closure#1}>::{closure#0}");
    BOOST_TEST(function_name("_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6Ou"
                             "tputuEL_ECs1iopQbuBiw2_3std") ==
               "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>");
    BOOST_TEST(function_name("_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new") ==
               "<arrayvec::ArrayVec<u8, 123>>::new");
    BOOST_TEST(function_name("_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E") ==
               "<const_generic::Signed<-11>>");
    BOOST_TEST(function_name("_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb0_E") ==
               "<const_generic::Bool<false>>");
    BOOST_TEST(function_name("_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E") ==
               "<const_generic::Char<'v'>>");
    BOOST_TEST(function_name("_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO") ==
               "<const_generic::Foo<_>>::foo::FOO");
    BOOST_TEST(function_name("_RINvC1a1fFG_RL0_hEuTmEQxASlj2_E") ==
               "a::f::<for<'a> fn(&'a u8), (u32,), &mut i64, [[i32]; 2]>");
    BOOST_TEST(function_name("_RINvC1a1fFUKCPhEOcE") ==
               "a::f::<unsafe extern \"C\" fn(*const u8) -> *mut char>");
    BOOST_TEST(function_name("_RNvC9backtrace3foo.llvm.A5310EB9") == "backtrace::foo");
    BOOST_TEST(function_name("_RNvC9backtrace3foo.cold") == "backtrace::foo [clone .cold]");
    BOOST_TEST(function_name("_RNvC1au7grn_jka") == "a::punycode{grn_jka}");
}

BOOST_AUTO_TEST_CASE(a_rust_name_that_repeats_itself_without_end_stays) {
    const std::string deep = cat("_RMC0", std::string(100'000, 'S'), "h");
    BOOST_TEST(function_name(deep) == deep);
    BOOST_TEST(function_name("_RMC0TB2_E") == "_RMC0TB2_E");
    // Each tuple is twice the one before it.
    std::string wide = "_RMC0TThhE";
    std::size_t last = wide.find("Thh") - 2;
    for (int i = 0; i < 40; ++i) {
        const std::string back = cat('B', base_62(last));
        last = wide.size() - 2;
        wide += cat('T', back, back, 'E');
    }
    wide += 'E';
    BOOST_TEST(function_name(wide) == wide);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_taken_apart_stays) {
    BOOST_TEST(function_name("") == "");
    BOOST_TEST(function_name("_Z") == "_Z");
    BOOST_TEST(function_name("_Zebra") == "_Zebra");
    BOOST_TEST(function_name("_R") == "_R");
    BOOST_TEST(function_name("_RNvC5crate4mai") == "_RNvC5crate4mai");
    BOOST_TEST(function_name("_RNvC5crate4mainX") == "_RNvC5crate4mainX");
    BOOST_TEST(function_name("_RNvB_4main") == "_RNvB_4main");
    BOOST_TEST(function_name("_RMC0RL_u") == "<&()>");
    BOOST_TEST(function_name("_RMC0RL0_u") == "_RMC0RL0_u");
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
