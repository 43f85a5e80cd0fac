#include "base/undo.h"

#include <exception>

#include "base/cat.h"

namespace gpufs {

void Undo::push(std::string what, std::function<void()> step) {
    steps_.push_back({std::move(what), std::move(step)});
}

void Undo::run() noexcept {
    for (; !steps_.empty(); steps_.pop_back()) {
        try {
            steps_.back().action();
        } catch (const std::exception& e) {
            failures_.push_back(cat("could not undo ", steps_.back().what, ": ", e.what()));
        }
    }
}

}  // namespace gpufs
