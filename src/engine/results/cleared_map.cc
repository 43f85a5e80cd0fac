#include "engine/results/cleared_map.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace gpufs {
namespace {

std::span<const std::byte> bytes_in(const std::string& key) {
    return std::as_bytes(std::span(key));
}

}  // namespace

// Returns whether anything is left.
bool ClearedMap::subtract(const std::string& key, std::span<std::byte> value) const {
    const auto before = before_.find(key);
    bool is_any = false;
    for (std::size_t copy = 0; copy < value.size(); copy += map_.copy_bytes())
        for (std::size_t word = 0; word < words_; ++word) {
            const std::size_t at = copy + word * sizeof(std::uint64_t);
            std::uint64_t now = 0, then = 0;
            std::memcpy(&now, value.data() + at, sizeof now);
            if (before != before_.end())
                std::memcpy(&then, before->second.data() + at, sizeof then);
            now -= then;
            std::memcpy(value.data() + at, &now, sizeof now);
            is_any = is_any || now != 0;
        }
    return is_any;
}

void ClearedMap::visit_rest(std::span<const std::byte> key, std::span<const std::byte> value,
                            const ProgramMap::Visit& visit) const {
    const std::string name(chars_of(key));
    std::vector<std::byte> rest(value.begin(), value.end());
    // One that was never cleared is there though its sum is 0.
    if (subtract(name, rest) || !before_.contains(name) || zeroed_.contains(name)) visit(key, rest);
}

ClearedMap::Values ClearedMap::values() const {
    Values now;
    map_.for_each([&](std::span<const std::byte> key, std::span<const std::byte> value) {
        now.emplace(chars_of(key), std::vector(value.begin(), value.end()));
    });
    return now;
}

void ClearedMap::for_each(const ProgramMap::Visit& visit) const {
    map_.for_each([&](std::span<const std::byte> key, std::span<const std::byte> value) {
        visit_rest(key, value, visit);
    });
}

void ClearedMap::take_each(const ProgramMap::Visit& visit) {
    Values now = values();
    const BpfMapSpec& spec = map_.spec();
    const bool has_other_keys = !spec.is_array() && spec.max_entries > 1;
    if (has_other_keys && now.size() > spec.max_entries / 2) {
        map_.take_each([&](std::span<const std::byte> key, std::span<const std::byte> value) {
            visit_rest(key, value, visit);
        });
        now.clear();
    } else {
        for (const auto& [key, value] : now) visit_rest(bytes_in(key), value, visit);
    }
    before_ = std::move(now);
    zeroed_.clear();
}

void ClearedMap::clear() {
    take_each([](auto, auto) {});
}

void ClearedMap::zero() {
    Values now = values();
    std::set<std::string> zeroed;
    for (const auto& [key, value] : now)
        visit_rest(bytes_in(key), value, [&](std::span<const std::byte> shown, auto) {
            zeroed.emplace(chars_of(shown));
        });
    before_ = std::move(now);
    zeroed_ = std::move(zeroed);
}

bool ClearedMap::lookup(std::span<const std::byte> key, std::span<std::byte> value) const {
    if (!map_.lookup(key, value)) return false;
    const std::string name(chars_of(key));
    return subtract(name, value) || !before_.contains(name) || zeroed_.contains(name);
}

}  // namespace gpufs
