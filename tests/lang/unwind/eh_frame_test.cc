#define BOOST_TEST_DYN_LINK
#include "lang/unwind/eh_frame.h"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "lang/unwind/table.h"

namespace gpufs {
namespace {

using Kind = UnwindRule::Kind;
using Saved = UnwindRule::Saved;

template <class T>
std::string bytes_of(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

constexpr std::uint64_t kAddress = 0x100000;

// Call frame information under construction, as linkers lay it out.
class Frames {
public:
    // What the functions behind it have in common: CFA = rsp + 8, the return address below it.
    void common(const std::string& augmentation = "zR") {
        begin(augmentation, "\x01\x78\x10", std::string("\x0c\x07\x08\x90\x01", 5));
    }
    // The same of arm64: CFA = sp, the return address in x30, addresses in words of 4 bytes.
    void common_of_arm64(const std::string& augmentation = "zR") {
        begin(augmentation, "\x04\x78\x1e", std::string("\x0c\x1f\x00", 3));
    }
    void function(std::uint64_t begin, std::uint32_t size, const std::string& code) {
        const std::size_t field = bytes_.size() + 4;
        std::string body = bytes_of(static_cast<std::uint32_t>(field - common_at_));
        body += bytes_of(static_cast<std::int32_t>(begin - (kAddress + field + 4)));
        body += bytes_of(size) + '\0' + code;
        append(body);
    }
    void begin(const std::string& augmentation, const std::string& numbers,
               const std::string& code) {
        common_at_ = bytes_.size();
        constexpr const char* kRelative = "\x01\x1b";  // a byte: pc-relative, signed, 4 bytes
        append(bytes_of<std::uint32_t>(0) + '\1' + augmentation + '\0' + numbers + kRelative +
               code);
    }
    void append(const std::string& body) {
        bytes_ += bytes_of(static_cast<std::uint32_t>(body.size())) + body;
    }
    std::string& bytes() { return bytes_; }

private:
    std::string bytes_;
    std::size_t common_at_ = 0;
};

std::string to_text(const UnwindRule& rule) {
    const auto saved = [](Saved how, int offset) {
        return how == Saved::in_register ? std::string("same")
               : how == Saved::at_cfa    ? cat("cfa", offset)
                                         : cat("base", offset);
    };
    switch (rule.kind) {
        case Kind::none:
            return "none";
        case Kind::signal:
            return "signal";
        case Kind::outermost:
            return "outermost";
        case Kind::unknown:
            return "unknown";
        case Kind::plain:
        case Kind::indirect:
        case Kind::plt:
            break;
    }
    const std::string base = cat('r', int{rule.base}, '+', rule.offset);
    const std::string cfa = rule.kind == Kind::plain      ? base
                            : rule.kind == Kind::indirect ? cat("*(", base, ")+", rule.extra)
                                                          : cat(base, " plt ", rule.extra);
    return cat(cfa, " frame ", saved(rule.frame, 8 * rule.frame_words), " other ",
               saved(rule.other, 8 * rule.other_words));
}

std::vector<std::string> rules_of(EhFrame& frames) {
    std::vector<std::string> lines;
    frames.for_each([&](std::uint64_t address, const UnwindRule& rule) {
        char at[32];
        std::snprintf(at, sizeof at, "%llx ", static_cast<unsigned long long>(address));
        lines.push_back(at + to_text(rule));
    });
    return lines;
}
std::vector<std::string> rules_of(Frames& made, const UnwindMachine& machine = kUnwindX86) {
    EhFrame frames(made.bytes(), kAddress, machine);
    return rules_of(frames);
}

using Lines = std::vector<std::string>;
void check(const Lines& is, const Lines& should) {
    BOOST_CHECK_EQUAL_COLLECTIONS(is.begin(), is.end(), should.begin(), should.end());
}

// push rbp; push rbx; sub 24: rows at each; then all back and a return.
const std::string kPushes = std::string(
    "\x41\x0e\x10\x86\x02"  // 1 byte on: CFA = rsp + 16, rbp at CFA - 16
    "\x41\x0e\x18\x83\x03"  // rbx at CFA - 24
    "\x44\x0e\x30"          // 4 bytes on
    "\x0a"                  // remember
    "\x4a\x0e\x08\xc3\xc6"  // 10 bytes on: CFA = rsp + 8, both restored
    "\x41\x0b",             // 1 byte on: as remembered
    21);

}  // namespace

BOOST_AUTO_TEST_SUITE(eh_frame)

BOOST_AUTO_TEST_CASE(a_function_has_a_rule_from_each_address_where_it_changes) {
    Frames made;
    made.common();
    made.function(0x1000, 0x40, kPushes);
    check(rules_of(made),
          {"1000 r7+8 frame same other same", "1001 r7+16 frame cfa-16 other same",
           "1002 r7+24 frame cfa-16 other cfa-24", "1006 r7+48 frame cfa-16 other cfa-24",
           "1010 r7+8 frame same other same", "1011 r7+48 frame cfa-16 other cfa-24", "1040 none"});
}

BOOST_AUTO_TEST_CASE(functions_are_sorted_and_what_is_between_them_has_no_rule_but_padding_has) {
    Frames made;
    made.common();
    made.function(0x2000, 0x10, "");
    made.function(0x1000, 0x11, "\x0e\x20");
    made.function(0x1020, 0x08, "");
    made.function(0x102c, 0x04, "\x0e\x20");  // not aligned: there is a function in front of it
    check(rules_of(made), {"1000 r7+32 frame same other same", "1020 r7+8 frame same other same",
                           "1028 none", "102c r7+32 frame same other same", "1030 none",
                           "2000 r7+8 frame same other same", "2010 none"});
}

BOOST_AUTO_TEST_CASE(the_frames_of_signals_and_of_the_outermost_function_are_known) {
    Frames made;
    made.common("zRS");
    made.function(0x1000, 0x10, "");
    made.common();
    made.function(0x2000, 0x10, "\x07\x10");  // the return address is undefined
    check(rules_of(made), {"1000 signal", "1010 none", "2000 outermost", "2010 none"});
}

BOOST_AUTO_TEST_CASE(expressions_of_plt_stubs_and_of_aligned_stacks_are_known_and_others_are_not) {
    Frames made;
    made.common();
    made.function(0x1000, 0x10,
                  std::string("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 13));
    made.function(0x2000, 0x10, std::string("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00", 10));
    made.function(0x3000, 0x10, "\x0f\x02\x77\x08");
    made.function(0x4000, 0x10, "\x0f\x03\x77\x08\x1f");
    check(rules_of(made),
          {"1000 r7+8 plt 11 frame same other same", "1010 none",
           "2000 *(r6+-8)+0 frame base0 other same", "2010 none", "3000 r7+8 frame same other same",
           "3010 none", "4000 unknown", "4010 none"});
}

BOOST_AUTO_TEST_CASE(a_function_whose_return_address_is_elsewhere_has_no_known_rule) {
    Frames made;
    made.common();
    made.function(0x1000, 0x10, std::string("\x09\x10\x05", 3));  // in a register
    check(rules_of(made), {"1000 unknown", "1010 none"});
}

// stp x29, x30, [sp, -32]!; mov x29, sp, with a signed return address; then all back.
BOOST_AUTO_TEST_CASE(functions_of_arm64_save_the_return_address_or_keep_it_in_its_register) {
    Frames made;
    made.common_of_arm64("zRB");
    made.function(0x1000, 0x40,
                  std::string("\x41\x2d"                      // 4 bytes on: it is signed
                              "\x41\x0e\x20\x9d\x04\x9e\x03"  // CFA = sp + 32, x29, x30 saved
                              "\x41\x0d\x1d"                  // CFA = x29 + 32
                              "\x4a\x0c\x1f\x00\xdd\xde"      // 40 bytes on
                              "\x41\x2d",
                              20));
    made.function(0x2000, 0x10, "\x07\x1e");  // the return address is undefined
    made.function(0x3000, 0x10, std::string("\x0e\x80\x80\x0c\x9d\x80\x80\x01\x9e\xff\x7f", 11));
    made.function(0x4000, 0x10, "\x0e\x20\x9e\x81\x80\x02");  // further than rules reach
    made.function(0x5000, 0x10, "\x09\x1e\x05");              // it is in x5
    check(rules_of(made, kUnwindArm64),
          {"1000 r31+0 frame same other same", "1008 r31+32 frame cfa-32 other cfa-24",
           "100c r29+32 frame cfa-32 other cfa-24", "1034 r31+0 frame same other same", "1040 none",
           "2000 outermost", "2010 none", "3000 r31+196608 frame cfa-131072 other cfa-131064",
           "3010 none", "4000 unknown", "4010 none", "5000 unknown", "5010 none"});
    // What is signed is told by the number that x86-64's compilers have no use for.
    Frames other;
    other.common();
    other.function(0x1000, 0x10, "\x41\x2d");
    check(rules_of(other), {"1000 r7+8 frame same other same", "1001 unknown", "1010 none"});
}

BOOST_AUTO_TEST_CASE(what_is_damaged_is_left_out_and_counted) {
    Frames made;
    made.common();
    made.function(0x1000, 0x10, "\x41\x3f");  // no instruction has this number
    made.function(0x2000, 0x10, "");
    made.append(bytes_of<std::uint32_t>(0x7000) + "behind nothing");
    made.bytes() += bytes_of<std::uint32_t>(1000) + "cut";
    EhFrame frames(made.bytes(), kAddress, kUnwindX86);
    check(rules_of(frames), {"1000 r7+8 frame same other same", "1001 unknown", "1010 none",
                             "2000 r7+8 frame same other same", "2010 none"});
    BOOST_CHECK_EQUAL(frames.functions(), 2u);
    BOOST_CHECK_EQUAL(frames.damaged(), 3u);
}

BOOST_AUTO_TEST_CASE(every_page_of_a_table_begins_with_the_rule_that_holds_there) {
    Frames made;
    made.common();
    made.function(0x1ff0, 0x2020, "\x0e\x20");
    made.function(0x5000, 0x10, "");
    EhFrame frames(made.bytes(), kAddress, kUnwindX86);
    UnwindRules rules;
    const UnwindTable table = make_unwind_table(frames, rules);
    BOOST_CHECK_EQUAL(table.first_page, 1u);
    BOOST_CHECK_EQUAL(rules.all().size(), 3u);
    const auto row = [](std::uint32_t rule, std::uint32_t at) { return rule << 12 | at; };
    const std::vector<std::uint32_t> should{row(0, 0), row(1, 0xff0), row(1, 0), row(1, 0),
                                            row(1, 0), row(0, 0x10),  row(2, 0), row(0, 0x10)};
    BOOST_CHECK_EQUAL_COLLECTIONS(table.rows.begin(), table.rows.end(), should.begin(),
                                  should.end());
    BOOST_CHECK_EQUAL(table.pages(), 5u);
    BOOST_CHECK_EQUAL(table.refused, 0u);
}

BOOST_AUTO_TEST_CASE(pages_of_more_code_than_there_is_room_for_are_refused) {
    Frames made;
    made.common();
    made.function(0x1000, 0x10, "");
    made.function(0x80000000, 0x10, "");
    EhFrame frames(made.bytes(), kAddress, kUnwindX86);
    UnwindRules rules;
    BOOST_CHECK_EQUAL(make_unwind_table(frames, rules).refused, 0u);
    Frames far;
    far.common();
    far.function(0x1000, 0x10, "");
    far.function(kAddress + 0x7fff0000, 0x10, "");
    EhFrame far_frames(far.bytes(), kAddress, kUnwindX86);
    BOOST_CHECK_EQUAL(make_unwind_table(far_frames, rules).refused, 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
