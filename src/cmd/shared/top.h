#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/terminal.h"
#include "cmd/shared/command.h"
#include "cmd/shared/monitor_printer.h"
#include "lang/program/program.h"
#include "view/monitor/top_text.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// The full-screen display of --top: what a program's maps counted in the last interval, until the
// user quits. Histograms are shown as a row of percentiles. Of several monitors one can be looked
// at alone.
class Top {
public:
    // Takes the terminal, which stdout is. Borrows all.
    Top(Context& ctx, const Program& program, MonitorPrinter& printer,
        std::chrono::nanoseconds interval);

    // Readable when a key was pressed; -1: no keys will come.
    int key_fd() const noexcept { return screen_.key_fd(); }
    // Takes what the maps counted, and shows it. The time is CLOCK_MONOTONIC's.
    void tick(std::uint64_t now_ns);
    // Does what the keys say that were pressed. False once the user wants to leave.
    bool handle_keys();

private:
    bool handle(Key pressed);
    void scroll(std::ptrdiff_t lines);
    void draw();
    std::string body();
    std::string report(const MonitorPrinter::Taken& taken, Report report);

    Context& ctx_;
    const Program& program_;
    MonitorPrinter& printer_;
    std::chrono::nanoseconds interval_;
    ValueWriter values_;
    std::vector<std::string> monitors_;  // of a merged program; empty: it is one
    std::vector<MonitorPrinter::Taken> taken_;
    std::string when_;
    std::size_t shown_ = 0;  // 0: all; else the monitor of that number
    std::size_t sort_ = 0;
    bool is_paused_ = false, has_begun_ = false;
    TopPage page_;
    Screen size_;
    FullScreen screen_;
};

}  // namespace gpufs
