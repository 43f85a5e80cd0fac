#include "kernel/bpf/btf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "kernel/bpf/btf_reader.h"
#include "kernel/bpf/syscall.h"

namespace gpufs {

template <class T>
T BtfRecord::entry(std::size_t i) const {
    if (tail.size() < (i + 1) * sizeof(T)) throw Error("BTF is damaged: a type is too short");
    T value;
    std::memcpy(&value, tail.data() + i * sizeof(T), sizeof value);
    return value;
}

namespace {

constexpr std::uint32_t kKindTypeTag = 18, kKindEnum64 = 19;

std::string kernel_btf_path(std::string_view module) {
    return cat("/sys/kernel/btf/", module);
}

bool is_wrapper(const BtfRecord& type) {
    switch (type.kind()) {
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_CONST:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_RESTRICT:
        case kKindTypeTag:
            return true;
        default:
            return false;
    }
}

bool is_composite(const BtfRecord& type) {
    return type.kind() == BTF_KIND_STRUCT || type.kind() == BTF_KIND_UNION;
}

// A member's place within the structure asked for, through anonymous members.
struct FoundMember {
    std::uint32_t type = 0;
    std::uint32_t bit_offset = 0;
    std::uint32_t bit_size = 0;
};

// Reads types of one file for one question.
template <class Reader>
class Types {
public:
    explicit Types(const Reader& reader) : reader_(reader) {}

    // Without typedef, const and their kind. Absent for void.
    std::optional<BtfRecord> bare(std::uint32_t id) const {
        for (int depth = 0; id != 0; ++depth) {
            BtfRecord type = reader_.type(id);
            if (!is_wrapper(type)) return type;
            if (depth > 32) throw Error(cat(reader_.path(), " is damaged: types go round"));
            id = type.head.type;
        }
        return std::nullopt;
    }

    // As C writes it, without the name: "char[16]", "struct task_struct *".
    std::string text(std::uint32_t id) const {
        if (id == 0) return "void";
        const BtfRecord type = reader_.type(id);
        std::string name = reader_.name(type.head.name_off);
        switch (type.kind()) {
            case BTF_KIND_PTR: {
                const std::string to = text(type.head.type);
                return cat(to, to.ends_with('*') ? "*" : " *");
            }
            case BTF_KIND_ARRAY: {
                const auto array = type.entry<btf_array>(0);
                return cat(text(array.type), '[', array.nelems, ']');
            }
            case BTF_KIND_CONST:
                return "const " + text(type.head.type);
            case BTF_KIND_VOLATILE:
                return "volatile " + text(type.head.type);
            case BTF_KIND_RESTRICT:
            case kKindTypeTag:
                return text(type.head.type);
            case BTF_KIND_FUNC_PROTO:
                return "function";
            case BTF_KIND_STRUCT:
                return "struct " + name;
            case BTF_KIND_UNION:
                return "union " + name;
            case BTF_KIND_FWD:
                return cat(type.has_bit_sizes() ? "union " : "struct ", name);
            case BTF_KIND_ENUM:
            case kKindEnum64:
                return "enum " + name;
            default:
                return name;
        }
    }

    std::size_t size(const std::optional<BtfRecord>& type) const {
        if (!type) return 0;
        if (type->kind() == BTF_KIND_PTR)
            return sizeof(void*);  // of this kernel, as of this program
        if (type->kind() != BTF_KIND_ARRAY) return type->head.size;
        const auto array = type->entry<btf_array>(0);
        return array.nelems * size(bare(array.type));
    }

    static bool is_signed(const std::optional<BtfRecord>& type) {
        if (!type) return false;
        if (type->kind() == BTF_KIND_INT)
            return BTF_INT_ENCODING(type->entry<__u32>(0)) & BTF_INT_SIGNED;
        return type->kind() == BTF_KIND_ENUM && !type->has_bit_sizes() && has_negative(*type);
    }

    bool is_text(const std::optional<BtfRecord>& type) const {
        if (!type || type->kind() != BTF_KIND_ARRAY) return false;
        const auto element = bare(type->entry<btf_array>(0).type);
        return element && element->kind() == BTF_KIND_INT && element->head.size == 1 &&
               reader_.name(element->head.name_off) == "char";
    }

    BtfValue value(std::uint32_t name, std::uint32_t id) const {
        const auto type = bare(id);
        return {reader_.name(name), size(type), is_signed(type),
                type && type->kind() == BTF_KIND_PTR, text(id)};
    }

    std::optional<FoundMember> find_member(const BtfRecord& in, std::string_view wanted) const {
        for (std::uint32_t i = 0; i < in.count(); ++i) {
            const auto member = in.entry<btf_member>(i);
            const bool packed = in.has_bit_sizes();
            const std::uint32_t at = packed ? BTF_MEMBER_BIT_OFFSET(member.offset) : member.offset;
            if (member.name_off && reader_.name(member.name_off) == wanted)
                return FoundMember{member.type, at,
                                   packed ? BTF_MEMBER_BITFIELD_SIZE(member.offset) : 0};
            if (member.name_off) continue;
            const auto inner = bare(member.type);
            if (!inner || !is_composite(*inner)) continue;
            if (auto found = find_member(*inner, wanted)) {
                found->bit_offset += at;
                return found;
            }
        }
        return std::nullopt;
    }

    void collect_members(const BtfRecord& in, std::vector<std::string>& names) const {
        for (std::uint32_t i = 0; i < in.count(); ++i) {
            const auto member = in.entry<btf_member>(i);
            if (member.name_off) {
                names.push_back(reader_.name(member.name_off));
            } else if (const auto inner = bare(member.type); inner && is_composite(*inner)) {
                collect_members(*inner, names);
            }
        }
    }

private:
    // Before Linux 6.0 an enum does not say whether it is signed.
    static bool has_negative(const BtfRecord& type) {
        for (std::uint32_t i = 0; i < type.count(); ++i)
            if (type.entry<btf_enum>(i).val < 0) return true;
        return false;
    }

    const Reader& reader_;
};

// "task_struct.real_parent->tgid" word by word; "comm[3]" has an index.
struct PathWord {
    std::string name;
    std::optional<std::uint32_t> index;
};

std::vector<PathWord> words_of(std::string_view path) {
    std::vector<PathWord> words;
    const auto bad = [&] {
        throw Error(cat("'", path, "' is no path to a member"),
                    "such as task_struct.real_parent->tgid");
    };
    for (std::size_t at = 0; at < path.size();) {
        if (!words.empty()) {
            if (path.substr(at).starts_with("->"))
                at += 2;
            else if (path[at] == '.')
                at += 1;
            else
                bad();
        }
        const std::size_t start = at;
        while (at < path.size() && is_word_char(path[at])) ++at;
        if (at == start) bad();
        PathWord word{std::string(path.substr(start, at - start)), std::nullopt};
        if (at < path.size() && path[at] == '[') {
            const auto close = path.find(']', at);
            std::uint32_t index = 0;
            if (close == path.npos) bad();
            const auto [end, failed] =
                std::from_chars(path.data() + at + 1, path.data() + close, index);
            if (failed != std::errc() || end != path.data() + close) bad();
            word.index = index;
            at = close + 1;
        }
        words.push_back(std::move(word));
    }
    if (words.empty() || (words.size() == 1 && !words.front().index)) bad();
    return words;
}

// Where a bit field is, from the bit it starts at: the unit of its type that holds it.
void place_bits(BtfAccess& access, std::uint32_t bits_from_start, std::uint32_t bit_size) {
    const auto unit_bits = static_cast<std::uint32_t>(access.size * 8);
    const std::uint32_t unit = bits_from_start / unit_bits;
    access.offset += unit * unit_bits / 8;
    access.bit_size = bit_size;
    const std::uint32_t first = bits_from_start - unit * unit_bits;
    access.bit_shift =
        std::endian::native == std::endian::little ? first : unit_bits - first - bit_size;
}

// If the member, of this type, is a bit field: access.offset is the member's first byte.
void place_bit_field(BtfAccess& access, const FoundMember& member,
                     const std::optional<BtfRecord>& type) {
    // Before kernels were built with kind flags, the integer's type carried the bits.
    std::uint32_t bits = member.bit_size, extra = 0;
    if (!bits && type && type->kind() == BTF_KIND_INT) {
        const auto encoded = type->entry<__u32>(0);
        if (BTF_INT_BITS(encoded) != type->head.size * 8 || BTF_INT_OFFSET(encoded)) {
            bits = BTF_INT_BITS(encoded);
            extra = BTF_INT_OFFSET(encoded);
        }
    }
    if (!bits || !access.size) return;
    access.offset -= member.bit_offset / 8;
    place_bits(access, member.bit_offset + extra, bits);
}

}  // namespace

Btf::Btf(std::string path, const Btf* base)
    : reader_(std::make_unique<Reader>(std::move(path), base ? base->reader_.get() : nullptr)) {}
Btf::Btf(Btf&&) noexcept = default;
Btf& Btf::operator=(Btf&&) noexcept = default;
Btf::~Btf() = default;

Btf Btf::kernel() {
    return Btf(kKernelBtf);
}

Btf Btf::module(std::string_view name, const Btf& base) {
    return Btf(kernel_btf_path(name), &base);
}

std::optional<std::uint32_t> Btf::find_function(std::string_view name) const {
    return reader_->find(name, std::array{std::uint32_t{BTF_KIND_FUNC}});
}

std::optional<BtfFunction> Btf::function(std::string_view name) const {
    const auto id = find_function(name);
    if (!id) return std::nullopt;
    const Types types(*reader_);
    const BtfRecord proto = reader_->type(reader_->type(*id).head.type);
    BtfFunction function{*id, {}, std::nullopt};
    for (std::uint32_t i = 0; i < proto.count(); ++i) {
        const auto parameter = proto.entry<btf_param>(i);
        function.parameters.push_back(types.value(parameter.name_off, parameter.type));
    }
    if (proto.head.type) function.returned = types.value(0, proto.head.type);
    return function;
}

std::optional<std::uint32_t> Btf::per_cpu_offset(std::string_view variable) const {
    const auto wanted = reader_->find(variable, std::array{std::uint32_t{BTF_KIND_VAR}});
    const auto section =
        reader_->find(".data..percpu", std::array{std::uint32_t{BTF_KIND_DATASEC}});
    if (!wanted || !section) return std::nullopt;
    const BtfRecord variables = reader_->type(*section);
    for (std::uint32_t i = 0; i < variables.count(); ++i) {
        const auto place = variables.entry<btf_var_secinfo>(i);
        if (place.type == *wanted) return place.offset;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> Btf::find_structure(const std::string& name) const {
    const auto [known, is_new] = structures_.try_emplace(name);
    if (is_new)
        known->second = reader_->find(
            name, std::array{std::uint32_t{BTF_KIND_STRUCT}, std::uint32_t{BTF_KIND_UNION},
                             std::uint32_t{BTF_KIND_TYPEDEF}});
    return known->second;
}

BtfAccess Btf::resolve(std::string_view path) const {
    const auto words = words_of(path);
    const Types types(*reader_);
    const auto root = find_structure(words[0].name);
    if (!root)
        throw NoSuchMember(cat("'", path, "': this kernel has no structure '", words[0].name, "'"));
    BtfAccess access;
    std::uint32_t id = *root;
    if (words[0].index)
        access.offset = static_cast<std::uint32_t>(*words[0].index * types.size(types.bare(id)));
    FoundMember last;
    for (std::size_t i = 1; i < words.size(); ++i) {
        auto in = types.bare(id);
        if (in && in->kind() == BTF_KIND_PTR) {
            access.pointers.push_back(access.offset);
            access.offset = 0;
            in = types.bare(in->head.type);
        }
        if (!in || !is_composite(*in))
            throw NoSuchMember(cat("'", path, "': '", words[i - 1].name, "' is ", types.text(id),
                                   ": it has no members"));
        const auto member = types.find_member(*in, words[i].name);
        if (!member) {
            std::vector<std::string> names;
            types.collect_members(*in, names);
            throw NoSuchMember(
                cat("'", path, "': ", types.text(in->id), " has no member '", words[i].name, "'"),
                did_you_mean(words[i].name, names));
        }
        last = *member;
        id = last.type;
        access.offset += last.bit_offset / 8;
        if (!words[i].index) continue;
        const auto array = types.bare(id);
        if (!array || array->kind() != BTF_KIND_ARRAY)
            throw NoSuchMember(
                cat("'", path, "': '", words[i].name, "' is ", types.text(id), ", no array"));
        const auto bounds = array->template entry<btf_array>(0);
        if (*words[i].index >= bounds.nelems)
            throw NoSuchMember(
                cat("'", path, "': '", words[i].name, "' has ", bounds.nelems, " elements"));
        id = bounds.type;
        access.offset += static_cast<std::uint32_t>(*words[i].index * types.size(types.bare(id)));
    }
    const auto type = types.bare(id);
    access.size = types.size(type);
    access.is_signed = types.is_signed(type);
    access.is_pointer = type && type->kind() == BTF_KIND_PTR;
    access.is_text = types.is_text(type);
    access.type = types.text(id);
    place_bit_field(access, last, type);
    return access;
}

std::vector<std::string> btf_modules() {
    std::vector<std::string> names;
    if (!file_exists("/sys/kernel/btf")) return names;
    for (std::string& name : list_directory("/sys/kernel/btf"))
        if (name != "vmlinux") names.push_back(std::move(name));
    return names;
}

Fd open_module_btf(std::string_view module) {
    const std::string doing = cat("find the BTF of module '", module, "'");
    for (bpf_attr next = zeroed_attr();;) {
        if (sys_bpf(BPF_BTF_GET_NEXT_ID, next) != 0) {
            const int code = errno;
            if (code == ENOENT)
                throw Error(cat("cannot ", doing, ": it is not loaded, or has none"));
            throw_bpf_error(code, doing, code == EINVAL ? "Linux 5.11 or later" : "");
        }
        next.start_id = next.next_id;
        bpf_attr open = zeroed_attr();
        open.btf_id = next.next_id;
        Fd fd{sys_bpf(BPF_BTF_GET_FD_BY_ID, open)};
        if (!fd) continue;  // gone meanwhile
        char name[64] = "";
        bpf_btf_info info;
        std::memset(&info, 0, sizeof info);
        info.name = address_of(name);
        info.name_len = sizeof name;
        bpf_attr ask = zeroed_attr();
        ask.info.bpf_fd = static_cast<__u32>(fd.get());
        ask.info.info = address_of(&info);
        ask.info.info_len = sizeof info;
        if (sys_bpf(BPF_OBJ_GET_INFO_BY_FD, ask) != 0) continue;
        if (info.kernel_btf && module == name) return fd;
    }
}

}  // namespace gpufs
