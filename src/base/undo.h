#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gpufs {

// A list of steps that restore the machine. Runs them newest first; a failed step does not stop the
// rest. Because destructors cannot throw, failures are appended to a list, which the owner prints.
class Undo {
public:
    // `failures` must outlive this object.
    explicit Undo(std::vector<std::string>& failures) : failures_(failures) {}
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() { run(); }

    // `what` completes the sentence "could not undo ...".
    void push(std::string what, std::function<void()> step);
    void run() noexcept;
    // Discards the steps: the changes are permanent.
    void keep() noexcept { steps_.clear(); }

private:
    struct Step {
        std::string what;
        std::function<void()> action;
    };
    std::vector<std::string>& failures_;
    std::vector<Step> steps_;
};

}  // namespace gpufs
