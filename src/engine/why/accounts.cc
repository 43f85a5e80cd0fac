#include "engine/why/accounts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <set>
#include <span>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/kernel_abi.h"
#include "kernel/host/proc_task.h"

namespace gpufs {
namespace {

// As in the text.
constexpr std::uint32_t kBegins = 8;
// Below all errors of get_stackid(): stacks that /proc told.
constexpr std::int32_t kFirstSeed = -10'000;

using Comm = std::array<char, kCommBytes>;
struct ThreadValue {
    std::uint64_t since = 0, ready = 0, delay = 0, came = 0, ran = 0;
    std::uint32_t tid = 0, root = 0, state = kBegins;
    std::int32_t place = -1;
    std::uint32_t waits = 0, moves = 0, fence[2]{};
    std::array<char, 24> driver{}, timeline{};
};
struct SpentKey {
    std::uint32_t root = 0, use = 0;
    std::int32_t place = 0;
    std::uint32_t tgid = 0;
    Comm comm{};
    std::array<char, 24> driver{}, timeline{};
};

ThreadValue thread_in(std::span<const std::byte> value) {
    ThreadValue thread;
    std::memcpy(&thread, value.data(), sizeof thread);
    return thread;
}

bool is_watched(std::span<const std::byte> value) {
    return thread_in(value).since != 0;
}

void check_layouts(const Program& program) {
    const MapDeclaration* threads = program.find_map("threads");
    const MapDeclaration* account = program.find_map("account");
    if (!threads || !account || threads->value.bytes != sizeof(ThreadValue) ||
        threads->value.find("timeline")->offset != offsetof(ThreadValue, timeline) ||
        account->key.bytes != sizeof(SpentKey) ||
        account->key.find("timeline")->offset != offsetof(SpentKey, timeline))
        throw Error(cat("program '", program.name, "' does not lay its maps out as they are read"));
}

}  // namespace

std::uint64_t TimeAccount::total_ns() const {
    return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const TimePart& part) { return sum + part.ns; });
}

TimeAccounts::TimeAccounts(RunningProgram& running)
    : running_(running), maps_(running), stacks_(running) {
    check_layouts(running.program());
}

void TimeAccounts::add_thread(int tid, std::uint32_t root, std::uint64_t since_ns) {
    ThreadValue thread;
    thread.since = thread.ready = since_ns;
    thread.tid = static_cast<std::uint32_t>(tid);
    thread.root = root;
    ProgramMap& threads = *running_.map("threads");
    std::vector<std::byte> known(threads.whole_value_bytes());
    // Started by a thread that is watched.
    if (threads.lookup(bytes_of(thread.tid), known)) return;
    try {
        threads.update(bytes_of(thread.tid), bytes_of(thread));
    } catch (const SysError& e) {
        if (e.code() != E2BIG) throw;
        throw Error(
            cat("more than ", threads.spec().max_entries, " threads cannot be watched at a time"),
            "name fewer processes");
    }
}

// No event of it comes any more. The program ignores what has no time to count from.
void TimeAccounts::leave_out(int tid) {
    ThreadValue nothing;
    nothing.tid = static_cast<std::uint32_t>(tid);
    ProgramMap& threads = *running_.map("threads");
    std::vector<std::byte> known(threads.whole_value_bytes());
    if (threads.lookup(bytes_of(nothing.tid), known))
        threads.update(bytes_of(nothing.tid), bytes_of(nothing));
}

// What it does now it has done since it was added, unless the program has seen an event of it: then
// nobody asks for this.
void TimeAccounts::look_at(int tid) {
    const auto stat = proc::stat(tid);
    if (!stat || stat->has_ended()) return leave_out(tid);
    if (stat->state == 'R') return;
    std::vector<std::string> stack = proc::stack(tid);
    if (stack.empty())
        if (const std::string function = proc::wchan(tid); !function.empty()) stack = {function};
    const auto number = static_cast<std::uint32_t>(tid);
    const std::int32_t seed = kFirstSeed - static_cast<std::int32_t>(seeds_.size());
    seeds_.push_back(std::move(stack));
    running_.map("seeds")->update(bytes_of(number), bytes_of(seed));
}

void TimeAccounts::watch(int pid, const std::string& comm) {
    roots_.push_back({pid, comm});
    std::set<int> known;
    // Until no thread has come that was started by one that was not watched yet.
    for (bool is_new = true; is_new;) {
        is_new = false;
        const std::uint64_t now = monotonic_ns();
        for (const int tid : proc::threads(pid)) {
            if (!known.insert(tid).second) continue;
            is_new = true;
            add_thread(tid, static_cast<std::uint32_t>(pid), now);
        }
    }
    for (const int tid : known) look_at(tid);
}

void TimeAccounts::watch_command(int pid, const std::string& comm) {
    roots_.push_back({pid, comm});
    add_thread(pid, static_cast<std::uint32_t>(pid), 0);
}

void TimeAccounts::watch_recorded(int pid) {
    roots_.push_back({pid, ""});
    const auto number = static_cast<std::uint32_t>(pid);
    running_.map("roots")->update(bytes_of(number), bytes_of(number));
}

bool TimeAccounts::has_threads() const {
    bool has = false;
    running_.map("threads")->for_each(
        [&](std::span<const std::byte>, std::span<const std::byte> value) {
            has = has || is_watched(value);
        });
    return has;
}

TimePart TimeAccounts::part_of(const MapEntry& entry) const {
    SpentKey key;
    std::memcpy(&key, entry.key.data(), sizeof key);
    TimePart part;
    part.use = static_cast<TimeUse>(key.use);
    part.ns = entry.words[0];
    part.driver = up_to_nul(key.driver);
    part.timeline = up_to_nul(key.timeline);
    part.pid = static_cast<int>(key.tgid);
    part.comm = up_to_nul(key.comm);
    if (part.use != TimeUse::blocked) return part;
    if (key.place <= kFirstSeed)
        part.stack_names = seeds_.at(static_cast<std::size_t>(kFirstSeed - key.place));
    else
        part.stack = stacks_.frames("stacks", key.place);
    return part;
}

std::vector<TimeAccount> TimeAccounts::take() {
    std::map<std::uint32_t, TimeAccount> by_root;
    running_.map("threads")->for_each(
        [&](std::span<const std::byte>, std::span<const std::byte> value) {
            if (is_watched(value)) ++by_root[thread_in(value).root].threads;
        });
    running_.turn();
    const MapEntries entries = maps_.take("account");
    for (const MapEntry& entry : entries) {
        SpentKey key;
        std::memcpy(&key, entry.key.data(), sizeof key);
        by_root[key.root].parts.push_back(part_of(entry));
    }
    for (const MapEntry& entry : maps_.take("ended")) {
        std::uint32_t root = 0;
        std::memcpy(&root, entry.key.data(), sizeof root);
        by_root[root].threads += entry.words[0];
    }
    std::set<StackMaps::Name> used;
    StackMaps::add_names(*running_.program().find_map("account"), entries, used);
    stacks_.release(std::move(used));
    std::vector<TimeAccount> accounts;
    for (const Root& root : roots_) {
        TimeAccount& account = by_root[static_cast<std::uint32_t>(root.pid)];
        account.pid = root.pid;
        account.comm = root.comm;
        accounts.push_back(std::move(account));
    }
    return accounts;
}

}  // namespace gpufs
