#include "engine/session/changes.h"

#include <unistd.h>

#include "base/error.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/undo.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {
namespace {

void remove_directory(const std::string& path) {
    check(::rmdir(path.c_str()), [&] { return cat("remove the instance ", path); });
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
            remove_directory(directory);
            break;
        case Kind::replace:
            Tracefs(directory).write(file, text + '\n', Write::replace);
            break;
        case Kind::append:
            Tracefs(directory).write(file, text + '\n', Write::append);
            break;
    }
    return true;
}

void Changes::Step::take_back() const {
    switch (kind) {
        case Kind::make_instance:
            return remove_directory(directory);
        case Kind::remove_instance:
            return;  // always a plan's last step
        case Kind::replace:
            return Tracefs(directory).write(file, undo + '\n', Write::replace);
        case Kind::append:
            return Tracefs(directory).write(file, undo + '\n', Write::append);
    }
}

void Changes::apply() const {
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
    if (!hold.stop_is_pending()) undo.keep();
}

}  // namespace gpufs
