#pragma once

#include <linux/btf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/bpf/btf.h"

namespace gpufs {

// One type: its header and the bytes that follow it (members, parameters, array bounds).
struct BtfRecord {
    std::uint32_t id = 0;
    btf_type head{};
    std::vector<std::byte> tail;

    std::uint32_t kind() const { return BTF_INFO_KIND(head.info); }
    std::uint32_t count() const { return BTF_INFO_VLEN(head.info); }
    bool has_bit_sizes() const { return BTF_INFO_KFLAG(head.info); }
    template <class T>
    T entry(std::size_t i) const;
};

// Reads one BTF file through a window. Type ids start at 1, or after the last id of the base.
class Btf::Reader {
public:
    Reader(std::string path, const Reader* base);

    const std::string& path() const { return path_; }
    // The id of the first type with that name and one of the kinds.
    std::optional<std::uint32_t> find(std::string_view wanted,
                                      std::span<const std::uint32_t> kinds) const;
    BtfRecord type(std::uint32_t id) const;
    std::string name(std::uint32_t offset) const;
    std::uint32_t end_id() const;

private:
    // Calls see(id, offset in the type section, head) for each type, starting at `id`; stops when
    // `see` returns false.
    template <class See>
    void for_each_head(std::uint32_t id, std::uint32_t offset, See see) const;
    std::size_t tail_bytes(const btf_type& head) const;
    std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) const;
    std::vector<std::uint32_t> name_offsets(std::string_view name) const;
    void make_index() const;
    [[noreturn]] void damaged() const;

    std::string path_;
    const Reader* base_;
    Fd fd_;
    btf_header header_{};
    // The part of the file that was read last.
    mutable std::vector<std::byte> window_;
    mutable std::uint64_t window_at_ = 0;
    // The offset of each 64th type; built on first use.
    mutable std::vector<std::uint32_t> index_;
    mutable std::uint32_t count_ = 0;
};

}  // namespace gpufs
