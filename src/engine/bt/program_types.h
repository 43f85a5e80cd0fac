#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bt/types/world.h"
#include "engine/symbols/debug_info.h"
#include "lang/dwarf/type.h"

namespace gpufs::bt {

// What the debug information (DWARF) of programs and libraries tells scripts: the places of lines,
// the parameters of functions, and types, as those of scripts. Pointers in them point into the
// process. All throw SysError and Error as DebugInfo::open() does.
class ProgramTypes {
public:
    // `path` is a file's, as find_code_file() finds it.
    World::UserFunction function(const std::string& path, const std::string& name);
    World::UserLine line(const std::string& path, const std::string& source, std::uint64_t line);
    // A structure, union, enum or typedef by its name. Null where the file describes none.
    TypePtr find_type(const std::string& path, const std::string& name);
    // By Type::number.
    std::shared_ptr<const Structure> structure(std::size_t number);

private:
    struct Known {
        DwarfType type;
        std::string name;
        std::shared_ptr<const Structure> structure;  // null: not looked into yet
    };

    struct File {
        std::unique_ptr<DebugInfo> info;  // null: without DWARF
        // With code of their own, by their names and those of their symbols; once one is asked for.
        std::optional<std::unordered_multimap<std::string, DwarfEntry>> functions;
    };

    File& file_of(const std::string& path);
    static void find_functions(File& file);
    static std::vector<DwarfEntry> functions_named(File& file, const std::string& name);
    static std::vector<DwarfEntry> functions_of_symbol(DebugInfo& info, const std::string& name);
    World::UserFunction function_at(DebugInfo& info, const DwarfEntry& function);
    TypePtr type_of(const DwarfType& given, int depth = 0);
    TypePtr structure_of(const DwarfType& given);

    std::map<std::string, File> files_;                                          // by path
    std::vector<Known> structures_;                                              // number - 1
    std::map<std::pair<const DwarfUnit*, std::uint64_t>, std::size_t> numbers_;  // of entries
};

}  // namespace gpufs::bt
