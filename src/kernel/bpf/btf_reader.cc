#include "kernel/bpf/btf_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <iterator>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"

namespace gpufs {
namespace {

constexpr std::size_t kWindowBytes = 16 << 10;
constexpr std::uint32_t kIndexStep = 64;
constexpr unsigned kFewQuestions = 16;

// Bytes that follow the header of a type, by kind (include/uapi/linux/btf.h): a fixed part and a
// part per entry. The file cannot be read past a type of unknown kind, because its size is unknown.
struct Tail {
    std::uint8_t fixed, per_entry;
};
constexpr Tail kTails[] = {
    {0, 0},                        // void, which is not stored
    {4, 0},                        // INT
    {0, 0},                        // PTR
    {sizeof(btf_array), 0},        // ARRAY
    {0, sizeof(btf_member)},       // STRUCT
    {0, sizeof(btf_member)},       // UNION
    {0, sizeof(btf_enum)},         // ENUM
    {0, 0},                        // FWD
    {0, 0},                        // TYPEDEF
    {0, 0},                        // VOLATILE
    {0, 0},                        // CONST
    {0, 0},                        // RESTRICT
    {0, 0},                        // FUNC
    {0, sizeof(btf_param)},        // FUNC_PROTO
    {4, 0},                        // VAR
    {0, sizeof(btf_var_secinfo)},  // DATASEC
    {0, 0},                        // FLOAT
    {4, 0},                        // DECL_TAG
    {0, 0},                        // TYPE_TAG
    {0, 12},                       // ENUM64
};
static_assert(std::size(kTails) == 20);  // BTF_KIND_ENUM64 is 19

Fd open_btf_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd != -1) return Fd{fd};
    const int code = errno;
    if (code == ENOENT && path.starts_with("/sys/kernel/btf/"))
        throw UnsupportedError(cat("there is no BTF: no ", path),
                               path == kKernelBtf ? "a kernel with CONFIG_DEBUG_INFO_BTF=y"
                                                  : "the module must be loaded, and have BTF");
    throw SysError(code, cat("open '", path, "'"));
}

std::uint32_t hash_of(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
}

// Whether find_named() knows them.
bool is_indexed(std::uint32_t kind) {
    return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM ||
           kind == BTF_KIND_TYPEDEF || kind == kBtfEnum64;
}

}  // namespace

Btf::Reader::Reader(std::string path, const Reader* base)
    : path_(std::move(path)), base_(base), fd_(open_btf_file(path_)) {
    if (path_ == kKernelBtf) {
        struct stat status;
        if (::fstat(fd_.get(), &status) == 0 && status.st_size > 0)
            mapping_ = Mapping::of_file(fd_.get(), static_cast<std::size_t>(status.st_size));
        if (mapping_) window_ = mapping_->bytes();
    }
    const auto head = bytes(0, sizeof header_);
    std::memcpy(&header_, head.data(), sizeof header_);
    if (header_.magic != BTF_MAGIC || header_.version != BTF_VERSION)
        throw Error(cat(path_, " is no BTF of this machine's byte order"));
}

void Btf::Reader::damaged() const {
    throw Error(cat(path_, " is damaged"));
}

// The span is valid until the next call.
std::span<const std::byte> Btf::Reader::bytes(std::uint64_t at, std::size_t count) const {
    const bool is_there =
        at >= window_at_ && at + count <= window_at_ + window_.size() && !window_.empty();
    if (!is_there) {
        if (mapping_) damaged();
        buffer_.resize(std::max(kWindowBytes, count));
        const std::size_t filled = read_at(fd_.get(), at, buffer_, path_);
        window_ = std::span(buffer_).first(filled);
        window_at_ = at;
        if (filled < count) damaged();
    }
    return window_.subspan(at - window_at_, count);
}

std::size_t Btf::Reader::tail_bytes(const btf_type& head) const {
    const std::uint32_t kind = BTF_INFO_KIND(head.info);
    if (kind == 0 || kind >= std::size(kTails))
        throw Error(cat(path_, " has types of kind ", kind, ", which is newer than this gpufs"));
    return kTails[kind].fixed + std::size_t{kTails[kind].per_entry} * BTF_INFO_VLEN(head.info);
}

template <class See>
void Btf::Reader::for_each_head(std::uint32_t id, std::uint32_t offset, See see) const {
    const std::uint64_t section = header_.hdr_len + std::uint64_t{header_.type_off};
    while (offset < header_.type_len) {
        bytes(section + offset, sizeof(btf_type));
        // All heads in the current window. `see` may move the window only if it returns false.
        const std::uint64_t window_end = window_at_ + window_.size();
        do {
            btf_type head;
            std::memcpy(&head, window_.data() + (section + offset - window_at_), sizeof head);
            const std::size_t tail = tail_bytes(head);
            if (!see(id, offset, head)) return;
            ++id;
            offset += static_cast<std::uint32_t>(sizeof head + tail);
        } while (offset < header_.type_len && section + offset + sizeof(btf_type) <= window_end);
    }
}

void Btf::Reader::make_index() const {
    if (!index_.empty()) return;
    std::uint32_t seen = 0;
    const std::uint32_t first = base_ ? base_->end_id() : 1;
    for_each_head(0, 0, [&](std::uint32_t id, std::uint32_t offset, const btf_type& head) {
        if (id % kIndexStep == 0) index_.push_back(offset);
        seen = id + 1;
        const std::uint32_t kind = BTF_INFO_KIND(head.info);
        if (kind == BTF_KIND_ENUM || kind == kBtfEnum64) enums_.push_back(first + id);
        if (head.name_off != 0 && is_indexed(kind))
            named_.push_back({head.name_off, kind & 31, (first + id) & ((1U << 27) - 1)});
        return true;
    });
    count_ = seen;
}

std::uint32_t Btf::Reader::end_id() const {
    make_index();
    return (base_ ? base_->end_id() : 1) + count_;
}

std::vector<std::uint32_t> Btf::Reader::name_offsets(std::string_view name) const {
    if (!last_name_.empty() && name == last_name_) return last_offsets_;
    std::vector<std::uint32_t> found;
    const std::uint32_t shift = base_ ? base_->header_.str_len : 0;
    if (base_) found = base_->name_offsets(name);
    const std::string wanted = std::string(name) + '\0';
    const std::uint64_t section = header_.hdr_len + std::uint64_t{header_.str_off};
    const std::size_t stretch_bytes = mapping_ ? header_.str_len : kWindowBytes;
    // Stretches overlap by the name's length, so that no name is cut at their border.
    for (std::uint64_t at = 0; at + wanted.size() <= header_.str_len;) {
        const std::size_t count = std::min<std::uint64_t>(stretch_bytes, header_.str_len - at);
        const auto stretch = bytes(section + at, count);
        const std::byte* from = stretch.data();
        const std::byte* const end = from + count;
        while (const void* hit = ::memmem(from, static_cast<std::size_t>(end - from), wanted.data(),
                                          wanted.size())) {
            from = static_cast<const std::byte*>(hit) + 1;
            found.push_back(shift + static_cast<std::uint32_t>(at) +
                            static_cast<std::uint32_t>(from - 1 - stretch.data()));
        }
        at += std::max<std::size_t>(count - std::min(count, wanted.size() - 1), 1);
        if (count < stretch_bytes) break;
    }
    last_name_ = name;
    last_offsets_ = found;
    return found;
}

bool Btf::Reader::has_names() const {
    if (!names_.empty()) return true;
    if (++questions_ <= kFewQuestions) return false;
    for_each_head(
        base_ ? base_->end_id() : 1, 0, [&](std::uint32_t id, std::uint32_t, const btf_type& head) {
            if (head.name_off != 0)
                names_.push_back(
                    {head.name_off, BTF_INFO_KIND(head.info) & 31, id & ((1U << 27) - 1)});
            return true;
        });
    for (NamedType& one : names_) one.name = hash_of(name(one.name));
    std::ranges::sort(names_, {}, [](const NamedType& one) {
        return std::pair<std::uint32_t, std::uint32_t>(one.name, one.id);
    });
    return !names_.empty();
}

std::vector<Btf::Reader::Named> Btf::Reader::find_all(std::string_view wanted) const {
    std::vector<Named> found;
    const std::uint32_t hash = hash_of(wanted);
    auto one = std::ranges::lower_bound(names_, hash, {}, &NamedType::name);
    for (; one != names_.end() && one->name == hash; ++one)
        if (name(type(one->id).head.name_off) == wanted) found.push_back({one->id, one->kind});
    return found;
}

std::vector<Btf::Reader::Named> Btf::Reader::find_named(std::string_view wanted) const {
    std::vector<Named> found;
    if (wanted.empty()) return found;
    if (has_names()) {
        found = find_all(wanted);
        std::erase_if(found, [](const Named& one) { return !is_indexed(one.kind); });
        return found;
    }
    const auto offsets = name_offsets(wanted);
    if (offsets.empty()) return found;
    make_index();
    for (const NamedType& one : named_)
        if (std::ranges::binary_search(offsets, one.name)) found.push_back({one.id, one.kind});
    return found;
}

std::vector<std::uint32_t> Btf::Reader::names_of(std::uint32_t kind) const {
    std::vector<std::uint32_t> places;
    for_each_head(0, 0, [&](std::uint32_t, std::uint32_t, const btf_type& head) {
        if (BTF_INFO_KIND(head.info) == kind) places.push_back(head.name_off);
        return true;
    });
    return places;
}

const std::vector<std::uint32_t>& Btf::Reader::enums() const {
    make_index();
    return enums_;
}

std::optional<std::uint32_t> Btf::Reader::find(std::string_view wanted,
                                               std::span<const std::uint32_t> kinds) const {
    if (wanted.empty()) return std::nullopt;
    if (std::ranges::all_of(kinds, is_indexed)) {
        for (const Named& one : find_named(wanted))
            if (std::ranges::find(kinds, one.kind) != kinds.end()) return one.id;
        return std::nullopt;
    }
    if (has_names()) {
        for (const Named& one : find_all(wanted))
            if (std::ranges::find(kinds, one.kind) != kinds.end()) return one.id;
        return std::nullopt;
    }
    const auto offsets = name_offsets(wanted);
    if (offsets.empty()) return std::nullopt;
    std::optional<std::uint32_t> found;
    for_each_head(base_ ? base_->end_id() : 1, 0,
                  [&](std::uint32_t id, std::uint32_t, const btf_type& head) {
                      if (!std::ranges::binary_search(offsets, head.name_off)) return true;
                      if (std::ranges::find(kinds, BTF_INFO_KIND(head.info)) == kinds.end())
                          return true;
                      found = id;
                      return false;
                  });
    return found;
}

BtfRecord Btf::Reader::type(std::uint32_t id) const {
    const std::uint32_t first = base_ ? base_->end_id() : 1;
    if (id < first && base_) return base_->type(id);
    make_index();
    if (id < first || id >= first + count_) damaged();
    const std::uint32_t step = (id - first) / kIndexStep;
    BtfRecord record;
    for_each_head(first + step * kIndexStep, index_[step],
                  [&](std::uint32_t at, std::uint32_t offset, const btf_type& head) {
                      if (at != id) return true;
                      record.id = id;
                      record.head = head;
                      const auto tail = bytes(
                          header_.hdr_len + std::uint64_t{header_.type_off} + offset + sizeof head,
                          tail_bytes(head));
                      record.tail.assign(tail.begin(), tail.end());
                      return false;
                  });
    return record;
}

std::string Btf::Reader::name(std::uint32_t offset) const {
    const std::uint32_t shift = base_ ? base_->header_.str_len : 0;
    if (offset < shift) return base_->name(offset);
    offset -= shift;
    if (offset >= header_.str_len) damaged();
    if (mapping_) {
        const auto rest = bytes(header_.hdr_len + std::uint64_t{header_.str_off} + offset,
                                header_.str_len - offset);
        return std::string(up_to_nul(rest));
    }
    // Bypass the window, which stays at the types.
    char text[512];
    for (std::size_t room = 64;; room = sizeof text) {
        const std::uint64_t at = header_.hdr_len + std::uint64_t{header_.str_off} + offset;
        const std::size_t n =
            read_at(fd_.get(), at, std::as_writable_bytes(std::span(text, room)), path_);
        const std::size_t length = ::strnlen(text, n);
        if (length < room || room == sizeof text) return {text, length};
    }
}

}  // namespace gpufs
