#include "support/kernel_text.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/trace/buffer_snapshot.h"
#include "engine/trace/raw_buffer.h"

namespace gpufs::test {
namespace {

// Events whose text the kernel alone can make. What differs:
//   - inode states (I_DIRTY_SYNC...): constants that the format names and no file explains
//   - pages (vmemmap_base) and ages (jiffies): variables of the kernel, "?" in ours
//   - jbd2's statistics: jiffies_to_msecs() needs the kernel's HZ
//   - pages of kvm's mmu, mc_event: functions of the kernel (they did not fire)
// Everything else that fired here is the same, byte for byte.
constexpr std::string_view kOnlyTheKernelKnows[] = {
    ": writeback_mark_inode_dirty: ",  ": writeback_dirty_inode: ",
    ": writeback_dirty_inode_start: ", ": writeback_dirty_inode_enqueue: ",
    ": writeback_lazytime: ",          ": writeback_lazytime_iput: ",
    ": writeback_single_inode: ",      ": writeback_single_inode_start: ",
    ": writeback_sb_inodes_requeue: ", ": sb_mark_inode_writeback: ",
    ": sb_clear_inode_writeback: ",    ": jbd2_run_stats: ",
    ": jbd2_checkpoint_stats: ",
};

// "=ffff888012345678" -> "=", where pointers are hashed; "page=" never has its value.
std::string comparable(std::string_view line) {
    for (const std::string_view event : kOnlyTheKernelKnows)
        if (line.find(event) != line.npos) return "(only the kernel knows)";
    std::string text;
    for (std::size_t i = 0; i < line.size();) {
        const bool is_page = text.ends_with("page=");
        const std::size_t digits = line.find_first_not_of("0123456789abcdef", i);
        const std::size_t length = std::min(digits, line.size()) - i;
        if (is_page && line[i] == '?') {
            ++i;
        } else if (length == 16 && (is_page || TraceInstance::hashes_pointers())) {
            i += length;
        } else {
            const std::size_t step = std::max<std::size_t>(length, 1);
            text += line.substr(i, step);
            i += step;
        }
    }
    return text;
}

}  // namespace

std::unique_ptr<LiveTrace> context_of(const TraceInstance& instance) {
    // Symbols take a guest a second to read: once for all tests.
    static LiveTrace shared(top(), top());
    auto live = std::make_unique<LiveTrace>(top(), instance.tracefs());
    live->context().addresses = shared.context().addresses;
    live->context().controls = Controls::raw;  // as the kernel prints them
    return live;
}

std::string kernel_text(const TraceInstance& instance, const std::function<void()>& between) {
    std::string before = read_file(instance.tracefs().path("trace"));
    for (int tries = 0; tries < 10; ++tries) {
        between();
        std::string after = read_file(instance.tracefs().path("trace"));
        if (after == before) break;
        before = std::move(after);
    }
    std::string text;
    for (const std::string_view line : lines_of(before))
        if (!line.starts_with('#') || line.starts_with("#####")) text += cat(line, '\n');
    return text;
}

std::map<std::string, int> compare(const std::string& kernel, const std::string& ours) {
    const auto theirs = lines_of(kernel), mine = lines_of(ours);
    std::map<std::string, int> seen;
    int shown = 0;
    for (std::size_t i = 0; i < std::min(theirs.size(), mine.size()) && shown < 5; ++i) {
        const std::string_view line = theirs[i];
        const auto time = line.find(": "), name = line.find_first_of(":( ", time + 2);
        if (time != line.npos && name != line.npos)
            ++seen[std::string(line.substr(time + 2, name - time - 2))];
        if (line == mine[i] || comparable(line) == comparable(mine[i])) continue;
        ++shown;
        BOOST_ERROR("kernel: " << line << "\nours:   " << mine[i]);
    }
    BOOST_TEST(theirs.size() == mine.size());
    return seen;
}

std::map<std::string, int> compare_recorded(const TraceInstance& instance) {
    std::unique_ptr<LiveTrace> live;
    const std::string kernel = kernel_text(instance, [&] { live = context_of(instance); });
    TraceContext& context = live->context();
    if (auto snapshot = BufferSnapshot::open(instance.tracefs())) {
        context.options.mark_cpu_starts = context.options.annotate && snapshot->overrun() > 0;
        auto seen = compare(kernel, as_text(*snapshot, context));
        BOOST_TEST(snapshot->damage().empty());
        return seen;
    }
    RawBuffer buffer(instance.tracefs());
    buffer.drain_rest();
    auto seen = compare(kernel, as_text(buffer, context));
    BOOST_TEST(buffer.damage().empty());
    BOOST_TEST(buffer.losses().is_complete());
    return seen;
}

int seen_of(const std::map<std::string, int>& seen, const std::string& event) {
    const auto it = seen.find(event);
    return it == seen.end() ? 0 : it->second;
}

}  // namespace gpufs::test
