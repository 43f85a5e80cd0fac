#include "engine/results/stack_maps.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace gpufs {
namespace {

bool has_any(const Layout& layout) {
    return std::ranges::any_of(layout.members, is_stack, &Member::type);
}

void add_names_in(const Layout& layout, std::span<const std::byte> bytes,
                  std::set<StackMaps::Name>& to) {
    for (const Member& member : layout.members) {
        if (!is_stack(member.type)) continue;
        std::int32_t id = 0;
        std::memcpy(&id, bytes.data() + member.offset, sizeof id);
        if (id >= 0) to.emplace(member.type.stack_map, id);
    }
}

}  // namespace

std::vector<std::uint64_t> StackMaps::frames(std::string_view map, std::int32_t id) const {
    const ProgramMap* stacks = running_.map(map);
    if (!stacks || id < 0) return {};
    std::vector<std::uint64_t> frames(stacks->whole_value_bytes() / sizeof(std::uint64_t));
    if (!stacks->lookup(bytes_of(id), std::as_writable_bytes(std::span(frames)))) {
        const auto it = released_.find(Name(std::string(map), id));
        return it == released_.end() ? std::vector<std::uint64_t>() : it->second;
    }
    // In front of a whole stack's frames is its hash.
    if (stacks->spec().type == BPF_MAP_TYPE_HASH) frames.erase(frames.begin());
    // Behind the last frame is a 0, and behind that what is left of another stack.
    frames.erase(std::ranges::find(frames, 0U), frames.end());
    return frames;
}

void StackMaps::add_names(const MapDeclaration& map, const MapEntries& entries,
                          std::set<Name>& to) {
    for (const MapEntry& entry : entries) add_names_in(map.key, entry.key, to);
}

void StackMaps::release(std::set<Name> used) {
    const Program& program = running_.program();
    std::vector<const MapDeclaration*> stack_maps;
    for (const MapDeclaration& map : program.maps)
        if (map.type == BPF_MAP_TYPE_STACK_TRACE) stack_maps.push_back(&map);
    if (stack_maps.empty()) return;
    // The maps were reported and cleared before: stacks they refer to now are newer, or not
    // reported yet.
    for (const MapDeclaration& map : program.maps) {
        const ProgramMap* const at_work = running_.map(map.name);
        const bool values_have_any = has_any(map.value);
        if (!at_work || (!values_have_any && !has_any(map.key))) continue;
        const std::size_t copy = at_work->copy_bytes();
        at_work->for_each([&](std::span<const std::byte> key, std::span<const std::byte> value) {
            add_names_in(map.key, key, used);
            if (!values_have_any) return;
            for (std::size_t at = 0; at + map.value.bytes <= value.size(); at += copy)
                add_names_in(map.value, value.subspan(at), used);
        });
    }
    std::map<Name, std::vector<std::uint64_t>, std::less<>> released;
    for (const auto& [name, frames] : released_)
        if (used.contains(name)) released.emplace(name, frames);
    for (const MapDeclaration* map : stack_maps) {
        ProgramMap* const stacks = running_.map(map->name);
        if (!stacks) continue;
        for (const std::int32_t id : stacks->stack_ids()) {
            Name name(map->name, id);
            if (used.contains(name)) continue;
            std::vector<std::uint64_t> remembered = frames(map->name, id);
            stacks->remove_stack(id);
            released.insert_or_assign(std::move(name), std::move(remembered));
        }
    }
    released_ = std::move(released);
}

}  // namespace gpufs
