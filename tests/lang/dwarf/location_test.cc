#define BOOST_TEST_DYN_LINK
#include "lang/dwarf/location.h"

#include <boost/test/unit_test.hpp>

#include "lang/dwarf/frame.h"

namespace gpufs {
namespace {

using Bytes = std::vector<int>;

std::string packed(const Bytes& bytes) {
    return {bytes.begin(), bytes.end()};
}

BOOST_AUTO_TEST_SUITE(lang_dwarf)

#if defined __x86_64__

// What an expression comes to, where the frame is at %sp+16.
VariablePlace place(const Bytes& expression) {
    static const DwarfInfo info{DwarfSections{}};
    static const DwarfUnit unit{.info = &info, .version = 5};
    const LocationContext context{0x1000, &unit, {}, [](std::uint64_t) {
                                      return FrameAddress{7, 16, {}};
                                  }};
    return evaluate_location(packed(expression), context);
}
std::string text(const Bytes& expression) {
    return place(expression).to_text();
}

BOOST_AUTO_TEST_CASE(an_expression_says_where_a_variable_is) {
    BOOST_TEST(text({0x55}) == "%di");
    BOOST_TEST(text({0x90, 17}) == "register 17");
    BOOST_TEST(text({0x76, 0x68}) == "[%bp-24]");
    BOOST_TEST(text({0x92, 3, 8}) == "[%bx+8]");
    BOOST_TEST(text({0x9c}) == "[%sp+16]");
    BOOST_TEST(text({0x03, 0x10, 0x20, 0, 0, 0, 0, 0, 0}) == "[0x2010]");
    BOOST_TEST(text({}) == "optimized out");
    // A pointer in memory, then what is 8 bytes behind where it points.
    BOOST_TEST(text({0x76, 0x68, 0x06, 0x23, 8}) == "[[%bp-24]+8]");
}

BOOST_AUTO_TEST_CASE(a_value_without_a_place_is_a_value_and_not_read_from_memory) {
    BOOST_TEST(text({0x70, 0, 0x31, 0x24, 0x9f}) == "= (%ax << 1)");
    BOOST_TEST(text({0x75, 4, 0x9f}) == "= %di+4");
    BOOST_TEST(text({0x38, 0x9f}) == "= 8");
    BOOST_TEST(text({0x09, 0xfe, 0x9f}) == "= -2");
    BOOST_TEST(text({0x9e, 2, 0x12, 0xab}) == "= bytes 12 ab");
    BOOST_TEST(text({0x35, 0x33, 0x1e, 0x32, 0x1c, 0x9f}) == "= 13");
    BOOST_TEST(text({0x11, 0x7b, 0x32, 0x1b, 0x9f}) == "= -2");  // -5 / 2
    BOOST_TEST(text({0x75, 4, 0x06, 0x9f}) == "= [%di+4]");
}

BOOST_AUTO_TEST_CASE(what_was_at_the_functions_begin_is_not_what_is_there_now) {
    const VariablePlace made = place({0xa3, 1, 0x55, 0x9f});
    BOOST_TEST(made.to_text() == "= (%di at the function's begin)");
    BOOST_TEST(made.number.is_of_begin());
    BOOST_TEST(text({0xf3, 1, 0x55, 0x23, 8, 0x9f}) == "= (%di at the function's begin)+8");
}

BOOST_AUTO_TEST_CASE(a_structure_may_be_in_several_places) {
    const VariablePlace made = place({0x55, 0x93, 8, 0x93, 4, 0x76, 0, 0x93, 4});
    BOOST_TEST_REQUIRE(made.pieces.size() == 3u);
    BOOST_TEST(made.to_text() == "in pieces: %di, optimized out, [%bp]");
    BOOST_TEST(made.pieces[0].bits == 64u);
}

// DW_OP_const1u 24 with DW_OP_GNU_push_tls_address, and with DW_OP_form_tls_address.
BOOST_AUTO_TEST_CASE(what_each_thread_has_of_its_own_is_in_its_block) {
    const auto in_block = [](const Bytes& expression, const ThreadBlockPlace& block) {
        static const DwarfInfo info{DwarfSections{}};
        static const DwarfUnit unit{.info = &info, .version = 5};
        const LocationContext context{0x1000, &unit, {}, {}, [&] { return block; }};
        return evaluate_location(packed(expression), context).to_text();
    };
    const ValueSteps thread{{ValueStep::Kind::thread}};
    BOOST_TEST(in_block({0x08, 24, 0xe0}, {thread, -64, {}}) == "[%fs-40]");
    BOOST_TEST(in_block({0x08, 24, 0x9b}, {thread, 0, {}}) == "[%fs+24]");
    BOOST_TEST(in_block({0x08, 24, 0xe0}, {{}, 0, "it has none"}) == "it has none");
    BOOST_TEST(in_block({0xe0}, {thread, 0, {}}) == "its description is damaged");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_evaluated_says_why) {
    BOOST_TEST(text({0x30, 0xe0}) == "each thread has its own (thread-local storage)");
    BOOST_TEST(text({0x1c}) == "its description is damaged");
    BOOST_TEST(text({0x08}) == "its description is damaged");
    BOOST_TEST(text({0x2f, 0xfd, 0xff}) == "its description is too long");
    BOOST_TEST(text({0x32, 0x30, 0x1b, 0x9f}) == "its description divides by 0");
    BOOST_TEST(text({0x91, 0}) == "the file does not say where the function's frame is");
    BOOST_TEST(text({0x02}) == "its description has an operation (0x2) that is not known here");
}

#endif

// A CIE ("zR", pointers of 4 bytes from where they stand) and an FDE for 0x1000 to 0x1020: the
// frame is at %sp+8, from 0x1001 on at %sp+16, from 0x1004 on at %bp+16, at 0x1010 at %sp+8 again.
std::string frames() {
    const Bytes common = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0};
    const Bytes instructions = {0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,
                                0x0a, 0x4c, 0x0c, 7,    8, 0x44, 0x0b, 0};
    std::string bytes = packed({20, 0, 0, 0, 0, 0, 0, 0}) + packed(common);
    const std::size_t begin = bytes.size();
    const int to_common = static_cast<int>(begin) + 4;
    bytes += packed({29, 0, 0, 0, to_common, 0, 0, 0});
    const int distance = 0x1000 - (0x800 + static_cast<int>(bytes.size()));
    bytes += packed({distance & 0xff, distance >> 8 & 0xff, 0, 0, 0x20, 0, 0, 0, 0});
    return bytes + packed(instructions) + packed({0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(a_frame_is_where_the_rules_up_to_the_address_say) {
    const std::string bytes = frames();
    const auto at = [&](std::uint64_t address) {
        const auto found = frame_address_at({bytes, 0x800, true, 8}, address);
        return found ? std::to_string(found->reg) + "+" + std::to_string(found->offset) : "none";
    };
    BOOST_TEST(at(0x0fff) == "none");
    BOOST_TEST(at(0x1000) == "7+8");
    BOOST_TEST(at(0x1001) == "7+16");
    BOOST_TEST(at(0x1003) == "7+16");
    BOOST_TEST(at(0x1004) == "6+16");
    BOOST_TEST(at(0x1010) == "7+8");
    BOOST_TEST(at(0x1014) == "6+16");  // remembered
    BOOST_TEST(at(0x101f) == "6+16");
    BOOST_TEST(at(0x1020) == "none");
    // A damaged section has no frames, whatever is cut off.
    for (std::size_t cut = 1; cut < bytes.size(); ++cut)
        frame_address_at({std::string_view(bytes).substr(0, cut), 0x800, true, 8}, 0x1004);
}

BOOST_AUTO_TEST_CASE(an_entry_of_frames_that_is_shorter_than_its_id_is_damage) {
    const std::string common =
        packed({13, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b});
    const int body = static_cast<int>(common.size()) + 4;
    for (const int length : {1, 2, 3}) {
        const std::string bytes = common + packed({length, 0, 0, 0, body, 0, 0, 0});
        BOOST_TEST(!frame_address_at({bytes, 0x1000, true}, 0x1000));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
