#include "cmd/run/script_run.h"

#include <fcntl.h>
#include <regex.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "base/cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "bt/compile/compile.h"
#include "bt/parse/parse.h"
#include "bt/syntax/ast_text.h"
#include "cmd/shared/source_input.h"
#include "engine/bt/world.h"
#include "engine/places/kernel_facts.h"
#include "engine/recording/file.h"
#include "kernel/host/proc_task.h"
#include "lang/insn/program_text.h"
#include "lang/ir/followed.h"
#include "view/bt/diagnostic_text.h"
#include "view/bt/script_output.h"

namespace gpufs {
namespace {

constexpr std::string_view kCommandLine = "-e";

// What a script's name for a file may stand for: beside the script, and where -I says.
std::vector<std::string> import_paths(const ScriptChoices& script, const std::string& name) {
    std::vector<std::string> paths{path_from(parent_directory(script.source.name), name)};
    for (const std::string& folder : script.include_folders)
        paths.push_back(path_from(folder, name));
    return paths;
}

std::optional<SourceText> read_import(const ScriptChoices& script, const std::string& name) {
    for (const std::string& path : import_paths(script, name))
        if (auto text = read_file_if_readable(path)) return SourceText{path, std::move(*text)};
    return std::nullopt;
}

std::optional<std::vector<std::string>> list_import(const ScriptChoices& script,
                                                    const std::string& name) {
    struct stat facts {};
    for (const std::string& path : import_paths(script, name))
        if (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))
            return list_directory(path);
    return std::nullopt;
}

// A script that is kept names the functions of several kernels and libraries side by side; in what
// was just typed a name that is not there is a mistake.
bool is_file(const SourceText& source) {
    return source.name != kStandardInput && source.name != kCommandLine;
}

// An extended regular expression of POSIX.
class Regex {
public:
    explicit Regex(const std::string& text) : error_(::regcomp(&compiled_, text.c_str(), kFlags)) {}
    ~Regex() {
        if (error_ == 0) ::regfree(&compiled_);
    }
    Regex(const Regex&) = delete;
    Regex& operator=(const Regex&) = delete;

    // What is wrong with the expression; empty if nothing is.
    std::string mistake() const {
        char text[128] = "";
        if (error_ != 0) ::regerror(error_, &compiled_, text, sizeof text);
        return text;
    }
    bool is_in(const std::string& text) const {
        return ::regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
    }

private:
    static constexpr int kFlags = REG_EXTENDED | REG_NOSUB;

    regex_t compiled_{};
    int error_;
};

// Begin and end probes stay: they are no places that something happens at.
void filter_probes(bt::Script& script, const std::string& filter) {
    const Regex wanted(filter);
    if (const std::string mistake = wanted.mistake(); !mistake.empty())
        throw UsageError(cat("--probe-filter: '", filter, "' is no regular expression"), mistake);
    for (bt::Probe& probe : script.probes)
        std::erase_if(probe.points, [&](const bt::AttachPoint& point) {
            return point.provider != bt::Provider::begin && point.provider != bt::Provider::end &&
                   !wanted.is_in(point.text);
        });
    std::erase_if(script.probes, [](const bt::Probe& probe) { return probe.points.empty(); });
}

bt::Script parse_script(const ScriptChoices& script, bt::World& world) {
    bt::ParseInput input;
    input.source = script.source;
    input.arguments = script.arguments;
    input.has_btf = world.has_types();
    input.world = &world;
    input.includes = script.includes;
    input.read = [&](const std::string& name) { return read_import(script, name); };
    input.list = [&](const std::string& name) { return list_import(script, name); };
    bt::Script tree = bt::parse(input);
    if (!script.probe_filter.empty()) filter_probes(tree, script.probe_filter);
    return tree;
}

void warn(Context& ctx, const bt::Compiled& script) {
    for (const PlacedMessage& warning : script.warnings)
        ctx.err.write(bt::diagnostic_text("WARNING", warning));
}

bt::CompileOptions options_for(const ScriptChoices& script, KernelFacts& facts,
                               TraceFile* recording) {
    bt::CompileOptions options;
    options.name = script.name.empty() ? std::string(file_stem(script.source.name)) : script.name;
    options.types.is_unsafe = script.is_unsafe;
    options.types.has_cookies = !recording && facts.features().has(BpfFeature::perf_link);
    options.start_ns = [recording, now = monotonic_ns()] {
        return recording ? recording->first_time() : now;
    };
    options.tai_ahead_ns = recording ? 0 : real_time_ahead_ns() + tai_ahead_of_real_ns();
    if (const char* const map = std::getenv("BPFTRACE_DUMMY_TS_MAP"); map && map[0] == '@')
        options.clock_map = map + 1;
    options.cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    options.pids = script.pids;
    if (is_file(script.source))
        options.types.missing_in_list = script.has_warnings ? bt::TypeOptions::Missing::caution
                                                            : bt::TypeOptions::Missing::nothing;
    options.tells_failures = script.tells_failures;
    options.keeps_stages = !script.stage.empty();
    options.output.says_attached = script.says_attached;
    options.output.has_warnings = script.has_warnings;
    return options;
}

bt::Compiled compile_tree(Context& ctx, const ScriptChoices& script, bt::Script& tree,
                          bt::World& world, bt::CompileOptions options) {
    options = bt::with_config(std::move(options), tree, ::getenv);
    bt::put_config(tree, options);
    bt::Compiled compiled = bt::compile(tree, world, options);
    if (script.has_warnings) warn(ctx, compiled);
    return compiled;
}

}  // namespace

// What a shell puts in place of <(COMMAND). It can be read only once.
static bool is_pipe(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
}

bool is_script(const std::string& path) {
    constexpr std::size_t kMostOfLine = 4096;
    if (path == "-" || path.ends_with(".bt") || is_pipe(path)) return true;
    const auto head = read_file_if_readable(path, kMostOfLine);
    if (!head) return false;  // whoever reads it as a monitor tells
    const std::string_view first = std::string_view(*head).substr(0, head->find('\n'));
    return first.starts_with("#!") &&
           (first.find("bpftrace") != first.npos || first.find("gpufs") != first.npos);
}

SourceText read_script(const std::string& path) {
    try {
        return read_source(path);
    } catch (const SysError& e) {
        throw Error(failed_to_open(path, e.code()));
    }
}

std::string failed_to_open(const std::string& path, int code) {
    return cat("failed to open file '", path, "': ", std::generic_category().message(code));
}

std::vector<std::string> probes_of(const ScriptChoices& script, KernelFacts& facts) {
    bt::KernelWorld world(facts, script.pids);
    std::vector<std::string> patterns;
    for (const bt::Probe& probe : parse_script(script, world).probes)
        for (const bt::AttachPoint& point : probe.points) patterns.push_back(point.text);
    return patterns;
}

bt::Compiled compile_script(Context& ctx, const ScriptChoices& script, KernelFacts& facts,
                            TraceFile* recording) {
    bt::KernelWorld world(facts, script.pids);
    bt::Script tree = parse_script(script, world);
    return compile_tree(ctx, script, tree, world, options_for(script, facts, recording));
}

int run_script(Context& ctx, const ScriptChoices& script, RunChoices choices) {
    std::optional<TraceFile> recording;
    if (choices.input) choices.recording = &recording.emplace(*choices.input);
    KernelFacts facts = recording ? KernelFacts(recording->context().events) : KernelFacts();
    bt::KernelWorld world(facts, script.pids);
    bt::Script tree = parse_script(script, world);
    if (script.stage == "ast") {
        ctx.out.write(bt::ast_text(tree));
        return kOk;
    }
    bt::Compiled compiled =
        compile_tree(ctx, script, tree, world, options_for(script, facts, choices.recording));
    if (!script.stage.empty()) {
        ctx.out.write(script.stage == "types" ? compiled.types_text
                      : script.stage == "ir"  ? compiled.ir_text
                                              : program_text(compiled.program));
        return kOk;
    }
    if (!recording && !choices.dry_run)
        for (const int pid : script.pids) proc::require_tgid(pid);
    // Many take their time.
    if (script.says_attached && !choices.json && !choices.dry_run) {
        const bool is_old = compiled.output.language == bt::Language::as_of_0_17;
        (is_old ? ctx.out : ctx.err).line(bt::ScriptOutput::attaching(bt::probe_count(compiled)));
    }
    ctx.out.flush();
    ctx.err.flush();
    choices.script = &compiled;
    choices.pids = script.pids;
    choices.kernel = &facts;
    Program program = compiled.program;
    if (choices.follows) look_at_followed(program);
    return run_program(ctx, std::move(program), std::move(choices));
}

}  // namespace gpufs
