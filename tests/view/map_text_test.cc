#include "gpufs/view/map_text.h"

#include <sys/syscall.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "gpufs/lang/assembler.h"
#include "gpufs/view/value_text.h"

namespace gpufs {
namespace {

Program declared(const std::string& text) {
    return assemble({"test", text + "\n.prog p begin\n  r0 = 0\n  exit\n"});
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
    bytes.resize(std::max(bytes.size(), at + sizeof value));
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

BOOST_AUTO_TEST_SUITE(map_text_view)

BOOST_AUTO_TEST_CASE(values_are_shown_by_their_types) {
    const Program program =
        declared(".record r { comm str8, small s16, address ksym, raw bytes3 }");
    std::vector<std::byte> bytes(program.records[0].layout.bytes);
    const auto at = [&](const char* name) { return program.records[0].layout.find(name)->offset; };
    put(bytes, at("comm"), std::uint64_t{0x22615c});  // \a"
    put(bytes, at("small"), std::int16_t{-2});
    put(bytes, at("address"), std::uint64_t{0xffff8000});
    put(bytes, at("raw"), std::uint8_t{0xab});
    const Layout& layout = program.records[0].layout;
    BOOST_TEST(values_text(layout, bytes, "id") ==
               "comm=\"\\\\a\\\"\" small=-2 address=0xffff8000 raw=ab0000");
    BOOST_TEST(
        values_json(layout, bytes, "id") ==
        "{\"comm\":\"\\\\a\\\"\",\"small\":-2,\"address\":\"0xffff8000\",\"raw\":\"ab0000\"}");
    BOOST_TEST(values_text(layout, std::span(bytes).first(at("small")), "id") ==
               "comm=\"\\\\a\\\"\"");
}

BOOST_AUTO_TEST_CASE(numbers_are_shown_as_the_names_they_stand_for) {
    const Program program = declared(
        ".enum vec { 1 TIMER }\n"
        ".record r { pid pid, call syscall, error errno, back errno, sig signal, rt signal,\n"
        "            disk dev, v4 ip, v6 ip, soft u32 vec, other u32 vec }");
    const Layout& layout = program.records[0].layout;
    std::vector<std::byte> bytes(layout.bytes);
    const auto at = [&](const char* name) { return layout.find(name)->offset; };
    put(bytes, at("pid"), std::uint32_t{42});
    put(bytes, at("call"), std::int32_t{SYS_openat});
    put(bytes, at("error"), std::int32_t{2});
    put(bytes, at("back"), std::int32_t{-13});
    put(bytes, at("sig"), std::int32_t{9});
    put(bytes, at("rt"), std::int32_t{34});
    put(bytes, at("disk"), std::uint32_t{(4000u << 20) | 3});
    put(bytes, at("v4") + 10, std::uint16_t{0xffff});
    put(bytes, at("v4") + 12, std::uint32_t{0x0100007f});
    put(bytes, at("v6") + 15, std::uint8_t{1});
    put(bytes, at("soft"), std::uint32_t{1});
    put(bytes, at("other"), std::uint32_t{2});
    BOOST_TEST(values_text(layout, bytes, "id") ==
               "pid=42 call=openat error=ENOENT back=EACCES sig=SIGKILL rt=SIGRTMIN+2 disk=4000:3 "
               "v4=127.0.0.1 v6=::1 soft=TIMER other=2");
    BOOST_TEST(values_json(layout, bytes, "id") ==
               "{\"pid\":42,\"call\":\"openat\",\"error\":\"ENOENT\",\"back\":\"EACCES\","
               "\"sig\":\"SIGKILL\",\"rt\":\"SIGRTMIN+2\",\"disk\":\"4000:3\","
               "\"v4\":\"127.0.0.1\",\"v6\":\"::1\",\"soft\":\"TIMER\",\"other\":2}");
}

MapEntry entry_of(std::uint32_t key, std::vector<std::uint64_t> words) {
    MapEntry entry;
    put(entry.key, 0, key);
    entry.words = std::move(words);
    return entry;
}

BOOST_AUTO_TEST_CASE(aggregations_name_what_they_keep) {
    const Program program = declared(
        ".map c hash key u32, value count, max 8\n"
        ".map s hash key u32, value stats(s64), max 8\n"
        ".map l hash key u32, value linear(0, 20, 10), max 8\n"
        ".map g hash key u32, value log_linear(1), max 8");
    const auto text = [&](const char* map, std::vector<std::uint64_t> words) {
        return map_text(*program.find_map(map), std::vector{entry_of(7, std::move(words))});
    };
    BOOST_TEST(text("c", {12}) == "c:\n  7 count=12\n");
    BOOST_TEST(text("s", {2, ~std::uint64_t{0} - 9, ~std::uint64_t{0} - 10, 1}) ==
               "s:\n  7 count=2 avg=-5 sum=-10 min=-11 max=1\n");
    BOOST_TEST(text("l", {1, 2, 3, 4}) ==
               "l:\n  7\n(-inf, 0) 1\n[0, 10) 2\n[10, 20) 3\n[20, inf) 4\n");
    // One bit below the highest: 0, 1, 2, 3, then 4 to 5, 6 to 7, 8 to 11, …
    BOOST_TEST(text("g", {1, 0, 0, 2, 0, 3, 4}) ==
               "g:\n  7\n[0, 1) 1\n[3, 4) 2\n[6, 8) 3\n[8, 12) 4\n");
    BOOST_TEST(map_text(*program.find_map("c"), {}) == "");
    BOOST_TEST(map_json(*program.find_map("c"), std::vector{entry_of(7, {12})}) ==
               "{\"map\":\"c\",\"entries\":[{\"key\":{\"key\":7},\"count\":12}]}");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
