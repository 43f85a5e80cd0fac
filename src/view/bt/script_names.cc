#include "view/bt/script_names.h"

#include <fts.h>
#include <pwd.h>

#include <cstdio>
#include <ctime>
#include <memory>
#include <unordered_map>

#include "base/cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "engine/results/stack_maps.h"
#include "kernel/host/proc_task.h"
#include "lang/symbols/probe_functions.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr const char* kCgroupMount = "/sys/fs/cgroup";

std::uint64_t now_ns(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kSecond +
           static_cast<std::uint64_t>(now.tv_nsec);
}

class LiveNames : public ScriptNames {
public:
    LiveNames(Symbols& symbols, const RunningProgram& running)
        : symbols_(symbols), stacks_(running) {}

    Frame kernel(std::uint64_t address, FramePlace place) override {
        return symbols_.kernel(address, place);
    }
    Frame user(std::uint32_t pid, std::uint64_t address, FramePlace place) override {
        return symbols_.user(pid, address, place);
    }
    std::optional<Symbols::FilePlace> file_place(std::uint32_t pid,
                                                 std::uint64_t address) override {
        return symbols_.file_place(pid, address);
    }
    std::vector<std::uint64_t> frames(const std::string& map, std::int32_t id) override {
        std::vector<std::uint64_t> frames = stacks_.frames(map, id);
        const bool is_kernel = !frames.empty() && static_cast<std::int64_t>(frames[0]) < 0;
        if (is_kernel)
            drop_probe_frames(frames,
                              [this](std::uint64_t at) { return symbols_.kernel(at).name; });
        return frames;
    }
    std::string user_name(std::uint64_t uid) override {
        if (user_names_.empty()) read_users();
        const auto known = user_names_.find(uid);
        return known == user_names_.end() ? "" : known->second;
    }
    std::string task_name(std::uint32_t tid) override {
        std::string& known = task_names_[tid];  // stays when the task is gone
        if (std::string name = proc::comm(static_cast<int>(tid)); !name.empty())
            known = std::move(name);
        return known;
    }
    // A cgroup's id is its directory's inode number. No later one has the id of one that is gone.
    std::string cgroup_path(std::uint64_t id) override {
        if (!cgroups_.contains(id)) read_cgroups();
        return cgroups_[id];
    }
    std::uint64_t wall_ns(Clock clock, std::uint64_t ns) override {
        if (clock == Clock::monotonic) return ns + real_time_ahead_ns();
        if (clock == Clock::boot) return ns + (now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME));
        return ns - tai_ahead_of_real_ns();
    }

private:
    // The file itself: what a name service knows besides takes libraries that a static binary does
    // not have.
    void read_users() {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/etc/passwd", "re"),
                                                                   std::fclose);
        while (const passwd* user = file ? ::fgetpwent(file.get()) : nullptr)
            user_names_.emplace(user->pw_uid, user->pw_name);
    }

    void read_cgroups() {
        for (std::string mount : {"/sys/fs/cgroup/unified", kCgroupMount}) {
            if (!file_exists(mount + "/cgroup.controllers")) continue;
            char* const roots[] = {mount.data(), nullptr};
            const std::unique_ptr<FTS, int (*)(FTS*)> walk(
                ::fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, nullptr), ::fts_close);
            while (const FTSENT* entry = walk ? ::fts_read(walk.get()) : nullptr) {
                if (entry->fts_info != FTS_D) continue;
                const std::string_view below =
                    std::string_view(entry->fts_path).substr(mount.size());
                cgroups_[entry->fts_ino] = cat("unified:", below.empty() ? "/" : below);
            }
            return;
        }
    }

    Symbols& symbols_;
    StackMaps stacks_;
    std::unordered_map<std::uint64_t, std::string> user_names_;
    std::unordered_map<std::uint32_t, std::string> task_names_;
    std::unordered_map<std::uint64_t, std::string> cgroups_;
};

class RecordedNames : public ScriptNames {
public:
    RecordedNames(TraceContext& context, const RunningProgram& running)
        : context_(context), stacks_(running) {}

    Frame kernel(std::uint64_t address, FramePlace place) override {
        Frame frame;
        const auto symbol = context_.addresses.frame(address, place);
        frame.offset = symbol ? symbol->offset : address;
        if (symbol) frame.name = symbol->name;
        if (symbol && !symbol->module.empty()) frame.module = cat('[', symbol->module, ']');
        return frame;
    }
    Frame user(std::uint32_t, std::uint64_t address, FramePlace) override {
        Frame frame;
        frame.offset = address;
        return frame;
    }
    std::optional<Symbols::FilePlace> file_place(std::uint32_t, std::uint64_t) override {
        return std::nullopt;
    }
    std::vector<std::uint64_t> frames(const std::string& map, std::int32_t id) override {
        return stacks_.frames(map, id);
    }
    std::string user_name(std::uint64_t) override { return {}; }
    std::string task_name(std::uint32_t tid) override {
        const int id = static_cast<int>(tid);
        return context_.tasks.knows(id) ? std::string(context_.tasks.comm(id)) : std::string();
    }
    std::string cgroup_path(std::uint64_t) override { return {}; }
    // A recording's times stay what they are.
    std::uint64_t wall_ns(Clock, std::uint64_t ns) override { return ns; }

private:
    TraceContext& context_;
    StackMaps stacks_;
};

}  // namespace

std::unique_ptr<ScriptNames> live_script_names(Symbols& symbols, const RunningProgram& running) {
    return std::make_unique<LiveNames>(symbols, running);
}

std::unique_ptr<ScriptNames> recorded_script_names(TraceContext& context,
                                                   const RunningProgram& running) {
    return std::make_unique<RecordedNames>(context, running);
}

}  // namespace gpufs
