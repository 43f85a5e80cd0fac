#include "bt/compile/compile.h"

#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "base/hex.h"
#include "base/suggest.h"
#include "bt/code/probe_code.h"
#include "bt/infer/infer.h"
#include "bt/syntax/walk.h"
#include "bt/types/types_text.h"
#include "lang/event/sampling_events.h"

namespace gpufs::bt {
namespace {

// Of a part of a key that is no name, as in @[nsecs / 2].
constexpr const char* kUnnamedKey = "key";
// What tables call the columns of values.
constexpr std::string_view kValueNames[] = {"count", "sum", "avg", "min", "max", "value"};

// Every so many events, where the script does not say it.
std::uint64_t default_period(const std::string& event) {
    static constexpr std::pair<std::string_view, std::uint64_t> kPeriods[] = {
        {"cpu-clock", 1000000},          {"page-faults", 100},
        {"context-switches", 1000},      {"minor-faults", 100},
        {"branch-instructions", 100000}, {"branch-misses", 100000},
        {"bus-cycles", 100000},          {"cpu-cycles", 1000000},
        {"instructions", 1000000},       {"cache-references", 1000000},
        {"cache-misses", 1000000},       {"ref-cycles", 1000000},
        {"frontend-stalls", 1000000},    {"backend-stalls", 1000000}};
    for (const auto& [name, period] : kPeriods)
        if (name == event) return period;
    return 1;
}

// The place that the engine attaches a program to.
ProbeTarget target_of(const AttachPoint& point, bool has_cookies, const Script& script,
                      const std::vector<int>& pids) {
    using To = ProbeTarget::Kind;
    const auto in_file = [&](To kind) {
        ProbeTarget target;
        target.kind = kind;
        target.name = gpufs::cat(point.target, ':', point.name);
        return target;
    };
    const auto of_kernel = [&](To kind) {
        ProbeTarget target;
        target.kind = kind;
        target.name = point.target.empty() ? point.name : gpufs::cat(point.target, ':', point.name);
        return target;
    };
    ProbeTarget target;
    switch (point.provider) {
        case Provider::begin:
            target.kind = To::begin;
            break;
        case Provider::end:
            target.kind = To::end;
            break;
        case Provider::kprobe:
            target = of_kernel(To::kprobe);
            break;
        case Provider::kretprobe:
            target = of_kernel(To::kretprobe);
            break;
        case Provider::fentry:
            target = of_kernel(To::fentry);
            break;
        case Provider::fexit:
            target = of_kernel(To::fexit);
            break;
        case Provider::uprobe:
            target = in_file(To::uprobe);
            break;
        case Provider::uretprobe:
            target = in_file(To::uretprobe);
            break;
        case Provider::usdt:
            target.kind = To::usdt;
            target.name = gpufs::cat(point.target, ':', point.space.empty() ? "*" : point.space,
                                     ':', point.name);
            break;
        case Provider::tracepoint:
            target = of_kernel(To::tracepoint);
            break;
        case Provider::rawtracepoint:
            target = of_kernel(To::raw_tracepoint);
            break;
        case Provider::profile:
        case Provider::interval:
            target.kind = point.provider == Provider::profile ? To::profile : To::interval;
            target.period = point.number;
            target.is_frequency = point.is_frequency;
            break;
        case Provider::software:
        case Provider::hardware:
            target.kind = To::profile;
            target.name = point.target;
            target.period = point.number != 0 ? point.number : default_period(point.target);
            break;
        case Provider::self:
            target.kind = To::signal;
            target.name = point.name;
            break;
        case Provider::watchpoint:
            if (point.address) {
                target.kind = To::watchpoint;
                target.name = gpufs::cat(hex(*point.address), ':', point.number, ':', point.mode);
                break;
            }
            throw SourceError(script.sources.at(point.at.source), point.at.span,
                              "a watchpoint of a function's argument is not among the probes that "
                              "gpufs has",
                              "watchpoint:0xADDRESS:LENGTH:MODE");
        case Provider::asyncwatchpoint:
            throw SourceError(script.sources.at(point.at.source), point.at.span,
                              "gpufs cannot set watchpoints while the program runs",
                              "watchpoint:0xADDRESS:LENGTH:MODE");
        case Provider::iter:
            if (!point.pin.empty())
                throw SourceError(script.sources.at(point.at.source), point.at.span,
                                  "an iterator cannot be pinned: gpufs prints what it sends",
                                  gpufs::cat("iter:", point.name));
            if (pids.size() > 1)
                throw SourceError(script.sources.at(point.at.source), point.at.span,
                                  "an iterator goes through one process or through all");
            target.kind = To::iter;
            target.name = point.name;
            if (!pids.empty()) target.process = static_cast<std::uint32_t>(pids.front());
            break;
    }
    if (point.offset != 0) target.name += gpufs::cat("+", point.offset);
    target.has_glob = point.has_glob();
    target.has_cookies = has_cookies;
    target.at = point.at;
    return target;
}

class Compiler {
public:
    Compiler(const Script& script, World& world, const CompileOptions& options)
        : script_(script), world_(world), options_(options) {}

    Compiled compile() {
        Diagnostics mistakes;
        const TypeTable table(script_, world_, mistakes);
        mistakes.throw_if_any();
        const Typed typed = infer_types(script_, world_, table, options_.types, mistakes);
        mistakes.throw_if_any();
        if (options_.keeps_stages) made_.types_text = types_text(script_, typed);
        if (typed.instances.empty()) throw UsageError("No probes to attach");
        made_.program.name = options_.name;
        made_.program.owns_included = true;
        made_.program.sources = script_.sources;
        made_.program.licence = options_.licence;
        made_.output = options_.output;
        made_.warnings = typed.warnings;
        ScriptCode shared(script_, typed, table, world_, options_, made_);
        declare_maps(typed, shared);
        for (const Instance& instance : typed.instances) add_program(instance, shared);
        shared.finish();
        return std::move(made_);
    }

private:
    void declare_maps(const Typed& typed, ScriptCode& shared) {
        for (const TypedMap& map : typed.maps) {
            if (!map.value) continue;
            shared.map(map);
            ScriptMap one;
            one.name = map.name;
            one.key = map.key;
            if (map.is_keyed && map.key->is(Type::Kind::tuple))
                for (const Type::Field& field : map.key->fields) one.keys.push_back(field.type);
            else if (map.is_keyed)
                one.keys.push_back(map.key);
            one.value = map.value;
            one.key_names = key_names(map.name, one.keys.size());
            one.is_always_there = shared.is_always_there(map);
            one.is_only_added_to = shared.is_only_added_to(map);
            made_.maps.push_back(std::move(one));
        }
    }

    // How the first use of the map names the parts of its key: "comm", "args.dev" as "dev".
    std::vector<std::string> key_names(const std::string& map, std::size_t parts) const {
        std::vector<std::string> names;
        for (const Probe& probe : script_.probes)
            for_each_expr(probe, [&](const Expr& expr) {
                const bool is_use = expr.kind == Expr::Kind::map && expr.text == map;
                if (!names.empty() || !is_use || expr.operands.empty()) return;
                for (std::size_t part = 0; part < parts; ++part)
                    names.push_back(name_of_key(expr, part));
            });
        names.resize(parts, kUnnamedKey);
        return names;
    }

    static std::string name_of_key(const Expr& use, std::size_t part) {
        const Expr* key = use.operands[0].get();
        if (use.operands.size() > part)
            key = use.operands[part].get();
        else if (key->kind == Expr::Kind::tuple && key->operands.size() > part)
            key = key->operands[part].get();
        while (key->kind == Expr::Kind::call && !key->operands.empty() &&
               key->operands[0]->kind != Expr::Kind::string)
            key = key->operands[0].get();
        const bool is_word = key->kind == Expr::Kind::identifier ||
                             key->kind == Expr::Kind::variable || key->kind == Expr::Kind::member ||
                             key->kind == Expr::Kind::call;
        const bool is_taken = std::ranges::count(kValueNames, key->text) != 0;
        return is_word && !is_taken ? key->text : kUnnamedKey;
    }

    void add_program(const Instance& instance, ScriptCode& shared) {
        ProbeCode code(instance, shared);
        ProbeProgram program;
        program.code = code.compile();
        program.name = gpufs::cat(name_of(instance.provider()), '_', made_.program.programs.size());
        if (options_.keeps_stages)
            made_.ir_text +=
                gpufs::cat(made_.ir_text.empty() ? "" : "\n", program.name, ":\n", code.ir_text());
        program.at = instance.probe->at;
        program.if_absent = options_.types.if_missing(*instance.probe);
        program.may_be_without_any = options_.types.missing_probes.has_value();
        for (const AttachPoint& point : instance.points) {
            const bool has_cookies = instance.asks_function && options_.types.has_cookies;
            program.targets.push_back({target_of(point, has_cookies, script_, options_.pids)});
            program.targets.back().front().place = instance.static_place;
        }
        made_.program.programs.push_back(std::move(program));
    }

    const Script& script_;
    World& world_;
    const CompileOptions& options_;
    Compiled made_;
};

}  // namespace

Compiled compile(const Script& script, World& world, const CompileOptions& options) {
    return Compiler(script, world, options).compile();
}

}  // namespace gpufs::bt
