#include "cmd/shared/script_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "base/cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "bt/code/compile.h"
#include "bt/syntax/parse.h"
#include "engine/bt/world.h"
#include "engine/monitor/kernel_facts.h"
#include "engine/trace/file.h"
#include "lang/ir/followed.h"

namespace gpufs {
namespace {

constexpr std::string_view kStandardInput = "stdin", kCommandLine = "-e";

std::string text_of(std::istream& in) {
    return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<SourceText> read_import(const std::string& script, const std::string& name) {
    const auto path = std::filesystem::path(script).parent_path() / name;
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    return SourceText{path.string(), text_of(in)};
}

// A script that is kept names the functions of several kernels and libraries side by side; in what
// was just typed a name that is not there is a mistake.
bool is_file(const SourceText& source) {
    return source.name != kStandardInput && source.name != kCommandLine;
}

}  // namespace

bool is_script(const std::string& path) {
    if (path == "-" || path.ends_with(".bt")) return true;
    std::ifstream in(path, std::ios::binary);
    std::string first;
    std::getline(in, first);
    return first.starts_with("#!") && (first.find("bpftrace") != std::string::npos ||
                                       first.find("gpufs") != std::string::npos);
}

SourceText read_script(const std::string& path) {
    if (path == "-") return {std::string(kStandardInput), text_of(std::cin)};
    std::ifstream in(path, std::ios::binary);
    if (!in) throw SysError(errno, cat("open '", path, '\''));
    return {path, text_of(in)};
}

int run_script(Context& ctx, const ScriptChoices& script, RunChoices choices) {
    std::optional<TraceFile> recording;
    if (choices.input) choices.recording = &recording.emplace(*choices.input);
    KernelFacts facts = recording ? KernelFacts(recording->context().events) : KernelFacts();
    bt::KernelWorld world(facts);
    bt::ParseInput input;
    input.source = script.source;
    input.arguments = script.arguments;
    input.has_btf = world.has_types();
    input.read = [&](const std::string& name) { return read_import(script.source.name, name); };
    const bt::Script tree = bt::parse(input);
    if (script.stage == "ast") {
        ctx.out.write(bt::ast_text(tree));
        return kOk;
    }
    bt::CompileOptions options;
    options.name = std::filesystem::path(script.source.name).stem().string();
    options.types.is_unsafe = script.is_unsafe;
    options.types.has_cookies = !recording && facts.features().has(BpfFeature::perf_link);
    options.start_ns = recording ? 0 : monotonic_ns();
    options.tai_ahead_ns = recording ? 0 : real_time_ahead_ns() + tai_ahead_of_real_ns();
    if (const char* const map = std::getenv("BPFTRACE_DUMMY_TS_MAP"); map && map[0] == '@')
        options.clock_map = map + 1;
    options.cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    options.pids = script.pids;
    if (is_file(script.source))
        options.if_absent =
            script.has_warnings ? ProbeProgram::IfAbsent::caution : ProbeProgram::IfAbsent::nothing;
    bt::Compiled compiled = bt::compile(tree, world, bt::with_config(options, tree));
    if (script.has_warnings)
        for (const std::string& warning : compiled.warnings) ctx.err.line(warning);
    compiled.output.says_attached = script.says_attached;
    choices.script = &compiled;
    choices.kernel = &facts;
    Program program = compiled.program;
    if (choices.follows) look_at_followed(program);
    return run_program(ctx, std::move(program), std::move(choices));
}

}  // namespace gpufs
