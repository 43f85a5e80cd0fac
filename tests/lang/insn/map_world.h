#pragma once

// The maps of a Program in the interpreter's world, and its programs run over them.

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "lang/insn/run.h"

namespace gpufs::test {

class MapWorld {
public:
    using Bytes = std::vector<std::byte>;

    explicit MapWorld(Program made) : program(std::move(made)) {
        add_common_helpers(world);
        for (const MapDeclaration& map : program.maps) {
            BpfMapSpec spec;
            spec.type = map.type;
            spec.name = map.name;
            spec.key_bytes = static_cast<std::uint32_t>(map.key.bytes);
            spec.value_bytes = static_cast<std::uint32_t>(map.value_bytes());
            spec.max_entries = static_cast<std::uint32_t>(map.max_entries);
            numbers_[map.name] = world.add_map(spec);
        }
    }

    // Runs one of its programs, linked for this target, with these bytes behind r1.
    std::uint64_t run(std::size_t index, LinkTarget target = {},
                      std::span<const std::byte> context = {}) {
        target.map_fds = numbers_;
        for (std::size_t i = 0; i < program.records.size(); ++i)
            target.record_ids[program.records[i].name] = static_cast<std::uint32_t>(i + 1);
        const Linked linked = link(program, program.programs.at(index), target);
        return run_bpf(linked.insns, context, world);
    }

    // The words of one entry; empty where there is none.
    std::vector<std::uint64_t> words(const std::string& map, const Bytes& key) {
        std::vector<std::uint64_t> words(map_named(map).whole_value_bytes() / 8);
        if (!map_named(map).lookup(key, std::as_writable_bytes(std::span(words)))) return {};
        return words;
    }
    // Of an array of one value, or a key of 4 bytes.
    std::vector<std::uint64_t> words(const std::string& map, std::uint32_t key = 0) {
        Bytes bytes(sizeof key);
        std::memcpy(bytes.data(), &key, sizeof key);
        return words(map, bytes);
    }
    // Sorted by the keys.
    std::map<Bytes, Bytes> contents(const std::string& map) {
        std::map<Bytes, Bytes> found;
        map_named(map).for_each(
            [&](std::span<const std::byte> key, std::span<const std::byte> value) {
                found[Bytes(key.begin(), key.end())] = Bytes(value.begin(), value.end());
            });
        return found;
    }

    VmState world;
    Program program;

private:
    InterpretedMap& map_named(const std::string& map) { return world.map(numbers_.at(map)); }

    std::map<std::string, int, std::less<>> numbers_;
};

}  // namespace gpufs::test
