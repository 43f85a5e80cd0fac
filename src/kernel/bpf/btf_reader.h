#pragma once

#include <linux/btf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kernel/bpf/btf.h"
#include "kernel/bpf/mapping.h"

namespace gpufs {

// One type: its header and the bytes that follow it (members, parameters, array bounds).
struct BtfRecord {
    std::uint32_t id = 0;
    btf_type head{};
    std::vector<std::byte> tail;

    std::uint32_t kind() const { return BTF_INFO_KIND(head.info); }
    std::uint32_t count() const { return BTF_INFO_VLEN(head.info); }
    // Structure: its members carry bit sizes; enum: it is signed (Linux 6.0); forward declaration:
    // of a union.
    bool kind_flag() const { return BTF_INFO_KFLAG(head.info); }
    // Throws Error where there are not so many.
    template <class T>
    T entry(std::size_t i) const {
        if (tail.size() < (i + 1) * sizeof(T)) throw Error("BTF is damaged: a type is too short");
        T value;
        std::memcpy(&value, tail.data() + i * sizeof(T), sizeof value);
        return value;
    }
};

// The kinds of linux/btf.h that the oldest headers we build with do not have.
inline constexpr std::uint32_t kBtfTypeTag = 18, kBtfEnum64 = 19;

// Reads one BTF file through a window. Type ids start at 1, or after the last id of the base.
class Btf::Reader {
public:
    Reader(std::string path, const Reader* base);

    const std::string& path() const { return path_; }
    // The id of the first type with that name and one of the kinds.
    std::optional<std::uint32_t> find(std::string_view wanted,
                                      std::span<const std::uint32_t> kinds) const;
    // All structures, unions, enums and typedefs of that name, by id.
    struct Named {
        std::uint32_t id = 0, kind = 0;
    };
    std::vector<Named> find_named(std::string_view wanted) const;
    // Where the names of this file's types of a kind stand, by id.
    std::vector<std::uint32_t> names_of(std::uint32_t kind) const;
    // The enums, by id.
    const std::vector<std::uint32_t>& enums() const;
    // Where `name` stands in the strings. Linkers merge strings with a common suffix, so there may
    // be several places; in ascending order.
    std::vector<std::uint32_t> name_offsets(std::string_view name) const;
    BtfRecord type(std::uint32_t id) const;
    std::string name(std::uint32_t offset) const;
    std::uint32_t end_id() const;

private:
    // Calls see(id, offset in the type section, head) for each type, starting at `id`; stops when
    // `see` returns false.
    template <class See>
    void for_each_head(std::uint32_t id, std::uint32_t offset, See see) const;
    // All types that have the name, by id. From the index of names where there is one.
    std::vector<Named> find_all(std::string_view wanted) const;
    // Whether there is an index of all names by now: after some questions it takes less time than
    // they would.
    bool has_names() const;
    std::size_t tail_bytes(const btf_type& head) const;
    std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) const;
    void make_index() const;
    [[noreturn]] void damaged() const;

    std::string path_;
    const Reader* base_;
    Fd fd_;
    btf_header header_{};
    // The kernel's own types, where it lets them be mapped (Linux 6.16): they are its memory, and
    // take none of ours.
    std::optional<Mapping> mapping_;
    // The part of the file that was read last: in buffer_, or all of it.
    mutable std::span<const std::byte> window_;
    mutable std::uint64_t window_at_ = 0;
    mutable std::vector<std::byte> buffer_;
    // The offset of each 64th type; built on first use.
    mutable std::vector<std::uint32_t> index_;
    mutable std::uint32_t count_ = 0;
    // With it: the structures, unions, enums and typedefs that have a name, and all enums.
    struct NamedType {
        std::uint32_t name;
        std::uint32_t kind : 5, id : 27;
    };
    mutable std::vector<NamedType> named_;
    // After many questions: all types that have a name, by the hash of the name (in `name`), then
    // by id.
    mutable std::vector<NamedType> names_;
    mutable unsigned questions_ = 0;
    mutable std::vector<std::uint32_t> enums_;
    // What name_offsets() was asked last.
    mutable std::string last_name_;
    mutable std::vector<std::uint32_t> last_offsets_;
};

}  // namespace gpufs
