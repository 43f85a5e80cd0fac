#pragma once

#include <string>
#include <vector>

namespace gpufs {

class Tracefs;

// A list of changes to tracefs as a value: every write in order, each with the text that undoes it.
// Either printed for --dry-run or applied as a whole.
class Changes {
public:
    void make_instance(const Tracefs& instance);
    void remove_instance(const Tracefs& instance);
    // `previous`: the text that restores the file.
    void replace(const Tracefs& at, std::string file, std::string text, std::string previous);
    // `removal`: the text to append to undo `text`.
    void append(const Tracefs& at, std::string file, std::string text, std::string removal);

    // Appends all steps of `other`.
    void then(const Changes& other);

    bool empty() const noexcept { return steps_.empty(); }
    // One shell command per change, as a person would type it.
    std::vector<std::string> shell_lines() const;
    // Applies all changes or none. If a write is refused, or a signal of HoldSignals arrives,
    // undoes the steps done so far, newest first. Then throws a refusal as SysError with the
    // kernel's reason, or lets the signal take its usual effect. The message includes steps that
    // could not be undone.
    void apply() const;
    // The same, to the end whatever signal arrives: for what puts back or removes.
    void apply_to_the_end() const;
    // Undoes all changes, newest first, as far as the kernel lets it.
    void take_back() const noexcept;

private:
    enum class OnSignal { take_back, go_on };
    void apply(OnSignal on_signal) const;

    enum class Kind { make_instance, remove_instance, replace, append };
    struct Step {
        Kind kind;
        std::string directory;  // of the Tracefs
        std::string file;       // below it; empty for instances
        std::string text, undo;
        // Returns whether it changed anything: an instance may exist already.
        bool run() const;
        void take_back() const;
    };
    std::vector<Step> steps_;
};

}  // namespace gpufs
