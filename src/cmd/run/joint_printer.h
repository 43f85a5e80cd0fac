#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bt/types/compiled.h"
#include "cmd/run/monitor_printer.h"
#include "cmd/run/run_printer.h"
#include "cmd/run/script_printer.h"
#include "engine/results/running_part.h"
#include "view/bt/script_names.h"
#include "view/bt/script_tables.h"

namespace gpufs {

// Prints what scripts and monitors send that run together, in the order in which it comes. What
// scripts print has their name in front, and their maps are reports as those of monitors are.
class JointPrinter : public RunPrinter {
public:
    using MakeNames = std::function<std::unique_ptr<ScriptNames>(const RunningProgram&)>;
    // Keeps references to all but the names. `running` is what was merged from the scripts' and
    // the monitors' programs, in any order.
    JointPrinter(Context& ctx, RunningProgram& running, MonitorPrinter::Form form, ValueNames names,
                 const std::vector<const bt::Compiled*>& scripts, const MakeNames& make_names);

    MonitorPrinter& monitors() { return monitors_; }
    // As ScriptPrinter has it.
    void stop_commands_when(const std::function<bool()>& is_stopping);

    void begin_batch() override { monitors_.begin_batch(); }
    void print(const RecordLayout& layout, std::span<const std::byte> record) override;
    void pass(const RecordLayout& layout, std::span<const std::byte> record) override;
    void hand_over() override;
    void flush() override;
    std::optional<int> exit_status() const noexcept override;
    void print_on() override;
    void begin_run(std::uint64_t now_ns) override { monitors_.begin_run(now_ns); }
    void print_interval(std::uint64_t now_ns) override;
    void sample(std::uint64_t moment_ns, std::uint64_t now_ns) override {
        monitors_.sample(moment_ns, now_ns);
    }
    LossLedger print_end(std::uint64_t now_ns, LossLedger known) override;

private:
    struct Part {
        RunningPart running;
        std::unique_ptr<ScriptNames> names;
        std::unique_ptr<ScriptPrinter> printer;
        std::optional<bt::ScriptTables> tables;
    };
    // Whose record it is, by the layout that the whole has.
    struct Owner {
        Part* part;
        const RecordLayout* layout;
    };
    void print_by(RunPrinter& printer, const RecordLayout& layout,
                  std::span<const std::byte> record);

    MonitorPrinter monitors_;
    std::deque<Part> scripts_;
    std::unordered_map<const RecordLayout*, Owner> owners_;
    RunPrinter* last_ = nullptr;  // only this one has something buffered
};

}  // namespace gpufs
