#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/terminal.h"
#include "cmd/run/monitor_printer.h"
#include "cmd/shared/command.h"
#include "lang/program/program.h"
#include "view/monitor/top_text.h"
#include "view/monitor/value_text.h"
#include "view/report/trends.h"

namespace gpufs {

// The full-screen display of --top: the maps' contents of the last interval, until the user quits.
// Shows histograms as rows of percentiles, and what each row had in the intervals before. If
// several monitors run, the user can select one.
class Top {
public:
    // Takes over the terminal, which must be stdout. Keeps references to all arguments.
    Top(Context& ctx, const Program& program, MonitorPrinter& printer,
        std::chrono::nanoseconds interval);

    // Readable when a key was pressed; -1: there are no keys.
    int key_fd() const noexcept { return screen_.key_fd(); }
    // Reads and clears the maps, and shows their contents. The time is CLOCK_MONOTONIC.
    void tick(std::uint64_t now_ns);
    // Handles the pressed keys. Returns false when the user quits.
    bool handle_keys();

private:
    bool handle(Key pressed);
    void scroll(std::ptrdiff_t lines);
    void draw();
    std::string body();
    std::string report(const MonitorPrinter::Taken& taken, std::size_t number);
    void add_trends(const std::vector<MonitorPrinter::Taken>& taken);

    Context& ctx_;
    const Program& program_;
    MonitorPrinter& printer_;
    std::chrono::nanoseconds interval_;
    ValueWriter values_;
    std::vector<std::string> monitors_;  // of a merged program; empty: a single one
    std::vector<MonitorPrinter::Taken> taken_;
    Trends trends_, shown_trends_;  // those go on in a pause
    std::string gpu_text_;          // see GpuSection
    std::string when_;
    std::size_t shown_ = 0;  // 0: all; n: the n-th monitor
    std::size_t sort_ = 0;
    bool is_paused_ = false, has_begun_ = false;
    TopPage page_;
    Screen size_;
    Plot plot_;
    FullScreen screen_;
};

}  // namespace gpufs
