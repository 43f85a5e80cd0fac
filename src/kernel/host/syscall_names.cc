#include "kernel/host/syscall_names.h"

#include <asm/unistd.h>

#include <algorithm>
#include <vector>

namespace gpufs {
namespace {

struct Entry {
    long nr;
    std::string_view name;
};

// The Makefile generates this from <asm/unistd.h>: a line SYSCALL(name) for each __NR_name.
constexpr Entry kEntries[] = {
#define SYSCALL(name) {__NR_##name, #name},
#include "syscall_list.inc"
#undef SYSCALL
};

std::vector<std::string_view> make_table() {
    std::vector<std::string_view> table;
    for (const Entry& entry : kEntries) {
        // Some architectures number special calls with their own prefix far away.
        if (entry.nr < 0 || entry.nr > 4096) continue;
        const auto at = static_cast<std::size_t>(entry.nr);
        if (at >= table.size()) table.resize(at + 1);
        table[at] = entry.name;
    }
    return table;
}

}  // namespace

std::string_view syscall_name(long nr) {
    static const std::vector<std::string_view> table = make_table();
    const auto at = static_cast<std::size_t>(nr);
    return nr >= 0 && at < table.size() ? table[at] : std::string_view();
}

std::optional<long> syscall_number(std::string_view name) {
    const auto it = std::ranges::find(kEntries, name, &Entry::name);
    return it == std::end(kEntries) ? std::nullopt : std::optional(it->nr);
}

}  // namespace gpufs
