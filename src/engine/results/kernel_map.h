#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "kernel/bpf/map.h"
#include "vm/program_map.h"

namespace gpufs {

// A program's map that the kernel keeps.
class KernelMap : public ProgramMap {
public:
    explicit KernelMap(BpfMap map) : map_(std::move(map)) {}

    // For those who need more than its contents: rings, links.
    const BpfMap& bpf() const noexcept { return map_; }

    const BpfMapSpec& spec() const override { return map_.spec(); }
    std::size_t copy_bytes() const override { return map_.copy_bytes(); }
    std::size_t whole_value_bytes() const override { return map_.whole_value_bytes(); }
    bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const override {
        return map_.lookup(key, value);
    }
    void update(std::span<const std::byte> key, std::span<const std::byte> value) override {
        map_.update(key, value);
    }
    void for_each(const Visit& visit) const override { map_.for_each(visit); }
    void take_each(const Visit& visit) override { map_.take_each(visit); }
    std::vector<std::int32_t> stack_ids() const override;
    void remove_stack(std::int32_t id) override { map_.erase(bytes_of(id)); }

private:
    BpfMap map_;
};

}  // namespace gpufs
