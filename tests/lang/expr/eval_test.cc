#include "lang/expr/eval.h"

#define BOOST_TEST_DYN_LINK
#include <bit>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>

#include "base/cat.h"
#include "lang/expr/gen.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

namespace data = boost::unit_test::data;

Condition condition(std::string_view text, const SymbolLookup* symbols = nullptr) {
    return {parse_expression({"--if", std::string(text)}), test::every_kind(), symbols};
}

BOOST_AUTO_TEST_SUITE(expr_eval)

struct Answer {
    const char* text;
    bool holds;
};
std::ostream& operator<<(std::ostream& out, const Answer& a) {
    return out << a.text;
}
const Answer kAnswers[] = {
    // s8 = -1, u8 = 255: the same bits
    {"s8 == -1", true},
    {"s8 < 0", true},
    {"s8 > 0", false},
    {"s8 >= -1", true},
    {"s8 & 0x40", true},
    {"u8 == 255", true},
    {"u8 > 127", true},
    {"u8 < 128", false},
    {"u8 & 0x80", true},
    {"u8 & 0", false},
    // s16 = -300, u16 = 65236: the same bits
    {"s16 == -300", true},
    {"s16 <= -300", true},
    {"s16 < -300", false},
    {"s16 != -300", false},
    {"u16 == 65236", true},
    {"u16 >= 65236", true},
    {"u16 > 65236", false},
    // s32 = -5, u32 = 4294967291
    {"s32 == -5", true},
    {"s32 < 5", true},
    {"s32 & 0x7fffffff", true},
    {"s32 & 4", false},
    {"u32 == 0xfffffffb", true},
    {"u32 > 5", true},
    // s64 = -2^63, u64 = 2^63
    {"s64 == -9223372036854775808", true},
    {"s64 < 9223372036854775807", true},
    {"s64 > -9223372036854775808", false},
    {"u64 == 9223372036854775808", true},
    {"u64 > 9223372036854775807", true},
    {"u64 & 0x8000000000000000", true},
    {"flag == 1", true},
    {"flag != 0", true},
    {"addr == 0x0100007f", true},
    {"common_pid == 77", true},
    // task_comm = bash, tag = abcd without a NUL
    {"task_comm == bash", true},
    {"task_comm == bas", false},
    {"task_comm == bashx", false},
    {"task_comm != bash", false},
    {"task_comm == \"\"", false},
    {"task_comm ~ ba*", true},
    {"task_comm ~ *ash", true},
    {"task_comm ~ *as*", true},
    {"task_comm ~ b*h", true},
    {"task_comm ~ b?sh", true},
    {"task_comm ~ [a-c]ash", true},
    {"task_comm ~ \"[!a-c]ash\"", false},
    {"task_comm ~ ba", false},
    {"task_comm ~ \"!ba*\"", false},
    {"task_comm ~ \"!x*\"", true},
    {"task_comm == \"!x*\"", false},
    {"tag == abcd", true},
    {"tag == abc", false},
    {"tag ~ *cd", true},
    {"mac == \"\"", true},
    // path = 7/card0, rel = gpu
    {"path == 7/card0", true},
    {"path ~ 7*", true},
    {"path ~ 7/card1", false},
    {"path ~ *card?", true},
    {"rel == gpu", true},
    {"rel != gp", true},
    {"rel ~ *u", true},
    // recorded on CPU 2 by Xorg; mask has CPUs 0 and 2
    {"CPU == 2", true},
    {"cpu != 2", false},
    {"common_cpu > 1 && CPU < 3 && CPU >= 2 && CPU <= 2", true},
    {"CPU > -1", true},
    {"CPU & CPUS{0-3}", true},
    {"CPU & CPUS{0-1,3}", false},
    {"CPU == CPUS{2}", true},
    {"CPU != CPUS{2}", false},
    {"COMM == Xorg", true},
    {"comm ~ X*", true},
    {"COMM != Xorg", false},
    {"COMM ~ \"!X*\"", false},
    {"mask & CPUS{1-2}", true},
    {"mask & CPUS{1,3}", false},
    {"mask == CPUS{0,2}", true},
    {"mask == CPUS{0-2}", false},
    {"mask == CPUS{0}", false},
    {"mask != CPUS{0}", true},
    {"mask & CPUS{2}", true},
    {"mask & CPUS{900}", false},
    {"prev_state & CPUS{0-2}", true},
    {"prev_state & CPUS{2}", true},
    {"prev_state == CPUS{2}", true},
    {"prev_state != CPUS{2}", false},
    {"prev_state & CPUS{1}", false},
    {"s8 & CPUS{0-7}", false},
    {"s8 & CPUS{0-7,255}", true},
    {"s8 == CPUS{255}", true},
    // joined
    {"u8 == 255 && s8 == -1", true},
    {"u8 == 255 && s8 == 1", false},
    {"u8 == 1 || s8 == -1", true},
    {"u8 == 1 || s8 == 1", false},
    {"u8 == 1 && s8 == 1 || flag == 1", true},
    {"u8 == 1 && (s8 == 1 || flag == 1)", false},
    {"!u8 == 1", true},
    {"!(u8 == 255 && s8 == -1)", false},
    {"!(u8 == 255 && !(s8 == -1))", true},
    {"!!u8 == 255", true},
};
BOOST_DATA_TEST_CASE(a_record_is_judged_as_the_kernel_does, data::make(kAnswers), c) {
    test::RecordMaker record(test::every_kind());
    record.number("s8", 0xff).number("u8", 0xff).number("s16", 65236).number("u16", 65236);
    record.number("s32", 0xfffffffb).number("u32", 0xfffffffb).number("flag", 1);
    record.number("s64", std::uint64_t{1} << 63).number("u64", std::uint64_t{1} << 63);
    record.number("prev_state", 2).number("addr", 0x0100007f).number("common_pid", 77);
    record.text("task_comm", "bash").text("tag", "abcd").text("path", "7/card0").text("rel", "gpu");
    record.cpus("mask", 0b101);
    BOOST_TEST(condition(c.text).holds(record.bytes(), {2, "Xorg"}) == c.holds);
}

BOOST_AUTO_TEST_CASE(a_functions_extent_is_looked_up_once) {
    int lookups = 0;
    const SymbolLookup symbols{[&](std::string_view name) -> std::optional<SymbolLookup::Extent> {
                                   ++lookups;
                                   if (name != "schedule") return std::nullopt;
                                   return SymbolLookup::Extent{0x1000, 0x1100};
                               },
                               [&](std::uint64_t address) -> std::optional<SymbolLookup::Extent> {
                                   ++lookups;
                                   if (address < 0x1000 || address >= 0x1100) return std::nullopt;
                                   return SymbolLookup::Extent{0x1000, 0x1100};
                               }};
    const Condition by_name = condition("ip.function == schedule", &symbols);
    const Condition by_address = condition("ip.function != 0x1080", &symbols);
    BOOST_TEST(lookups == 2);
    for (const auto& [ip, inside] : {std::pair{0xfffu, false}, std::pair{0x1000u, true},
                                     std::pair{0x10ffu, true}, std::pair{0x1100u, false}}) {
        test::RecordMaker record(test::every_kind());
        record.number("ip", ip);
        BOOST_TEST(by_name.holds(record.bytes(), {}) == inside);
        BOOST_TEST(by_address.holds(record.bytes(), {}) != inside);
    }
    BOOST_TEST(lookups == 2);

    const auto refusal = [&](std::string_view text, const SymbolLookup* lookup) {
        try {
            condition(text, lookup);
        } catch (const SourceError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    BOOST_TEST(refusal("ip.function == nosuch", &symbols) ==
               "--if:1:16: error: no function named 'nosuch' is known\n"
               "ip.function == nosuch\n"
               "               ^~~~~~");
    BOOST_TEST(refusal("ip.function == 0x99", &symbols) ==
               "--if:1:16: error: no function is known at 0x99\n"
               "ip.function == 0x99\n"
               "               ^~~~");
    BOOST_TEST(refusal("ip.function == schedule", nullptr) ==
               "--if:1:16: error: no function named 'schedule' is known\n"
               "ip.function == schedule\n"
               "               ^~~~~~~~");
}

BOOST_AUTO_TEST_CASE(a_text_behind_a_pointer_is_not_in_the_record) {
    BOOST_CHECK_EXCEPTION(
        condition("u8 == 1 || label == x"), SourceError, [](const SourceError& e) {
            BOOST_TEST(
                e.what() ==
                "--if:1:12: error: 'label' is the address of a text; a record has the address "
                "only\n"
                "u8 == 1 || label == x\n"
                "           ^~~~~");
            return true;
        });
}

BOOST_AUTO_TEST_CASE(a_wrong_condition_is_refused) {
    BOOST_CHECK_THROW(condition("u8 == 256"), SourceError);
}

BOOST_AUTO_TEST_CASE(a_cut_record_reads_as_zeros_and_empty_texts) {
    test::RecordMaker record(test::every_kind());
    record.number("u64", 5).text("task_comm", "bash").text("path", "x").cpus("mask", 1);
    const auto cut = record.bytes().first(36);
    BOOST_TEST(condition("u64 == 0").holds(cut, {}));
    BOOST_TEST(condition("task_comm == \"\"").holds(cut, {}));
    BOOST_TEST(!condition("task_comm == bash").holds(cut, {}));
    BOOST_TEST(condition("path == \"\" && path ~ *").holds(cut, {}));
    BOOST_TEST(!condition("mask & CPUS{0}").holds(cut, {}));
    BOOST_TEST(condition("task_comm == \"\"").holds({}, {}));
}

// The text of a trace_marker write: char buf[] of size 0 at the record's end.
BOOST_AUTO_TEST_CASE(a_text_without_a_size_reaches_to_the_records_end) {
    EventFormat event = test::every_kind();
    Field& field = event.fields.back();
    field = *event.find("task_comm");
    field.name = "buf";
    field.offset = 160;
    field.size = 0;
    std::vector<std::byte> record(160);
    for (const char c : std::string_view("hello\n\0", 7)) record.push_back(std::byte(c));
    const Condition holds(parse_expression({"--if", "buf ~ *ell*"}), event);
    BOOST_TEST(holds.holds(record, {}));
    record[161] = std::byte('a');
    BOOST_TEST(!holds.holds(record, {}));
}

struct Glob {
    const char *pattern, *text;
    bool matches;
};
std::ostream& operator<<(std::ostream& out, const Glob& g) {
    return out << g.pattern << " on " << g.text;
}
// Each was tried on a 6.18 kernel, with a task's name for the text.
const Glob kGlobs[] = {
    {"bash", "bash", true},
    {"bash", "bas", false},
    {"bas", "bash", false},
    {"", "", true},
    {"", "a", false},
    {"*", "", true},
    {"*", "abc", true},
    {"**", "abc", true},
    {"?", "", false},
    {"?", "a", true},
    {"b*h", "bash", true},
    {"*a*b*c", "xaxbxbxc", true},
    {"*a*b*c", "xaxcxc", false},
    {"a*", "a", true},
    {"*aab", "aaaaab", true},
    {"[!a]ash", "bash", true},
    {"[^a]ash", "bash", false},
    {"[^a]ash", "^ash", true},
    {"[b", "[b", true},
    {"[b", "b", false},
    {"[]]x*", "]x", true},
    {"[!]]x", "]x", false},
    {"[a-c]ash", "bash", true},
    {"[-b]ash", "bash", true},
    {"[b-]ash", "-ash", true},
    {"[c-a]ash", "bash", false},
    {"a\\*b", "a*b", true},
    {"a\\*b", "axb", false},
    {"a\\b*", "ab", true},
    {"\\a*", "ab", true},
    {"a\\\\b", "a\\b", true},
    {"ab\\", "ab", true},
    {"ab\\", "ab\\", false},
    {"[a\\]", "\\", true},
    {"[", "[", true},
    {"[a-", "[a-", true},
    {"*[b", "a[b", true},
    {"a]", "a]", true},
    {"!a", "!a", true},
};
BOOST_DATA_TEST_CASE(patterns_match_as_in_the_kernel, data::make(kGlobs), c) {
    BOOST_TEST(filter_glob(c.pattern, c.text) == c.matches);
}

BOOST_AUTO_TEST_CASE(many_stars_cost_little) {
    std::string pattern;
    for (int i = 0; i < 100; ++i) pattern += "*a";
    BOOST_TEST(!filter_glob(pattern + "b", std::string(10'000, 'a')));
    BOOST_TEST(filter_glob(pattern, std::string(10'000, 'a')));
}

// A second opinion: the same meaning, written down again in the plainest way.
namespace plain {

bool glob(std::string_view pattern, std::string_view text) {
    if (pattern.empty() || pattern == "\\") return text.empty();
    const char c = pattern[0];
    if (c == '*') {
        for (std::size_t i = 0; i <= text.size(); ++i)
            if (glob(pattern.substr(1), text.substr(i))) return true;
        return false;
    }
    if (text.empty()) return false;
    if (c == '?') return glob(pattern.substr(1), text.substr(1));
    if (c == '\\') return pattern[1] == text[0] && glob(pattern.substr(2), text.substr(1));
    const std::size_t inverted = pattern.substr(1).starts_with('!') ? 1 : 0;
    const auto close = c == '[' ? pattern.find(']', 2 + inverted) : pattern.npos;
    if (close == pattern.npos) return c == text[0] && glob(pattern.substr(1), text.substr(1));
    const std::string_view members = pattern.substr(1 + inverted, close - 1 - inverted);
    bool found = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const bool is_range = i + 2 < members.size() && members[i + 1] == '-';
        found = found || (members[i] <= text[0] && text[0] <= members[is_range ? i + 2 : i]);
        if (is_range) i += 2;
    }
    return found != (inverted == 1) && glob(pattern.substr(close + 1), text.substr(1));
}

template <class T>
bool compare(CompareOp op, T a, T b) {
    if (op == CompareOp::bit_and) return (a & b) != 0;
    const bool is_less = a < b, is_equal = a == b;
    if (op == CompareOp::eq || op == CompareOp::ne) return is_equal == (op == CompareOp::eq);
    const bool wants_less = op == CompareOp::lt || op == CompareOp::le;
    const bool takes_equal = op == CompareOp::le || op == CompareOp::ge;
    return is_equal ? takes_equal : is_less == wants_less;
}

bool text(CompareOp op, std::string_view value, std::string_view text) {
    if (op != CompareOp::glob) return (value == text) == (op == CompareOp::eq);
    return value.starts_with('!') ? !glob(value.substr(1), text) : glob(value, text);
}

struct Values {
    std::map<std::string, std::uint64_t> numbers;
    std::map<std::string, std::string> texts;
    int cpu = 0;
    std::string comm;
};

bool holds(const Predicate& p, const Values& v) {
    const Literal& value = p.value;
    if (p.field == "COMM") return text(p.op, value.text, v.comm);
    if (const auto it = v.texts.find(p.field); it != v.texts.end())
        return text(p.op, value.text, it->second);
    const std::uint64_t number =
        p.field == "CPU" ? static_cast<std::uint64_t>(v.cpu) : v.numbers.at(p.field);
    const Field* field = test::every_kind().find(p.field);
    const std::size_t width = field ? field->size : 8;
    if (value.kind == Literal::Kind::cpu_list) {
        const std::vector<bool> list = *parse_kernel_cpu_list(value.text);
        std::uint64_t wanted = 0;
        for (std::size_t i = 0; i < list.size(); ++i) wanted |= std::uint64_t{list[i]} << i;
        if (p.field == "mask") return compare(p.op, number, wanted);
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - width * 8);
        const std::uint64_t one =
            std::popcount(wanted) == 1 ? number & all : number & all & 0xffffffff;
        return one < 64 && (wanted >> one & 1) != 0;
    }
    const std::uint64_t bits = value.bits();
    const bool is_signed = !field || field->is_signed;
    switch (width) {
        case 1:
            return is_signed ? compare(p.op, static_cast<std::int8_t>(number),
                                       static_cast<std::int8_t>(bits))
                             : compare(p.op, static_cast<std::uint8_t>(number),
                                       static_cast<std::uint8_t>(bits));
        case 2:
            return is_signed ? compare(p.op, static_cast<std::int16_t>(number),
                                       static_cast<std::int16_t>(bits))
                             : compare(p.op, static_cast<std::uint16_t>(number),
                                       static_cast<std::uint16_t>(bits));
        case 4:
            return is_signed ? compare(p.op, static_cast<std::int32_t>(number),
                                       static_cast<std::int32_t>(bits))
                             : compare(p.op, static_cast<std::uint32_t>(number),
                                       static_cast<std::uint32_t>(bits));
        default:
            return is_signed ? compare(p.op, static_cast<std::int64_t>(number),
                                       static_cast<std::int64_t>(bits))
                             : compare(p.op, number, bits);
    }
}

bool holds(const ExprNode& node, const Values& v) {
    if (node.kind == ExprNode::Kind::predicate) return holds(node.predicate, v);
    const auto is_true = [&](const ExprNode& term) { return holds(term, v); };
    if (node.kind == ExprNode::Kind::negation) return !is_true(node.terms[0]);
    return node.kind == ExprNode::Kind::all_of ? std::ranges::all_of(node.terms, is_true)
                                               : std::ranges::any_of(node.terms, is_true);
}

}  // namespace plain

plain::Values random_values(test::ExprGenerator& random) {
    plain::Values v;
    const auto word = [&](std::size_t most) {
        std::string text;
        for (std::size_t n = random.below(most + 1); n > 0; --n)
            text += "ab0*!]-\\"[random.below(8)];
        return text;
    };
    v.cpu = static_cast<int>(random.below(8));
    v.comm = word(6);
    for (const Field& f : test::every_kind().fields) {
        const auto kind = find_subject(test::every_kind(), f.name)->kind;
        if (kind == Subject::Kind::text) v.texts[f.name] = word(std::min<std::size_t>(f.size, 6));
        if (kind == Subject::Kind::cpumask) v.numbers[f.name] = random.below(256);
        if (kind != Subject::Kind::integer) continue;
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - f.size * 8);
        const std::uint64_t edges[] = {0, 1, 2, 3, all, all / 2, all / 2 + 1, random.bits() & all};
        v.numbers[f.name] = f.type == "bool" ? random.below(2) : edges[random.below(8)];
    }
    return v;
}

BOOST_AUTO_TEST_CASE(generated_conditions_mean_what_they_say) {
    test::ExprGenerator generator(test::every_kind(),
                                  {.cpus = 8, .symbol = "", .pointers = false, .fields = {}}, 3);
    std::size_t held = 0, judged = 0;
    for (int i = test::rounds(3'000); i > 0; --i) {
        const Expression expression = generator.expression();
        const Condition condition(expression, test::every_kind());
        for (int j = 0; j < 8; ++j, ++judged) {
            const plain::Values v = random_values(generator);
            test::RecordMaker record(test::every_kind());
            for (const auto& [name, number] : v.numbers)
                name == "mask" ? record.cpus(name, number) : record.number(name, number);
            for (const auto& [name, text] : v.texts) record.text(name, text);
            const bool expected = plain::holds(expression.root, v);
            if (condition.holds(record.bytes(), {v.cpu, v.comm}) != expected)
                BOOST_ERROR(cat(expected ? "does not hold: " : "holds: ",
                                to_filter(expression, test::every_kind())));
            held += expected;
        }
    }
    // Both answers are common, or the test would say little.
    BOOST_TEST(held > judged / 4);
    BOOST_TEST(held < judged * 3 / 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
