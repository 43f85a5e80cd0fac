#include "kernel/bpf/btf.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "kernel/bpf/btf_reader.h"
#include "kernel/bpf/btf_types.h"
#include "kernel/bpf/syscall.h"

namespace gpufs {

namespace {

std::string kernel_btf_path(std::string_view module) {
    return cat("/sys/kernel/btf/", module);
}

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
    Types::Member last;
    for (std::size_t i = 1; i < words.size(); ++i) {
        auto in = types.bare(id);
        if (in && in->kind() == BTF_KIND_PTR) {
            access.pointers.push_back(access.offset);
            access.offset = 0;
            in = types.bare(in->head.type);
        }
        if (!in || !Types::is_composite(*in))
            throw NoSuchMember(cat("'", path, "': '", words[i - 1].name, "' is ", types.text(id),
                                   ": it has no members"));
        const auto member = types.find_member(*in, words[i].name);
        if (!member) {
            std::vector<std::string> names;
            for (const Types::Member& one : types.members(*in))
                names.push_back(reader_->name(one.name));
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
        const auto bounds = array->entry<btf_array>(0);
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
    if (const auto bits = types.bit_field(last, type)) {
        access.offset += static_cast<std::uint32_t>(bits->offset) - last.bit_offset / 8;
        access.bit_shift = bits->shift;
        access.bit_size = bits->size;
    }
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
        if (!fd && errno == ENOENT) continue;  // gone meanwhile
        if (!fd) throw_bpf_error(errno, doing);
        char name[64] = "";
        bpf_btf_info info;
        std::memset(&info, 0, sizeof info);
        info.name = address_of(name);
        info.name_len = sizeof name;
        bpf_attr ask = zeroed_attr();
        ask.info.bpf_fd = static_cast<__u32>(fd.get());
        ask.info.info = address_of(&info);
        ask.info.info_len = sizeof info;
        if (sys_bpf(BPF_OBJ_GET_INFO_BY_FD, ask) != 0) throw_bpf_error(errno, doing);
        if (info.kernel_btf && module == name) return fd;
    }
}

}  // namespace gpufs
