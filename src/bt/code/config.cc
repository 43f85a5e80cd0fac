#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/align.h"
#include "base/cat.h"
#include "base/suggest.h"
#include "bt/code/compile.h"

namespace gpufs::bt {
namespace {

constexpr std::uint64_t kMostStringBytes = 16 << 10;

// The entries that have an effect here, and those of bpftrace that need none.
constexpr std::string_view kKnown[] = {"max_strlen",        "max_map_keys",   "max_probes",
                                       "max_cat_bytes",     "missing_probes", "print_maps_on_exit",
                                       "str_trunc_trailer", "license",        "language"};
constexpr std::string_view kWithoutEffect[] = {
    "max_bpf_progs",      "on_stack_limit",    "perf_rb_pages",
    "log_size",           "stack_mode",        "cpp_demangle",
    "lazy_symbolication", "show_debug_info",   "unstable_import",
    "unstable_macro",     "unstable_map_decl", "unstable_tseries",
    "unstable_addr",      "use_blazesym",      "no_cpp_demangle",
    "cache_user_symbols", "max_ast_nodes",     "max_type_res_iterations",
    "debug_output",       "max_bpf_programs"};

// Names of the variables of the environment up to bpftrace 0.19, and what they are called since.
constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
    {"strlen", "max_strlen"}, {"map_keys_max", "max_map_keys"}, {"cat_bytes_max", "max_cat_bytes"}};

// Those with which the kernel lets programs call all helpers (license_is_gpl_compatible()).
constexpr std::string_view kLicences[] = {
    "Dual MIT/GPL", "Dual BSD/GPL", "Dual MPL/GPL", "GPL and additional rights", "GPL v2", "GPL"};

std::string known_name(std::string_view name) {
    for (const auto& [old, now] : kOldNames)
        if (name == old) return std::string(now);
    return std::string(name);
}

class ConfigReader {
public:
    explicit ConfigReader(CompileOptions& options) : options_(options) {}

    // What is wrong with it, if anything.
    std::optional<std::string> read(std::string_view given, const std::string& value) {
        const std::string name = known_name(given);
        if (name == "max_strlen") {
            const auto complaint = number(name, value, kWord, kMostStringBytes);
            if (!complaint) options_.types.string_bytes = align_up(number_, kWord);
            return complaint;
        }
        if (name == "max_map_keys") return put(name, value, options_.types.map_entries);
        if (name == "max_probes") return put(name, value, options_.types.most_probes);
        if (name == "max_cat_bytes") return put(name, value, options_.output.cat_bytes);
        if (name == "missing_probes") return missing_probes(value);
        if (name == "license") return licence(value);
        if (name == "language") return language(value);
        if (name == "print_maps_on_exit")
            options_.output.prints_maps_on_exit = value == "1" || value == "true";
        else if (name == "str_trunc_trailer")
            options_.output.cut_string_trailer = value;
        else if (std::ranges::find(kWithoutEffect, name) == std::end(kWithoutEffect) &&
                 !name.starts_with("unstable_"))
            return gpufs::cat(given, ": not a known configuration option");
        return std::nullopt;
    }

private:
    std::optional<std::string> number(const std::string& name, const std::string& text,
                                      std::uint64_t least, std::uint64_t most) {
        const char* const end = text.data() + text.size();
        const auto [stop, code] = std::from_chars(text.data(), end, number_);
        if (code == std::errc() && stop == end && number_ >= least && number_ <= most)
            return std::nullopt;
        return gpufs::cat(name, " is a number from ", least, " to ", most);
    }

    template <class Number>
    std::optional<std::string> put(const std::string& name, const std::string& text,
                                   Number& where) {
        const auto complaint = number(name, text, 1, UINT32_MAX);
        if (!complaint) where = number_;
        return complaint;
    }

    std::optional<std::string> missing_probes(const std::string& value) {
        using Missing = TypeOptions::Missing;
        if (value == "error")
            options_.types.missing_probes = Missing::mistake;
        else if (value == "warn")
            options_.types.missing_probes = Missing::caution;
        else if (value == "ignore")
            options_.types.missing_probes = Missing::nothing;
        else
            return gpufs::cat(
                "Invalid value for missing_probes: valid values are \"ignore\", "
                "\"warn\", and \"error\"");
        return std::nullopt;
    }

    std::optional<std::string> language(const std::string& value) {
        if (value != "newest" && value != "0.17")
            return gpufs::cat("language is newest or 0.17, not ", value);
        options_.types.is_old = value == "0.17";
        options_.output.language = options_.types.is_old ? Language::as_of_0_17 : Language::newest;
        return std::nullopt;
    }

    std::optional<std::string> licence(const std::string& value) {
        if (std::ranges::find(kLicences, value) != std::end(kLicences)) {
            options_.licence = value;
            return std::nullopt;
        }
        std::string all;
        for (const std::string_view one : kLicences)
            all += gpufs::cat(all.empty() ? "" : ", ", one);
        return gpufs::cat("Invalid value for license. Found: ", value, ". Valid values: ", all);
    }

    CompileOptions& options_;
    std::uint64_t number_ = 0;
};

}  // namespace

CompileOptions with_config(CompileOptions options, const Script& script,
                           const std::function<const char*(const char*)>& environment) {
    Diagnostics mistakes;
    ConfigReader reader(options);
    for (const ConfigEntry& entry : script.config) {
        const auto complaint = reader.read(entry.name, entry.value);
        if (!complaint) continue;
        // Nothing is near to a name that is known.
        std::vector<std::string> names(std::begin(kKnown), std::end(kKnown));
        if (std::ranges::find(names, entry.name) != names.end()) names.clear();
        mistakes.error(script.sources.at(entry.at.source), entry.at.span, *complaint,
                       did_you_mean(entry.name, names));
    }
    mistakes.throw_if_any();
    std::vector<std::string> names(std::begin(kKnown), std::end(kKnown));
    for (const auto& [old, now] : kOldNames) names.emplace_back(old);
    for (const std::string& name : names) {
        std::string variable = "BPFTRACE_";
        for (const char c : name) variable += static_cast<char>(std::toupper(c));
        const char* const value = environment(variable.c_str());
        if (!value) continue;
        if (const auto complaint = reader.read(name, value))
            throw UsageError(gpufs::cat(variable, ": ", *complaint));
    }
    return options;
}

}  // namespace gpufs::bt
