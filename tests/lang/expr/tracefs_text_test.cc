#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "lang/expr/expr.h"
#include "lang/expr/gen.h"

namespace gpufs {
namespace {

namespace data = boost::unit_test::data;

std::string filter_of(std::string_view text) {
    return to_filter(parse_expression({"--if", std::string(text)}), test::every_kind());
}

BOOST_AUTO_TEST_SUITE(expr_filter)

struct Filter {
    const char *text, *filter;
};
std::ostream& operator<<(std::ostream& out, const Filter& f) {
    return out << f.text;
}
const Filter kFilters[] = {
    // as it was written, evenly spaced
    {"u8==1&&s8!=-2||u16<3", "u8 == 1 && s8 != -2 || u16 < 3"},
    {"u8 <= 1 && u8 >= 0 && u8 > 0 && u8 & 3", "u8 <= 1 && u8 >= 0 && u8 > 0 && u8 & 3"},
    {"\n u8 ==\n\t1 ", "u8 == 1"},
    {"u64 == 0xFF && u64 == 017 && u64 == -0", "u64 == 0xFF && u64 == 017 && u64 == 0"},
    {"u64 == 000000000000000000000000017", "u64 == 15"},
    {"CPU & CPUS{0-3, 7} && mask == CPUS{1}", "CPU & CPUS{0-3, 7} && mask == CPUS{1}"},
    // texts are quoted
    {"task_comm == bash", "task_comm == \"bash\""},
    {"task_comm == 'a b'", "task_comm == \"a b\""},
    {"task_comm == 'a\"b'", "task_comm == 'a\"b'"},
    {"task_comm == \"it's\"", "task_comm == \"it's\""},
    {"task_comm == ''", "task_comm == \"\""},
    {"label.ustring ~ /etc/*", "label.ustring ~ \"/etc/*\""},
    // parentheses where they are needed
    {"((u8 == 1))", "u8 == 1"},
    {"(u8 == 1 && s8 == 2) || u16 == 3", "u8 == 1 && s8 == 2 || u16 == 3"},
    {"u8 == 1 && (s8 == 2 || u16 == 3)", "u8 == 1 && (s8 == 2 || u16 == 3)"},
    {"u8 == 1 && (s8 == 2 && u16 == 3)", "u8 == 1 && s8 == 2 && u16 == 3"},
    {"!u8 == 1 && s8 == 2", "!(u8 == 1) && s8 == 2"},
    {"!(u8 == 1 || s8 == 2)", "!(u8 == 1 || s8 == 2)"},
    {"!!u8 == 1", "!!(u8 == 1)"},
    // a function's name needs a space behind it, and no quotes
    {"ip.function == schedule", "ip.function == schedule"},
    {"ip.function == 'schedule' && u8 == 1", "ip.function == schedule && u8 == 1"},
    {"u8 == 1 && (s8 == 2 || ip.function != schedule)",
     "u8 == 1 && (s8 == 2 || ip.function != schedule )"},
    {"!(u8 == 1 && (s8 == 2 || ip.function != schedule))",
     "!(u8 == 1 && (s8 == 2 || ip.function != schedule ))"},
    {"(ip.function == schedule || u8 == 1) && s8 == 2",
     "(ip.function == schedule || u8 == 1) && s8 == 2"},
    {"!(ip.function == 0xffffffff81000000)", "!(ip.function == 0xffffffff81000000)"},
    // patterns that the kernel gets wrong otherwise
    {"path ~ 7*", "path ~ \"[7]*\""},
    {"path ~ '!7*'", "path ~ \"![7]*\""},
    {"path ~ 0000:0b:*", "path ~ \"[0]000:0b:*\""},
    {"path ~ 7zip", "path ~ \"7zip\""},
    {"path == 7*", "path == \"7*\""},
    {"task_comm ~ *ash", "task_comm ~ \"**ash\""},
    {"task_comm ~ '!*ash'", "task_comm ~ \"!**ash\""},
    {"task_comm ~ *as*", "task_comm ~ \"**as*\""},
    {"COMM ~ *ash", "COMM ~ \"**ash\""},
    {"mac ~ *ash", "mac ~ \"**ash\""},
    {"task_comm ~ *a*h", "task_comm ~ \"*a*h\""},
    {"task_comm ~ *as?", "task_comm ~ \"*as?\""},
    {"task_comm ~ **ash", "task_comm ~ \"**ash\""},
    {"task_comm ~ *", "task_comm ~ \"*\""},
    {"task_comm ~ ba*", "task_comm ~ \"ba*\""},
    {"task_comm ~ bash", "task_comm ~ \"bash\""},
    {"task_comm ~ \"\"", "task_comm ~ \"\""},
    {"path ~ *.txt", "path ~ \"*.txt\""},
    {"label ~ *.txt", "label ~ \"*.txt\""},
};
BOOST_DATA_TEST_CASE(the_filter_says_the_same, data::make(kFilters), c) {
    BOOST_TEST(filter_of(c.text) == c.filter);
    BOOST_TEST(filter_of(c.filter) == c.filter);
}

BOOST_AUTO_TEST_CASE(a_wrong_condition_makes_no_filter) {
    BOOST_CHECK_THROW(filter_of("u8 == 256"), SourceError);
}

BOOST_AUTO_TEST_CASE(a_filter_is_shorter_than_a_page) {
    std::string text = "u8 == 1";
    while (text.size() + 11 <= 4095) text += " || u8 == 1";
    text += std::string(4095 - text.size(), ' ');
    BOOST_CHECK_NO_THROW(filter_of(text));
    std::string longer = "u8 == 1";
    for (int i = 0; i < 400; ++i) longer += " || u8 == 1";
    BOOST_CHECK_EXCEPTION(filter_of(longer), SourceError, [&](const SourceError& e) {
        const std::string_view what = e.what();
        BOOST_TEST(what.substr(0, what.find('\n')) ==
                   "--if:1:1: error: the condition has 4407 bytes; a filter has at most 4095");
        return true;
    });
}

BOOST_AUTO_TEST_CASE(generated_conditions_come_back_as_they_were) {
    test::ExprGenerator generator(test::every_kind(),
                                  {.symbol = "schedule", .any_pattern = false, .fields = {}});
    for (int i = 0; i < 5'000; ++i) {
        const Expression made = generator.expression();
        const std::string filter = to_filter(made, test::every_kind());
        const Expression read = parse_expression({"filter", filter});
        BOOST_TEST((read.root == made.root), filter);
        BOOST_TEST(to_filter(read, test::every_kind()) == filter);
    }
}

BOOST_AUTO_TEST_CASE(patterns_written_in_another_way_stay_as_they_are) {
    test::ExprGenerator generator(test::every_kind(), {.symbol = "schedule", .fields = {}}, 2);
    for (int i = 0; i < 5'000; ++i) {
        const std::string filter = to_filter(generator.expression(), test::every_kind());
        BOOST_TEST(filter_of(filter) == filter);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
