#include <algorithm>
#include <charconv>

#include "base/align.h"
#include "base/cat.h"
#include "base/suggest.h"
#include "bt/code/compile.h"

namespace gpufs::bt {
namespace {

constexpr std::uint64_t kMostStringBytes = 16 << 10;

// The entries that have an effect here, and those of bpftrace that need none.
constexpr std::string_view kKnown[] = {
    "max_strlen",    "strlen",        "max_map_keys",       "map_keys_max",     "max_probes",
    "max_cat_bytes", "cat_bytes_max", "print_maps_on_exit", "str_trunc_trailer"};
constexpr std::string_view kWithoutEffect[] = {
    "max_bpf_progs",     "on_stack_limit",     "perf_rb_pages",   "log_size",
    "stack_mode",        "missing_probes",     "cpp_demangle",    "lazy_symbolication",
    "license",           "show_debug_info",    "unstable_import", "unstable_macro",
    "unstable_map_decl", "unstable_tseries",   "unstable_addr",   "use_blazesym",
    "no_cpp_demangle",   "cache_user_symbols", "max_ast_nodes",   "max_type_res_iterations",
    "debug_output",      "max_bpf_programs"};

class ConfigReader {
public:
    ConfigReader(CompileOptions& options, const Script& script, Diagnostics& mistakes)
        : options_(options), script_(script), mistakes_(mistakes) {}

    void read(const ConfigEntry& entry) {
        const std::string& name = entry.name;
        if (name == "max_strlen" || name == "strlen")
            options_.types.string_bytes = align_up(number(entry, kWord, kMostStringBytes), kWord);
        else if (name == "max_map_keys" || name == "map_keys_max")
            options_.types.map_entries = number(entry, 1, UINT32_MAX);
        else if (name == "max_probes")
            options_.types.most_probes = number(entry, 1, UINT32_MAX);
        else if (name == "max_cat_bytes" || name == "cat_bytes_max")
            options_.output.cat_bytes = number(entry, 1, UINT32_MAX);
        else if (name == "print_maps_on_exit")
            options_.output.prints_maps_on_exit = entry.value == "1" || entry.value == "true";
        else if (name == "str_trunc_trailer")
            options_.output.cut_string_trailer = entry.value;
        else if (std::ranges::find(kWithoutEffect, name) == std::end(kWithoutEffect) &&
                 !name.starts_with("unstable_"))
            unknown(entry);
    }

private:
    std::uint64_t number(const ConfigEntry& entry, std::uint64_t least, std::uint64_t most) {
        std::uint64_t value = 0;
        const char* const end = entry.value.data() + entry.value.size();
        const auto [stop, code] = std::from_chars(entry.value.data(), end, value);
        if (code == std::errc() && stop == end && value >= least && value <= most) return value;
        complain(entry, gpufs::cat(entry.name, " is a number from ", least, " to ", most));
        return least;
    }

    void unknown(const ConfigEntry& entry) {
        std::vector<std::string> names(std::begin(kKnown), std::end(kKnown));
        complain(entry, gpufs::cat("Unrecognized config variable: ", entry.name),
                 did_you_mean(entry.name, names));
    }

    void complain(const ConfigEntry& entry, const std::string& message,
                  const std::string& hint = {}) {
        mistakes_.error(script_.sources.at(entry.at.source), entry.at.span, message, hint);
    }

    CompileOptions& options_;
    const Script& script_;
    Diagnostics& mistakes_;
};

}  // namespace

CompileOptions with_config(CompileOptions options, const Script& script) {
    Diagnostics mistakes;
    ConfigReader reader(options, script, mistakes);
    for (const ConfigEntry& entry : script.config) reader.read(entry);
    mistakes.throw_if_any();
    return options;
}

}  // namespace gpufs::bt
