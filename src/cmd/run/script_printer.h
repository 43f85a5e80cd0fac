#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bt/types/compiled.h"
#include "cmd/run/monitor_printer.h"
#include "cmd/run/run_printer.h"
#include "cmd/shared/command.h"
#include "engine/results/cleared_map.h"
#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"
#include "view/bt/format_text.h"
#include "view/bt/script_output.h"
#include "view/bt/value_text.h"

namespace gpufs {

// Prints the output of a script, and does what its programs ask of the reader: print(), clear(),
// system() and their like, in the order in which they come.
class ScriptPrinter : public RunPrinter {
public:
    // Beside other programs, others read the script's maps, too.
    enum class Maps { read_here, read_by_others };
    // Keeps references to all. Of the form it heeds JSON and controls. `program`: as ScriptOutput
    // has it.
    ScriptPrinter(Context& ctx, RunningProgram& running, const bt::Compiled& script,
                  const MonitorPrinter::Form& form, bt::ValueNames& names, Maps maps,
                  std::string program = {});

    void begin_batch() override {}
    void print(const RecordLayout& layout, std::span<const std::byte> record) override;
    void pass(const RecordLayout& layout, std::span<const std::byte> record) override;
    void hand_over() override;
    void flush() override;
    std::optional<int> exit_status() const noexcept override { return exit_status_; }
    void print_on() override { is_silent_ = false; }
    // From when on this holds, commands of system() are not run any more: they are lost.
    LossLedger commands_left() const;
    void stop_commands_when(std::function<bool()> is_stopping) {
        is_stopping_ = std::move(is_stopping);
    }
    void begin_run(std::uint64_t now_ns) override;
    void print_interval(std::uint64_t now_ns) override;
    LossLedger print_end(std::uint64_t now_ns, LossLedger known) override;

    const bt::ValueWriter& values() const { return writer_; }

private:
    void take(const bt::SentRecord& record, bt::Bytes bytes);
    void look_for_exit();
    std::string formatted(const bt::SentRecord& record, bt::Bytes bytes, Controls controls);
    // Printable; and as the machine is to take it.
    std::string told(const bt::SentRecord& record, bt::Bytes bytes) {
        return formatted(record, bytes, output_.controls());
    }
    std::string exact(const bt::SentRecord& record, bt::Bytes bytes) {
        return formatted(record, bytes, Controls::raw);
    }
    void print_map(const bt::ScriptMap& map, bt::MapPart part, bool clears);
    void print_map(const bt::SentRecord& record, bt::Bytes bytes);
    void print_entry(const bt::SentRecord& record, bt::Bytes bytes);
    void print_maps();
    void tell_full_maps();
    void zero(const std::string& name);
    void join(const bt::SentRecord& record, bt::Bytes bytes);
    void run_command(const std::string& command);
    void print_file(const std::string& path);
    // errorf() and warnf()
    void message(const bt::SentRecord& record, bt::Bytes bytes);
    bt::OutputPlace place_of(const SourceRef& where) const;
    const bt::ScriptMap& script_map(const std::string& name) const;
    ProgramMap* program_map(const std::string& name) const;
    // Null where the map's entries are taken out when it is cleared.
    ClearedMap* cleared_map(const std::string& name);
    void keep_when_cleared(const bt::ScriptMap& map);
    void clear(const std::string& name);

    Context& ctx_;
    RunningProgram& running_;
    const bt::Compiled& script_;
    bt::ValueNames& names_;
    bt::ValueWriter writer_;
    bt::ScriptOutput output_;
    MapReader maps_;
    std::map<std::string, ClearedMap, std::less<>> cleared_maps_;        // by the script's name
    std::map<std::string, const bt::SentRecord*, std::less<>> records_;  // by layout
    std::map<const bt::SentRecord*, bt::FormatText> formats_;
    std::optional<int> exit_status_;
    bool is_silent_ = false;
    std::function<bool()> is_stopping_;
    std::uint64_t commands_left_ = 0;
};

}  // namespace gpufs
