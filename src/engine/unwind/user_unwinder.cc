#include "engine/unwind/user_unwinder.h"

#include <algorithm>
#include <new>

#include "base/clock.h"
#include "base/error.h"
#include "kernel/elf/call_frames.h"
#include "kernel/elf/elf_file.h"

namespace gpufs {
namespace {

// A process whose addresses stay unknown is looked at again after this time, and each time after
// twice as long.
constexpr std::uint64_t kFirstWaitNs = 100'000'000, kLongestWaitNs = 10'000'000'000;

}  // namespace

void UserUnwinder::take(const SideBandRecord& record, const ProcessTable& processes) {
    using Kind = SideBandRecord::Kind;
    switch (record.kind) {
        case Kind::exec:
            processes_[record.pid].ranges.clear();
            changed_.insert(record.pid);
            return;
        case Kind::map:
            if (processes_.contains(record.pid)) changed_.insert(record.pid);
            return;
        case Kind::fork:
            if (record.parent == record.pid || !processes_.contains(record.parent)) return;
            processes_.try_emplace(record.pid);
            changed_.insert(record.pid);
            return;
        case Kind::exit:
            if (processes.is_gone(record.pid)) gone_.insert(record.pid);
            return;
        case Kind::comm:
            return;
    }
}

UserUnwinder::File UserUnwinder::read(MappedFiles::Id id, const MappedFiles& files) {
    File made;
    if (id == MappedFiles::kAnonymous) return made;
    Fd fd = files.open_again(id);
    if (!fd) return made;
    try {
        const ElfFile elf(std::move(fd), files.name(id));
        const auto frames = find_call_frames(elf);
        if (!frames) return made;
        EhFrame rules(frames->bytes, frames->address, *kOwnUnwindMachine);
        const UnwindTable table = make_unwind_table(rules, maps_.rules());
        refused_rows_ += table.refused;
        const auto number = maps_.add(table);
        if (!number) {
            refused_rows_ += table.rows.size();
            return made;
        }
        rows_ += table.rows.size();
        made.first_page = table.first_page;
        made.pages = table.pages();
        made.number = *number;
        // Only they are mapped to run. Others may be in the same pages of the file.
        for (const GElf_Phdr& segment : elf.segments())
            if ((segment.p_flags & PF_X) != 0)
                made.segments.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
    } catch (const Error&) {
        // Not a program: it has no table.
    } catch (const std::bad_alloc&) {
        // Forged headers.
    }
    return made;
}

const UserUnwinder::File& UserUnwinder::file_of(MappedFiles::Id id, const MappedFiles& files) {
    const auto known = files_.find(id);
    if (known != files_.end()) return known->second;
    return files_.emplace(id, read(id, files)).first->second;
}

// Absent where it is over before they are known.
std::optional<std::vector<UnwindRange>> UserUnwinder::ranges_of(std::uint32_t pid, Symbols& symbols,
                                                                const IsOver& is_over) {
    std::vector<UnwindRange> ranges{{0, kNoCode}};
    const auto begin = [&](std::uint64_t start, std::uint32_t page) {
        if (ranges.back().start == start)
            ranges.back().page = page;
        else if (ranges.back().page != page || page < kNoCode)
            ranges.push_back({start, page});
    };
    for (const ProcessTable::Mapped& one : symbols.processes().mapped_now(pid)) {
        // The kernel's half, where vsyscall is: programs compare addresses as signed numbers.
        if (one.end >> 63 != 0) break;
        if (!files_.contains(one.file) && is_over()) return std::nullopt;
        begin(one.start, kNoUnwindTable);
        const File& file = file_of(one.file, symbols.files());
        for (const File::Segment& segment : file.segments) {
            // Mappings are whole pages, segments are not.
            const std::uint64_t page_begin = segment.offset / page_bytes() * page_bytes();
            if (one.offset < page_begin || one.offset >= segment.offset + segment.bytes) continue;
            const std::uint64_t address = segment.address - segment.offset + one.offset;
            if ((address ^ one.start) % kUnwindPageBytes != 0) break;
            const std::uint64_t first = address / kUnwindPageBytes,
                                behind = first + (one.end - one.start) / kUnwindPageBytes;
            const std::uint64_t from = std::max(first, file.first_page),
                                to = std::min(behind, file.first_page + file.pages);
            if (from >= to) break;
            begin(one.start + (from - first) * kUnwindPageBytes,
                  file.number + static_cast<std::uint32_t>(from - file.first_page));
            if (to < behind) begin(one.start + (to - first) * kUnwindPageBytes, kNoUnwindTable);
            break;
        }
        begin(one.end, kNoCode);
    }
    return ranges;
}

// Returns whether something changed.
bool UserUnwinder::update(std::uint32_t pid, Symbols& symbols, const IsOver& is_over) {
    auto found = ranges_of(pid, symbols, is_over);
    if (!found) return false;
    std::vector<UnwindRange> ranges = *std::move(found);
    if (ranges.size() > kRangeBlock) {
        refused_processes_.insert(pid);
        // The last one goes on to the end of memory.
        ranges.resize(kRangeBlock);
        ranges.back().page = kNoUnwindTable;
    }
    Process& process = processes_[pid];
    const auto is_same = [](const UnwindRange& a, const UnwindRange& b) {
        return a.start == b.start && a.page == b.page;
    };
    if (std::ranges::equal(ranges, process.ranges, is_same)) return false;
    if (!maps_.set_process(pid, ranges)) {
        refused_processes_.insert(pid);
        processes_.erase(pid);
        return true;
    }
    process.ranges = std::move(ranges);
    process.wait_ns = 0;
    return true;
}

void UserUnwinder::know_file(const std::string& path, Symbols& symbols) {
    if (const auto id = symbols.know_file(path)) file_of(*id, symbols.files());
}

void UserUnwinder::know(std::uint32_t pid, Symbols& symbols) {
    know(pid, symbols, [] { return false; });
}

void UserUnwinder::know(std::uint32_t pid, Symbols& symbols, const IsOver& is_over) {
    symbols.remember(pid);
    if (!symbols.processes().is_gone(pid)) update(pid, symbols, is_over);
}

void UserUnwinder::work(Symbols& symbols, const std::function<bool()>& is_over) {
    for (const std::uint32_t pid : gone_) {
        maps_.remove_process(pid);
        maps_.allow_asking(pid);
        processes_.erase(pid);
        changed_.erase(pid);
        waiting_.erase(pid);
    }
    gone_.clear();
    for (const std::uint32_t pid : changed_) update(pid, symbols, is_over);
    changed_.clear();
    const std::uint64_t now_ns = monotonic_ns();
    for (const std::uint32_t pid : maps_.take_asked()) {
        if (!processes_.contains(pid)) {
            know(pid, symbols, is_over);
            // One that runs and found no room would ask for ever.
            if (processes_.contains(pid) || symbols.processes().is_gone(pid))
                maps_.allow_asking(pid);
            continue;
        }
        symbols.processes().look_again(pid);
        update(pid, symbols, is_over);
        Process& process = processes_[pid];
        process.wait_ns = std::clamp(process.wait_ns * 2, kFirstWaitNs, kLongestWaitNs);
        process.may_ask_ns = now_ns + process.wait_ns;
        waiting_.insert(pid);
    }
    std::erase_if(waiting_, [&](std::uint32_t pid) {
        const auto process = processes_.find(pid);
        if (process != processes_.end() && process->second.may_ask_ns > now_ns) return false;
        maps_.allow_asking(pid);
        return true;
    });
}

LossLedger UserUnwinder::refused() const {
    return {
        {"rows of unwind tables that found no room", Loss::exactly(refused_rows_)},
        {"processes whose unwind tables found no room", Loss::exactly(refused_processes_.size())}};
}

}  // namespace gpufs
