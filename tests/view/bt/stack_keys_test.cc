#include "view/bt/stack_keys.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "base/bytes.h"
#include "view/bt/value_samples.h"

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;
using Words = std::vector<std::uint64_t>;

TypePtr stack_of(std::size_t frames) {
    Type type = *plain_type(Kind::kernel_stack);
    type.frames = frames;
    type.map = "kernel_stacks";
    return std::make_shared<const Type>(std::move(type));
}

// Stacks by their ids: the first two differ in their third frame.
class Stacks : public test::KnownNames {
public:
    std::vector<std::uint64_t> frames(const std::string&, std::int32_t id) override {
        return id == 3 ? Words{7, 2, 3} : Words{1, 2, static_cast<std::uint64_t>(id)};
    }
};

ScriptMap map_of(TypePtr key, Kind value) {
    ScriptMap map;
    map.name = "m";
    map.key = std::move(key);
    map.value = plain_type(value);
    return map;
}

std::vector<std::byte> merged(Kind kind, const Words& from, const Words& into) {
    Stacks names;
    const ScriptMap map = map_of(stack_of(2), kind);
    std::vector<std::byte> bytes(into.size() * sizeof(std::uint64_t));
    std::memcpy(bytes.data(), into.data(), bytes.size());
    StackKeys(map, names).merge(std::as_bytes(std::span(from)), bytes);
    return bytes;
}
bool are(const std::vector<std::byte>& bytes, const Words& words) {
    return std::memcmp(bytes.data(), words.data(), bytes.size()) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bt_stack_keys)

BOOST_AUTO_TEST_CASE(keys_are_one_whose_stacks_show_the_same) {
    Stacks names;
    const TypePtr tuple =
        tuple_type({{"", integer_type(8, false), 0, 0, 0}, {"", stack_of(2), 0, 0, 0}});
    const ScriptMap map = map_of(tuple, Kind::count);
    StackKeys keys(map, names);
    BOOST_TEST(keys.are_united());
    const auto key = [&](std::uint64_t number, std::int32_t id) {
        std::vector<std::byte> bytes(tuple->bytes);
        std::memcpy(bytes.data(), &number, sizeof number);
        std::memcpy(bytes.data() + tuple->fields[1].offset, &id, sizeof id);
        return keys.united(bytes);
    };
    BOOST_TEST((key(5, 1) == key(5, 2)));
    BOOST_TEST((key(5, 1) != key(6, 1)));
    BOOST_TEST((key(5, 1) != key(5, 3)));
    BOOST_TEST((key(5, -17) != key(5, -7)));
}

BOOST_AUTO_TEST_CASE(whole_stacks_are_what_they_are) {
    Stacks names;
    for (const TypePtr& key : {stack_of(127), plain_type(Kind::user_stack), integer_type(8, false)})
        BOOST_TEST(!StackKeys(map_of(key, Kind::count), names).are_united());
}

// As the kernel's maps have them: extremes so that the highest counts.
BOOST_AUTO_TEST_CASE(values_of_one_key_are_added_up) {
    BOOST_TEST(are(merged(Kind::count, {3}, {4}), {7}));
    BOOST_TEST(are(merged(Kind::hist, {3}, {4}), {7}));
    BOOST_TEST(are(merged(Kind::avg, {2, 30}, {1, 10}), {3, 40}));
    BOOST_TEST(are(merged(Kind::max, {3, 1}, {4, 1}), {4, 1}));
    BOOST_TEST(are(merged(Kind::max, {3, 1}, {0, 0}), {3, 1}));
    BOOST_TEST(are(merged(Kind::stats, {2, 30, 7, 9}, {1, 10, 8, 5}), {3, 40, 8, 9}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs::bt
