#define BOOST_TEST_DYN_LINK
#include "lang/dwarf/lines.h"

#include <boost/test/unit_test.hpp>
#include <cstring>

namespace gpufs {

namespace {

template <class T>
std::string bytes_of(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::string text(std::string_view t) {
    return std::string(t) + '\0';
}

std::string set_address(std::uint64_t address) {
    return std::string("\0\x09\x02", 3) + bytes_of(address);
}

const std::string kEndSequence("\0\x01\x01", 3);
const std::string kCopy("\x01");

// Two lines of a.c at 0x1000 (4 bytes each), then line 7 of b.h, 16 bytes, then code of no line.
std::string program() {
    return set_address(0x1000) + "\x03\x09" + kCopy +  // line 10
           "\x4b" +      // special: 75 - 13 = 62 = 4 * 14 + 6: 4 bytes and 3 lines on
           "\x04\x02" +  // the next file
           "\x02\x04" +  // 4 bytes on
           "\x03\x7a" +  // line 7
           kCopy + "\x02\x10" + std::string("\x03\x79", 2) + kCopy +  // 16 bytes on, line 0
           "\x09" + bytes_of<std::uint16_t>(8) + kEndSequence;
}

// A unit of these tables and this program.
std::string unit(std::uint16_t version, const std::string& tables, const std::string& code,
                 bool is_long = false) {
    std::string head("\x01", 1);                 // smallest instruction
    if (version >= 4) head += '\x01';            // operations an instruction
    head += std::string("\x01\xfd\x0e\x0d", 4);  // is_stmt, lines from -3, 14 of them, opcodes
    head += std::string("\0\1\1\1\1\0\0\0\1\0\0\1", 12);
    head += tables;
    std::string body = bytes_of(version);
    if (version >= 5) body += std::string("\x08\0", 2);
    body += is_long ? bytes_of<std::uint64_t>(head.size())
                    : bytes_of(static_cast<std::uint32_t>(head.size()));
    body += head + code;
    return is_long ? bytes_of(~std::uint32_t{0}) + bytes_of<std::uint64_t>(body.size()) + body
                   : bytes_of(static_cast<std::uint32_t>(body.size())) + body;
}

std::string old_tables() {
    return text("include") + text("") + text("a.c") + std::string(3, '\0') + text("../x/b.h") +
           std::string("\1\0\0", 3) + text("");
}

// Directories, then files: 0 and 1 are the same one.
std::string new_tables() {
    std::string files("\x02\x01\x1f\x02\x0b\x03", 6);  // path: line_strp, directory: data1; 3 files
    for (const std::uint32_t at : {5u, 5u, 9u}) files += bytes_of(at) + '\0';
    return std::string("\x01\x01\x08\x01", 4) + text("/src") + files;
}

const LineTexts kLineTexts{[](std::uint64_t at) { return at == 5 ? "/src/a.c" : "b.h"; }, {}};

std::string at(const std::string& from, std::uint64_t address) {
    const auto line = find_source_line(from, kLineTexts, address);
    return line ? line->file + ':' + std::to_string(line->line) : "none";
}

void check_lines(const std::string& from) {
    BOOST_TEST(line_unit_bytes(from) == from.size());
    BOOST_TEST((line_unit_spans(from) == std::vector<CodeSpan>{{0x1000, 0x1020}}));
    BOOST_TEST(at(from, 0xfff) == "none");
    BOOST_TEST(at(from, 0x1000) == "a.c:10");
    BOOST_TEST(at(from, 0x1003) == "a.c:10");
    BOOST_TEST(at(from, 0x1004) == "a.c:13");
    BOOST_TEST(at(from, 0x1008) == "b.h:7");
    BOOST_TEST(at(from, 0x1017) == "b.h:7");
    BOOST_TEST(at(from, 0x1018) == "none");
    BOOST_TEST(at(from, 0x1020) == "none");
}

BOOST_AUTO_TEST_SUITE(line_programs)

BOOST_AUTO_TEST_CASE(an_address_has_the_line_of_the_row_in_front_of_it) {
    check_lines(unit(2, old_tables(), program()));
    check_lines(unit(3, old_tables(), program()));
    check_lines(unit(4, old_tables(), program()));
    check_lines(unit(4, old_tables(), program(), true));
    check_lines(unit(5, new_tables(), program()));
}

BOOST_AUTO_TEST_CASE(code_that_the_linker_left_out_has_no_span) {
    const std::string rows = kCopy + "\x02\x10" + kEndSequence;
    const std::string from =
        unit(4, old_tables(),
             set_address(0) + rows + set_address(0x2000) + rows +
                 set_address(~std::uint64_t{0} - 1) + rows + set_address(0x3000) + rows);
    BOOST_TEST(
        (line_unit_spans(from) == std::vector<CodeSpan>{{0x2000, 0x2010}, {0x3000, 0x3010}}));
}

BOOST_AUTO_TEST_CASE(damaged_units_have_no_lines) {
    const std::string whole = unit(5, new_tables(), program());
    for (std::size_t n = 0; n < whole.size(); ++n) {
        BOOST_TEST(line_unit_spans(whole.substr(0, n)).empty());
        BOOST_TEST(at(whole.substr(0, n), 0x1004) == "none");
    }
    BOOST_TEST(line_unit_bytes("") == 0u);
    BOOST_TEST(line_unit_bytes(std::string(12, '\0')) == 0u);
    BOOST_TEST(line_unit_spans(unit(6, new_tables(), program())).empty());
    // A file that is not in the table.
    BOOST_TEST(at(unit(4, text("") + text(""), program()), 0x1000) == "none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
