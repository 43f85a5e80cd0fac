#include "engine/symbols/debug_info.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/path.h"
#include "base/sorted.h"
#include "kernel/elf/thread_block.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/package.h"
#include "lang/dwarf/ranges.h"

namespace gpufs {
namespace {

// Those of the file, or those of a split one, whose names have ".dwo" behind them.
DwarfSections sections_of(DebugSections& file, std::string_view suffix) {
    const auto bytes = [&](std::string_view name) { return file.bytes(cat(name, suffix)); };
    DwarfSections made;
    made.info = bytes(".debug_info");
    made.types = bytes(".debug_types");
    made.abbrev = bytes(".debug_abbrev");
    made.str = bytes(".debug_str");
    made.line_str = bytes(".debug_line_str");
    made.str_offsets = bytes(".debug_str_offsets");
    made.addr = bytes(".debug_addr");
    made.line = bytes(".debug_line");
    made.loc = bytes(".debug_loc");
    made.loclists = bytes(".debug_loclists");
    made.ranges = bytes(".debug_ranges");
    made.rnglists = bytes(".debug_rnglists");
    return made;
}

std::string text_at(std::string_view section, std::uint64_t offset) {
    if (offset >= section.size()) return {};
    return std::string(up_to_nul(section.substr(offset)));
}

std::string text_attribute(const DwarfEntry& entry, unsigned name) {
    const auto attribute = find_attribute(entry, name);
    return std::string(attribute ? text_of(*attribute).value_or("") : "");
}

std::string split_name(const DwarfEntry& skeleton) {
    const std::string name = text_attribute(skeleton, dw::AT_dwo_name);
    return name.empty() ? text_attribute(skeleton, dw::AT_GNU_dwo_name) : name;
}

constexpr ValueStep kThread{ValueStep::Kind::thread};
constexpr ValueStep kAdd{ValueStep::Kind::add};
constexpr ValueStep kRead{ValueStep::Kind::read};
constexpr ValueStep kChoose{ValueStep::Kind::choose};

ValueStep constant(std::int64_t number) {
    return {ValueStep::Kind::constant, number};
}
// The word at an address, as linked.
ValueSteps word_at(std::int64_t address) {
    return {{ValueStep::Kind::linked, address}, kRead};
}

// In glibc's vector of the running thread, which grows when it is needed: entries of 16 bytes, the
// first of them with the module's block, and how many there are in the entry in front. 0 where the
// thread has no such entry yet; what it has no block for yet is -1, which no variable is at, too.
ValueSteps block_of_module(const ValueSteps& module, std::int64_t vector_at) {
    constexpr int kEntryBytes = 16;
    const ValueSteps vector = {kThread, constant(vector_at), kAdd, kRead};
    ValueSteps count = joined(vector, {constant(-kEntryBytes)}, kAdd);
    count.push_back(kRead);
    ValueSteps entry = joined(module, {constant(kEntryBytes)}, {ValueStep::Kind::multiply});
    entry = joined(vector, entry, kAdd);
    entry.push_back(kRead);
    const ValueSteps is_there = joined(module, count, {ValueStep::Kind::less_equal});
    entry.push_back(constant(0));
    return joined(is_there, entry, kChoose);
}

ValueSteps block_by_offset(const ThreadBlock& block) {
    ValueSteps made = joined({kThread}, word_at(block.number), kAdd);
    made.push_back(constant(-block.inside));
    made.push_back(kAdd);
    return made;
}

// The word is a distance or an address (struct tlsdesc in glibc's sysdeps/*/dl-tlsdesc.h). Programs
// are linked from 4 MiB on, and nothing is mapped below; no loader has so much room beside a
// program's block.
ValueSteps block_by_descriptor(const ThreadBlock& block) {
    constexpr ValueStep kLess{.kind = ValueStep::Kind::less, .type = ir::kS64};
    constexpr std::int64_t kLowestAddress = 0x400000;
    ValueSteps module = word_at(block.number);
    module.push_back(kRead);
    ValueSteps made = joined(word_at(block.number), {constant(kLowestAddress)}, kLess);
    const ValueSteps near = block_by_offset(block);
    made.insert(made.end(), near.begin(), near.end());
    return joined(std::move(made), block_of_module(module, block.vector_at), kChoose);
}

ThreadBlockPlace place_of(const ThreadBlock& block) {
    switch (block.kind) {
        case ThreadBlock::Kind::at_pointer:
            return {{kThread}, block.number, {}};
        case ThreadBlock::Kind::by_offset:
            return {joined({kThread}, word_at(block.number), kAdd), -block.inside, {}};
        case ThreadBlock::Kind::by_module:
            return {block_of_module(word_at(block.number), block.vector_at), 0, {}};
        case ThreadBlock::Kind::by_descriptor:
            return {block_by_descriptor(block), 0, {}};
        case ThreadBlock::Kind::unknown:
            break;
    }
    return {{}, 0, block.trouble};
}

}  // namespace

std::unique_ptr<DebugInfo> DebugInfo::open(const std::string& file) {
    auto sections = open_debug_sections(file);
    if (!sections) return nullptr;
    return std::unique_ptr<DebugInfo>(new DebugInfo(file, std::move(sections)));
}

DebugInfo::DebugInfo(const std::string& file, std::unique_ptr<DebugSections> sections)
    : program_(file), sections_(std::move(sections)) {
    shared_sections_ = open_shared_sections(*sections_);
    if (shared_sections_) shared_ = std::make_unique<DwarfInfo>(sections_of(*shared_sections_, ""));
    info_ = std::make_unique<DwarfInfo>(sections_of(*sections_, ""), shared_.get());
}

bool DebugInfo::is_fixed() const {
    GElf_Ehdr header;
    return gelf_getehdr(program_.elf(), &header) && header.e_type == ET_EXEC;
}

DebugSections* DebugInfo::package() {
    if (!package_) {
        package_.emplace();
        for (const std::string& of : {program_.path(), sections_->file().path()})
            if (!*package_) *package_ = try_debug_sections(of + ".dwp");
    }
    return package_->get();
}

DebugInfo::Split DebugInfo::open_split(const DwarfUnit& unit) {
    const DwarfEntry skeleton = root_of(unit);
    const std::string name(split_name(skeleton));
    if (DebugSections* whole = package()) {
        const auto found =
            find_in_package(sections_of(*whole, ".dwo"), whole->bytes(".debug_cu_index"), unit.id);
        if (found) return {nullptr, std::make_unique<DwarfInfo>(*found, nullptr, &unit)};
    }
    const std::string compiled_in = text_attribute(skeleton, dw::AT_comp_dir);
    const std::string beside = parent_directory(program_.path());
    for (const std::string& path : {path_from(compiled_in, name), path_from(beside, name),
                                    path_from(beside, file_name(name))}) {
        auto file = try_debug_sections(path);
        if (!file) continue;
        auto info = std::make_unique<DwarfInfo>(sections_of(*file, ".dwo"), nullptr, &unit);
        // Another build's would have other entries at the same places.
        for (const auto& its : info->units())
            if (its->id == unit.id && its->type_entry == 0)
                return {std::move(file), std::move(info)};
    }
    missing_.push_back(name);
    return {};
}

DwarfEntry DebugInfo::root(const DwarfUnit& unit) {
    const DwarfEntry own = root_of(unit);
    if (unit.id == 0 || unit.type_entry != 0 || split_name(own).empty()) return own;
    auto split = splits_.find(&unit);
    if (split == splits_.end()) split = splits_.emplace(&unit, open_split(unit)).first;
    if (!split->second.info) return own;
    for (const auto& its : split->second.info->units())
        if (its->id == unit.id && its->type_entry == 0) return root_of(*its);
    return own;
}

DwarfEntry DebugInfo::unit_at(std::uint64_t address) {
    if (!code_of_units_) {
        code_of_units_.emplace();
        for (const auto& unit : info_->units())
            if (unit->type_entry == 0)
                for (const CodeSpan& span : code_of(root_of(*unit)))
                    code_of_units_->push_back({span, unit.get()});
        sort_stably(*code_of_units_, {}, [](const UnitCode& one) { return one.span.begin; });
    }
    auto at = std::ranges::upper_bound(*code_of_units_, address, {},
                                       [](const UnitCode& one) { return one.span.begin; });
    if (at == code_of_units_->begin() || address >= (--at)->span.end) return {};
    return root(*at->unit);
}

void DebugInfo::for_each_unit(const std::function<bool(const DwarfEntry& root)>& visit) {
    for (const auto& unit : info_->units())
        if (unit->type_entry == 0 && !visit(root(*unit))) return;
}

void DebugInfo::for_each_type_unit(const std::function<bool(const DwarfEntry& root)>& visit) {
    std::vector<const DwarfInfo*> all = {info_.get()};
    for (const auto& [unit, split] : splits_) all.push_back(split.info.get());
    for (const DwarfInfo* const one : all) {
        if (!one) continue;
        for (const auto& unit : one->units())
            if (unit->type_entry != 0 && !visit(root_of(*unit))) return;
    }
}

std::optional<FrameAddress> DebugInfo::frame_address(std::uint64_t address) {
    // .eh_frame is in the program; its debug file has the section's header only.
    if (!own_sections_)
        own_sections_ = std::make_unique<DebugSections>(std::make_unique<ElfFile>(path()));
    DebugSections& own = *own_sections_;
    const std::size_t bytes = gelf_getclass(program_.elf()) == ELFCLASS32 ? 4 : 8;
    if (const auto found = frame_address_at(
            {own.bytes(".eh_frame"), own.address(".eh_frame"), true, bytes}, address))
        return found;
    return frame_address_at({sections_->bytes(".debug_frame"), 0, false, bytes}, address);
}

const ThreadBlockPlace& DebugInfo::thread_block() {
    if (!thread_block_) thread_block_ = place_of(find_thread_block(program_));
    return *thread_block_;
}

LineTexts DebugInfo::line_texts() const {
    return {[this](std::uint64_t at) { return text_at(info_->sections().line_str, at); },
            [this](std::uint64_t at) { return text_at(info_->sections().str, at); }};
}

// A split file's entries count the files as the table of the program's unit does.
std::string DebugInfo::source_file(const DwarfEntry& entry, std::uint64_t number) const {
    const DwarfUnit& unit = entry.unit->skeleton ? *entry.unit->skeleton : *entry.unit;
    const std::string_view lines = info_->sections().line;
    const auto at = number_of(root_of(unit), dw::AT_stmt_list);
    if (!at || *at >= lines.size()) return {};
    const std::string_view rest = lines.substr(*at);
    return source_file_name(rest.substr(0, line_unit_bytes(rest)), line_texts(), number);
}

const std::vector<DebugInfo::LineUnit>& DebugInfo::line_units() {
    if (line_units_) return *line_units_;
    line_units_.emplace();
    std::map<std::uint64_t, std::string> directories;  // by offset
    for (const auto& unit : info_->units())
        if (const auto at = number_of(root_of(*unit), dw::AT_stmt_list))
            directories.emplace(*at, text_attribute(root_of(*unit), dw::AT_comp_dir));
    const DwarfSections& sections = info_->sections();
    const LineTexts texts = line_texts();
    for (std::uint64_t at = 0; at < sections.line.size();) {
        const std::string_view rest = sections.line.substr(at);
        const std::uint64_t bytes = line_unit_bytes(rest);
        if (bytes == 0 || bytes > rest.size()) break;
        const std::string_view unit = rest.substr(0, bytes);
        line_units_->push_back({unit, line_unit_files(unit, texts), directories[at]});
        at += bytes;
    }
    return *line_units_;
}

}  // namespace gpufs
