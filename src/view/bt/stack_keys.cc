#include "view/bt/stack_keys.h"

#include <algorithm>
#include <cstring>

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// How many of the value's words are added up; the others are extremes, of which the highest counts.
std::size_t added_words(const Type& type, std::size_t words) {
    if (type.is(Kind::min) || type.is(Kind::max)) return 0;
    return type.is(Kind::stats) ? 2 : words;
}

}  // namespace

StackKeys::StackKeys(const ScriptMap& map, ValueNames& names) : map_(map), names_(names) {
    if (map.key && !map.value->is(Kind::tseries)) find_stacks(*map.key, 0);
}

void StackKeys::find_stacks(const Type& type, std::size_t at) {
    if (type.is(Kind::kernel_stack) && type.frames < Type::kMostFrames)
        stacks_.push_back({&type, at});
    for (const Type::Field& field : type.fields) find_stacks(*field.type, at + field.offset);
}

std::vector<std::byte> StackKeys::united(Bytes key) {
    std::vector<std::byte> made(key.begin(), key.end());
    for (const Stack& stack : stacks_) {
        const auto id = load<std::int32_t>(key, stack.at);
        if (id < 0) continue;
        std::vector<std::uint64_t> frames = names_.frames(stack.type->map, id);
        frames.resize(std::min(frames.size(), stack.type->frames));
        const std::int32_t first =
            ids_.try_emplace({stack.type, std::move(frames)}, id).first->second;
        std::memcpy(made.data() + stack.at, &first, sizeof first);
    }
    return made;
}

void StackKeys::merge(Bytes from, std::span<std::byte> into) const {
    if (!map_.value->is_aggregation()) return;  // either was the last to be assigned
    const std::size_t words = into.size() / sizeof(std::uint64_t);
    const std::size_t added = added_words(*map_.value, words);
    for (std::size_t i = 0; i < words; ++i) {
        const auto other = load<std::uint64_t>(from, i * sizeof(std::uint64_t));
        auto word = load<std::uint64_t>(into, i * sizeof(std::uint64_t));
        word = i < added ? word + other : std::max(word, other);
        std::memcpy(into.data() + i * sizeof word, &word, sizeof word);
    }
}

}  // namespace gpufs::bt
