#include "engine/probe/found_place.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/hex.h"
#include "base/path.h"
#include "base/pieces.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/symbols/breakpoints.h"
#include "engine/symbols/code_files.h"
#include "engine/symbols/named_functions.h"
#include "kernel/elf/elf_file.h"
#include "kernel/elf/elf_symbols.h"
#include "kernel/host/kallsyms.h"
#include "lang/program/function_pattern.h"
#include "lang/program/registers.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

constexpr std::size_t kCandidatesShown = 12;

// What is left out is counted.
std::string shown(const std::vector<std::string>& all) {
    std::vector<std::string> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                 all.size(), kCandidatesShown)));
    std::string text = join(some, ", ");
    if (some.size() < all.size()) text += cat(", … ", all.size() - some.size(), " more");
    return text;
}

// --- programs and libraries ---------------------------------------------------------------------

// The functions at different offsets; of several names of one place the first without '_'.
std::vector<ElfFunction> one_of_each_place(std::vector<ElfFunction> functions) {
    std::vector<ElfFunction> places;
    for (ElfFunction& one : functions) {
        if (places.empty() || places.back().offset != one.offset)
            places.push_back(std::move(one));
        else if (places.back().name.starts_with('_') && !one.name.starts_with('_'))
            places.back() = std::move(one);
    }
    return places;
}

// For a function that has other versions than the one that is named; else empty.
std::string versions_hint(const std::string& file, std::string_view name) {
    const auto end = name.find('@');
    if (end == name.npos) return {};
    std::vector<std::string> versions;
    for (const ElfFunction& one : find_functions(file, name.substr(0, end)))
        versions.push_back(one.name + one.version);
    return versions.empty() ? "" : cat("it has ", shown(versions));
}

UsageError no_function(const std::string& file, const std::string& name) {
    std::string hint = versions_hint(file, name);
    if (hint.empty())
        hint = hint_for_function(file, name)
                   .value_or("it is stripped: give the offset in the file, such as 0x1230");
    if (hint.empty()) hint = "'nm' and 'nm -D' list what it has";
    return UsageError(cat("'", file, "' has no function '", name, "'"), hint);
}

ElfFunction require_function(const std::string& file, const std::string& name) {
    const auto places = one_of_each_place(find_functions_named(file, name));
    if (places.size() == 1) return places.front();
    if (places.empty()) throw no_function(file, name);
    std::vector<std::string> offsets;
    const bool have_versions =
        std::ranges::all_of(places, [](const ElfFunction& one) { return !one.version.empty(); });
    for (const ElfFunction& one : places)
        offsets.push_back(cat(file, ':', have_versions ? one.name + one.version : hex(one.offset)));
    throw UsageError(cat("'", file, "' has ", places.size(), " functions '", name, "'"),
                     cat("choose one: ", shown(offsets)));
}

class FilePlaces {
public:
    FilePlaces(const ProbeDefinition& definition, const ProbePlace& place,
               std::vector<std::string>& notes)
        : definition_(definition), place_(place), notes_(notes) {}

    std::vector<FoundPlace> find(const std::string& file) {
        if (place_.name.empty()) {
            require_code_at(file);
            const std::string counter = place_.counter ? cat('(', hex(place_.counter), ')') : "";
            return {{cat(file, ':', hex(place_.offset), counter), hex(place_.offset)}};
        }
        if (is_function_pattern(place_.name)) return all(file);
        const ElfFunction function = require_function(file, place_.name);
        if (const auto why = why_no_breakpoint(file, function, place_.offset))
            throw UsageError(why->why, why->hint);
        if (place_.offset != 0 && definition_.is_return)
            throw UsageError("a probe at a return takes no offset",
                             cat("r ", file, ':', place_.name));
        if (function.is_indirect)
            notes_.push_back(cat("'", place_.name, "' of ", file,
                                 " only selects an implementation, when a program starts: a probe "
                                 "there does not see its calls"));
        return {{cat(file, ':', hex(function.offset + place_.offset)), place_.name}};
    }

private:
    // The kernel takes any offset, and a probe in no code is never hit.
    void require_code_at(const std::string& file) const {
        const ElfFile elf(file);
        for (const GElf_Phdr& segment : elf.segments())
            if ((segment.p_flags & PF_X) != 0 && place_.offset >= segment.p_offset &&
                place_.offset - segment.p_offset < segment.p_filesz) {
                if (const auto why = why_no_breakpoint_at(file, place_.offset))
                    throw UsageError(why->why, why->hint);
                return;
            }
        throw UsageError(cat(hex(place_.offset), " is in no code of '", file, "'"),
                         "it is an offset in the file, not an address");
    }

    std::vector<FoundPlace> all(const std::string& file) {
        std::vector<FoundPlace> found;
        const auto functions = one_of_each_place(find_functions_named(file, place_.name));
        for (const ElfFunction& one : functions) {
            if (one.is_indirect) continue;
            const bool is_alone = std::ranges::count(functions, one.name, &ElfFunction::name) == 1;
            found.push_back(
                {cat(file, ':', hex(one.offset)), is_alone ? one.name : one.name + one.version});
        }
        if (found.empty())
            throw UsageError(cat("no function of '", file, "' matches '", place_.name, "'"),
                             "'nm' and 'nm -D' list what it has");
        return found;
    }

    const ProbeDefinition& definition_;
    const ProbePlace& place_;
    std::vector<std::string>& notes_;
};

// --- the kernel ---------------------------------------------------------------------------------

// The kernel's list of functions that it does not let kprobes into, because they run while it
// handles one: "0xffffffff81000010-0xffffffff81000020\tname".
std::set<std::string, std::less<>> read_blacklist() {
    const std::string text =
        read_file_if_readable("/sys/kernel/debug/kprobes/blacklist").value_or("");
    std::set<std::string, std::less<>> names;
    for (const std::string_view line : lines_of(text))
        if (const auto tab = line.find('\t'); tab != line.npos) names.emplace(line.substr(tab + 1));
    return names;
}

struct NoFunction : UsageError {
    using UsageError::UsageError;
};

class KernelPlaces {
public:
    KernelPlaces(const Tracefs& top, const ProbeDefinition& definition, const ProbePlace& place)
        : top_(top), definition_(definition), place_(place) {}

    std::vector<FoundPlace> find() {
        if (place_.name.empty()) return {{hex(place_.offset), hex(place_.offset)}};
        if (place_.offset != 0 && definition_.is_return)
            throw UsageError("a probe at a return takes no offset", cat("r ", place_.name));
        return is_glob(place_.name) ? all() : one();
    }

private:
    std::string text_of(std::string_view module, std::string_view function) const {
        const std::string offset = place_.offset ? cat('+', place_.offset) : "";
        return cat(module, module.empty() ? "" : ":", function, offset);
    }

    std::vector<FoundPlace> one() {
        std::vector<KernelFunction> found = find_kernel_functions({place_.name}, kallsyms_text());
        if (!place_.file.empty())
            std::erase_if(found, [&](const auto& one) { return one.module != place_.file; });
        if (found.empty()) throw no_function();
        const KernelFunction& function = found.front();
        if (read_blacklist().contains(function.name))
            throw UsageError(cat("the kernel lets no probe into '", function.name, "'"),
                             "kprobes run it themselves; see "
                             "/sys/kernel/debug/kprobes/blacklist");
        std::set<std::string> modules;
        for (const KernelFunction& one : found) modules.insert(one.module);
        if (modules.size() > 1) {
            std::vector<std::string> choices;
            for (const std::string& module : modules)
                choices.push_back(module.empty() ? "the kernel's own"
                                                 : text_of(module, place_.name));
            throw UsageError(cat(modules.size(), " modules have a function '", place_.name, "'"),
                             cat("choose one: ", shown(choices)));
        }
        return {{text_of(function.module, function.name), place_.name}};
    }

    std::vector<FoundPlace> all() {
        const auto blacklist = read_blacklist();
        std::vector<FoundPlace> found;
        std::set<std::string> seen;
        const auto take = [&](std::string_view name, std::string_view module) {
            if (!glob_match(place_.name, name) || blacklist.contains(name)) return;
            if (!place_.file.empty() && module != place_.file) return;
            std::string text = text_of(module, name);
            if (seen.insert(text).second) found.push_back({std::move(text), std::string(name)});
        };
        if (const auto traceable = top_.read_if_readable("available_filter_functions")) {
            for (const std::string_view line : lines_of(*traceable))
                if (const auto one = parse_traceable_line(line)) take(one->name, one->module);
        } else {
            for_each_line(kallsyms_text(), [&](std::string_view line) {
                const auto symbol = parse_kallsyms_line(line);
                if (symbol && symbol->is_code()) take(symbol->name, symbol->module);
            });
        }
        if (found.empty())
            throw UsageError(
                cat("no function of this kernel that can be probed matches '", place_.name, "'"));
        return found;
    }

    NoFunction no_function() const {
        const std::string near = did_you_mean(place_.name, kernel_function_names(kallsyms_text()));
        return NoFunction(
            place_.file.empty()
                ? cat("this kernel has no function '", place_.name, "'")
                : cat("the module '", place_.file, "' has no function '", place_.name, "'"),
            near.empty() ? "/proc/kallsyms has the functions of this kernel" : near);
    }

    const Tracefs& top_;
    const ProbeDefinition& definition_;
    const ProbePlace& place_;
};

// Events of one definition have different names; two functions of a file may have one.
void number_namesakes(std::vector<FoundPlace>& places) {
    std::map<std::string, unsigned> seen;
    for (FoundPlace& place : places)
        if (const unsigned number = seen[place.function]++; number > 0)
            place.function += cat('_', number);
}

}  // namespace

std::uint64_t find_function_offset(const std::string& file, const std::string& function) {
    return require_function(file, function).offset;
}

std::string fetch_from_instruction(std::uint64_t probe_address, std::uint64_t address) {
    const std::uint64_t ahead = address - probe_address;
    const bool is_before = static_cast<std::int64_t>(ahead) < 0;
    const auto here = register_offset("ip");
    return cat(is_before ? '-' : '+', hex(is_before ? 0 - ahead : ahead), "(%",
               here ? tracefs_register(*here).value() : "ip", ')');
}

std::optional<std::string> variable_fetch(const std::string& file, std::uint64_t probe_offset,
                                          const std::string& symbol, std::int64_t behind) {
    const auto probe_address = ElfFile(file).address_of(probe_offset);
    if (!probe_address) return std::nullopt;
    const auto distance = distance_to_symbol(file, *probe_address, symbol);
    if (!distance) return std::nullopt;
    return fetch_from_instruction(*probe_address,
                                  *probe_address + static_cast<std::uint64_t>(*distance + behind));
}

std::string kernel_place_text(const std::string& file, std::uint64_t offset) {
    return cat(file, ':', hex(offset, 2 * sizeof(void*)));
}

bool names_code_file(const std::string& word) {
    return !file_exists(cat("/sys/module/", word)) && find_code_file(word).index() == 0;
}

std::string require_code_file(const SourceText& source, Span at, const std::string& name) {
    const auto found = find_code_file(name);
    if (const Absent* absent = std::get_if<Absent>(&found))
        throw SourceError(source, at, absent->why, absent->hint);
    // Not "..", which a symbolic link may be in front of.
    std::string path = absolute_path(std::get<std::string>(found));
    for (std::size_t dot = 0; (dot = path.find("/./", dot)) != path.npos;) path.erase(dot, 2);
    return path;
}

std::string require_kernel_path(const SourceText& source, Span at, const std::string& name) {
    std::string path = require_code_file(source, at, name);
    const bool has_blank = std::ranges::any_of(path, is_space);
    // Of a '#' it takes the rest of the line for a comment (trace_parse_run_command()).
    if (has_blank || path.find('#') != path.npos)
        throw SourceError(
            source, at,
            cat("the kernel takes no path with ", has_blank ? "blanks" : "a '#'", ": '", path, "'"),
            "make a symbolic link to it, and name that; 'gpufs count -x FILE' needs none");
    return path;
}

void require_probe_events(const Tracefs& top, bool is_user) {
    if (top.has(is_user ? "uprobe_events" : "kprobe_events")) return;
    throw UnsupportedError(
        is_user ? "this kernel has no uprobe events" : "this kernel has no kprobe events",
        missing_probe_events_hint(is_user));
}

std::vector<FoundPlace> find_places(const Tracefs& top, const SourceText& source,
                                    const ProbeDefinition& definition, const ProbePlace& place,
                                    std::vector<std::string>& notes) {
    const bool is_user = place.kind == ProbePlace::Kind::in_file;
    if (!is_user && !place.file.empty() && !file_exists(cat("/sys/module/", place.file)))
        throw MissingFunction(
            source, definition.place_at,
            cat("there is no module '", place.file, "', and no program or library of this name"),
            "'lsmod' lists the modules; write the whole path of a program");
    require_probe_events(top, is_user);
    std::vector<FoundPlace> found;
    try {
        found = is_user ? FilePlaces(definition, place, notes)
                              .find(require_kernel_path(source, definition.place_at, place.file))
                        : KernelPlaces(top, definition, place).find();
    } catch (const SourceError&) {
        throw;
    } catch (const UnsupportedError&) {
        throw;
    } catch (const NoFunction& e) {
        throw MissingFunction(source, definition.place_at, e.what(), e.hint());
    } catch (const Error& e) {  // the file, or what is in it
        throw SourceError(source, definition.place_at, e.what(), e.hint());
    }
    number_namesakes(found);
    return found;
}

}  // namespace gpufs
