#pragma once

// The maps of a Program as plain memory, and its programs run over them in the interpreter.

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/bpf_run.h"

namespace gpufs::test {

class MapWorld {
public:
    using Bytes = std::vector<std::byte>;

    explicit MapWorld(Program made) : program(std::move(made)) {
        add_common_helpers(world);
        for (const MapDeclaration& map : program.maps) add(map);
    }
    MapWorld(const MapWorld&) = delete;
    MapWorld& operator=(const MapWorld&) = delete;

    // Runs one of its programs, linked for this target, with these bytes behind r1.
    std::uint64_t run(std::size_t index, LinkTarget target = {},
                      std::span<const std::byte> context = {}) {
        target.map_fds = fds_;
        for (std::size_t i = 0; i < program.records.size(); ++i)
            target.record_ids[program.records[i].name] = static_cast<std::uint32_t>(i + 1);
        const Linked linked = link(program, program.programs.at(index), target);
        return run_bpf(linked.insns, context, world);
    }

    // The words of one entry; empty where there is none.
    std::vector<std::uint64_t> words(const std::string& map, const Bytes& key) const {
        const auto entry = contents_.at(map)->find(key);
        if (entry == contents_.at(map)->end()) return {};
        std::vector<std::uint64_t> words(entry->second.size() / 8);
        std::memcpy(words.data(), entry->second.data(), words.size() * 8);
        return words;
    }
    // Of an array of one value, or a key of 4 bytes.
    std::vector<std::uint64_t> words(const std::string& map, std::uint32_t key = 0) const {
        Bytes bytes(sizeof key);
        std::memcpy(bytes.data(), &key, sizeof key);
        return words(map, bytes);
    }
    const std::map<Bytes, Bytes>& contents(const std::string& map) const {
        return *contents_.at(map);
    }

    BpfWorld world;
    Program program;

private:
    // Keys and values stay where they are.
    using Contents = std::map<Bytes, Bytes>;

    void add(const MapDeclaration& declared) {
        const int fd = 3 + static_cast<int>(fds_.size());
        fds_[declared.name] = fd;
        auto contents = std::make_shared<Contents>();
        auto addresses = std::make_shared<std::map<Bytes, std::uint64_t>>();
        contents_[declared.name] = contents;
        BpfWorld::Map map;
        map.key_bytes = declared.key.bytes;
        map.value_bytes = declared.value_bytes();
        const auto insert = [this, contents, addresses](std::span<const std::byte> key,
                                                        std::span<const std::byte> value) {
            const Bytes name(key.begin(), key.end());
            Bytes& bytes = (*contents)[name] = Bytes(value.begin(), value.end());
            return (*addresses)[name] = world.memory.add(BpfMemory::Kind::data, bytes);
        };
        map.lookup = [addresses](std::span<const std::byte> key) {
            const auto it = addresses->find(Bytes(key.begin(), key.end()));
            return it == addresses->end() ? 0 : it->second;
        };
        map.update = [=](std::span<const std::byte> key, std::span<const std::byte> value,
                         std::uint64_t flags) {
            const auto it = contents->find(Bytes(key.begin(), key.end()));
            if (it != contents->end()) {
                if (flags == BPF_NOEXIST) return -EEXIST;
                std::ranges::copy(value, it->second.begin());
                return 0;
            }
            if (contents->size() >= declared.max_entries) return -E2BIG;
            insert(key, value);
            return 0;
        };
        map.erase = [this, contents, addresses](std::span<const std::byte> key) {
            const auto it = addresses->find(Bytes(key.begin(), key.end()));
            if (it == addresses->end()) return -ENOENT;
            world.memory.remove(it->second);
            addresses->erase(it);
            contents->erase(Bytes(key.begin(), key.end()));
            return 0;
        };
        if (declared.type == BPF_MAP_TYPE_ARRAY || declared.type == BPF_MAP_TYPE_PERCPU_ARRAY)
            map.value_address = insert(Bytes(sizeof(std::uint32_t)), Bytes(map.value_bytes));
        world.maps[fd] = std::move(map);
    }

    std::map<std::string, int, std::less<>> fds_;
    std::map<std::string, std::shared_ptr<Contents>> contents_;
};

}  // namespace gpufs::test
