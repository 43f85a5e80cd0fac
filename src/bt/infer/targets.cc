#include <algorithm>

#include "base/cat.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/hex.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bt/infer/inference.h"
#include "bt/syntax/mistake.h"
#include "bt/syntax/walk.h"
#include "lang/program/function_pattern.h"

namespace gpufs::bt {
namespace {

// What of its target a block asks for.
struct Asked {
    bool args = false, result = false, probe = false, function = false, numbered = false,
         address = false;

    explicit Asked(const Probe& probe_) {
        for_each_expr(probe_, [&](const Expr& expr) {
            if (expr.kind != Expr::Kind::identifier && expr.kind != Expr::Kind::call) return;
            args = args || expr.text == "args";
            result = result || expr.text == "retval";
            probe = probe || expr.text == "probe";
            function = function || expr.text == "func";
            numbered = numbered || static_argument_number(expr.text);
            address = address || expr.text == "uaddr";
        });
    }
};

class Splitter {
public:
    Splitter(const Probe& probe, const InferenceInput& input, std::deque<Instance>& into)
        : probe_(probe), in_(input), asked_(probe), into_(into) {}

    void split() {
        for (const AttachPoint& point : probe_.points) {
            if (point.provider == Provider::tracepoint)
                add_tracepoints(point);
            else if (is_kernel_function(point.provider))
                add_functions(point);
            else if (point.provider == Provider::rawtracepoint)
                add_raw_tracepoints(point);
            else if (is_in_file(point.provider))
                add_in_files(point);
            else if (point.provider == Provider::iter)
                add_iterator(point);
            else
                add(point);
        }
        // Of a list one must be there.
        const bool is_made = std::ranges::find(into_, &probe_, &Instance::probe) != into_.end();
        if (first_missing_ && !is_made && !in_.options.missing_probes)
            in_.complain(first_missing_->at, first_missing_->message, first_missing_->hint);
    }

private:
    static bool is_kernel_function(Provider provider) {
        return provider == Provider::kprobe || provider == Provider::kretprobe ||
               provider == Provider::fentry || provider == Provider::fexit;
    }

    Instance& add(AttachPoint point) {
        if (!asked_.probe)
            for (Instance& known : into_)
                if (known.probe == &probe_ && known.provider() == point.provider && !known.event &&
                    !known.static_probe && known.parameters.empty() && !needs_own(point)) {
                    known.points.push_back(std::move(point));
                    return known;
                }
        Instance instance;
        instance.probe = &probe_;
        instance.asks_function = asked_.function;
        instance.points.push_back(std::move(point));
        into_.push_back(std::move(instance));
        return into_.back();
    }

    // Without cookies a program knows its function where it has one only.
    bool needs_own(const AttachPoint& point) const {
        const bool is_typed =
            point.provider == Provider::tracepoint || point.provider == Provider::fentry ||
            point.provider == Provider::fexit || point.provider == Provider::rawtracepoint ||
            point.provider == Provider::usdt;
        if (point.provider == Provider::iter) return true;
        return (is_typed && (asked_.args || asked_.result)) ||
               (point.provider == Provider::uprobe && asked_.args) ||
               (is_in_file(point.provider) && asked_.address) ||
               (asked_.function && !in_.options.has_cookies);
    }

    void add_tracepoints(const AttachPoint& point) {
        const std::string name = gpufs::cat(point.target, ':', point.name);
        const std::vector<std::string> found =
            point.has_glob() ? in_.world.events(name) : std::vector{name};
        if (found.empty()) return missing(point, name, hint_for_event(point, name));
        if (found.size() > in_.options.most_probes) return too_many(point, found.size());
        for (const std::string& full : found) {
            const EventFormat* event = in_.world.event(full);
            if (!event) {
                missing(point, full, hint_for_event(point, full));
                continue;
            }
            AttachPoint one = point;
            one.target = event->system;
            one.name = event->name;
            one.text = gpufs::cat("tracepoint:", full);
            Instance& made = add(std::move(one));
            if (asked_.args) made.event = event;
        }
    }

    std::string hint_for_event(const AttachPoint& point, const std::string& name) {
        std::string near = point.has_glob() ? "" : did_you_mean(name, in_.world.events("*:*"));
        if (!near.empty()) return near;
        return in_.world.is_recording() ? "'gpufs report --stat' shows the events of a recording"
                                        : "'gpufs list' has the events of this kernel";
    }

    void add_functions(const AttachPoint& point) {
        // Of these, each function has a program of its own.
        const bool is_traced =
            point.provider == Provider::fentry || point.provider == Provider::fexit;
        const bool is_typed = is_traced && (asked_.args || asked_.result);
        const bool is_told = asked_.probe || (asked_.function && !in_.options.has_cookies);
        if (!point.has_glob() || !(is_traced || is_told)) {
            Instance& made = add(point);
            if (is_typed) find_parameters(made, point);
            return;
        }
        const std::string name = in_module(point, point.name);
        const std::vector<std::string> found = in_.world.functions(name);
        if (found.empty()) return missing(point, name);
        if (found.size() > in_.options.most_probes) return too_many(point, found.size());
        for (const std::string& function : found) {
            AttachPoint one = point;
            one.name = function;
            one.text = gpufs::cat(name_of(point.provider), ':', in_module(point, function));
            Instance& made = add(one);
            if (is_typed) find_parameters(made, one);
        }
    }

    static std::string in_module(const AttachPoint& point, const std::string& function) {
        return point.target.empty() ? function : gpufs::cat(point.target, ':', function);
    }

    void find_parameters(Instance& made, const AttachPoint& point) {
        const std::string name = in_module(point, point.name);
        auto found = in_.world.parameters(name);
        if (!found)
            return in_.complain(point.at,
                                in_.world.has_types()
                                    ? gpufs::cat("the kernel has no function '", name, '\'')
                                    : "the kernel does not tell its types (BTF)");
        made.parameters = std::move(*found);
    }

    static bool is_any(const std::string& file) { return file.empty() || file == "*"; }

    // Whoever attaches the probe finds its file, too, also libraries that come later. Here it is
    // found where the code depends on it, and where FILE stands for others.
    bool is_left(const AttachPoint& point) const {
        const std::string& file = point.target;
        if (in_.world.is_recording()) return true;
        const bool is_of_libraries = is_glob(file) && file.find('/') == file.npos;
        if (is_of_libraries && !is_any(file))
            return !asked_.args && !asked_.address &&
                   !(asked_.numbered && point.provider == Provider::usdt);
        return !is_glob(file) && !file.empty() && !in_.world.has_processes();
    }

    void add_in_files(const AttachPoint& point) {
        if (is_left(point)) return add_in_file(point);
        const World::UserFiles found = in_.world.user_files(point.target);
        if (found.paths.empty()) return not_found(point, found.trouble, found.hint);
        const bool is_pattern = is_any(point.target) || is_glob(point.target);
        bool is_made = false;
        for (const std::string& path : found.paths) {
            AttachPoint one = point;
            one.target = path;
            if (is_pattern || found.paths.size() > 1) {
                if (!has_place(one)) continue;
                one.text = gpufs::cat(name_of(one.provider), ':', path, ':',
                                      one.space.empty() ? "" : one.space + ':', one.name);
            }
            is_made = true;
            add_in_file(one);
        }
        if (!is_made) missing(point, gpufs::cat(point.target, ':', point.name));
    }

    // Of several files not all must have it, and not all are programs.
    bool has_place(const AttachPoint& point) {
        if (point.address || !point.source.empty()) return true;
        try {
            if (point.provider == Provider::usdt) return !static_probes_of(point).empty();
            return !user_functions_in(point).empty();
        } catch (const Error&) {
            return false;
        }
    }

    void add_in_file(const AttachPoint& point) {
        if (point.provider == Provider::usdt)
            add_static_probes(point);
        else
            add_user_function(point);
    }

    // What a file has of a point's names. Kept for who asks next, mostly for the same.
    template <class Names>
    struct InFile {
        std::string asked;
        Names names;
    };
    const std::vector<World::StaticProbe>& static_probes_of(const AttachPoint& point) {
        std::string asked = gpufs::cat(point.target, ':', point.space, ':', point.name);
        if (asked != static_probes_.asked)
            static_probes_ = {
                std::move(asked),
                in_.world.static_probes(point.target, point.space.empty() ? "*" : point.space,
                                        point.name)};
        return static_probes_.names;
    }
    const std::vector<std::string>& user_functions_in(const AttachPoint& point) {
        std::string asked = gpufs::cat(point.target, ':', point.name);
        if (asked != user_functions_.asked)
            user_functions_ = {std::move(asked),
                               in_.world.user_functions(point.target, point.name)};
        return user_functions_.names;
    }

    void add_static_probes(const AttachPoint& point) {
        const bool is_each = asked_.numbered || asked_.probe || asked_.address;
        if (!is_each && (!is_glob(gpufs::cat(point.space, point.name)) || is_glob(point.target)))
            return void(add(point));
        const auto& places = static_probes_of(point);
        if (places.empty()) return void(add(point));  // whoever attaches it says why
        if (places.size() > in_.options.most_probes) return too_many(point, places.size());
        // A place each, where there are several: each has its arguments elsewhere.
        std::vector<std::string> seen;
        for (std::size_t i = 0; i < places.size(); ++i) {
            AttachPoint one = point;
            one.text =
                gpufs::cat("usdt:", point.target, ':', places[i].provider, ':', places[i].name);
            if (is_each) {
                Instance instance;
                instance.probe = &probe_;
                instance.points.push_back(std::move(one));
                instance.static_probe = places[i];
                instance.file_address = places[i].address;
                if (places.size() > 1) instance.static_place = i;
                into_.push_back(std::move(instance));
            } else if (std::ranges::find(seen, one.text) == seen.end()) {
                seen.push_back(one.text);
                one.space = places[i].provider;
                one.name = places[i].name;
                add(std::move(one));
            }
        }
    }

    // The places of a line of a source.
    void add_user_line(const AttachPoint& point) {
        const World::UserLine found = in_.world.user_line(point.target, point.source, point.line);
        if (found.addresses.empty()) return in_.complain(point.at, found.trouble, found.hint);
        for (const std::uint64_t address : found.addresses) {
            AttachPoint one = point;
            one.address = address;
            one.source.clear();
            add_user_function(std::move(one));
        }
    }

    // Addresses become places in functions, and places must be within them.
    void add_user_function(AttachPoint point) {
        if (!point.source.empty()) return add_user_line(point);
        if (point.address) {
            const auto place = in_.world.user_function_at(point.target, *point.address);
            const bool is_named = place && !place->function.empty();
            if (!is_named && !(place && in_.options.is_unsafe))
                return in_.complain(
                    point.at,
                    gpufs::cat("Could not resolve address: ", point.target, ':',
                               hex(*point.address)),
                    place ? "no symbol has it: --unsafe probes it, if an instruction begins there"
                          : "");
            if (!is_named)
                in_.warn(point.at,
                         "no symbol has this address: where no instruction begins there, "
                         "the probed program crashes");
            point.name = is_named ? place->function : hex(place->offset);
            point.offset = is_named ? place->offset : 0;
            point.address.reset();
        } else if (point.offset != 0 && !point.has_glob()) {
            const auto symbol = in_.world.user_symbol(point.target, point.name);
            if (symbol && symbol->bytes != 0 && point.offset >= symbol->bytes)
                return in_.complain(point.at,
                                    gpufs::cat("Offset outside the function bounds ('", point.name,
                                               "' size is ", symbol->bytes, ')'));
        }
        if (point.is_cpp && !in_.world.is_recording() && add_overloads(point)) return;
        const bool is_each = (asked_.probe && !is_glob(point.target)) || asked_.address;
        if (point.provider == Provider::uprobe && asked_.args)
            add_with_parameters(point);
        else if (is_each && is_function_pattern(point.name))
            add_each_function(point);
        else
            add_function(std::move(point));
    }

    // The functions that a name of C++ stands for, where it is a pattern or several have it.
    bool add_overloads(const AttachPoint& point) {
        if (point.name.starts_with("_Z")) return false;
        const bool is_pattern = is_glob(point.name) && point.name.find('(') == std::string::npos;
        const std::vector<std::string> names = user_functions_in(point);
        if (names.empty() || (!is_pattern && names.size() == 1)) {
            if (is_pattern) missing(point, gpufs::cat(point.target, ':', point.name));
            return is_pattern;
        }
        if (names.size() > in_.options.most_probes) {
            too_many(point, names.size());
            return true;
        }
        for (const std::string& name : names) {
            AttachPoint one = of_function(point, name);
            one.is_cpp = false;
            add_user_function(std::move(one));
        }
        return true;
    }

    Instance& add_function(AttachPoint point) {
        Instance& made = add(std::move(point));
        if (!asked_.address || made.provider() != Provider::uprobe) return made;
        const AttachPoint& one = made.points.front();
        if (const auto symbol = in_.world.user_symbol(one.target, one.name))
            made.file_address = symbol->address + one.offset;
        return made;
    }

    // Those that the pattern of a point names; empty, and a mistake is told, where they are none or
    // too many.
    std::vector<std::string> user_functions_of(const AttachPoint& point) {
        std::vector<std::string> names{point.name};
        if (is_function_pattern(point.name)) names = user_functions_in(point);
        if (names.empty()) missing(point, gpufs::cat(point.target, ':', point.name));
        if (names.size() > in_.options.most_probes) {
            too_many(point, names.size());
            names.clear();
        }
        return names;
    }
    static AttachPoint of_function(const AttachPoint& point, const std::string& name) {
        AttachPoint one = point;
        one.name = name;
        one.text = gpufs::cat(name_of(point.provider), ':', point.target, ':', name);
        return one;
    }

    void add_each_function(const AttachPoint& point) {
        for (const std::string& name : user_functions_of(point))
            add_function(of_function(point, name));
    }

    void add_with_parameters(const AttachPoint& point) {
        if (point.offset != 0)
            return in_.complain(point.at,
                                "args are where a function begins, not at an offset in it");
        World::UserFunction trouble;
        const std::size_t before = into_.size();
        const std::vector<std::string> names = user_functions_of(point);
        for (const std::string& name : names) {
            World::UserFunction found = in_.world.user_function(point.target, name);
            if (!found.trouble.empty()) {
                trouble = std::move(found);
                continue;
            }
            Instance& made = add_function(of_function(point, name));
            for (World::UserParameter& parameter : found.parameters) {
                made.parameters.push_back(
                    {std::move(parameter.name), std::move(parameter.type), 0, 0, 0});
                made.parameter_places.push_back(std::move(parameter.place));
            }
        }
        // Of a pattern, those with debug information are meant.
        if (!names.empty() && into_.size() == before)
            in_.complain(point.at, trouble.trouble, trouble.hint);
    }

    void add_iterator(const AttachPoint& point) {
        if (in_.world.has_types() && !in_.world.find_structure(iterator_context(point)))
            return missing(point, point.name, "'gpufs bt -l iter:*' lists those of this kernel");
        add(point);
    }

    // By the event's name; what may stand in front of it is its module, of which the events' format
    // files do not tell, or its category.
    void add_raw_tracepoints(const AttachPoint& point) {
        std::vector<std::string> found;
        for (const std::string& full : in_.world.events(gpufs::cat("*:", point.name))) {
            const std::string category = full.substr(0, full.find(':'));
            // The events of single system calls have no tracepoints of their own.
            if (category == "syscalls") continue;
            if (point.target.empty() || glob_match(point.target, "vmlinux") ||
                glob_match(point.target, category))
                found.push_back(full);
        }
        if (found.empty())
            return missing(
                point,
                point.target.empty() ? point.name : gpufs::cat(point.target, ':', point.name),
                hint_for_raw_tracepoint(point));
        if (found.size() > in_.options.most_probes) return too_many(point, found.size());
        for (const std::string& full : found) {
            const EventFormat* event = in_.world.event(full);
            if (!event) continue;
            AttachPoint one = point;
            one.target = event->system;
            one.name = event->name;
            one.text = gpufs::cat(name_of(point.provider), ':', event->name);
            Instance& made = add(std::move(one));
            if (!asked_.args) continue;
            if (auto parameters = in_.world.raw_tracepoint(event->name))
                made.parameters = std::move(*parameters);
        }
    }

    // Nothing of a name that there is, but of something else.
    std::string hint_for_raw_tracepoint(const AttachPoint& point) {
        if (point.has_glob()) return {};
        std::vector<std::string> names;
        for (const std::string& full : in_.world.events("*:*"))
            if (const auto colon = full.find(':'); full.substr(0, colon) != "syscalls")
                names.push_back(full.substr(colon + 1));
        const bool is_there = std::ranges::find(names, point.name) != names.end();
        return is_there ? std::string() : did_you_mean(point.name, names);
    }

    void missing(const AttachPoint& point, const std::string& name, std::string_view hint = {}) {
        not_found(point,
                  in_.options.is_old
                      ? gpufs::cat(name_of(point.provider), " not found: ", name)
                      : gpufs::cat("No matches for ", name_of(point.provider), ' ', name, '.'),
                  hint);
    }
    // The config says what becomes of a probe whose target is not there.
    void not_found(const AttachPoint& point, const std::string& message, std::string_view hint) {
        using Missing = TypeOptions::Missing;
        const Missing what = in_.options.if_missing(probe_);
        if (what == Missing::mistake) return in_.complain(point.at, message, hint);
        if (!first_missing_) first_missing_ = Mistake{point.at, message, std::string(hint)};
        if (what == Missing::caution) in_.warn(point.at, gpufs::cat(message, " Skipping."));
    }

    void too_many(const AttachPoint& point, std::size_t found) {
        in_.complain(point.at,
                     gpufs::cat("'", point.text, "' stands for ", found, " probes, more than ",
                                in_.options.most_probes),
                     "max_probes in the config block allows more");
    }

    const Probe& probe_;
    const InferenceInput& in_;
    const Asked asked_;
    std::deque<Instance>& into_;
    InFile<std::vector<World::StaticProbe>> static_probes_;
    InFile<std::vector<std::string>> user_functions_;
    std::optional<Mistake> first_missing_;
};

}  // namespace

std::deque<Instance> split_probes(const InferenceInput& input) {
    std::deque<Instance> made;
    for (const Probe& probe : input.script.probes) Splitter(probe, input, made).split();
    return made;
}

}  // namespace gpufs::bt
