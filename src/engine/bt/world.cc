#include "engine/bt/world.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "base/file.h"
#include "base/pieces.h"
#include "base/sorted.h"
#include "base/text.h"
#include "engine/places/static_sites.h"
#include "engine/symbols/code_files.h"
#include "engine/symbols/named_functions.h"
#include "kernel/elf/elf_symbols.h"
#include "kernel/host/kallsyms.h"
#include "kernel/host/mounts.h"
#include "kernel/host/syscall_names.h"
#include "lang/program/function_pattern.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs::bt {
namespace {

// Where cgroups of version 2 are mounted.
std::vector<std::string> cgroup_mounts() {
    std::vector<std::string> found;
    for (Mount& mount : mounts())
        if (mount.type == "cgroup2") found.push_back(std::move(mount.at));
    return found;
}

}  // namespace

const EventFormat* KernelWorld::event(const std::string& full_name) {
    return facts_.events().find_format(full_name);
}

std::vector<std::string> KernelWorld::events(const std::string& pattern) {
    std::vector<std::string> names = facts_.events().names(pattern);
    sort_unique(names);
    return names;
}

std::vector<std::string> KernelWorld::functions(const std::string& pattern) {
    return facts_.functions(pattern);
}

// What `ask` says of a file; nothing, or why, where there is none.
template <class Ask>
auto KernelWorld::of_file(const std::string& file, Ask ask) const {
    using Answer = decltype(ask(file));
    Absent absent{"a recording has no programs", ""};
    if (!facts_.is_recording()) {
        auto path = find_code_file(file);
        if (const std::string* found = std::get_if<std::string>(&path)) return ask(*found);
        absent = std::get<Absent>(std::move(path));
    }
    Answer none{};
    if constexpr (requires { none.trouble; }) {
        none.trouble = absent.why;
        none.hint = absent.hint;
    }
    return none;
}

World::UserFiles KernelWorld::user_files(const std::string& file) {
    if (facts_.is_recording()) return {{}, "a recording has no programs", ""};
    auto found = find_code_files(file, processes_);
    if (const Absent* absent = std::get_if<Absent>(&found)) return {{}, absent->why, absent->hint};
    return {std::get<0>(std::move(found)), "", ""};
}

std::vector<std::string> KernelWorld::user_functions(const std::string& file,
                                                     const std::string& pattern) {
    return of_file(file, [&](const std::string& path) {
        std::vector<std::string> names;
        std::vector<ElfFunction> found;
        if (!is_readable_name(pattern)) found = find_functions(path, pattern);
        if (found.empty() && !is_function_pattern(pattern))
            found = find_readable_functions(path, pattern);
        for (ElfFunction& function : found) names.push_back(std::move(function.name));
        sort_unique(names);
        return names;
    });
}

World::UserLine KernelWorld::user_line(const std::string& file, const std::string& source,
                                       std::uint64_t line) {
    return of_file(file,
                   [&](const std::string& path) { return programs_.line(path, source, line); });
}

World::UserFunction KernelWorld::user_function(const std::string& file, const std::string& name) {
    return of_file(file, [&](const std::string& path) { return programs_.function(path, name); });
}

TypePtr KernelWorld::find_user_type(const std::string& file, const std::string& name) {
    return of_file(file, [&](const std::string& path) { return programs_.find_type(path, name); });
}

bool KernelWorld::has_types() {
    return !facts_.is_recording() && types_.are_there();
}

TypePtr KernelWorld::find_type(const std::string& name) {
    return has_types() ? types_.find_type(name) : nullptr;
}

std::shared_ptr<const Structure> KernelWorld::find_structure(const std::string& name) {
    return has_types() ? types_.find_structure(name) : nullptr;
}

std::optional<World::Enumerator> KernelWorld::enumerator(const std::string& name) {
    constexpr std::string_view kCall = "__NR_";
    if (name.starts_with(kCall)) {
        const auto number = syscall_number(name.substr(kCall.size()));
        return number ? std::optional(Enumerator{*number}) : std::nullopt;
    }
    return has_types() ? types_.enumerator(name) : std::nullopt;
}

std::optional<std::vector<Type::Field>> KernelWorld::parameters(const std::string& function) {
    return has_types() ? types_.parameters(function) : std::nullopt;
}

std::optional<std::vector<Type::Field>> KernelWorld::raw_tracepoint(const std::string& event) {
    return has_types() ? types_.raw_tracepoint(event) : std::nullopt;
}

std::optional<std::uint64_t> KernelWorld::kernel_symbol(const std::string& name) {
    if (facts_.is_recording()) return std::nullopt;
    const auto known = kernel_symbols_.find(name);
    if (known != kernel_symbols_.end()) return known->second;
    std::optional<std::uint64_t>& address = kernel_symbols_[name];
    for_each_line(kallsyms_if_readable(), [&](std::string_view line) {
        if (address) return;
        const auto symbol = parse_kallsyms_line(line);
        if (symbol && symbol->name == name && symbol->address != 0) address = symbol->address;
    });
    return address;
}

std::optional<std::uint64_t> KernelWorld::cgroup_id(const std::string& path) {
    if (facts_.is_recording()) return std::nullopt;
    std::vector<std::string> places{path};
    for (const std::string& mount : cgroup_mounts()) places.push_back(mount + '/' + path);
    for (const std::string& place : places) {
        // The id is the number of the directory (cgroup_id() of include/linux/cgroup.h).
        struct stat status;
        struct statfs system;
        if (::statfs(place.c_str(), &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC &&
            ::stat(place.c_str(), &status) == 0)
            return status.st_ino;
    }
    return std::nullopt;
}

std::optional<World::UserSymbol> KernelWorld::user_symbol(const std::string& file,
                                                          const std::string& name) {
    return of_file(file, [&](const std::string& path) -> std::optional<UserSymbol> {
        const ElfFile elf(path);
        const auto found = find_symbol(elf, name);
        if (!found) return std::nullopt;
        return UserSymbol{found->address, found->size, elf.is_moved()};
    });
}

std::optional<World::UserPlace> KernelWorld::user_function_at(const std::string& file,
                                                              std::uint64_t address) {
    return of_file(file, [&](const std::string& path) -> std::optional<UserPlace> {
        const ElfFile elf(path);
        if (auto found = find_function_at(elf, address))
            return UserPlace{std::move(found->function), found->offset};
        const auto offset = elf.file_offset(address);
        return offset ? std::optional(UserPlace{{}, *offset}) : std::nullopt;
    });
}

std::vector<World::StaticProbe> KernelWorld::static_probes(const std::string& file,
                                                           const std::string& provider,
                                                           const std::string& name) {
    return of_file(file, [&](const std::string& path) {
        std::vector<StaticProbe> found;
        for (StaticPlace& one : find_static_places(path, provider, name))
            found.push_back({std::move(one.probe.provider), std::move(one.probe.name),
                             std::move(one.arguments), one.probe.address});
        return found;
    });
}

}  // namespace gpufs::bt
