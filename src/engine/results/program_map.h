#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernel/bpf/map.h"

namespace gpufs {

// A map of a program at work, for whoever reports what it holds. Of a per-CPU map a value is whole:
// one copy for each CPU, each rounded up to 8 bytes.
class ProgramMap {
public:
    virtual ~ProgramMap() = default;

    virtual const BpfMapSpec& spec() const = 0;
    // From one copy to the next.
    virtual std::size_t copy_bytes() const = 0;
    virtual std::size_t whole_value_bytes() const = 0;

    // False when there is no such key.
    virtual bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const = 0;
    virtual void update(std::span<const std::byte> key, std::span<const std::byte> value) = 0;
    using Visit =
        std::function<void(std::span<const std::byte> key, std::span<const std::byte> value)>;
    virtual void for_each(const Visit& visit) const = 0;
    // The same, and takes the entries out, for hash maps.
    virtual void take_each(const Visit& visit) = 0;

    // Of a stack_trace map: the stacks it holds, and one of them taken out.
    virtual std::vector<std::int32_t> stack_ids() const = 0;
    virtual void remove_stack(std::int32_t id) = 0;
};

// One that the kernel keeps.
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
    void remove_stack(std::int32_t id) override { map_.erase(std::as_bytes(std::span(&id, 1))); }

private:
    BpfMap map_;
};

}  // namespace gpufs
