#include "view/table.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

using Align = Table::Align;

Table launches() {
    Table table({{"COMM", Align::left}, {"KERNEL", Align::left}, {"GRID", Align::left}, {"COUNT"}});
    table.add({"python3",
               "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >",
               "1x1x1", "1565"});
    table.add({"python3", "short", "256x1x1", "7"});
    return table;
}

BOOST_AUTO_TEST_SUITE(table)

// The numbers behind it are what is asked for.
BOOST_AUTO_TEST_CASE(a_long_text_loses_its_middle_on_a_narrow_screen) {
    BOOST_TEST(launches().to_text({70}) ==
               "COMM     KERNEL                                         GRID     COUNT\n"
               "python3  at::native::vectorized_ele..lFunctor<float> >  1x1x1     1565\n"
               "python3  short                                          256x1x1      7\n");
}

BOOST_AUTO_TEST_CASE(a_screen_that_is_too_narrow_for_that_cuts_lines) {
    BOOST_TEST(launches().to_text({40}) ==
               "COMM     KERNEL                GRID\n"
               "python3  at::native:..loat> >  1x1x1\n"
               "python3  short                 256x1x1\n");
}

BOOST_AUTO_TEST_CASE(without_a_screen_nothing_is_cut) {
    BOOST_TEST(launches().to_text().find(".. ") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
