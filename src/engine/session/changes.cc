#include "engine/session/changes.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/undo.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {
namespace {

// Since Linux 7.0 the kernel lets go of an event a moment after the last trigger that names it was
// removed: until then it refuses to remove the event, too.
void append_line(const Tracefs& at, const std::string& file, const std::string& text) {
    constexpr auto kPause = std::chrono::milliseconds(20);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    for (;;) {
        try {
            return at.write(file, text + '\n', Write::append);
        } catch (const SysError& e) {
            const bool removes_event = text.starts_with("-:");
            if (!removes_event || e.code() != EBUSY || std::chrono::steady_clock::now() > until)
                throw;
        }
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace

void Changes::make_instance(const Tracefs& instance) {
    steps_.push_back({Kind::make_instance, instance.root(), {}, {}, {}});
}

void Changes::remove_instance(const Tracefs& instance) {
    steps_.push_back({Kind::remove_instance, instance.root(), {}, {}, {}});
}

void Changes::replace(const Tracefs& at, std::string file, std::string text, std::string previous) {
    steps_.push_back(
        {Kind::replace, at.root(), std::move(file), std::move(text), std::move(previous)});
}

void Changes::append(const Tracefs& at, std::string file, std::string text, std::string removal) {
    steps_.push_back(
        {Kind::append, at.root(), std::move(file), std::move(text), std::move(removal)});
}

void Changes::then(const Changes& other) {
    steps_.insert(steps_.end(), other.steps_.begin(), other.steps_.end());
}

std::vector<std::string> Changes::shell_lines() const {
    std::vector<std::string> lines;
    for (const Step& step : steps_) {
        const std::string path = shell_quote(cat(step.directory, "/", step.file));
        switch (step.kind) {
            case Kind::make_instance:
                lines.push_back("mkdir " + shell_quote(step.directory));
                break;
            case Kind::remove_instance:
                lines.push_back("rmdir " + shell_quote(step.directory));
                break;
            case Kind::replace:
            case Kind::append: {
                // echo of some shells interprets backslashes.
                const bool plain = step.text.find('\\') == step.text.npos;
                lines.push_back(cat(plain ? "echo " : "printf '%s\\n' ", shell_quote(step.text),
                                    step.kind == Kind::replace ? " > " : " >> ", path));
            }
        }
    }
    return lines;
}

bool Changes::Step::run() const {
    switch (kind) {
        case Kind::make_instance:
            return Tracefs(directory).make();
        case Kind::remove_instance:
            Tracefs(directory).remove();
            break;
        case Kind::replace:
            Tracefs(directory).write(file, text + '\n', Write::replace);
            break;
        case Kind::append:
            append_line(Tracefs(directory), file, text);
            break;
    }
    return true;
}

void Changes::Step::take_back() const {
    switch (kind) {
        case Kind::make_instance:
            return Tracefs(directory).remove();
        case Kind::remove_instance:
            return;  // always a plan's last step
        case Kind::replace:
            return Tracefs(directory).write(file, undo + '\n', Write::replace);
        case Kind::append:
            return append_line(Tracefs(directory), file, undo);
    }
}

void Changes::apply() const {
    apply(OnSignal::take_back);
}

void Changes::apply_to_the_end() const {
    apply(OnSignal::go_on);
}

void Changes::apply(OnSignal on_signal) const {
    std::vector<std::string> failures;
    const HoldSignals hold;  // pending signals are delivered after the undo, when this is destroyed
    Undo undo(failures);
    try {
        for (const Step& step : steps_) {
            // For `replace`, the undo comes first: a refused filter still replaces the previous
            // one.
            const bool note_first = step.kind == Kind::replace;
            const auto note = [&] {
                undo.push(cat(step.directory, "/", step.file), [&step] { step.take_back(); });
            };
            if (note_first) note();
            const bool has_changed = step.run();
            if (!note_first && has_changed) note();
        }
    } catch (const SysError& e) {
        undo.run();
        if (failures.empty()) throw;
        throw Error(e.what(), join(failures, "; "), e.evidence());
    }
    if (on_signal == OnSignal::go_on || !hold.stop_is_pending()) undo.keep();
}

void Changes::take_back() const noexcept {
    std::vector<std::string> failures;
    Undo undo(failures);
    for (const Step& step : steps_) undo.push(step.file, [&step] { step.take_back(); });
}

}  // namespace gpufs
