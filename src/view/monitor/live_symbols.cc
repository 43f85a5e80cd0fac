#include "view/monitor/live_symbols.h"

#include "base/cat.h"
#include "base/error.h"
#include "engine/symbols/number_names.h"
#include "lang/symbols/probe_functions.h"
#include "view/trace/frame_text.h"

namespace gpufs {
namespace {

using Kind = ValueType::Kind;

// In stacks, calls from different places of one function are merged: the offset is dropped.
std::string text_of(Frame frame, ValueNames::Place place) {
    if (place == ValueNames::Place::name) {
        if (!frame.name.empty()) return std::move(frame.name);
        return frame.module.empty() ? "unknown" : cat("unknown (", to_text(frame), ')');
    }
    if (place != ValueNames::Place::address && !frame.name.empty()) frame.offset = 0;
    return to_text(frame);
}

}  // namespace

LiveSymbols::LiveSymbols(const RunningProgram& running, CodeFile::Lines lines, bool has_user)
    : symbols_(lines), has_user_(has_user) {
    const auto look = [this](const Layout& layout) {
        for (const Member& member : layout.members) {
            const Kind kind = member.type.kind;
            has_user_ |= kind == Kind::user_address || kind == Kind::user_stack;
        }
    };
    for (const MapDeclaration& map : running.program().maps) {
        look(map.key);
        look(map.value);
    }
    for (const RecordLayout& record : running.program().records) look(record.layout);
}

void LiveSymbols::watch(std::uint32_t pid, Symbols::Visit visit) {
    if (!has_user_ && !visit) return;
    try {
        symbols_.watch(std::move(visit));
    } catch (const Error& e) {
        why_not_watched_ = e.what();
    }
    if (!has_user_) return;
    if (pid != 0)
        symbols_.remember(pid);
    else
        symbols_.remember_all();
}

ValueNames LiveSymbols::names(ProbeFrames frames) {
    ValueNames names;
    names.kernel = [this](std::uint64_t address, ValueNames::Place place) {
        names_kernel_ = true;
        return text_of(symbols_.kernel(address, frame_place(place)), place);
    };
    if (frames == ProbeFrames::left_out)
        names.is_probe = [this](std::uint64_t address, ValueNames::Place place) {
            return is_probe_function(symbols_.kernel(address, frame_place(place)).name);
        };
    names.user = [this](std::uint32_t pid, std::uint64_t address, ValueNames::Place place) {
        return text_of(symbols_.user(pid, address, frame_place(place)), place);
    };
    names.interrupt = [](std::uint32_t irq) { return device_of_interrupt(irq); };
    return names;
}

std::vector<std::string> LiveSymbols::notes() {
    std::vector<std::string> notes;
    if (names_kernel_)
        if (std::string why = symbols_.why_no_kernel_names(); !why.empty())
            notes.push_back(std::move(why));
    if (has_user_ && !why_not_watched_.empty())
        notes.push_back(
            cat("processes that came meanwhile and are gone have no names: ", why_not_watched_));
    if (symbols_.lost() != 0)
        notes.push_back(
            cat(symbols_.lost(), " records on what processes map are lost: names may be missing"));
    return notes;
}

}  // namespace gpufs
