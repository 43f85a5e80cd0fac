#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gpufs {

// Remembers how to put the machine back. Runs newest first; one failed step never stops the rest.
// Destructors cannot throw, so failures land in a list that the owner prints.
class Undo {
public:
    // `failures` is borrowed and must outlive this.
    explicit Undo(std::vector<std::string>& failures) : failures_(failures) {}
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() { run(); }

    // `what` completes the sentence "could not undo ...".
    void push(std::string what, std::function<void()> step);
    void run() noexcept;
    // What was done stays done.
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
