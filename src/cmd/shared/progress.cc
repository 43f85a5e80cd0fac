#include "cmd/shared/progress.h"

#include <unistd.h>

#include <algorithm>

#include "base/cat.h"
#include "base/decimal.h"
#include "base/error.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kLarge = 100'000'000;
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(const Output& err, const TraceFile& file)
    : line_(err.fd(), "stderr"), file_(file), begun_(Clock::now()), shown_(begun_) {
    is_shown_ = file.progress().all > kLarge && ::isatty(err.fd()) != 0;
}

Progress::~Progress() {
    if (!is_shown_ || shown_ == begun_) return;
    try {
        line_.write(kClearLine);
        line_.flush();
    } catch (const SysError&) {  // the terminal is gone
    }
}

void Progress::look() {
    const Clock::time_point now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(500)) return;
    shown_ = now;
    line_.write(cat(kClearLine, progress_text(file_.progress(), records_, now - begun_)));
    line_.flush();
}

std::string progress_text(const TraceFile::Progress& progress, std::uint64_t records,
                          std::chrono::duration<double> taken) {
    const double all = std::max(1.0, static_cast<double>(progress.all));
    const double share = std::min(1.0, static_cast<double>(progress.read) / all);
    const double seconds = std::max(1e-9, taken.count());
    std::string text = cat(decimal(100 * share, 0), " %, ",
                           decimal(static_cast<double>(records) / seconds / 1e6, 1), " M events/s");
    if (share == 0) return text;
    text += cat(", ", decimal(seconds * (1 - share) / share, 0), " s left");
    return text;
}

}  // namespace gpufs
