#define BOOST_TEST_DYN_LINK
#include "base/loss.h"

#include <boost/test/unit_test.hpp>

#include "view/losses.h"

namespace gpufs {
namespace {

std::string json_of(const Loss& loss) {
    JsonObject object;
    return add_loss(object, "lost", loss).done();
}

BOOST_AUTO_TEST_SUITE(loss)

BOOST_AUTO_TEST_CASE(a_loss_is_a_number_or_the_bounds_of_one) {
    BOOST_TEST(loss_text({}) == "0");
    BOOST_TEST(loss_text(Loss::exactly(5)) == "5");
    BOOST_TEST(loss_text(Loss::at_least(5)) == "5 or more");
    BOOST_TEST(loss_text(Loss::at_most(5)) == "up to 5");
    BOOST_TEST(loss_text({3, 5}) == "3 to 5");
    BOOST_TEST(json_of(Loss::exactly(5)) == R"({"lost":5})");
    BOOST_TEST(json_of(Loss::at_least(5)) == R"({"lost":5,"lost_most":null})");
    BOOST_TEST(json_of({3, 5}) == R"({"lost":3,"lost_most":5})");
}

BOOST_AUTO_TEST_CASE(only_what_cannot_be_missing_is_nothing) {
    BOOST_TEST(Loss().is_zero());
    BOOST_TEST(!Loss::exactly(1).is_zero());
    BOOST_TEST(!Loss::at_least(0).is_zero());
    BOOST_TEST(!Loss::at_most(1).is_zero());
    BOOST_TEST(LossLedger({{"keys", {}}, {"texts", {}}}).is_complete());
    BOOST_TEST(!LossLedger({{"keys", {}}, {"texts", Loss::at_most(2)}}).is_complete());
}

BOOST_AUTO_TEST_CASE(bounds_add_up) {
    Loss all = Loss::exactly(2);
    all += {1, 4};
    BOOST_TEST((all == Loss{3, 6}));
    all += Loss::at_least(1);
    BOOST_TEST((all == Loss::at_least(4)));
    all += Loss::exactly(~std::uint64_t{0});
    BOOST_TEST((all == Loss::at_least(~std::uint64_t{0})));
}

BOOST_AUTO_TEST_CASE(a_ledger_names_the_kinds_that_are_not_zero) {
    LossLedger losses{{"records, a ring was full", Loss::exactly(2)}, {"texts cut", {}}};
    BOOST_TEST(losses_text(losses) == "2 lost: 2 records, a ring was full");
    losses.add("keys", Loss::at_most(3));
    losses.add("records, a ring was full", Loss::exactly(1));
    BOOST_TEST(losses_text(losses) == "3 to 6 lost: 3 records, a ring was full; up to 3 keys");
    BOOST_TEST(losses_json(losses) == R"([{"what":"records, a ring was full","count":3},)"
                                      R"({"what":"texts cut","count":0},)"
                                      R"({"what":"keys","count":0,"count_most":3}])");
    BOOST_TEST(losses_text({}) == "0 lost");
    BOOST_TEST(
        losses_text({{"keys refused", Loss::exactly(1)}, {"texts cut", Loss::at_least(1)}}) ==
        "2 or more lost: 1 key refused; 1 or more texts cut");
}

BOOST_AUTO_TEST_CASE(two_counts_of_one_loss_do_not_add_up) {
    LossLedger losses{{"ends", Loss::at_most(54)}};
    losses.add_same("ends", Loss::exactly(50));
    BOOST_TEST(losses_text(losses) == "50 to 54 lost: 50 to 54 ends");
    losses.add_same("ends", Loss::exactly(54));
    BOOST_TEST(losses_text(losses) == "54 lost: 54 ends");
    losses.add_same("keys", Loss::exactly(1));
    BOOST_TEST(losses_text(losses) == "55 lost: 54 ends; 1 key");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
