#include "lang/program/file_path.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/cat.h"

namespace gpufs {
namespace {

using Bytes = FilePathLayout;

// include/uapi/linux/magic.h, include/linux/net.h.
constexpr std::uint64_t kPipes = 0x50495045, kSockets = 0x534f434b, kAnonymous = 0x09041934,
                        kNamespaces = 0x6e736673, kProcesses = 0x50494446;

template <class Number>
Number number_at(std::span<const std::byte> value, std::size_t at) {
    Number number;
    std::memcpy(&number, value.data() + at, sizeof number);
    return number;
}

// The names from the file up.
std::vector<std::string_view> names_in(std::span<const std::byte> value) {
    const std::size_t length = std::min<std::size_t>(
        number_at<std::uint32_t>(value, Bytes::kLengthAt), Bytes::kBytes - Bytes::kNamesAt);
    std::string_view rest = chars_of(value).substr(Bytes::kNamesAt, length);
    std::vector<std::string_view> names;
    while (!rest.empty()) {
        names.push_back(up_to_nul(rest));
        rest.remove_prefix(std::min(names.back().size() + 1, rest.size()));
    }
    return names;
}

}  // namespace

std::string file_path_text(std::span<const std::byte> value) {
    if (value.size() < Bytes::kBytes) return {};
    const auto inode = number_at<std::uint64_t>(value, Bytes::kInodeAt);
    const auto flags = number_at<std::uint32_t>(value, Bytes::kFlagsAt);
    const std::vector<std::string_view> names = names_in(value);
    const std::string_view own = names.empty() ? std::string_view() : names.front();
    switch (number_at<std::uint64_t>(value, Bytes::kMagicAt)) {
        case kPipes:
            if (flags & Bytes::unattached) return cat("pipe:[", inode, ']');
            break;
        case kSockets:
            return cat("socket:[", inode, ']');
        case kAnonymous:
            return cat("anon_inode:", own);
        case kNamespaces:
            return cat("namespace:[", inode, ']');
        case kProcesses:
            return "anon_inode:[pidfd]";
        default:
            break;
    }
    if (flags & Bytes::unattached) return cat('/', own, " (deleted)");
    std::string path = flags & Bytes::cut ? "..." : "";
    for (auto name = names.rbegin(); name != names.rend(); ++name) path += cat('/', *name);
    if (path.empty()) path = "/";
    if (flags & Bytes::removed) path += " (deleted)";
    return path;
}

}  // namespace gpufs
