#include "engine/bt/program_types.h"

#include <algorithm>
#include <utility>

#include "base/c_integer.h"
#include "base/cat.h"
#include "engine/bt/calling_convention.h"
#include "engine/probe/code_spots.h"
#include "engine/probe/program_variable.h"
#include "kernel/elf/elf_symbols.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/ranges.h"
#include "lang/dwarf/scope.h"
#include "lang/program/registers.h"

namespace gpufs::bt {
namespace {

using DwarfKind = DwarfType::Kind;

constexpr int kDeepestType = 32;  // in a damaged file, an array may be of itself

template <class Answer>
Answer without_dwarf(const std::string& path) {
    return {{},
            cat("'", path, "' has no debug information (DWARF)"),
            "build it with -g, or install its debug symbols"};
}

// In optimized code DWARF tells where a parameter is at the function's begin; a copy of a function
// that was made for some of its callers has not all of them.
std::optional<StaticArgument> place_by_dwarf(DebugInfo& info, const DwarfEntry& parameter,
                                             const CodeSpot& begin) {
    const auto found = find_in_program(info, parameter, begin);
    if (!found || found->value.parts.size() != 1) return std::nullopt;
    // A reference is followed there: what is in the register is the address of the number.
    const bool is_reference = gpufs::type_of(parameter).stripped().kind() == DwarfKind::reference;
    const auto& [steps, is_in_memory, first_bit, bits] = found->value.parts.front();
    if (is_in_memory != is_reference || steps.size() != 1 ||
        steps.front().kind != ValueStep::Kind::in_register)
        return std::nullopt;
    const auto name = register_of_dwarf(static_cast<unsigned>(steps.front().number));
    const auto offset = name ? register_offset(*name) : std::nullopt;
    if (!offset) return std::nullopt;
    StaticArgument place;
    place.kind = StaticArgument::Kind::in_register;
    place.base = offset;
    place.bytes = is_reference ? sizeof(std::uint64_t) : found->value.type.bytes;
    place.is_signed = !is_reference && found->value.type.is_signed;
    return place;
}

// An optimizer says of a parameter that is not passed that it is nowhere.
bool is_there_at(const DwarfEntry& parameter, std::uint64_t address) {
    const auto location = find_inherited(parameter, dw::AT_location);
    const auto place = location ? location_at(*location, address) : std::nullopt;
    return place && !place->empty();
}

}  // namespace

ProgramTypes::File& ProgramTypes::file_of(const std::string& path) {
    const auto it = files_.find(path);
    if (it != files_.end()) return it->second;
    return files_.emplace(path, File{DebugInfo::open(path), std::nullopt}).first->second;
}

void ProgramTypes::find_functions(File& file) {
    auto& functions = file.functions.emplace();
    file.info->for_each_unit([&](const DwarfEntry& root) {
        for_each_function(root, [&](const DwarfEntry& function) {
            if (function.tag() != dw::TAG_subprogram || !entry_address(function)) return;
            const std::string name(name_of(function));
            functions.emplace(name, function);
            const auto linkage = find_inherited(function, dw::AT_linkage_name);
            const auto symbol = linkage ? text_of(*linkage) : std::nullopt;
            if (symbol && *symbol != name) functions.emplace(*symbol, function);
        });
        return true;
    });
}

// Of the code that a symbol is at: compilers describe some functions without its name, such as
// those of one file only, and copies for some of the callers.
std::vector<DwarfEntry> ProgramTypes::functions_of_symbol(DebugInfo& info,
                                                          const std::string& name) {
    std::vector<DwarfEntry> found;
    for (const ElfFunction& symbol : gpufs::find_functions(info.path(), name)) {
        const auto address = info.program().address_of(symbol.offset);
        if (!address || symbol.name != name) continue;
        for (const DwarfEntry& scope : spot_at(info, *address).scopes)
            if (scope.tag() == dw::TAG_subprogram && entry_address(scope) == address &&
                std::ranges::count(found, scope) == 0)
                found.push_back(scope);
    }
    return found;
}

// By the name of the source or the symbol; else by a longer name, as people write it.
std::vector<DwarfEntry> ProgramTypes::functions_named(File& file, const std::string& name) {
    if (!file.functions) find_functions(file);
    std::vector<DwarfEntry> found;
    const auto [first, end] = file.functions->equal_range(name);
    for (auto it = first; it != end; ++it) found.push_back(it->second);
    if (!found.empty()) return found;
    for (const NamedFunction& one : find_named_functions(*file.info, name))
        if (!one.is_inlined) found.push_back(one.entry);
    return found.empty() ? functions_of_symbol(*file.info, name) : found;
}

World::UserLine ProgramTypes::line(const std::string& path, const std::string& source,
                                   std::uint64_t line) {
    File& file = file_of(path);
    if (!file.info) return without_dwarf<World::UserLine>(path);
    World::UserLine made;
    for (const CodeSpot& spot : find_line_spots(*file.info, source, line))
        made.addresses.push_back(spot.address);
    if (!made.addresses.empty()) return made;
    const std::vector<std::uint64_t> lines = lines_with_code(*file.info, source);
    made.trouble = lines.empty() ? cat("'", path, "' is not made of a source '", source, "'")
                                 : cat("line ", line, " of '", source, "' has no code");
    const auto next = std::ranges::upper_bound(lines, line);
    if (next != lines.end()) made.hint = cat("the next line with code is ", *next);
    return made;
}

World::UserFunction ProgramTypes::function(const std::string& path, const std::string& name) {
    World::UserFunction made;
    File& file = file_of(path);
    if (!file.info) return without_dwarf<World::UserFunction>(path);
    const std::vector<DwarfEntry> functions = functions_named(file, name);
    if (functions.empty()) {
        made.trouble = cat("the debug information of '", path, "' has no function '", name, "'");
        if (const auto& missing = file.info->missing(); !missing.empty())
            made.hint = cat("a part of it is in '", missing.front(), "', which is not there");
    }
    for (const DwarfEntry& function : functions) {
        World::UserFunction found = function_at(*file.info, function);
        const bool is_alike =
            std::ranges::equal(found.parameters, made.parameters,
                               [](const auto& a, const auto& b) { return a.is_alike(b); });
        if (function != functions.front() && !is_alike) {
            made.trouble =
                cat("'", path, "' has several functions '", name, "' with other parameters");
            return made;
        }
        made = std::move(found);
    }
    return made;
}

World::UserFunction ProgramTypes::function_at(DebugInfo& info, const DwarfEntry& function) {
    World::UserFunction made;
    const CodeSpot begin = spot_at(info, entry_address(function).value_or(0));
    CallingConvention convention(gpufs::type_of(function));
    for_each_child(function, [&](const DwarfEntry& child) {
        if (child.tag() != dw::TAG_formal_parameter) return true;
        const DwarfType type = gpufs::type_of(child);
        World::UserParameter one;
        one.name = name_of(child);
        one.type = type_of(type);
        one.c_type = type.to_text();
        const StaticArgument by_convention = convention.place_of(type);
        if (const auto place = place_by_dwarf(info, child, begin))
            one.place = *place;
        else if (is_there_at(child, begin.address))
            one.place = by_convention;
        if (!one.name.empty()) made.parameters.push_back(std::move(one));
        return true;
    });
    return made;
}

TypePtr ProgramTypes::find_type(const std::string& path, const std::string& name) {
    DebugInfo* const info = file_of(path).info.get();
    DwarfEntry found;
    const auto look = [&](const DwarfEntry& root) {
        for_each_child(root, [&](const DwarfEntry& child) {
            const bool is_type =
                child.tag() == dw::TAG_structure_type || child.tag() == dw::TAG_class_type ||
                child.tag() == dw::TAG_union_type || child.tag() == dw::TAG_typedef ||
                child.tag() == dw::TAG_enumeration_type;
            if (is_type && name_of(child) == name && !has_flag(child, dw::AT_declaration))
                found = child;
            return !found;
        });
        return !found;
    };
    if (info) info->for_each_unit(look);
    if (info && !found) info->for_each_type_unit(look);
    return found ? type_of({found, 0}) : nullptr;
}

// With a name of its own, or a typedef's.
TypePtr ProgramTypes::structure_of(const DwarfType& given) {
    const DwarfType type = given.stripped().defined();
    std::string name(name_of(type.entry));
    if (name.empty() && given.entry.tag() == dw::TAG_typedef) name = name_of(given.entry);
    const auto [it, is_new] =
        numbers_.try_emplace({type.entry.unit, type.entry.offset}, structures_.size() + 1);
    if (is_new) structures_.push_back({type, name, nullptr});
    Type made = *structure_type(structures_[it->second - 1].name);
    made.number = it->second;
    return std::make_shared<const Type>(std::move(made));
}

TypePtr ProgramTypes::type_of(const DwarfType& given, int depth) {
    const DwarfType type = given.stripped();
    const std::uint64_t bytes = type.bytes().value_or(0);
    if (depth > kDeepestType) return bytes_type(bytes);
    switch (type.kind()) {
        case DwarfKind::none:
            return none_type();
        case DwarfKind::boolean:
            return boolean_type();
        case DwarfKind::integer:
        case DwarfKind::character:
            return is_register_size(bytes) ? integer_type(bytes, type.is_signed())
                                           : bytes_type(bytes);
        case DwarfKind::floating:
            return bytes_type(bytes);
        case DwarfKind::enumeration: {
            if (!is_register_size(bytes)) return bytes_type(bytes);
            Type made = *integer_type(bytes, type.is_signed());
            made.name = name_of(type.entry);
            for (const auto& [name, number] : enumerators(type))
                made.words.emplace_back(number, name);
            return std::make_shared<const Type>(std::move(made));
        }
        case DwarfKind::pointer:
        case DwarfKind::reference: {
            const DwarfType target = type.target();
            if (target.stripped().kind() == DwarfKind::structure)
                return pointer_type(structure_of(target), Space::user);
            return pointer_type(type_of(target, depth + 1), Space::user);
        }
        case DwarfKind::structure: {
            Type made = *structure_of(given);
            made.bytes = bytes;
            return std::make_shared<const Type>(std::move(made));
        }
        case DwarfKind::array: {
            const DwarfType element = type.target();
            const std::uint64_t count = type.count().value_or(0);
            if (element.stripped().is_char()) return char_array_type(count);
            return array_type(type_of(element, depth + 1), count);
        }
    }
    return none_type();
}

std::shared_ptr<const Structure> ProgramTypes::structure(std::size_t number) {
    if (number == 0 || number > structures_.size()) return nullptr;
    if (auto known = structures_[number - 1].structure) return known;
    const DwarfType type = structures_[number - 1].type;
    if (!type.bytes()) return nullptr;  // only declared
    auto made = std::make_shared<Structure>();
    made->name = structures_[number - 1].name;
    made->is_union = type.entry.tag() == dw::TAG_union_type;
    made->bytes = *type.bytes();
    for (const DwarfMember& member : members(type)) {
        Type::Field field{std::string(name_of(member.entry)), type_of(gpufs::type_of(member.entry)),
                          member.at, 0, 0};
        if (member.bits) {
            const BitPlace place = bit_place(8 * member.at + member.first_bit, *member.bits,
                                             std::max<std::size_t>(field.type->bytes, 1));
            field.offset = place.offset;
            field.bit_shift = place.shift;
            field.bit_size = *member.bits;
        }
        made->fields.push_back(std::move(field));
    }
    structures_[number - 1].structure = made;
    return made;
}

}  // namespace gpufs::bt
