#include "kernel/host/syscall_names.h"

#include <asm/unistd.h>

#include <algorithm>
#include <span>
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

// What headers may lack that are older than the running kernel. Since number 403 all architectures
// have the same (arch/*/kernel/syscalls/syscall.tbl, scripts/syscall.tbl).
constexpr Entry kNewer[] = {
#if defined __x86_64__
    {335, "uretprobe"},         {336, "uprobe"},
#endif
    {451, "cachestat"},         {452, "fchmodat2"},        {453, "map_shadow_stack"},
    {454, "futex_wake"},        {455, "futex_wait"},       {456, "futex_requeue"},
    {457, "statmount"},         {458, "listmount"},        {459, "lsm_get_self_attr"},
    {460, "lsm_set_self_attr"}, {461, "lsm_list_modules"}, {462, "mseal"},
    {463, "setxattrat"},        {464, "getxattrat"},       {465, "listxattrat"},
    {466, "removexattrat"},     {467, "open_tree_attr"},   {468, "file_getattr"},
    {469, "file_setattr"},      {470, "listns"},
};

// Calls whose function in the kernel, and so whose event, has another name.
struct Renamed {
    std::string_view event, call;
};
constexpr Renamed kRenamed[] = {
    {"newstat", "stat"},   {"newfstat", "fstat"},      {"newlstat", "lstat"},
    {"newuname", "uname"}, {"sendfile64", "sendfile"}, {"umount", "umount2"},
};

std::vector<std::string_view> make_table() {
    std::vector<std::string_view> table;
    const auto add = [&](const Entry& entry) {
        // Some architectures number special calls with their own prefix far away.
        if (entry.nr < 0 || entry.nr > 4096) return;
        const auto at = static_cast<std::size_t>(entry.nr);
        if (at >= table.size()) table.resize(at + 1);
        table[at] = entry.name;
    };
    std::ranges::for_each(kNewer, add);
    std::ranges::for_each(kEntries, add);
    return table;
}

}  // namespace

std::string_view syscall_name(long nr) {
    static const std::vector<std::string_view> table = make_table();
    const auto at = static_cast<std::size_t>(nr);
    return nr >= 0 && at < table.size() ? table[at] : std::string_view();
}

std::optional<long> syscall_number(std::string_view name) {
    for (const std::span<const Entry> table :
         {std::span<const Entry>(kEntries), std::span<const Entry>(kNewer)}) {
        const auto it = std::ranges::find(table, name, &Entry::name);
        if (it != table.end()) return it->nr;
    }
    return std::nullopt;
}

std::optional<long> syscall_number_of_event(std::string_view name) {
    const auto renamed = std::ranges::find(kRenamed, name, &Renamed::event);
    if (renamed == std::end(kRenamed)) return syscall_number(name);
    const auto number = syscall_number(renamed->call);
    return number ? number : syscall_number(name);
}

std::string_view syscall_event_name(long nr) {
    const std::string_view name = syscall_name(nr);
    const auto renamed = std::ranges::find(kRenamed, name, &Renamed::call);
    return renamed == std::end(kRenamed) ? name : renamed->event;
}

}  // namespace gpufs
