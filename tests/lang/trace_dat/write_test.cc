#define BOOST_TEST_DYN_LINK
#include "lang/trace_dat/write.h"

#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>

namespace gpufs::trace_dat {
namespace {

// A number as the file has it.
template <class Number>
std::string number(Number n) {
    const auto bytes = std::bit_cast<std::array<char, sizeof n>>(n);
    return {bytes.begin(), bytes.end()};
}

Head small_head() {
    Head head;
    head.page_bytes = 512;
    head.header_page = "page";
    head.header_event = "event!";
    head.ftrace_formats = {"kernel_stack"};
    head.systems = {{"sched", {"switch", "wakeup"}}, {"irq", {}}};
    head.kallsyms = "symbols";
    head.printk_formats = "texts";
    head.trace_clock = "local [mono]\n";
    head.uname = "Linux box";
    head.cpus = 2;
    head.names_room = 8;
    head.stats_room = 16;
    return head;
}

BOOST_AUTO_TEST_SUITE(trace_dat_head)

BOOST_AUTO_TEST_CASE(a_head_is_what_the_format_says_byte_for_byte) {
    using namespace std::string_literals;
    const bool is_big = std::endian::native == std::endian::big;
    const std::string stats =
        number<std::uint16_t>(2) + number<std::uint32_t>(16) + std::string(14, ' ') + "\n\0"s;
    const std::string before_names =
        "\x17\x08\x44tracing6\0"s + (is_big ? "\1"s : "\0"s) + static_cast<char>(sizeof(long)) +
        number<std::uint32_t>(512) + "header_page\0"s + number<std::uint64_t>(4) + "page" +
        "header_event\0"s + number<std::uint64_t>(6) + "event!" + number<std::uint32_t>(1) +
        number<std::uint64_t>(12) + "kernel_stack" + number<std::uint32_t>(2) + "sched\0"s +
        number<std::uint32_t>(2) + number<std::uint64_t>(6) + "switch" + number<std::uint64_t>(6) +
        "wakeup" + "irq\0"s + number<std::uint32_t>(0) + number<std::uint32_t>(7) + "symbols" +
        number<std::uint32_t>(5) + "texts" + number<std::uint64_t>(8);
    const std::string before_places =
        before_names + std::string(8, '\0') + number<std::uint32_t>(2) + "options  \0"s + stats +
        stats + number<std::uint16_t>(5) + number<std::uint32_t>(10) + "Linux box\0"s +
        number<std::uint16_t>(4) + number<std::uint32_t>(0) + number<std::uint16_t>(0) +
        "flyrecord\0"s;
    std::string whole =
        before_places + std::string(32, '\0') + number<std::uint64_t>(13) + "local [mono]\n";
    whole.resize((whole.size() + 511) / 512 * 512);

    const HeadBytes head = encode_head(small_head());
    BOOST_TEST(head.bytes == whole);
    BOOST_TEST(head.names_at == before_names.size());
    BOOST_TEST(head.stats_at(0) == before_names.size() + 8 + 4 + 10 + 6);
    BOOST_TEST(head.stats_at(1) == head.stats_at(0) + stats.size());
    BOOST_TEST(head.place_at(0) == before_places.size());
    BOOST_TEST(head.place_at(1) == before_places.size() + 16);
}

BOOST_AUTO_TEST_CASE(a_place_is_an_offset_and_a_size) {
    BOOST_TEST(encode_place({4096, 8192}) ==
               number<std::uint64_t>(4096) + number<std::uint64_t>(8192));
}

BOOST_AUTO_TEST_CASE(texts_about_cpus_keep_their_room_and_their_newline) {
    using namespace std::string_literals;
    BOOST_TEST(encode_statistics("CPU: 0\n", 10) == "CPU: 0  \n\0"s);
    BOOST_TEST(encode_statistics("CPU: 0\n", 8) == "CPU: 0\n\0"s);
    BOOST_TEST(encode_statistics("CPU: 0\nentries: 5\n", 8) == "CPU: 0\n\0"s);
    BOOST_TEST(encode_statistics("", 4) == "  \n\0"s);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::trace_dat
