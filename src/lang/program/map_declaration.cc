#include "lang/program/map_declaration.h"

#include "base/align.h"

namespace gpufs {

MapDeclaration array_map(std::string name, bpf_map_type type, Layout value, const SourceRef& at,
                         std::uint64_t entries) {
    MapDeclaration map;
    map.name = std::move(name);
    map.type = type;
    map.key = Layout::of("key", integer_value(sizeof(std::uint32_t)));
    map.value = std::move(value);
    map.max_entries = entries;
    map.at = at;
    return map;
}

std::size_t MapDeclaration::value_bytes() const {
    return aggregation.kind == Aggregation::Kind::none ? value.bytes : aggregation.bytes();
}

bool MapDeclaration::is_per_cpu() const {
    return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
           type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

std::size_t MapDeclaration::bucket_at() const {
    return align_up(key.bytes, sizeof(std::uint32_t));
}

MapShape MapDeclaration::shape(std::uint64_t entries, std::size_t cpus) const {
    if (keeps_stacks)
        return {BPF_MAP_TYPE_HASH, key.bytes, sizeof(std::uint64_t) + value_bytes(), entries};
    if (!aggregation.is_histogram()) return {type, key.bytes, value_bytes(), entries};
    const std::uint64_t copies = is_per_cpu() ? cpus : 1;
    if (is_array())
        return {BPF_MAP_TYPE_ARRAY, sizeof(std::uint32_t), value_bytes(),
                entries * copies * aggregation.buckets()};
    const bool is_lru = type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
    return {is_lru ? BPF_MAP_TYPE_LRU_HASH : BPF_MAP_TYPE_HASH, bucket_at() + sizeof(std::uint32_t),
            value_bytes(), entries * copies};
}

}  // namespace gpufs
