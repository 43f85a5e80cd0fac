#include "engine/results/running_program.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/align.h"
#include "base/bytes.h"
#include "lang/program/file_path.h"
#include "lang/program/syscall_record.h"

namespace gpufs {
namespace {

std::size_t least_bytes(const Layout& layout) {
    const Member& last = layout.members.back();
    return last.type.kind == ValueType::Kind::syscall_record
               ? last.offset + offsetof(SyscallRecord, texts)
               : layout.bytes;
}

// Null when the record is of none, or too short.
const RecordLayout* find_layout(const Program& program, std::span<const std::byte> record) {
    std::uint32_t id = 0;
    if (record.size() >= sizeof id) std::memcpy(&id, record.data(), sizeof id);
    if (id == 0 || id > program.records.size()) return nullptr;
    const RecordLayout& layout = program.records[id - 1];
    return record.size() < least_bytes(layout.layout) ? nullptr : &layout;
}

}  // namespace

void RecordTaker::take(const Program& program, std::span<const std::byte> record,
                       const VisitRecord& visit) {
    const RecordLayout* const layout = find_layout(program, record);
    if (!layout) {
        ++unknown_;
        return;
    }
    const std::size_t bytes = layout->layout.bytes;
    if (record.size() >= bytes) {
        visit(*layout, record.first(bytes));
        return;
    }
    room_.assign(bytes, std::byte{});
    std::ranges::copy(record, room_.begin());
    visit(*layout, room_);
}

std::string text_in(const RunningProgram& running, std::string_view map, std::uint64_t key) {
    const ProgramMap* const texts = running.map(map);
    if (!texts) return {};
    std::string text(texts->whole_value_bytes(), '\0');
    if (!texts->lookup(bytes_of(key), std::as_writable_bytes(std::span(text)))) return {};
    return std::string(up_to_nul(text));
}

std::optional<std::string> file_path_in(const RunningProgram& running, std::string_view map,
                                        std::uint64_t key) {
    const ProgramMap* const paths = running.map(map);
    if (!paths) return std::nullopt;
    std::vector<std::byte> value(paths->whole_value_bytes());
    if (!paths->lookup(bytes_of(key), value)) return std::nullopt;
    return file_path_text(value);
}

std::vector<std::vector<std::byte>> keys_as_contexts(const ProgramMap& map) {
    std::vector<std::vector<std::byte>> keys;
    map.for_each([&](std::span<const std::byte> key, std::span<const std::byte>) {
        auto& context = keys.emplace_back(key.begin(), key.end());
        context.resize(align_up(key.size(), sizeof(std::uint64_t)));
    });
    return keys;
}

}  // namespace gpufs
