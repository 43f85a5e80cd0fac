#include "engine/places/kernel_facts.h"

#include <algorithm>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/kernel_version.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/trace/kernel_events.h"
#include "kernel/host/kallsyms.h"
#include "kernel/perf/event.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

std::vector<std::string> names_of_traceable(std::string_view text) {
    std::vector<std::string> names;
    for (const std::string_view line : lines_of(text))
        if (const auto function = parse_traceable_line(line)) names.emplace_back(function->name);
    return names;
}

// What the interpreter has, of whatever kernel a recording is.
constexpr BpfFeature kInterpreted[] = {
    BpfFeature::bpf,         BpfFeature::subprograms,
    BpfFeature::jmp32,       BpfFeature::large_programs,
    BpfFeature::global_data, BpfFeature::bounded_loops,
    BpfFeature::ringbuf,     BpfFeature::atomics,
    BpfFeature::callbacks,   BpfFeature::isa_v4,
    BpfFeature::may_goto,
};

}  // namespace

ModuleFunction split_module(std::string_view name) {
    const auto colon = name.find(':');
    if (colon == name.npos) return {{}, name};
    return {name.substr(0, colon), name.substr(colon + 1)};
}

KernelFacts::KernelFacts() {
    try {
        tracefs_ = find_tracefs();
        kernel_ = kernel_events(*tracefs_);
    } catch (const UnsupportedError& e) {
        no_tracefs_ = e;
    }
}

KernelFacts::KernelFacts(Tracefs tracefs, BpfFeatures features)
    : tracefs_(std::move(tracefs)),
      kernel_(kernel_events(*tracefs_)),
      features_(std::move(features)) {}

KernelFacts::KernelFacts(Events& recorded)
    : no_tracefs_("a recording has no tracefs"),
      recorded_(&recorded),
      features_(BpfFeatures::only(kInterpreted)) {}

Events& KernelFacts::events() {
    if (recorded_) return *recorded_;
    tracefs();
    return kernel_;
}

const Tracefs& KernelFacts::tracefs() const {
    if (!tracefs_) throw UnsupportedError(*no_tracefs_);
    return *tracefs_;
}

bool KernelFacts::is_dynamic_event(const std::string& full_name) {
    return !places_of_dynamic_event(full_name).empty();
}

std::vector<ProbeLine> KernelFacts::places_of_dynamic_event(const std::string& full_name) {
    if (recorded_) return {};
    if (!dynamic_events_) dynamic_events_ = read_probe_lines(tracefs());
    std::vector<ProbeLine> places;
    std::ranges::copy_if(*dynamic_events_, std::back_inserter(places),
                         [&](const ProbeLine& line) { return line.event() == full_name; });
    return places;
}

// The kernel looks through variables, too, for a name (number_of_same_symbols() in
// kernel/trace/trace_kprobe.c).
const KernelFacts::ModuleFunctions& KernelFacts::functions_of(std::string_view modules) {
    if (const auto known = of_modules_.find(modules); known != of_modules_.end())
        return known->second;
    ModuleFunctions names;
    for_each_line(kallsyms_if_readable(), [&](std::string_view line) {
        const auto symbol = parse_kallsyms_line(line);
        if (!symbol) return;
        const bool is_own =
            symbol->is_code() &&
            glob_match(modules, symbol->module.empty() ? "vmlinux" : symbol->module);
        if (!is_own || !names.own.emplace(symbol->name).second) names.others.emplace(symbol->name);
    });
    return of_modules_.emplace(modules, std::move(names)).first->second;
}

std::vector<std::string> KernelFacts::functions(std::string_view pattern) {
    if (recorded_) return {};
    if (const ModuleFunction split = split_module(pattern); !split.module.empty()) {
        const ModuleFunctions& known = functions_of(split.module);
        std::vector<std::string> found = functions(split.function);
        std::erase_if(found,
                      [&](const std::string& function) { return !known.own.contains(function); });
        for (const std::string& function : found)
            if (known.others.contains(function)) namesakes_.insert(function);
        return found;
    }
    if (!functions_) {
        const auto traceable =
            tracefs_ ? tracefs_->read_if_readable("available_filter_functions") : std::nullopt;
        functions_ = traceable ? names_of_traceable(*traceable)
                               : kernel_function_names(kallsyms_if_readable());
        std::ranges::sort(*functions_);
        for (std::size_t i = 1; i < functions_->size(); ++i)
            if ((*functions_)[i] == (*functions_)[i - 1]) namesakes_.insert((*functions_)[i]);
        functions_->erase(std::unique(functions_->begin(), functions_->end()), functions_->end());
    }
    // They are sorted, and there are tens of thousands: only those that begin as the pattern does.
    const std::string_view beginning = pattern.substr(0, pattern.find_first_of("*?[\\"));
    std::vector<std::string> found;
    for (auto it = std::ranges::lower_bound(*functions_, beginning);
         it != functions_->end() && it->starts_with(beginning); ++it)
        if (glob_match(pattern, *it)) found.push_back(*it);
    return found;
}

bool KernelFacts::has_kprobes() {
    if (recorded_) return false;
    return Pmu::find("kprobe") || (tracefs_ && tracefs_->has("kprobe_events"));
}

bool KernelFacts::has_module(std::string_view name, std::string_view version) const {
    const std::string directory = cat("/sys/module/", name);
    if (recorded_ || !file_exists(directory)) return false;
    if (version.empty()) return true;
    const auto own = read_file_if_readable(directory + "/version");
    // Versions have the form of a kernel's: 580.126.09.
    return own && parse_kernel_release(trim(*own)) >= parse_kernel_release(version);
}

std::set<std::string, std::less<>> KernelFacts::features_among(const std::set<std::string>& names) {
    std::set<std::string, std::less<>> found;
    for (const std::string& name : names) {
        const auto feature = find_bpf_feature(name);
        if (!feature) {
            std::vector<std::string> known;
            for (const BpfFeatureName& one : bpf_feature_names()) known.emplace_back(one.name);
            const std::string near = did_you_mean(name, known);
            throw UsageError(cat("no kernel feature is named '", name, "'"),
                             near.empty() ? cat("there are ", join(known, ", ")) : near);
        }
        if (features_.has(*feature)) found.insert(name);
    }
    return found;
}

const Btf* KernelFacts::btf() {
    if (!btf_) {
        btf_.emplace();
        if (!features_.has(BpfFeature::btf)) return nullptr;
        try {
            btf_->emplace(Btf::kernel());
        } catch (const UnsupportedError&) {
            // Then there is none; whoever needs it says so.
        }
    }
    return btf_->has_value() ? &**btf_ : nullptr;
}

std::optional<KernelFacts::BtfFunctionId> KernelFacts::find_btf_function(std::string_view name) {
    if (!btf()) return std::nullopt;
    std::vector<std::string> modules = btf_modules();
    const ModuleFunction wanted = split_module(name);
    if (!wanted.is_of_module())
        if (const auto id = btf()->find_function(wanted.function)) return BtfFunctionId{*id, {}};
    if (!wanted.module.empty())
        std::erase_if(modules, [&](const std::string& one) { return one != wanted.module; });
    for (const std::string& module : modules)
        if (const auto id = Btf::module(module, *btf()).find_function(wanted.function))
            return BtfFunctionId{*id, module};
    return std::nullopt;
}

std::optional<std::int64_t> KernelFacts::btf_offset(std::string_view path) {
    if (!btf()) return std::nullopt;
    const auto colon = path.find(':');
    const std::string_view module = path.substr(0, colon == path.npos ? 0 : colon);
    if (colon != path.npos) path.remove_prefix(colon + 1);
    const bool is_module = std::ranges::count(btf_modules(), module) > 0;  // else it is built in
    try {
        const BtfAccess access =
            is_module ? Btf::module(module, *btf()).resolve(path) : btf()->resolve(path);
        if (!access.pointers.empty() || access.bit_size != 0) return std::nullopt;
        return access.offset;
    } catch (const NoSuchMember&) {
        return std::nullopt;
    } catch (const UnsupportedError&) {  // the module's types
        return std::nullopt;
    }
}

}  // namespace gpufs
