#include "lang/print_fmt/format.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "support/ring_pages.h"

namespace gpufs {
namespace {

using test::bytes_of;

// The fields that the formats below print, and a record of them.
constexpr std::string_view kHead =
    "name: sample\n"
    "ID: 7\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:u8 u8;\toffset:8;\tsize:1;\tsigned:0;\n"
    "\tfield:s8 s8;\toffset:9;\tsize:1;\tsigned:1;\n"
    "\tfield:u16 u16;\toffset:10;\tsize:2;\tsigned:0;\n"
    "\tfield:int i;\toffset:12;\tsize:4;\tsigned:1;\n"
    "\tfield:unsigned int u;\toffset:16;\tsize:4;\tsigned:0;\n"
    "\tfield:bool yes;\toffset:20;\tsize:1;\tsigned:0;\n"
    "\tfield:char letter;\toffset:21;\tsize:1;\tsigned:0;\n"
    "\tfield:long l;\toffset:24;\tsize:8;\tsigned:1;\n"
    "\tfield:u64 ul;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:void * ptr;\toffset:40;\tsize:8;\tsigned:0;\n"
    "\tfield:const char * str;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\tfield:char comm[16];\toffset:56;\tsize:16;\tsigned:0;\n"
    "\tfield:u8 mac[6];\toffset:72;\tsize:6;\tsigned:0;\n"
    "\tfield:__u8 addr4[4];\toffset:80;\tsize:4;\tsigned:0;\n"
    "\tfield:__u8 addr6[16];\toffset:84;\tsize:16;\tsigned:0;\n"
    "\tfield:int rect[4];\toffset:100;\tsize:16;\tsigned:1;\n"
    "\tfield:u16 words[3];\toffset:116;\tsize:6;\tsigned:0;\n"
    "\tfield:unsigned long mask[2];\toffset:128;\tsize:16;\tsigned:0;\n"
    "\tfield:__u8 sock[28];\toffset:144;\tsize:28;\tsigned:0;\n"
    "\tfield:__data_loc char[] name;\toffset:172;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc u64[] list;\toffset:176;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] rel;\toffset:180;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc u8[] raw;\toffset:184;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc cpumask_t cpus;\toffset:188;\tsize:4;\tsigned:0;\n"
    "\n"
    "print fmt: ";

std::string sample_record() {
    std::string r(192, '\0');
    const auto put = [&](std::size_t at, const std::string& bytes) {
        r.replace(at, bytes.size(), bytes);
    };
    const auto put_behind = [&](std::size_t at, const std::string& bytes, std::size_t from = 0) {
        put(at, bytes_of(static_cast<std::uint32_t>(bytes.size() << 16 | (r.size() - from))));
        r += bytes;
    };
    put(0, bytes_of(std::uint16_t{7}));
    put(4, bytes_of(std::int32_t{4321}));
    put(8, bytes_of(std::uint8_t{200}));
    put(9, bytes_of(std::int8_t{-3}));
    put(10, bytes_of(std::uint16_t{0xbeef}));
    put(12, bytes_of(std::int32_t{-42}));
    put(16, bytes_of(std::uint32_t{0x80000001}));
    put(20, bytes_of(std::uint8_t{1}));
    put(21, "Q");
    put(24, bytes_of(std::int64_t{-5'000'000'000}));
    put(32, bytes_of(std::uint64_t{0xfedcba9876543210}));
    put(40, bytes_of(std::uint64_t{0xffff888012345678}));
    put(48, bytes_of(std::uint64_t{0xffffffff82000010}));
    put(56, "kworker/0:1");
    put(72, "\x02\x42\xac\x11\x0a\xff");
    put(80, "\x7f" + std::string(2, '\0') + "\x01");
    put(84, "\x20\x01\x0d\xb8" + std::string(11, '\0') + "\x01");
    for (std::size_t i = 0; i < 4; ++i)
        put(100 + 4 * i, bytes_of(std::int32_t{static_cast<int>(i) * 100 - 50}));
    put(116, bytes_of(std::uint16_t{1}) + bytes_of(std::uint16_t{0x20}) +
                 bytes_of(std::uint16_t{0xffff}));
    put(128, bytes_of(std::uint64_t{0x8000000f}) + bytes_of(std::uint64_t{1}));
    put(144, bytes_of(std::uint16_t{2}) + "\x1f\x90" + "\x0a" + std::string(2, '\0') + "\x01");
    put_behind(172, std::string("mock_gpu\0", 9));
    r.resize((r.size() + 7) / 8 * 8);
    put_behind(176, bytes_of(std::uint64_t{1}) + bytes_of(std::uint64_t{0xabcdef0123}));
    put_behind(180, std::string("relative\0", 9), 184);
    put_behind(184, "\x01\x02\xfe");
    put_behind(188, bytes_of(std::uint64_t{0x5}));
    return r;
}

const AddressNames kNames{[](std::uint64_t address) -> std::optional<Symbol> {
                              if (address >> 32 == 0xffff8880)
                                  return Symbol{"handler", "mock_gpu", 0x12, 0x40};
                              return std::nullopt;
                          },
                          [](std::uint64_t address) -> std::optional<std::string_view> {
                              if (address == 0xffffffff82000010) return "constant";
                              return std::nullopt;
                          },
                          {}};

std::string print(std::string_view print_fmt, const std::string& record = sample_record()) {
    const EventFormat event = parse_event_format("test", cat(kHead, print_fmt, "\n"));
    const PrintFormat format(event);
    std::string out;
    format.print(test::as_record(record), kNames, out);
    return !format.why().empty() ? cat("FALLS BACK: ", format.why()) : out;
}

BOOST_AUTO_TEST_SUITE(print_format)

struct Case {
    std::string_view print_fmt, text;
};

void check(std::span<const Case> cases) {
    for (const Case& c : cases) BOOST_TEST(print(c.print_fmt) == c.text, c.print_fmt);
}

BOOST_AUTO_TEST_CASE(numbers_print_as_the_kernels_printf_does) {
    const Case cases[] = {
        {R"("%d %i", REC->i, REC->s8)", "-42 -3"},
        {R"("%u %u", REC->u, REC->u8)", "2147483649 200"},
        {R"("%d", REC->u)", "-2147483647"},
        {R"("%u", REC->i)", "4294967254"},
        {R"("%ld %lld", REC->l, REC->l)", "-5000000000 -5000000000"},
        {R"("%lu %zu %Lu", REC->ul, REC->ul, REC->ul)",
         "18364758544493064720 18364758544493064720 18364758544493064720"},
        {R"("%x %X %lx", REC->u16, REC->u16, REC->ul)", "beef BEEF fedcba9876543210"},
        {R"("%#x %#X %#lx", REC->u16, REC->u16, REC->l & 0)", "0xbeef 0XBEEF 0x0"},
        {R"("%08lx %016llx", REC->u16, REC->u16)", "0000beef 000000000000beef"},
        {R"("%#010x|%#08x", REC->u8, REC->u8)", "0x000000c8|0x0000c8"},
        {R"("%#o %o %#o", REC->u8, REC->u8, 0)", "0310 310 0"},
        {R"("%5d|%-5d|%05d|%+d|% d", REC->s8, REC->s8, REC->s8, REC->u8, REC->u8)",
         "   -3|-3   |-0003|+200| 200"},
        {R"("%.4d|%6.3u|%-6.3u|", REC->s8, REC->u8 & 7, REC->u8 & 7)", "-0003|   000|000   |"},
        {R"("%hu %hhu %hd %hhd", REC->i, REC->i, REC->u16, REC->u16)", "65494 214 -16657 -17"},
        {R"("%*d|%-*d|", 6, REC->i, 6, REC->i)", "   -42|-42   |"},
        {R"("%c%c 100%%", REC->letter, 'A' + 1)", "QB 100%"},
        {R"("%d %d", REC->yes, !REC->yes)", "1 0"},
        {R"("%03u", REC->u8)", "200"},
    };
    check(cases);
}

BOOST_AUTO_TEST_CASE(text_prints_up_to_its_end) {
    const Case cases[] = {
        {R"("%s", REC->comm)", "kworker/0:1"},
        {R"("[%15s] [%-15s]", REC->comm, REC->comm)", "[    kworker/0:1] [kworker/0:1    ]"},
        {R"("%.3s %.*s", REC->comm, 7, REC->comm)", "kwo kworker"},
        {R"("%s %s", __get_str(name), __get_rel_str(rel))", "mock_gpu relative"},
        {R"("%.*s", __get_dynamic_array_len(name) - 5, __get_str(name))", "mock"},
        {R"("%s", (char *)__get_dynamic_array(name))", "mock_gpu"},
        {R"("%s", (char *)((void *)REC + (REC->__data_loc_name & 0xffff)))", "mock_gpu"},
        {R"("%s", REC->str)", "constant"},
        {R"("%s", REC->ptr)", "0xffff888012345678"},
        {R"("%s", (char *)NULL)", "(null)"},
        {R"("%s%s", "a" "b", REC->yes ? " CONSTANT" : "")", "ab CONSTANT"},
        {R"("%s", REC->u8 > 200 ? __get_str(name) : "none")", "none"},
        {R"("%s", __get_str(name)[0] ? __get_str(name) : "none")", "mock_gpu"},
        {R"("%s", REC->s8 < 0 ? REC->comm : REC->str)", "kworker/0:1"},
    };
    check(cases);
}

BOOST_AUTO_TEST_CASE(expressions_follow_c) {
    const Case cases[] = {
        {R"("%d", 2 + 3 * 4 - 6 / 2)", "11"},
        {R"("%d", (2 + 3) * 4 % 7)", "6"},
        {R"("%d %d", -7 / 2, -7 % 2)", "-3 -1"},
        {R"("%u", (unsigned int)-1 / 2)", "2147483647"},
        {R"("%d", REC->i < 0u)", "0"},  // -42 becomes unsigned
        {R"("%d", REC->i < 0)", "1"},
        {R"("%d", REC->s8 < REC->u8)", "1"},  // both become int
        {R"("%d", REC->l < REC->u)", "1"},    // long holds every unsigned int
        {R"("%u", REC->u >> 31 | REC->u8 << 4)", "3201"},
        {R"("%lld", REC->l >> 32)", "-2"},
        {R"("%x", (u8)REC->u16)", "ef"},
        {R"("%d", (s8)REC->u16)", "-17"},
        {R"("%llx", (u64)(u32)REC->i)", "ffffffd6"},
        {R"("%llx", (unsigned long long)REC->i)", "ffffffffffffffd6"},
        {R"("%d", (bool)REC->u16)", "1"},
        {R"("%x", ~REC->u8 & 0xff)", "37"},
        {R"("%d %d %d", !5, !!5, ~0)", "0 1 -1"},
        {R"("%d %d", 1 && 0 || 1, 1 && (0 || 0))", "1 0"},
        {R"("%d", 1 ? 0 ? 2 : 3 : 4)", "3"},
        {R"("%d", 5 & 6 == 6)", "1"},
        {R"("%d", 1 << 2 + 1)", "8"},
        {R"("%lu", (1UL << 40) - 1)", "1099511627775"},
        {R"("%d,%d", ((unsigned int) ((REC->u) >> 20)), ((unsigned int) ((REC->u) & ((1U << 20) - 1))))",
         "2048,1"},
        {R"("%zu %zu %zu", sizeof(u64), sizeof(REC->comm), sizeof(unsigned int))", "8 16 4"},
        {R"("%d %d", 010, 0x10)", "8 16"},
        {R"("%d", 7 / (REC->u8 - 200))", "0"},  // the kernel would not get this far
        {R"("%d", REC->words[1] + REC->words[2])", "65567"},
        {R"("%d", *(u16 *)REC->words)", "1"},
        {R"("%llx", ((u64 *)__get_dynamic_array(list))[1])", "abcdef0123"},
        {R"("%u", ((u8 *)&REC->u16)[1])", "190"},
        {R"("%d", ({ int a = (REC->u8); int b = (128); ((a) < (b) ? (a) : (b)); }))", "128"},
        {R"("%d", __builtin_expect(!!(REC->u8), 0))", "1"},
        {R"("%llu.%09u", __print_ns_to_secs(REC->ul), __print_ns_without_secs(REC->ul))",
         "18364758544.493064720"},
        {R"("%s %s", str_yes_no(REC->yes), str_on_off(!REC->yes))", "yes off"},
        {R"("%dx%d%+d", drm_rect_width((const struct drm_rect *)REC->rect), drm_rect_height((const struct drm_rect *)REC->rect), ((const struct drm_rect *)REC->rect)->y1)",
         "200x200+50"},
    };
    check(cases);
}

BOOST_AUTO_TEST_CASE(values_print_by_name) {
    const Case cases[] = {
        {R"("%s", __print_symbolic(REC->u8, { 1, "one" }, { 200, "two hundred" }))", "two hundred"},
        {R"("%s", __print_symbolic(REC->u8, { 1, "one" }))", "0xc8"},
        {R"("%s", __print_symbolic(REC->s8, { -3, "minus three" }))", "minus three"},
        {R"("%s", __print_symbolic(REC->u8, { 1, ((void *)0) }, { 200, "unseen" }))", "0xc8"},
        {R"("%s", __print_symbolic(REC->u8, { SOME_ENUM, "?" }, { 200, "known" }))", "known"},
        {R"("%s", __print_symbolic(REC->u8, { }))", "0xc8"},
        {R"("%s", __print_flags(REC->u8, "|", { 0x40, "A" }, { 0x80, "B" }))", "A|B|0x8"},
        {R"("%s", __print_flags(REC->u8, "", { 0x40 | 0x80, "AB" }, { 0x8, "C" }))", "ABC"},
        {R"("%s|", __print_flags(REC->u8 & 0, "|", { 1, "A" }))", "|"},
        {R"("%s", __print_flags(REC->u8 & 4, "|", { 1, "A" }) )", ""},
        {R"("%10s|", __print_symbolic(1, { 1, "one" }))", "       one|"},
        {R"("%s", __print_symbolic(REC->u8 - 200, { PIPE_A, "A" }))", "A"},
    };
    check(cases);
}

BOOST_AUTO_TEST_CASE(bytes_of_the_record_print_as_what_they_are) {
    const Case cases[] = {
        {R"("%pM %pm %pMF %pMR", REC->mac, REC->mac, REC->mac, REC->mac)",
         "02:42:ac:11:0a:ff 0242ac110aff 02-42-ac-11-0a-ff ff:0a:11:ac:42:02"},
        {R"("%pI4 %pi4", REC->addr4, REC->addr4)", "127.0.0.1 127.000.000.001"},
        {R"("%pI6c %pI6", REC->addr6, REC->addr6)",
         "2001:db8::1 2001:0db8:0000:0000:0000:0000:0000:0001"},
        {R"("%pi6", REC->addr6)", "20010db8000000000000000000000001"},
        {R"("%pISpc %pIS", REC->sock, REC->sock)", "10.0.0.1:8080 10.0.0.1"},
        {R"("%pIS", REC->mac)", "(einval)"},
        {R"("%pU", REC->addr6)", "20010db8-0000-0000-0000-000000000001"},
        {R"("%pUL", REC->addr6)", "B80D0120-0000-0000-0000-000000000001"},
        {R"("%*ph|%*phC|%*phD|%*phN", 3, REC->mac, 3, REC->mac, 3, REC->mac, 3, REC->mac)",
         "02 42 ac|02:42:ac|02-42-ac|0242ac"},
        {R"("%ph|%*ph|%*ph", REC->mac, 0, REC->mac, REC->s8 + 3, REC->mac)", "02||"},
        {R"("%*pbl %*pb", 128, REC->mask, 36, REC->mask)", "0-3,31,64 0,8000000f"},
        {R"("%s", __get_cpumask(cpus))", "00000000,00000005"},
        {R"("%s|%s", __print_hex(REC->mac, 3), __print_hex_str(REC->mac, 3))", "02 42 ac|0242ac"},
        {R"("%s", __print_hex(__get_dynamic_array(raw), __get_dynamic_array_len(raw)))",
         "01 02 fe"},
        {R"("%s", __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / sizeof(u64), sizeof(u64)))",
         "{0x1,0xabcdef0123}"},
        {R"("%s|%s", __print_dynamic_array(list, 8), __print_dynamic_array(raw, 1))",
         "{0x1,0xabcdef0123}|{0x1,0x2,0xfe}"},
        {R"("%s", __print_array(REC->words, 3, sizeof(REC->words[0])))", "{0x1,0x20,0xffff}"},
        {R"("%pa", &REC->ul)", "0xfedcba9876543210"},
    };
    check(cases);
}

BOOST_AUTO_TEST_CASE(addresses_print_as_numbers_and_names) {
    const Case cases[] = {
        {R"("%p %px", REC->ptr, REC->ptr)", "ffff888012345678 ffff888012345678"},
        {R"("%p", (void *)0)", "0000000000000000"},
        {R"("%pS", (void *)REC->ptr)", "handler+0x12/0x40 [mock_gpu]"},
        {R"("%ps|%pF", REC->ptr, REC->ptr)", "handler [mock_gpu]|handler+0x12/0x40 [mock_gpu]"},
        {R"("%pS", (void *)REC->ul)", "0xfedcba9876543210"},
        {R"("%pI4", REC->ptr)", "ffff888012345678"},  // not in the record
    };
    check(cases);
}

BOOST_AUTO_TEST_CASE(the_format_may_hold_quotes_tabs_and_pieces) {
    const Case cases[] = {
        {R"("plain text")", "plain text"},
        {R"("a\tb\n")", "a\tb\n"},
        {R"("one " "two=%d" " three", REC->i)", "one two=-42 three"},
        // The kernel does not escape a quote in the format of a TRACE_EVENT.
        {R"("name="%s", n=%d", REC->comm, REC->i)", R"(name="kworker/0:1", n=-42)"},
        {R"("name=\"%s\"", __get_str(name))", R"(name="mock_gpu")"},
        {R"("%s", __print_symbolic(1, { 1, "\"q\"" }))", R"("q")"},
    };
    check(cases);
}

BOOST_AUTO_TEST_CASE(a_value_only_the_kernel_knows_is_a_question_mark) {
    BOOST_TEST(
        print(
            R"("page=%p pfn=0x%lx age=%lu", (((struct page *)vmemmap_base) + (REC->u)), REC->u, (jiffies - REC->ul) / 250)") ==
        "page=? pfn=0x80000001 age=?");
    // arm64's, where a page's address depends on how large a struct page is, too.
    BOOST_TEST(
        print(
            R"("page=%p pfn=0x%lx", REC->u != -1UL ? (((struct page *)(-((((1UL))) << ((48) - (12 - (( __builtin_constant_p(sizeof(struct page)) ? 6 : __order_base_2(sizeof(struct page)) )))))) - (memstart_addr >> 12)) + (REC->u)) : ((void *)0), REC->u)") ==
        "page=? pfn=0x80000001");
    BOOST_TEST(print(R"("%d %d", __builtin_constant_p(3 * 2), __builtin_constant_p(REC->u))") ==
               "1 0");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_followed_prints_the_fields) {
    const auto why = [](std::string_view print_fmt) { return print(print_fmt); };
    BOOST_TEST(why(R"("%u", jiffies_to_msecs(REC->u))") == "FALLS BACK: calls jiffies_to_msecs()");
    BOOST_TEST(why(R"("%d", REC->nothing)") ==
               "FALLS BACK: names a field 'nothing' that the event does not have");
    BOOST_TEST(why(R"("%d %d", REC->i)") == "FALLS BACK: has fewer values than conversions");
    BOOST_TEST(why(R"("%y", REC->i)") == "FALLS BACK: has the conversion '%y'");
    BOOST_TEST(why(R"("%d", REC->i +)") == "FALLS BACK: expected a name before ''");
    BOOST_TEST(why(R"("%d)") == "FALLS BACK: has a string that is not closed");
    BOOST_TEST(why(R"("%d", REC->comm)") == "FALLS BACK: prints a place in the record as a number");
    BOOST_TEST(why(cat(R"("%d", )", std::string(3000, '('), "1")) ==
               "FALLS BACK: nests too deeply");
    std::string sum = "REC->i";
    for (int i = 0; i < 2000; ++i) sum += " + REC->i";
    BOOST_TEST(why(cat(R"("%d", )", sum)) == "FALLS BACK: nests too deeply");

    // A local that is used twice by one that is used twice by ...: 2^60 loads.
    std::string doubled = "int a0 = REC->i; ";
    for (int i = 1; i <= 60; ++i) doubled += cat("int a", i, " = a", i - 1, " + a", i - 1, "; ");
    BOOST_TEST(why(cat(R"("%d", ({ )", doubled, "a60; }))")) == "FALLS BACK: takes too many steps");
    std::string often = R"("%d", ({ int a0 = REC->i; )";
    for (int i = 1; i <= 14; ++i) often += cat("int a", i, " = a", i - 1, " + a", i - 1, "; ");
    often += "a14; })";
    for (int i = 0; i < 10; ++i) often += ", a14";
    BOOST_TEST(why(often) == "FALLS BACK: takes too many steps");
    // Any of these quotes may end the string.
    std::string quotes = R"("%d)";
    for (int i = 0; i < 1000; ++i) quotes += R"(", REC->i)";
    BOOST_TEST(why(cat(quotes, '(')) == "FALLS BACK: has too many quotes that may end its string");

    const EventFormat event = parse_event_format("test", cat(kHead, "nonsense\n"));
    std::string out;
    PrintFormat(event).print(test::as_record(sample_record()), kNames, out);
    BOOST_TEST(out ==
               " u8=200 s8=-3 u16=48879 i=-42 u=2147483649 yes=1 letter=81 l=-5000000000"
               " ul=18364758544493064720 ptr=0xffff888012345678 str=constant comm=kworker/0:1"
               " mac={0x2,0x42,0xac,0x11,0xa,0xff} addr4={0x7f,0x0,0x0,0x1}"
               " addr6={0x20,0x1,0xd,0xb8,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x1}"
               " rect={0xffffffce,0x32,0x96,0xfa} words={0x1,0x20,0xffff}"
               " mask={0x8000000f,0x1}"
               " sock={0x2,0x0,0x1f,0x90,0xa,0x0,0x0,0x1,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,"
               "0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0}"
               " name=mock_gpu list={0x1,0xabcdef0123} rel=relative raw={0x1,0x2,0xfe}"
               " cpus={0x5,0x0}");
}

BOOST_AUTO_TEST_CASE(a_cut_record_prints_zeros_and_empty_strings) {
    const std::string whole = sample_record();
    constexpr std::string_view kAll =
        R"("%d %s %s %pI4 %s %llx %s", REC->i, REC->comm, __get_str(name), REC->addr4, __print_array(__get_dynamic_array(list), 2, 8), ((u64 *)__get_dynamic_array(list))[1], __get_cpumask(cpus))";
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const auto exact = std::make_unique<char[]>(length);  // the sanitizers watch its end
        std::copy_n(whole.begin(), length, exact.get());
        const EventFormat event = parse_event_format("test", cat(kHead, kAll, "\n"));
        static const PrintFormat format(event);
        std::string out;
        format.print(test::as_record({exact.get(), length}), kNames, out);
        if (length == 0) BOOST_TEST(out == "0   0.0.0.0 {} 0 ");
    }
}

// Formats captured from Debian's kernels with every GPU driver loaded, and from 6.18. What falls
// back is named here: nothing.
BOOST_AUTO_TEST_CASE(no_column_is_wider_than_what_the_kernel_prints_an_event_into) {
    for (const char* format : {"%999999999d", "%.999999999d", "%-999999999s", "%*d"}) {
        EventFormat event = parse_event_format(
            "gpu",
            "name: thing\nID: 400\nformat:\n"
            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
            "\tfield:int count;\toffset:4;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n");
        const bool is_text = std::string_view(format).ends_with('s');
        const bool has_star = std::string_view(format).find('*') != std::string_view::npos;
        event.print_format = cat('"', format, "\", ", has_star ? "REC->count * -1000000, " : "",
                                 is_text ? "\"text\"" : "REC->count");
        std::string out;
        const std::int32_t record[] = {400, 1000};
        PrintFormat(event).print(std::as_bytes(std::span(record)), {}, out);
        BOOST_TEST(out.size() == 8192u, format);
    }
}

BOOST_AUTO_TEST_CASE(a_bitmap_is_no_longer_than_that_either) {
    const std::string bits = print(R"("%*pb", 0x7fffffff, REC->mask)");
    BOOST_TEST(bits.size() == 8192u + 8192 / 8 - 1);
    BOOST_TEST(bits.ends_with(",00000000,00000001,00000000,8000000f"));
    BOOST_TEST(print(R"("%*pbl", 0x7fffffff, REC->mask)") == "0-3,31,64");
}

BOOST_AUTO_TEST_CASE(every_captured_format_compiles) {
    std::size_t count = 0;
    for (const std::string& kernel : list_directory("tests/data/formats")) {
        const std::string events = cat("tests/data/formats/", kernel, "/events");
        if (!file_exists(events)) continue;
        for (const std::string& system : list_directory(events)) {
            if (system.starts_with("header_") || system == "enable") continue;
            for (const std::string& name : list_directory(cat(events, '/', system))) {
                const auto text =
                    read_file_if_readable(cat(events, '/', system, '/', name, "/format"));
                if (!text) continue;
                ++count;
                const PrintFormat format(parse_event_format(system, *text));
                BOOST_TEST(format.why().empty(),
                           kernel << ' ' << system << ':' << name << ' ' << format.why());
                std::string out;
                format.print(test::as_record(std::string(200, '\0')), {}, out);
            }
        }
    }
    BOOST_TEST(count > 700u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
