#include "cmd/run/joint_printer.h"

#include <utility>

namespace gpufs {
namespace {

// A script alone needs no name in front of what it prints.
bool is_alone(const Program& program, const Program& script) {
    return program.name == script.name;
}

}  // namespace

JointPrinter::JointPrinter(Context& ctx, RunningProgram& running, MonitorPrinter::Form form,
                           ValueNames names, const std::vector<const bt::Compiled*>& scripts,
                           const MakeNames& make_names)
    : monitors_(ctx, running, form, std::move(names)) {
    for (const bt::Compiled* script : scripts) {
        RunningPart own(running, script->program);
        if (!own.is_there()) continue;
        Part& part = scripts_.emplace_back(Part{own, nullptr, nullptr, std::nullopt});
        part.names = make_names(part.running);
        part.printer = std::make_unique<ScriptPrinter>(
            ctx, part.running, *script, form, *part.names, ScriptPrinter::Maps::read_by_others,
            is_alone(running.program(), script->program) ? "" : script->program.name);
        part.tables.emplace(*script, part.running, part.printer->values(), form.controls);
        monitors_.show_maps_of(*part.tables);
        for (const RecordLayout& layout : running.program().records)
            if (const RecordLayout* alone = part.running.find_own(layout))
                owners_.emplace(&layout, Owner{&part, alone});
    }
}

void JointPrinter::stop_commands_when(const std::function<bool()>& is_stopping) {
    for (const Part& part : scripts_) part.printer->stop_commands_when(is_stopping);
}

void JointPrinter::print_by(RunPrinter& printer, const RecordLayout& layout,
                            std::span<const std::byte> record) {
    if (last_ && last_ != &printer) last_->hand_over();
    last_ = &printer;
    printer.print(layout, record);
}

void JointPrinter::print(const RecordLayout& layout, std::span<const std::byte> record) {
    const auto owner = owners_.find(&layout);
    if (owner == owners_.end()) return print_by(monitors_, layout, record);
    monitors_.note_lines();
    print_by(*owner->second.part->printer, *owner->second.layout, record);
}

void JointPrinter::pass(const RecordLayout& layout, std::span<const std::byte> record) {
    if (const auto owner = owners_.find(&layout); owner != owners_.end())
        owner->second.part->printer->pass(*owner->second.layout, record);
    monitors_.pass(layout, record);
}

void JointPrinter::hand_over() {
    if (last_) last_->hand_over();
}

void JointPrinter::flush() {
    hand_over();
    monitors_.flush();
    for (Part& part : scripts_) part.printer->flush();
}

std::optional<int> JointPrinter::exit_status() const noexcept {
    std::optional<int> status = monitors_.exit_status();
    for (const Part& part : scripts_)
        if (!status) status = part.printer->exit_status();
    return status;
}

void JointPrinter::print_on() {
    monitors_.print_on();
    for (Part& part : scripts_) part.printer->print_on();
}

void JointPrinter::print_interval(std::uint64_t now_ns) {
    hand_over();
    last_ = &monitors_;
    monitors_.print_interval(now_ns);
}

LossLedger JointPrinter::print_end(std::uint64_t now_ns, LossLedger known) {
    flush();
    for (const Part& part : scripts_) known.add(part.printer->commands_left());
    return monitors_.print_end(now_ns, std::move(known));
}

}  // namespace gpufs
