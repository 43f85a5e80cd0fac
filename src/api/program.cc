#include "gpufs/program.h"

#include <bit>

#include "api/program_state.h"
#include "base/cat.h"
#include "base/error.h"
#include "engine/places/monitor_files.h"
#include "engine/results/report_rows.h"
#include "lang/asm/assembler.h"
#include "lang/link/link.h"
#include "lang/program/parameters.h"
#include "lang/program/probe_kinds.h"

namespace gpufs::api {
namespace {

// An assembled text has no folder of its own: it includes what is compiled in.
SourceText include_shipped(std::string_view file, const SourceText& from) {
    return read_included(file, from, [](const std::string& path) -> SourceText {
        throw UsageError(cat("'", path, "' is not compiled into gpufs"));
    });
}

std::string default_of(const Parameter& parameter) {
    return parameter.type == Parameter::Type::text ? parameter.text : cat(parameter.value);
}

}  // namespace

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::Program(const Program& other) : state_(std::make_unique<State>(*other.state_)) {}
Program& Program::operator=(const Program& other) {
    state_ = std::make_unique<State>(*other.state_);
    return *this;
}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Program Program::assemble(std::string text, std::string name) {
    auto state = std::make_unique<State>();
    state->program = gpufs::assemble({std::move(name), std::move(text)}, include_shipped);
    return Program(std::move(state));
}

Program Program::shipped(const std::string& name) {
    auto state = std::make_unique<State>();
    state->program = assemble_monitor(name);
    return Program(std::move(state));
}

std::vector<std::string> Program::shipped_names() {
    return list_monitors();
}

const std::string& Program::name() const {
    return state_->program.name;
}

const std::string& Program::summary() const {
    return state_->program.summary;
}

std::vector<ParameterInfo> Program::parameters() const {
    std::vector<ParameterInfo> all;
    for (const Parameter& one : state_->program.parameters)
        all.push_back({one.name, one.unit, default_of(one), one.help});
    return all;
}

std::vector<MapInfo> Program::maps() const {
    std::vector<MapInfo> all;
    for (const MapDeclaration* map : reported_maps(state_->program)) {
        const Report report = reports_of(state_->program, *map).front();
        const Layout key = report_rows(*map, report, {}).key;
        MapInfo& info = all.emplace_back();
        info.name = map->name;
        info.title = report.title;
        for (const gpufs::Member& member : key.members) info.key.push_back(member.name);
        const bool measures = map->aggregation.kind != Aggregation::Kind::none;
        if (measures && !map->value.members.empty()) info.unit = map->value.members[0].type.unit;
    }
    return all;
}

std::vector<std::string> Program::all_maps() const {
    std::vector<std::string> names;
    for (const MapDeclaration& map : state_->program.maps) names.push_back(map.name);
    return names;
}

void Program::set(const std::string& parameter, const std::string& value) {
    const std::string word = cat(parameter, "=", value);
    ParameterValues given = parse_program_arguments(state_->program, {&word, 1});
    ParameterValues& known = state_->choice.parameters;
    for (auto& [name, number] : given.numbers) known.numbers[name] = number;
    for (auto& [name, text] : given.texts) known.texts[name] = std::move(text);
}

void Program::only_if(const std::string& expression) {
    state_->choice.condition = parse_expression({"condition", expression});
}

std::vector<LinkedProgram> Program::link() const {
    KernelFacts kernel;
    const PreparedProgram prepared(state_->program, state_->choice, kernel);
    std::vector<LinkedProgram> all;
    for (const auto& [site, condition] : prepared.sites()) {
        LinkTarget target = prepared.target_for(site);
        for (const MapDeclaration& map : prepared.program().maps)
            target.map_fds.emplace(map.name, static_cast<int>(target.map_fds.size()));
        // The texts are in a map of gpufs's own, behind the others.
        target.string_pool_fd = static_cast<int>(target.map_fds.size());
        LinkedProgram& linked = all.emplace_back();
        linked.name = site.program->name;
        linked.probe = cat(probe_kind(site.target->kind).name, " ",
                           site.event ? site.event->full_name() : site.target->name);
        for (const bpf_insn& one : gpufs::link(prepared.program(), *site.program, target).insns)
            linked.instructions.push_back(std::bit_cast<std::uint64_t>(one));
    }
    return all;
}

}  // namespace gpufs::api
