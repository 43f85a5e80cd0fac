#include <algorithm>
#include <bit>
#include <cctype>
#include <memory>
#include <optional>
#include <variant>

#include "base/align.h"
#include "base/cat.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "bt/compile/compile.h"
#include "bt/syntax/tree.h"

namespace gpufs::bt {
namespace {

constexpr std::uint64_t kMostStringBytes = 16 << 10;
constexpr std::uint64_t kMostRingBytes = 1 << 30;
// perf_rb_pages counts pages of this size, whatever the machine's are: the kernel wants a power of
// two of its own, which have 64 KiB at most.
constexpr std::uint64_t kPageBytes = 4096, kLeastRingBytes = 64 << 10;

// The entries that have an effect here, and those of bpftrace that need none.
constexpr std::string_view kKnown[] = {"max_strlen",        "max_map_keys",    "max_probes",
                                       "max_cat_bytes",     "missing_probes",  "print_maps_on_exit",
                                       "str_trunc_trailer", "license",         "language",
                                       "stack_mode",        "show_debug_info", "perf_rb_pages"};
constexpr std::string_view kWithoutEffect[] = {
    "max_bpf_progs",      "on_stack_limit",  "log_size",       "cpp_demangle",
    "lazy_symbolication", "unstable_import", "unstable_macro", "unstable_map_decl",
    "unstable_tseries",   "unstable_addr",   "use_blazesym",   "no_cpp_demangle",
    "cache_user_symbols", "max_ast_nodes",   "debug_output",   "max_type_res_iterations",
    "max_bpf_programs"};

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
            auto complaint = number(name, value, 1, kMostStringBytes);
            if (!complaint) options_.types.string_bytes = align_up(number_, kWord);
            has_string_bytes_ = has_string_bytes_ || !complaint;
            return complaint;
        }
        if (name == "max_map_keys") return put(name, value, options_.types.map_entries);
        if (name == "max_probes") return put(name, value, options_.types.most_probes);
        if (name == "max_cat_bytes") return put(name, value, options_.output.cat_bytes);
        if (name == "perf_rb_pages") {
            auto complaint = number(name, value, 1, kMostRingBytes / kPageBytes);
            if (!complaint)
                options_.ring_bytes =
                    std::bit_ceil(std::max(number_ * kPageBytes, kLeastRingBytes));
            return complaint;
        }
        if (name == "missing_probes") return missing_probes(value);
        if (name == "license") return licence(value);
        if (name == "language") return language(value);
        if (name == "stack_mode") {
            const auto form = stack_form(value);
            if (!form)
                return gpufs::cat("Invalid value for stack_mode: ", value,
                                  ". Valid values: bpftrace, perf, raw, build_id");
            options_.types.stack_form = *form;
            return std::nullopt;
        }
        const bool is_on = value == "1" || value == "true";
        if (name == "print_maps_on_exit")
            options_.output.prints_maps_on_exit = is_on;
        else if (name == "show_debug_info")
            options_.output.shows_lines = is_on;
        else if (name == "str_trunc_trailer")
            options_.output.cut_string_trailer = *(trailer_ = value);
        else if (std::ranges::find(kWithoutEffect, name) == std::end(kWithoutEffect) &&
                 !name.starts_with("unstable_"))
            return gpufs::cat(given, ": not a known configuration option");
        return std::nullopt;
    }

    // What 0.17 has where nothing else is asked for.
    void finish() {
        if (!options_.types.is_old) return;
        if (!has_string_bytes_) options_.types.string_bytes = 64;
        options_.output.cut_string_trailer = trailer_.value_or("");
    }

private:
    std::optional<std::string> number(const std::string& name, const std::string& text,
                                      std::uint64_t least, std::uint64_t most) {
        const auto number = whole_number<std::uint64_t>(text);
        number_ = number.value_or(0);
        if (number && *number >= least && *number <= most) return std::nullopt;
        return gpufs::cat(name, " is a number from ", least, " to ", most);
    }

    template <class Number>
    std::optional<std::string> put(const std::string& name, const std::string& text,
                                   Number& where) {
        auto complaint = number(name, text, 1, UINT32_MAX);
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
    bool has_string_bytes_ = false;
    std::optional<std::string> trailer_;
};

// The members of the record that config() is: numbers, booleans and texts.
using Setting = std::variant<std::uint64_t, bool, std::string_view>;
std::optional<Setting> setting(std::string_view name, const CompileOptions& options) {
    const TypeOptions& types = options.types;
    if (name == "max_strlen") return types.string_bytes;
    if (name == "max_map_keys") return types.map_entries;
    if (name == "max_probes") return std::uint64_t{types.most_probes};
    if (name == "max_cat_bytes") return std::uint64_t{options.output.cat_bytes};
    if (name == "perf_rb_pages") return options.ring_bytes / kPageBytes;
    if (name == "print_maps_on_exit") return options.output.prints_maps_on_exit;
    if (name == "show_debug_info") return options.output.wants_lines();
    if (name == "str_trunc_trailer") return options.output.cut_string_trailer;
    if (name == "license") return options.licence;
    if (name == "stack_mode") return name_of(types.stack_form);
    if (name == "language") return types.is_old ? "0.17" : "newest";
    if (name == "cpp_demangle") return true;
    if (name == "missing_probes") {
        using Missing = TypeOptions::Missing;
        const Missing missing = types.missing_probes.value_or(Missing::mistake);
        return missing == Missing::mistake   ? "error"
               : missing == Missing::caution ? "warn"
                                             : "ignore";
    }
    return std::nullopt;
}

bool is_config(const Expr& expr) {
    const bool is_named = expr.kind == Expr::Kind::identifier ||
                          (expr.kind == Expr::Kind::call && expr.operands.empty());
    return is_named && (expr.text == "config" || expr.text == "__builtin_config");
}

ExprPtr literal(const Setting& setting, const SourceRef& at) {
    auto made = std::make_unique<Expr>();
    made->at = at;
    if (const auto* text = std::get_if<std::string_view>(&setting)) {
        made->kind = Expr::Kind::string;
        made->text = *text;
        return made;
    }
    const auto* truth = std::get_if<bool>(&setting);
    made->kind = truth ? Expr::Kind::boolean : Expr::Kind::integer;
    made->number = truth ? *truth : std::get<std::uint64_t>(setting);
    made->text = gpufs::cat(made->number);
    return made;
}

}  // namespace

void put_config(Script& script, const CompileOptions& options) {
    Diagnostics mistakes;
    const auto put = [&](ExprPtr& expr) {
        if (expr->kind != Expr::Kind::member || !is_config(*expr->operands[0])) return;
        if (const auto found = setting(expr->text, options)) {
            expr = literal(*found, expr->at);
            return;
        }
        mistakes.error(script.sources.at(expr->at.source), expr->at.span,
                       gpufs::cat("config has no member '", expr->text, "'"),
                       did_you_mean(expr->text, std::vector<std::string>(std::begin(kKnown),
                                                                         std::end(kKnown))));
    };
    for (Probe& probe : script.probes) {
        if (probe.predicate) for_each_expression(probe.predicate, put);
        for_each_expression(probe.body, put);
    }
    for (Function& function : script.functions) for_each_expression(function.body, put);
    mistakes.throw_if_any();
}

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
    reader.finish();
    return options;
}

}  // namespace gpufs::bt
