#include "engine/monitor/syscall_signatures.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/suggest.h"
#include "base/text.h"
#include "kernel/host/syscall_names.h"
#include "lang/event/syscall_arguments.h"

namespace gpufs {
namespace {

// By number; "" where none has it.
std::vector<std::string> names_of_calls(std::uint32_t numbers) {
    std::vector<std::string> names;
    for (std::uint32_t nr = 0; nr < numbers; ++nr) names.emplace_back(syscall_name(nr));
    return names;
}

}  // namespace

void fill_signatures(ProgramMap& map, const std::string& wanted, Events& events) {
    const std::uint32_t others = map.spec().max_entries - 1;
    const std::vector<std::string> names = names_of_calls(others);
    const std::vector<std::string> patterns = split(wanted.empty() ? "*" : wanted, ',');
    for (const std::string& pattern : patterns)
        if (std::ranges::none_of(names, [&](const std::string& name) {
                return !name.empty() && glob_match(pattern, name);
            }))
            throw UsageError(cat("no system call is named '", pattern, "'"),
                             did_you_mean(pattern, names));
    const auto is_wanted = [&](const std::string& name) {
        return std::ranges::any_of(
            patterns, [&](const std::string& pattern) { return glob_match(pattern, name); });
    };
    for (std::uint32_t nr = 0; nr <= others; ++nr) {
        const bool is_named = nr < others && !names[nr].empty();
        if (!is_wanted(is_named ? names[nr] : "")) continue;  // "*" asks for those without a name
        const EventFormat* const format =
            is_named ? events.find_format(cat("syscalls:sys_enter_", syscall_event_name(nr)))
                     : nullptr;
        const SyscallSignature signature =
            format ? syscall_signature(*format) : unknown_signature();
        map.update(bytes_of(nr), bytes_of(signature));
    }
}

}  // namespace gpufs
