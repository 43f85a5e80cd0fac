#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/session/freeze.h"
#include "lang/expr/record_condition.h"

namespace gpufs {

// --freeze-on: stops a session's buffer at the first record that satisfies a condition.
class FreezeOn {
public:
    // Keeps a reference to the program. Throws UsageError for the condition, and the errors of
    // MonitorFreeze's constructor.
    FreezeOn(const Program& program, const Expression& condition, const Session& session);

    void look_at(const RecordLayout& layout, std::span<const std::byte> record);
    bool is_frozen() const noexcept { return freeze_.is_frozen(); }
    // What was done, and how to see the result.
    std::string end_text() const;
    std::string end_json() const;

private:
    std::string condition_text_;
    RecordCondition condition_;
    MonitorFreeze freeze_;
    std::vector<std::string> refused_;  // what could not be disabled when it was frozen
};

}  // namespace gpufs
