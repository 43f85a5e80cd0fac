#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "vm/program_map.h"

namespace gpufs {

// A map that no program writes to, for results of another origin. Its values are of one size, and
// not per CPU.
class TableMap : public ProgramMap {
public:
    TableMap() { spec_.max_entries = ~std::uint32_t{0}; }

    const BpfMapSpec& spec() const override { return spec_; }
    std::size_t copy_bytes() const override { return whole_value_bytes(); }
    std::size_t whole_value_bytes() const override;
    bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const override;
    void update(std::span<const std::byte> key, std::span<const std::byte> value) override;
    void for_each(const Visit& visit) const override;
    void take_each(const Visit& visit) override;
    std::vector<std::int32_t> stack_ids() const override { return {}; }
    void remove_stack(std::int32_t) override {}
    void clear() { entries_.clear(); }

private:
    BpfMapSpec spec_;
    std::map<std::vector<std::byte>, std::vector<std::byte>> entries_;
};

}  // namespace gpufs
