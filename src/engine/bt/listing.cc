#include "engine/bt/listing.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/pieces.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bt/syntax/perf_events.h"
#include "bt/syntax/words.h"
#include "engine/bt/kernel_types.h"
#include "engine/bt/world.h"
#include "engine/symbols/code_files.h"
#include "kernel/elf/usdt_notes.h"
#include "kernel/host/kallsyms.h"
#include "kernel/host/proc_task.h"
#include "lang/program/static_argument.h"
#include "lang/symbols/kernel_functions.h"
#include "lang/symbols/proc_maps.h"

namespace gpufs::bt {
namespace {

// The part of a pattern up to the colon behind its path, and the rest; "*" where there is none.
std::pair<std::string, std::string> split_path(const std::string& text) {
    const auto slash = text.rfind('/');
    const auto colon = text.find(':', slash == text.npos ? 0 : slash);
    if (colon == text.npos) return {text, "*"};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

// "char* name", as bpftrace lists parameters.
std::string joined_pointers(std::string text) {
    for (std::size_t at; (at = text.find(" *")) != text.npos;) text.erase(at, 1);
    return text;
}

class Listing {
public:
    Listing(KernelFacts& facts, const ListingRequest& request)
        : facts_(facts), request_(request), world_(facts), types_(facts) {}

    std::vector<std::string> make();

private:
    void list(Provider provider, const std::string& name);
    void tracepoints(const std::string& name);
    void raw_tracepoints(const std::string& name);
    void functions(Provider provider, const std::string& name);
    void typed_functions(Provider provider, const std::string& name);
    void files(Provider provider, const std::string& name);
    void file(Provider provider, const std::string& path, const std::string& name);
    void static_probes(const std::string& path, const std::string& name);
    void iterators(const std::string& name);
    // "struct task_struct,union acpi_object": their names or, with arguments, their definitions.
    bool definitions();
    // "PROVIDER:NAME" for each name that the pattern matches, with what is behind it.
    template <class Names>
    void names(Provider provider, const Names& all, std::string_view behind,
               const std::string& name);

    void add(Provider provider, std::string_view name) {
        std::string line = cat(name_of(provider), ':', name);
        is_wanted_ = !filter_ || glob_match(*filter_, line);
        if (is_wanted_) lines_.push_back(std::move(line));
    }
    // Of the line that was added last.
    void argument(std::string_view text) {
        if (is_wanted_ && request_.has_arguments) lines_.push_back(cat("    ", text));
    }
    void arguments(const std::optional<BtfFunction>& function, bool has_result);

    KernelFacts& facts_;
    const ListingRequest& request_;
    KernelWorld world_;
    KernelTypes types_;
    std::vector<std::string> lines_;
    std::optional<std::string> filter_;  // of whole lines
    bool is_wanted_ = true;
};

// Those that are listed where no provider is named.
constexpr Provider kNamedProbes[] = {
    Provider::kprobe,   Provider::fentry,   Provider::tracepoint, Provider::rawtracepoint,
    Provider::software, Provider::hardware, Provider::iter};
constexpr Provider kFileProbes[] = {Provider::uprobe, Provider::usdt};

std::vector<std::string> Listing::make() {
    const std::string& pattern = request_.pattern;
    for (const char c : pattern)
        if (c == '\\' || static_cast<unsigned char>(c) < ' ')
            throw UsageError("invalid character used in search expression",
                             "a name, in which * ? [...] stand for others");
    if (definitions()) return std::move(lines_);
    const auto colon = pattern.find(':');
    const std::string head = pattern.substr(0, colon);
    if (const Provider* provider = find_provider(head)) {
        list(*provider, colon == pattern.npos ? "" : pattern.substr(colon + 1));
        return std::move(lines_);
    }
    if (colon != pattern.npos && !is_glob(head))
        throw UsageError(cat("Invalid probe type: ", head), did_you_mean(head, provider_names()));
    std::string name = colon == pattern.npos ? "" : pattern.substr(colon + 1);
    if (colon == pattern.npos && !pattern.empty())
        filter_ = is_glob(pattern) ? pattern : cat("*:", pattern);
    const auto is_like = [&](Provider provider) {
        return colon == pattern.npos || glob_match(head, name_of(provider));
    };
    const bool has_path = name.find('/') != name.npos;
    if (!has_path)
        for (const Provider provider : kNamedProbes)
            if (is_like(provider)) list(provider, name);
    if (has_path || request_.pid)
        for (const Provider provider : kFileProbes)
            if (is_like(provider)) list(provider, name);
    return std::move(lines_);
}

bool Listing::definitions() {
    bool are_types = false;
    for (std::string one : split(request_.pattern, ',')) {
        one = trim(one);
        const std::string keyword = one.substr(0, one.find(' '));
        if (keyword != "struct" && keyword != "union" && keyword != "enum") continue;
        if (!std::exchange(are_types, true) && !world_.has_types())
            throw UnsupportedError("the kernel does not tell its types (BTF)",
                                   "a kernel with CONFIG_DEBUG_INFO_BTF=y");
        const std::string name(trim(one.substr(keyword.size())));
        for (const KernelTypes::Definition& found :
             types_.definitions(keyword, name.empty() ? "*" : name, request_.has_arguments)) {
            if (!request_.has_arguments) {
                lines_.push_back(found.name);
                continue;
            }
            for (const std::string_view line : lines_of(found.text))
                lines_.push_back(line.starts_with(keyword) ? cat(found.module, ": ", line)
                                                           : std::string(line));
        }
    }
    return are_types;
}

void Listing::list(Provider provider, const std::string& name) {
    using namespace std::literals;
    const std::string& some = name.empty() ? "*" : name;
    switch (provider) {
        case Provider::tracepoint:
            return tracepoints(some);
        case Provider::rawtracepoint:
            return raw_tracepoints(some);
        case Provider::kprobe:
        case Provider::kretprobe:
            return functions(provider, some);
        case Provider::fentry:
        case Provider::fexit:
            return typed_functions(provider, some);
        case Provider::uprobe:
        case Provider::uretprobe:
        case Provider::usdt:
            return files(provider, name);
        case Provider::iter:
            return iterators(some);
        case Provider::software:
        case Provider::hardware: {
            std::vector<std::string_view> all;
            for (const PerfEventName& event :
                 provider == Provider::software ? software_events() : hardware_events()) {
                all.push_back(event.name);
                if (!event.other.empty()) all.push_back(event.other);
            }
            return names(provider, all, ":", some);
        }
        case Provider::profile:
        case Provider::interval:
            return names(provider, std::array{"hz"sv, "ms"sv, "s"sv, "us"sv}, ":", some);
        case Provider::watchpoint:
        case Provider::asyncwatchpoint:
            return add(provider, "ADDRESS:LENGTH:MODE");
        case Provider::self:
            return add(provider, "signal:SIGUSR1");
        case Provider::begin:
        case Provider::end:
            lines_.emplace_back(name_of(provider));
            return;
    }
}

template <class Names>
void Listing::names(Provider provider, const Names& all, std::string_view behind,
                    const std::string& name) {
    // "software:cpu-clock:" and "software:cpu-clock:1000" are of that event.
    const std::string wanted = name.substr(0, name.find(':'));
    for (const std::string_view one : all)
        if (glob_match(wanted, one)) add(provider, cat(one, behind));
}

void Listing::arguments(const std::optional<BtfFunction>& function, bool has_result) {
    if (!function) return;
    for (const BtfValue& value : function->parameters) argument(cat(value.type, ' ', value.name));
    if (has_result && function->returned) argument(cat(function->returned->type, " retval"));
}

void Listing::tracepoints(const std::string& name) {
    const bool is_category = name.find(':') == name.npos && !is_glob(name);
    for (const std::string& event : world_.events(is_category ? name + ":*" : name)) {
        add(Provider::tracepoint, event);
        if (!request_.has_arguments) continue;
        const EventFormat* format = world_.event(event);
        for (const Field& field : format ? format->fields : std::vector<Field>())
            if (!field.is_common)
                argument(field.is_array || field.is_dynamic() ? field.declaration()
                                                              : cat(field.type, ' ', field.name));
    }
}

void Listing::raw_tracepoints(const std::string& name) {
    std::set<std::string> known;
    for (const std::string& event : world_.events("*")) {
        const auto colon = event.find(':');
        // A system call's events have no tracepoints of their own.
        if (!event.starts_with("syscalls:") && glob_match(name, event.substr(colon + 1)))
            known.insert(event.substr(colon + 1));
    }
    for (const std::string& event : known) {
        add(Provider::rawtracepoint, event);
        if (request_.has_arguments) arguments(types_.raw_prototype(event), false);
    }
}

void Listing::functions(Provider provider, const std::string& name) {
    if (!facts_.has_kprobes()) return;
    for (const std::string& function : world_.functions(name)) add(provider, function);
}

void Listing::typed_functions(Provider provider, const std::string& name) {
    if (!world_.has_types() || !facts_.features().has(BpfFeature::fentry)) return;
    const auto colon = name.find(':');
    const std::string module = colon == name.npos ? "*" : name.substr(0, colon);
    const std::vector<std::string> traceable =
        world_.functions(colon == name.npos ? name : name.substr(colon + 1));
    for (const auto& [of, typed] : types_.functions()) {
        if (!glob_match(module, of)) continue;
        std::vector<std::string> both;
        std::ranges::set_intersection(traceable, typed, std::back_inserter(both));
        for (const std::string& function : both) {
            const std::string whole = cat(of, ':', function);
            add(provider, whole);
            if (request_.has_arguments)
                arguments(types_.prototype(whole), provider == Provider::fexit);
        }
    }
}

void Listing::files(Provider provider, const std::string& name) {
    const auto [path, rest] = split_path(name);
    std::vector<int> pids;
    if (request_.pid) pids.push_back(*request_.pid);
    const auto found = find_code_files(path, pids);
    if (const Absent* absent = std::get_if<Absent>(&found)) {
        if (is_glob(path)) return;  // of a pattern, none
        throw UsageError(absent->why, absent->hint);
    }
    for (const std::string& one : std::get<0>(found)) file(provider, one, rest);
}

void Listing::file(Provider provider, const std::string& path, const std::string& name) {
    const bool is_one_of_many = is_glob(request_.pattern) || request_.pid;
    try {
        if (provider == Provider::usdt) return static_probes(path, name);
        for (const std::string& function : world_.user_functions(path, name)) {
            add(provider, cat(path, ':', function));
            if (provider != Provider::uprobe || !request_.has_arguments) continue;
            for (const World::UserParameter& one : world_.user_function(path, function).parameters)
                argument(cat(joined_pointers(one.c_type), ' ', one.name));
        }
    } catch (const Error&) {
        if (!is_one_of_many) throw;  // among many there may be scripts and data
    }
}

// "PROVIDER:NAME" or NAME.
void Listing::static_probes(const std::string& path, const std::string& name) {
    const auto colon = name.find(':');
    const std::string space = colon == name.npos ? "*" : name.substr(0, colon);
    std::set<std::string> seen;  // a probe may have several places
    for (const UsdtProbe& probe :
         find_usdt_probes(path, space, colon == name.npos ? name : name.substr(colon + 1))) {
        const std::string whole = cat(path, ':', probe.provider, ':', probe.name);
        if (!seen.insert(whole).second) continue;
        add(Provider::usdt, whole);
        std::size_t index = 0;
        for (const StaticArgument& one : parse_static_arguments(probe.arguments))
            argument(cat(one.is_signed ? "int" : "uint", 8 * one.bytes, " arg", index++));
    }
}

void Listing::iterators(const std::string& name) {
    if (!world_.has_types()) return;
    // The function that an iterator's program is of; its context has what the program can read.
    constexpr std::string_view kPrefix = "bpf_iter_";
    for (const auto& [of, functions] : types_.functions())
        for (const std::string& function : functions) {
            if (!function.starts_with(kPrefix)) continue;
            const std::string one = function.substr(kPrefix.size());
            if (!glob_match(name, one)) continue;
            const auto context = types_.members(cat("bpf_iter__", one));
            if (!context) continue;
            add(Provider::iter, one);
            for (const std::string& member : *context) argument(member);
        }
}

}  // namespace

std::vector<std::string> list_probes(KernelFacts& facts, const ListingRequest& request) {
    return Listing(facts, request).make();
}

}  // namespace gpufs::bt
