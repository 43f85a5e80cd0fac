#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace gpufs {

constexpr const char* kKernelBtf = "/sys/kernel/btf/vmlinux";

// How to read a member of a kernel structure, given the structure's address.
struct BtfAccess {
    // Load a pointer at each of these offsets in turn: of the root, then of what was loaded.
    std::vector<std::uint32_t> pointers;
    // Then the value is here, of so many bytes (a bit field: the unit that holds it).
    std::uint32_t offset = 0;
    std::size_t size = 0;
    bool is_signed = false;
    bool is_pointer = false;
    bool is_text = false;  // an array of char
    // A bit field: (unit >> bit_shift), bit_size bits of it; 0: none.
    unsigned bit_shift = 0, bit_size = 0;
    std::string type;  // "pid_t", "char[16]", "struct list_head"
};

struct BtfValue {
    std::string name;  // empty for what is returned
    std::size_t size = 0;
    bool is_signed = false;
    bool is_pointer = false;
    std::string type;
    std::uint32_t type_id = 0;
};
struct BtfFunction {
    std::uint32_t id = 0;
    std::vector<BtfValue> parameters;
    std::optional<BtfValue> returned;  // absent for void
};

// What a type is, behind typedefs and qualifiers. Types are named by numbers, which mean something
// to the Btf that gave them, and 0 is void.
struct BtfType {
    enum class Kind {
        none,  // void
        integer,
        boolean,
        character,  // plain char
        enumeration,
        pointer,    // to `element`
        array,      // `count` of `element`
        structure,  // or a union
        other,      // a function, a floating point number
    };
    Kind kind = Kind::none;
    // Of a structure or an enum: its own, or that of the last typedef on the way to one without.
    std::string name;
    std::uint32_t id = 0;  // of what is behind the typedefs
    std::size_t size = 0;  // in bytes; 0 for a structure that is only declared
    bool is_signed = false;
    bool is_union = false;
    std::uint32_t element = 0;
    std::size_t count = 0;
};

// A member of a structure.
struct BtfMember {
    std::string name;
    std::uint32_t type = 0;
    std::size_t offset = 0;                // in bytes; of a bit field: of the unit that holds it
    unsigned bit_shift = 0, bit_size = 0;  // (unit >> bit_shift), bit_size bits of it; 0: none
};

// A path names a structure or a member that these types do not have.
class NoSuchMember : public Error {
    using Error::Error;
};

// Types of the kernel or of one module, in the raw form the kernel offers (Linux 5.4,
// modules 5.11). Nothing is kept in memory but the position of each 64th type and the places of
// structures' names (160 kB of 5.5 MB): questions read the file through small buffers, because
// fresh memory costs more than reading again (into 5.5 MB of it 15 to 30 ms, through 16 kB 1.2 ms).
// With 126,000 types a function's number takes 2.6 ms, a path of members 1 ms.
class Btf {
public:
    // Throws UnsupportedError where there is none; Error and SysError for what cannot be read.
    static Btf kernel();
    // `base` is the kernel's and must outlive the module's.
    static Btf module(std::string_view name, const Btf& base);
    // Any file of that form.
    explicit Btf(std::string path, const Btf* base = nullptr);
    Btf(Btf&&) noexcept;
    Btf& operator=(Btf&&) noexcept;
    ~Btf();

    // The number that BPF_PROG_LOAD takes as attach_btf_id.
    std::optional<std::uint32_t> find_function(std::string_view name) const;
    std::optional<BtfFunction> function(std::string_view name) const;
    // The names of all functions, sorted; of a module, its own.
    std::vector<std::string> functions() const;

    // "task_struct.real_parent->tgid", "task_struct.comm[0]": a structure's name, then members;
    // anonymous members are looked through, "." and "->" mean the same. "dma_fence[1]" is the
    // structure behind another one of its kind. Throws Error, with a hint
    // at the member that was meant.
    BtfAccess resolve(std::string_view path) const;

    // The structure, union, enum or typedef of that name, in this order.
    std::optional<std::uint32_t> find_type(std::string_view name) const;
    // The kernel's own, for a module's number; throws Error for a number of no type.
    BtfType type(std::uint32_t id) const;
    // What is in a structure or union, in its order. Members of anonymous members are among them,
    // in their place. Empty for another type.
    std::vector<BtfMember> members(std::uint32_t id) const;
    // The numbers of an enum with their names. Empty for another type.
    std::vector<std::pair<std::int64_t, std::string>> words(std::uint32_t id) const;
    // An enumerator of any enum: of the first that has it. At the first question all enums are
    // read.
    struct NamedNumber {
        std::int64_t number = 0;
        std::uint32_t type = 0;  // the enum's
        bool operator==(const NamedNumber&) const = default;
    };
    std::optional<NamedNumber> enumerator(std::string_view name) const;
    // The parameters and the result of a function behind a pointer: "btf_trace_sched_switch", the
    // typedef of a raw tracepoint's. Absent where that is no such typedef.
    std::optional<BtfFunction> function_typedef(std::string_view name) const;

    // A structure, union or enum as C defines it, a member a line, with tabs.
    std::string definition(std::uint32_t id) const;
    // Its members as C declares them; those of anonymous ones in their place.
    std::vector<std::string> members_as_text(std::uint32_t id) const;
    // The names of this file's types of a kind (BTF_KIND_STRUCT...), sorted.
    std::vector<std::string> type_names(std::uint32_t kind) const;

    // Where each CPU keeps a per-CPU variable of the kernel, within its per-CPU memory. Only
    // differences tell something: where that memory begins is not in BTF.
    std::optional<std::uint32_t> per_cpu_offset(std::string_view variable) const;

private:
    class Reader;
    class Types;
    BtfFunction prototype(std::uint32_t function, std::uint32_t prototype) const;
    // All enumerators, each with its enum.
    struct Enumerator {
        std::uint32_t name, type;
    };
    // The structure, union or typedef of that name. To find one, all of the file is read.
    std::optional<std::uint32_t> find_structure(const std::string& name) const;

    std::unique_ptr<Reader> reader_;
    // What find_structure() answered: paths often begin alike.
    mutable std::map<std::string, std::optional<std::uint32_t>> structures_;
    mutable std::optional<std::vector<Enumerator>> enumerators_;
};

// The modules that have BTF, sorted.
std::vector<std::string> btf_modules();

// A loaded module's BTF as the kernel's own object, for attach_btf_fd. Needs CAP_SYS_ADMIN. Throws
// Error when the module has none.
Fd open_module_btf(std::string_view module);

}  // namespace gpufs
