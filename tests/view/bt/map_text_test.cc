#include "view/bt/map_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <deque>

#include "base/text.h"
#include "view/bt/value_samples.h"

namespace gpufs::bt {
namespace {

using namespace test;
using Kind = Type::Kind;

const TypePtr kInt64 = integer_type(8, true);

// A map of a script with what the kernel has in it.
class Filled {
public:
    Filled(const char* name, TypePtr key, TypePtr value) {
        map_.name = name;
        map_.key = std::move(key);
        map_.value = std::move(value);
    }
    Filled& set(ByteVector key, ByteVector value) {
        bytes_.push_back(std::move(key)), bytes_.push_back(std::move(value));
        return *this;
    }
    Filled& set(std::int64_t key, ByteVector value) { return set(bytes_of(key), std::move(value)); }
    Filled& set(std::int64_t key, std::int64_t value) { return set(key, bytes_of(value)); }
    // Of a map without a key, or the slot of a histogram with it.
    Filled& scalar(ByteVector value) { return set(std::int64_t{0}, std::move(value)); }
    Filled& slot(const ByteVector& key, std::uint32_t slot, std::uint64_t count) {
        Sample with_slot;
        for (const std::byte byte : key) with_slot.add(byte);
        with_slot.zeros((8 - key.size() % 8) % 8).add(slot);
        return set(with_slot.bytes(), bytes_of(count));
    }

    std::string text(MapPart part = {}) const {
        std::string out;
        append_map(out, map_, elements(), {known_tables(), known_names()}, part);
        return out;
    }
    std::string json(MapPart part = {}) const {
        std::string out;
        append_map_json(out, map_, elements(), {known_tables(), known_names()}, part);
        return out;
    }

private:
    std::vector<MapElement> elements() const {
        std::vector<MapElement> out;
        for (std::size_t i = 0; i < bytes_.size(); i += 2)
            out.push_back({bytes_[i], bytes_[i + 1]});
        return out;
    }

    ScriptMap map_;
    std::deque<ByteVector> bytes_;
};

TypePtr hist_type(unsigned bits = 0) {
    Type type = *plain_type(Kind::hist);
    type.bits = bits;
    return std::make_shared<const Type>(std::move(type));
}

const std::string kFull = '|' + std::string(52, '@') + "|\n";

BOOST_AUTO_TEST_SUITE(bt_map_text)

BOOST_AUTO_TEST_CASE(a_map_without_a_key_is_one_line) {
    BOOST_TEST(Filled("a", nullptr, kInt64).scalar(bytes_of(std::int64_t{-1})).text() ==
               "@a: -1\n");
    BOOST_TEST(Filled("", nullptr, kInt64).scalar(bytes_of(std::int64_t{5})).text() == "@: 5\n");
    BOOST_TEST(Filled("m", nullptr, string_type(8)).scalar(text_bytes("a\"b\nc\\", 8)).json() ==
               "{\"type\": \"map\", \"data\": {\"@m\": \"a\\\"b\\nc\\\\\"}}\n");
}

BOOST_AUTO_TEST_CASE(an_empty_map_is_nothing) {
    BOOST_TEST(Filled("a", nullptr, kInt64).text() == "");
    BOOST_TEST(Filled("a", kInt64, hist_type()).text() == "");
    BOOST_TEST(Filled("a", kInt64, kInt64).json() == "");
}

BOOST_AUTO_TEST_CASE(a_map_without_a_key_that_is_asked_for_is_never_nothing) {
    MapPart asked;
    asked.zero_if_empty = true;
    BOOST_TEST(Filled("", nullptr, kInt64).text(asked) == "@: 0\n");
    BOOST_TEST(Filled("s", nullptr, plain_type(Kind::stats)).text(asked) ==
               "@s: { .count = 0, .average = 0, .total = 0 }\n");
    BOOST_TEST(Filled("s", nullptr, plain_type(Kind::avg)).json(asked) ==
               R"({"type": "stats", "data": {"@s": 0}})"
               "\n");
    BOOST_TEST(Filled("t", nullptr, pair_of(kInt64, string_type(8))).text(asked) == "@t: (0, )\n");
    BOOST_TEST(Filled("k", nullptr, stack(Kind::kernel_stack)).text(asked) == "@k: \n\n");
    BOOST_TEST(Filled("h", nullptr, hist_type()).text(asked) == "");
    BOOST_TEST(Filled("k", kInt64, kInt64).text(asked) == "");
}

// What bpftrace 0.17 printed.
BOOST_AUTO_TEST_CASE(integers_are_ordered_by_value) {
    const Filled map = Filled("o", kInt64, kInt64).set(3, 9).set(5, 3).set(-1, 4);
    BOOST_TEST(map.text() == "@o[5]: 3\n@o[-1]: 4\n@o[3]: 9\n");
    BOOST_TEST(map.json() == R"({"type": "map", "data": {"@o": {"5": 3, "-1": 4, "3": 9}}})"
                             "\n");
    BOOST_TEST(Filled("n", kInt64, kInt64).set(1, 1).set(2, -1).text() == "@n[2]: -1\n@n[1]: 1\n");
}

BOOST_AUTO_TEST_CASE(equal_values_are_ordered_by_key) {
    BOOST_TEST(Filled("t", kInt64, kInt64).set(300, 1).set(-2, 1).set(7, 1).text() ==
               "@t[-2]: 1\n@t[7]: 1\n@t[300]: 1\n");
}

BOOST_AUTO_TEST_CASE(other_values_are_ordered_by_key_first_part_first) {
    const TypePtr key = pair_of(string_type(8), kInt64);
    const auto key_of = [&](const char* text, std::int64_t number) {
        return fields_of(key, {text_bytes(text, 8), bytes_of(number)});
    };
    const ByteVector v = text_bytes("v", 2);
    const Filled map = Filled("p", key, string_type(2))
                           .set(key_of("b", 2), v)
                           .set(key_of("a", 9), v)
                           .set(key_of("a", -9), v);
    BOOST_TEST(map.text() == "@p[a, -9]: v\n@p[a, 9]: v\n@p[b, 2]: v\n");
    BOOST_TEST(map.json() ==
               R"({"type": "map", "data": {"@p": {"a,-9": "v", "a,9": "v", "b,2": "v"}}})"
               "\n");
}

BOOST_AUTO_TEST_CASE(what_was_accumulated_is_ordered_by_what_it_came_to) {
    const std::uint64_t one = 1;
    const auto encoded = [](std::int64_t n) {
        return static_cast<std::uint64_t>(n) ^ std::uint64_t{1} << 63;
    };
    BOOST_TEST(Filled("m", kInt64, aggregation(Kind::max, true))
                   .set(1, bytes_of(encoded(4), one))
                   .set(2, bytes_of(encoded(-4), one))
                   .text() == "@m[2]: -4\n@m[1]: 4\n");
    const Filled averages = Filled("c", string_type(2), aggregation(Kind::avg, true))
                                .set(text_bytes("z", 2), bytes_of(one, std::int64_t{10}))
                                .set(text_bytes("y", 2), bytes_of(one, std::int64_t{-7}));
    BOOST_TEST(averages.text() == "@c[y]: -7\n@c[z]: 10\n");
    BOOST_TEST(averages.json() == R"({"type": "stats", "data": {"@c": {"y": -7, "z": 10}}})"
                                  "\n");
    const Filled stats = Filled("d", nullptr, aggregation(Kind::stats, true))
                             .scalar(Sample().add(one).add(std::int64_t{5}).zeros(16).bytes());
    BOOST_TEST(stats.text() == "@d: { .count = 1, .average = 5, .total = 5 }\n");
    BOOST_TEST(stats.json() ==
               R"({"type": "stats", "data": {"@d": {"count": 1, "average": 5, "total": 5}}})"
               "\n");
}

BOOST_AUTO_TEST_CASE(the_largest_are_kept_in_their_order_and_divided) {
    const Filled map =
        Filled("", kInt64, plain_type(Kind::sum)).set(1, 10).set(2, 40).set(3, 30).set(4, 20);
    BOOST_TEST(map.text({.top = 2}) == "@[3]: 30\n@[2]: 40\n");
    BOOST_TEST(map.text({.top = 2, .div = 10}) == "@[3]: 3\n@[2]: 4\n");
    BOOST_TEST(map.text({.top = 10, .div = 15}) == "@[1]: 0\n@[4]: 1\n@[3]: 2\n@[2]: 2\n");
    BOOST_TEST(map.json({.top = 1, .div = 10}) == R"({"type": "map", "data": {"@": {"2": 4}}})"
                                                  "\n");
}

BOOST_AUTO_TEST_CASE(histograms_gather_the_slots_of_each_key) {
    const Filled map = Filled("h", string_type(3), hist_type())
                           .slot(text_bytes("b", 3), 4, 3)
                           .slot(text_bytes("a", 3), 5, 2)
                           .slot(text_bytes("b", 3), 3, 3);
    BOOST_TEST(map.text() == "@h[a]:\n[8, 16)                2 " + kFull +
                                 "\n"
                                 "@h[b]:\n[2, 4)                 3 " +
                                 kFull + "[4, 8)                 3 " + kFull + "\n");
    BOOST_TEST(map.json({.top = 1}) == R"({"type": "hist", "data": {"@h": {"b": )"
                                       R"([{"min": 2, "max": 3, "count": 3},)"
                                       R"({"min": 4, "max": 7, "count": 3}]}}})"
                                       "\n");
}

BOOST_AUTO_TEST_CASE(a_histogram_without_a_key_has_no_brackets) {
    Type type = *plain_type(Kind::lhist);
    type.high = 10;
    type.step = 2;
    const Filled map =
        Filled("g", nullptr, std::make_shared<const Type>(type)).slot(ByteVector(8), 6, 1);
    BOOST_TEST(map.text() == "@g:\n[10, ...)              1 " + kFull + "\n");
    BOOST_TEST(map.json() == R"({"type": "hist", "data": {"@g": [{"min": 10, "count": 1}]}})"
                             "\n");
    // As an array has it: the key is the slot.
    const Filled indexed = Filled("g", nullptr, std::make_shared<const Type>(type))
                               .set(bytes_of(std::uint32_t{6}), bytes_of(std::uint64_t{1}));
    BOOST_TEST(indexed.text() == map.text());
}

BOOST_AUTO_TEST_CASE(a_histogram_that_was_set_to_zero_has_no_rows) {
    const Filled map = Filled("g", nullptr, hist_type()).slot(ByteVector(8), 3, 0);
    BOOST_TEST(map.text() == "@g:\n\n");
    BOOST_TEST(map.json() == R"({"type": "hist", "data": {"@g": []}})"
                             "\n");
}

BOOST_AUTO_TEST_CASE(stacks_are_keys_and_values) {
    const TypePtr raw = stack(Kind::kernel_stack, Type::StackForm::raw);
    BOOST_TEST(Filled("", stack(Kind::user_stack), plain_type(Kind::count))
                   .set(bytes_of(3, 7), bytes_of(std::uint64_t{2}))
                   .text() ==
               "@[\n        main+31\n        main+4095@cat.c:7\n        0x10\n]: 2\n");
    BOOST_TEST(Filled("s", kInt64, raw).set(1, bytes_of(3, 0)).text() ==
               "@s[1]: \n201f\n2fff\n10\n\n");
    const TypePtr key = pair_of(raw, string_type(4));
    BOOST_TEST(Filled("", key, plain_type(Kind::count))
                   .set(fields_of(key, {bytes_of(-14, 0), text_bytes("abc", 4)}),
                        bytes_of(std::uint64_t{2}))
                   .text() == "@[\n, abc]: 2\n");
}

BOOST_AUTO_TEST_CASE(nested_tuples_keep_their_parentheses_in_a_key) {
    const TypePtr inner = pair_of(kInt64, kInt64);
    const Filled map = Filled("l", pair_of(inner, kInt64), kInt64)
                           .set(bytes_of(std::int64_t{1}, std::int64_t{2}, std::int64_t{3}),
                                bytes_of(std::int64_t{4}));
    BOOST_TEST(map.text() == "@l[(1, 2), 3]: 4\n");
    BOOST_TEST(map.json() == R"({"type": "map", "data": {"@l": {"(1,2),3": 4}}})"
                             "\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
