#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/bpf/btf_reader.h"

namespace gpufs {

// Understands the types of one file, for one question.
class Btf::Types {
public:
    explicit Types(const Reader& reader) : reader_(reader) {}

    // Without typedef, const and their kind. Absent for void. The name of the last typedef on the
    // way comes with it.
    struct Bare {
        std::optional<BtfRecord> type;
        std::uint32_t alias = 0;  // the place of its name; 0: there was none
    };
    Bare bare_with_alias(std::uint32_t id) const;
    std::optional<BtfRecord> bare(std::uint32_t id) const { return bare_with_alias(id).type; }
    // As C writes it, without the name: "char[16]", "struct task_struct *".
    std::string text(std::uint32_t id) const;
    // As C declares something of that type: "char comm[16]", "int (*show)(struct seq_file *, int)".
    std::string declaration(std::uint32_t id, std::string inner, unsigned depth) const;
    // What stands in front of the ';' of a structure's or an enum's definition, `depth` tabs deep.
    std::string definition(const BtfRecord& type, unsigned depth) const;
    std::size_t size(const std::optional<BtfRecord>& type) const;
    static bool is_signed(const std::optional<BtfRecord>& type);
    bool is_char(const std::optional<BtfRecord>& type) const;
    // An array of char.
    bool is_text(const std::optional<BtfRecord>& type) const;
    static bool is_composite(const BtfRecord& type) {
        return type.kind() == BTF_KIND_STRUCT || type.kind() == BTF_KIND_UNION;
    }
    BtfValue value(std::uint32_t name, std::uint32_t id) const;

    // A member's place within the structure asked for, through anonymous members.
    struct Member {
        std::uint32_t name = 0;  // the place of its name; 0: anonymous
        std::uint32_t type = 0;
        std::uint32_t bit_offset = 0;
        std::uint32_t bit_size = 0;
    };
    static Member member(const BtfRecord& in, std::uint32_t index);
    std::optional<Member> find_member(const BtfRecord& in, std::string_view wanted) const;
    // Those of anonymous members in their place.
    std::vector<Member> members(const BtfRecord& in) const;
    // Where a bit field is in units of its type; absent for a member that is none.
    struct Bits {
        std::size_t offset = 0;
        unsigned shift = 0, size = 0;
    };
    std::optional<Bits> bit_field(const Member& member, const std::optional<BtfRecord>& type) const;
    // The numbers of an enum with their names.
    std::vector<std::pair<std::int64_t, std::string>> words(const BtfRecord& type) const;
    // Where their names stand.
    static std::vector<std::uint32_t> word_places(const BtfRecord& type);

private:
    void add_members(const BtfRecord& in, std::uint32_t bit_offset,
                     std::vector<Member>& found) const;

    const Reader& reader_;
};

}  // namespace gpufs
