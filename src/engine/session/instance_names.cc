#include "engine/session/instance_names.h"

#include <algorithm>

#include "base/cat.h"
#include "base/scan.h"

namespace gpufs {
namespace {

constexpr std::string_view kGroupPrefix = "gpufs_";

}  // namespace

std::string group_of_instance(std::string_view instance) {
    std::string group(instance);
    if (instance.starts_with(kSessionPrefix))
        group.replace(0, kSessionPrefix.size(), kGroupPrefix);
    else
        std::ranges::replace(group, '.', '_');
    return group;
}

// A session's name begins with a letter, what follows in a command's own instance with a digit.
std::string instance_of_group(std::string_view group) {
    if (group == kDefaultInstance) return std::string(kDefaultInstance);
    if (!group.starts_with(kGroupPrefix)) return {};
    std::string rest(group.substr(kGroupPrefix.size()));
    if (rest.empty() || !std::ranges::all_of(rest, is_word_char)) return {};
    if (is_letter(rest[0])) return cat(kSessionPrefix, rest);
    if (!is_digit(rest[0])) return {};
    std::ranges::replace(rest, '_', '.');
    return cat(kInstancePrefix, rest);
}

}  // namespace gpufs
