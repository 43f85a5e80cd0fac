#pragma once

#include <span>
#include <string>

#include "engine/session/freeze.h"
#include "lang/expr/record_condition.h"

namespace gpufs {

// --freeze-on: stops a session's buffer at the first record that a condition holds for.
class FreezeOn {
public:
    // Borrows the program. Throws UsageError for the condition, and what MonitorFreeze's
    // constructor throws.
    FreezeOn(const Program& program, const Expression& condition, const Session& session);

    void look_at(const RecordLayout& layout, std::span<const std::byte> record);
    bool is_frozen() const noexcept { return freeze_.is_frozen(); }
    // What was done, and what to do with it.
    std::string end_text() const;
    std::string end_json() const;

private:
    std::string condition_text_;
    RecordCondition condition_;
    MonitorFreeze freeze_;
};

}  // namespace gpufs
