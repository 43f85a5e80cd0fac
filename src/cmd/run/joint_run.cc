#include "cmd/run/joint_run.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/cat.h"
#include "base/error.h"
#include "base/path.h"
#include "bt/parse/parse.h"
#include "cmd/shared/monitor_args.h"
#include "cmd/shared/source_input.h"
#include "engine/places/kernel_facts.h"
#include "engine/places/monitor_files.h"
#include "engine/recording/file.h"
#include "lang/ir/followed.h"
#include "lang/program/merge_programs.h"
#include "lang/program/parameters.h"

namespace gpufs {
namespace {

constexpr const char* kDash = "-";

class Sorter {
public:
    explicit Sorter(const ScriptChoices& common) : common_(common) {}

    JointChoices sort(const std::vector<std::string>& texts,
                      const std::vector<std::string>& words) {
        for (std::size_t i = 0; i < texts.size(); ++i)
            add_script({"-e", texts[i]}, texts.size() == 1 ? "e" : cat('e', i + 1));
        for (const std::string& word : words) add(word);
        joint_.pids = common_.pids;
        return std::move(joint_);
    }

private:
    void add(const std::string& word) {
        if (word == kDash && has_input_)
            throw UsageError("standard input can be read only once: '-'");
        has_input_ = has_input_ || word == kDash;
        if (is_script(word))
            add_script(read_script(word), name_of(word));
        else if (ScriptChoices* script = last_that_asks())
            script->arguments.push_back(word);
        else if (word.find('=') != word.npos)
            joint_.parameters.push_back(word);
        else
            joint_.parts.emplace_back(JointChoices::Monitor{word});
    }

    // A dot would end it where the names of maps are taken apart.
    static std::string name_of(const std::string& path) {
        if (path == kDash) return std::string(kStandardInput);
        std::string name(file_stem(path));
        std::ranges::replace(name, '.', '-');
        return name;
    }

    void add_script(SourceText source, std::string name) {
        ScriptChoices script = common_;
        asked_.push_back({joint_.parts.size(), bt::arguments_asked(source)});
        script.source = std::move(source);
        script.name = std::move(name);
        joint_.parts.emplace_back(std::move(script));
    }

    ScriptChoices* last_that_asks() {
        for (auto one = asked_.rbegin(); one != asked_.rend(); ++one) {
            auto& script = std::get<ScriptChoices>(joint_.parts[one->part]);
            if (one->asked.counts || script.arguments.size() < one->asked.most) return &script;
        }
        return nullptr;
    }

    struct Asked {
        std::size_t part;
        bt::ArgumentsAsked asked;
    };
    const ScriptChoices& common_;
    bool has_input_ = false;
    JointChoices joint_;
    std::vector<Asked> asked_;  // of the scripts
};

}  // namespace

bool JointChoices::has_scripts() const {
    return std::ranges::any_of(
        parts, [](const auto& part) { return std::holds_alternative<ScriptChoices>(part); });
}

JointChoices sort_words(const std::vector<std::string>& texts,
                        const std::vector<std::string>& words, const ScriptChoices& common) {
    return Sorter(common).sort(texts, words);
}

int run_together(Context& ctx, const JointChoices& joint, RunChoices choices) {
    std::optional<TraceFile> recording;
    if (choices.input) choices.recording = &recording.emplace(*choices.input);
    KernelFacts facts = recording ? KernelFacts(recording->context().events) : KernelFacts();
    std::deque<bt::Compiled> scripts;
    std::vector<Program> programs;
    for (const auto& part : joint.parts) {
        if (const auto* monitor = std::get_if<JointChoices::Monitor>(&part)) {
            programs.push_back(assemble_monitor(monitor->name));
            continue;
        }
        const auto& script = std::get<ScriptChoices>(part);
        const bt::Compiled& made =
            scripts.emplace_back(compile_script(ctx, script, facts, choices.recording));
        choices.scripts.push_back(&made);
        programs.push_back(made.program);
    }
    if (!choices.input) choices.kernel = &facts;
    return run_merged(ctx, std::move(programs), joint, std::move(choices));
}

int run_merged(Context& ctx, std::vector<Program> programs, const JointChoices& joint,
               RunChoices choices) {
    follow_command(
        choices, !joint.pids.empty() || std::ranges::any_of(joint.parameters, [](const auto& word) {
            return word.starts_with("pid=");
        }));
    if (choices.follows) std::ranges::for_each(programs, look_at_followed);
    if (programs.size() > 1) choices.parts = programs;
    const bool has_monitors = programs.size() > choices.scripts.size();
    Program program =
        merge_programs(std::move(programs), choices.scripts.empty() ? MergedNames::own_if_single
                                                                    : MergedNames::prefixed);
    choices.parameters = parse_program_arguments(program, joint.parameters);
    choices.pids = joint.pids;
    if (has_monitors)
        choices.followed = take_pid(program, joint.pids, !choices.input, choices.parameters);
    return run_program(ctx, std::move(program), std::move(choices));
}

}  // namespace gpufs
