#include "engine/session/scratch_instance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

constexpr std::string_view kInstancePrefix = "gpufs.";
constexpr std::string_view kGroupPrefix = "gpufs_";

// Field 22 of /proc/self/stat: clock ticks from boot to the start of this process. The second field
// is the command in parentheses, which may contain any character.
std::string start_time() {
    const std::string stat = read_file("/proc/self/stat");
    const auto words = split(std::string_view(stat).substr(stat.rfind(')') + 1), ' ');
    if (words.size() < 20) throw Error("cannot read the start time in /proc/self/stat");
    return words[19];
}

// "123_456" for "gpufs_123_456"; empty for the group of a named session, whose name starts with a
// letter.
std::string_view owner_of_group(std::string_view group) {
    if (!group.starts_with(kGroupPrefix)) return {};
    group.remove_prefix(kGroupPrefix.size());
    const bool is_owner = !group.empty() && std::ranges::all_of(group, [](char c) {
        return is_digit(c) || c == '_';
    });
    return is_owner ? group : std::string_view();
}

// "p:gpufs/open vfs_open" and "p:probe_corosync/timer …": the group is between ':' and '/'.
std::string_view group_of(std::string_view definition) {
    const auto colon = definition.find(':');
    if (colon == definition.npos) return {};
    const auto slash = definition.find('/', colon);
    if (slash == definition.npos) return {};
    return definition.substr(colon + 1, slash - colon - 1);
}

// Older kernels have one file per kind of probe; newer ones also have one for all kinds.
constexpr std::string_view kDefinitionFiles[] = {"dynamic_events", "kprobe_events",
                                                 "uprobe_events"};

}  // namespace

ScratchInstance::ScratchInstance(const Tracefs& top, std::string_view suffix)
    : top_(top), here_(top) {
    const std::string started = start_time();
    name_ = cat(kInstancePrefix, ::getpid(), '.', started);
    if (!suffix.empty()) name_ += cat('.', suffix);
    probe_group_ = cat(kGroupPrefix, ::getpid(), '_', started);
    here_ = top.instance(name_);
    // Another gpufs that cleans up may remove the instance before it is held: retry.
    constexpr int kTries = 10;
    for (int attempt = 0; !held_; ++attempt) {
        check(::mkdir(here_.root().c_str(), 0750),
              [&] { return cat("make the instance ", here_.root()); });
        held_ = Fd{::open(here_.path("tracing_on").c_str(), O_RDONLY | O_CLOEXEC)};
        if (held_) break;
        const int code = errno;
        if (code != ENOENT || attempt == kTries)
            throw SysError(code, cat("open ", here_.path("tracing_on")));
    }
}

ScratchInstance::~ScratchInstance() {
    held_ = Fd();
    ::rmdir(here_.root().c_str());
    try {
        remove_probes(top_, probe_group_);
    } catch (const Error&) {
        // The next start of gpufs removes them, because their instance is gone.
    }
}

std::vector<std::string> probes_of(const Tracefs& top, const std::string& group) {
    std::set<std::string> lines;  // the same probe stands in two files
    for (const std::string_view file : kDefinitionFiles) {
        const std::string text = top.read_if_readable(file).value_or("");
        for (const std::string_view line : lines_of(text))
            if (group_of(line) == group) lines.emplace(line);
    }
    return {lines.begin(), lines.end()};
}

void remove_probes(const Tracefs& top, const std::string& group) {
    for (const std::string_view file : kDefinitionFiles) {
        const std::string text = top.read_if_readable(file).value_or("");
        for (const std::string_view line : lines_of(text)) {
            if (group_of(line) != group) continue;
            const auto colon = line.find(':');
            const auto name = line.substr(colon, line.find(' ') - colon);
            top.write(file, cat("-", name, "\n"), Write::append);
        }
    }
}

std::vector<std::string> remove_stale(const Tracefs& top) {
    std::vector<std::string> removed;
    if (!top.has("instances")) return removed;
    for (const std::string& instance : top.instances()) {
        if (!instance.starts_with(kInstancePrefix)) continue;
        // Fails with EBUSY while the owner lives, and with EPERM without permission.
        if (::rmdir(top.instance(instance).root().c_str()) == 0)
            removed.push_back(cat("instance ", instance));
    }
    std::set<std::string> groups;
    for (const std::string_view file : kDefinitionFiles) {
        const std::string text = top.read_if_readable(file).value_or("");
        for (const std::string_view line : lines_of(text))
            if (!owner_of_group(group_of(line)).empty()) groups.emplace(group_of(line));
    }
    for (const std::string& group : groups) {
        std::string owner(owner_of_group(group));
        std::ranges::replace(owner, '_', '.');
        if (top.has(cat("instances/", kInstancePrefix, owner))) continue;  // alive
        try {
            remove_probes(top, group);
            removed.push_back(cat("probes in group ", group));
        } catch (const SysError&) {
            // Another process has them enabled: leave them.
        }
    }
    return removed;
}

}  // namespace gpufs
