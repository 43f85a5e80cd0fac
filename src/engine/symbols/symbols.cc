#include "engine/symbols/symbols.h"

#include <algorithm>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host/proc_task.h"
#include "lang/symbols/function_name.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostKnown = 8192;
// Limits for perf maps of JIT compilers: their number and their total size.
constexpr std::size_t kMostJits = 256, kMostJitBytes = 256 << 20;
constexpr auto kLookAgain = std::chrono::milliseconds(100);

}  // namespace

void Symbols::watch(Visit visit) {
    if (side_band_) return;
    side_band_.emplace(visit ? SideBand::Wakes::at_once : SideBand::Wakes::half_full);
    visit_ = std::move(visit);
}

std::vector<int> Symbols::fds() const {
    return side_band_ ? side_band_->fds() : std::vector<int>();
}

void Symbols::drain() {
    if (!side_band_) return;
    using Kind = SideBandRecord::Kind;
    side_band_->drain([&](const SideBandRecord& record) {
        processes_.take(record);
        // The pid now belongs to another program.
        if (record.kind == Kind::exec || (record.kind == Kind::fork && record.parent != record.pid))
            jits_.erase(record.pid);
        if (visit_) visit_(record);
    });
}

void Symbols::remember_all() {
    for (const int pid : proc::processes()) remember(static_cast<std::uint32_t>(pid));
}

Frame Symbols::kernel(std::uint64_t address, FramePlace place) {
    Frame frame{{}, {}, address, {}};
    try {
        const auto symbol =
            symbol_of_frame(address, place, [&](std::uint64_t at) { return kernel_.find(at); });
        if (!symbol) return frame;
        frame.name = symbol->name;
        frame.module = symbol->module.empty() ? "" : cat('[', symbol->module, ']');
        frame.offset = symbol->offset;
    } catch (const SysError&) {
        // why_no_kernel_names() reports this.
    }
    return frame;
}

Frame Symbols::user(std::uint32_t pid, std::uint64_t address, FramePlace place,
                    std::uint64_t time_ns) {
    drain();
    // The source line, too, is that of the call.
    const std::uint64_t back = place == FramePlace::outer ? 1 : 0;
    const auto code = processes_.find(pid, address - back, time_ns);
    if (!code) return {{}, {}, address, {}};
    Frame frame = code->file == MappedFiles::kAnonymous ? in_jit(code->pid, address - back)
                                                        : in_file(code->file, code->offset);
    frame.offset += back;
    return frame;
}

std::optional<Symbols::FilePlace> Symbols::file_place(std::uint32_t pid, std::uint64_t address) {
    drain();
    const auto place = processes_.find(pid, address, ProcessTable::kLatest);
    if (!place || place->file == MappedFiles::kAnonymous) return std::nullopt;
    const CodeFile* code = files_.code(place->file);
    if (!code || code->build_id().empty()) return std::nullopt;
    return FilePlace{code->build_id(), place->offset};
}

Frame Symbols::in_file(MappedFiles::Id file, std::uint64_t offset) {
    constexpr unsigned kOffsetBits = 44;  // files of 16 TB
    const std::uint64_t key = std::uint64_t{file} << kOffsetBits ^ offset;
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    Frame frame{{}, files_.name(file), offset, {}};
    if (const CodeFile* code = files_.code(file)) {
        frame.offset = code->address_of(offset).value_or(offset);
        if (const auto function = code->find(offset)) {
            frame.name = function_name(function->name);
            frame.offset = function->past;
        }
        frame.source = files_.source_at(file, offset);
        frame.inlined = files_.inlined_at(file, offset);
        frame.path = files_.path(file);
    }
    if (known_.size() >= kMostKnown) known_.clear();
    return known_.emplace(key, std::move(frame)).first->second;
}

Frame Symbols::in_jit(std::uint32_t pid, std::uint64_t address) {
    const auto now = Clock::now();
    const auto [it, is_new] = jits_.try_emplace(pid);
    Jit& jit = it->second;
    jit.last_question = now;
    auto function = jit.map.find(address);
    // The map grows while the process runs, and the compiler may reuse an address, so a result may
    // be outdated. After the process has exited, another one may own the file.
    const bool may_be_old = !function || !processes_.is_gone(pid);
    if (is_new || (may_be_old && now - jit.last_look >= kLookAgain)) {
        jit.last_look = now;
        if (auto text = read_perf_map(pid, processes_.owner(pid), jit.bytes)) {
            jit.bytes = text->size();
            jit.map = JitMap(std::move(*text));
            function = jit.map.find(address);
        }
        forget_jits();
    }
    if (!function) return {{}, {}, address, {}};
    return {std::string(function->name), "[jit]", function->past, {}};
}

// Drops the least recently used maps; keeps the one just used.
void Symbols::forget_jits() {
    const auto bytes = [&] {
        std::size_t sum = 0;
        for (const auto& [pid, jit] : jits_) sum += jit.bytes;
        return sum;
    };
    const auto by_question = [](const auto& a, const auto& b) {
        return a.second.last_question < b.second.last_question;
    };
    while (jits_.size() > kMostJits || (jits_.size() > 1 && bytes() > kMostJitBytes))
        jits_.erase(std::ranges::min_element(jits_, by_question));
}

}  // namespace gpufs
