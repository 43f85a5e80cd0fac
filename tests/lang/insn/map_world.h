#pragma once

// The maps of a Program in the interpreter's world, and its programs run over them.

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/results/map_contents.h"
#include "lang/insn/run.h"
#include "support/map_entries.h"

namespace gpufs::test {

class MapWorld {
public:
    using Bytes = std::vector<std::byte>;

    explicit MapWorld(Program made, std::size_t cpus = 1) : program(std::move(made)) {
        world.cpus = cpus;
        add_common_helpers(world);
        for (const MapDeclaration& map : program.maps) {
            BpfMapSpec spec;
            const MapShape shape = map.shape(map.max_entries, world.cpus);
            spec.type = shape.type;
            spec.name = map.name;
            spec.key_bytes = static_cast<std::uint32_t>(shape.key_bytes);
            spec.value_bytes = static_cast<std::uint32_t>(shape.value_bytes);
            spec.max_entries = static_cast<std::uint32_t>(shape.max_entries);
            numbers_[map.name] = world.add_map(spec);
        }
    }

    // Runs one of its programs, linked for this target, with these bytes behind r1.
    std::uint64_t run(std::size_t index, LinkTarget target = {},
                      std::span<const std::byte> context = {}) {
        target.map_fds = numbers_;
        target.features.insert(features.begin(), features.end());
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
    // Sets the first word of an array's value, on CPU 0.
    void set_word(const std::string& map, std::uint32_t index, std::uint64_t word) {
        std::vector<std::uint64_t> all = words(map, index);
        all.at(0) = word;
        map_named(map).update(std::as_bytes(std::span(&index, 1)), std::as_bytes(std::span(all)));
    }
    // An aggregation's entries, as reports read them.
    std::vector<OwnEntry> entries(const std::string& map) {
        struct Running : RunningProgram {
            explicit Running(MapWorld& its) : owner(its) {}
            const Program& program() const override { return owner.program; }
            ProgramMap* map(std::string_view name) const override {
                return &owner.map_named(std::string(name));
            }
            MapWorld& owner;
        };
        const Running running(*this);
        return own_entries(MapReader(running).read(map));
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
    std::set<std::string> features{"atomics"};

private:
    InterpretedMap& map_named(const std::string& map) { return world.map(numbers_.at(map)); }

    std::map<std::string, int, std::less<>> numbers_;
};

}  // namespace gpufs::test
