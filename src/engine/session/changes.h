#pragma once

#include <string>
#include <vector>

namespace gpufs {

class Tracefs;

// What a command is about to do to tracefs, as a value: every write in order, each with the text
// that takes it back. Printed for --dry-run, or applied whole.
class Changes {
public:
    void make_instance(const Tracefs& instance);
    void remove_instance(const Tracefs& instance);
    // `previous` is what to write to put the file back as it was.
    void replace(const Tracefs& at, std::string file, std::string text, std::string previous);
    // `removal` is what to append to take `text` back.
    void append(const Tracefs& at, std::string file, std::string text, std::string removal);

    // All steps of the other behind these.
    void then(const Changes& other);

    bool empty() const noexcept { return steps_.empty(); }
    // One shell command a change, as a person would type it.
    std::vector<std::string> shell_lines() const;
    // All or nothing. When a write is refused, or Ctrl-C, SIGTERM or SIGHUP came meanwhile, what
    // was done is taken back, newest first; a refusal is then thrown as SysError with the kernel's
    // reason, a signal takes its usual effect. What could not be taken back is part of the message.
    void apply() const;

private:
    enum class Kind { make_instance, remove_instance, replace, append };
    struct Step {
        Kind kind;
        std::string directory;  // of the Tracefs
        std::string file;       // below it; empty for instances
        std::string text, undo;
        void run() const;
        void take_back() const;
    };
    std::vector<Step> steps_;
};

}  // namespace gpufs
