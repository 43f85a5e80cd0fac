#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/session/freeze.h"
#include "engine/session/session.h"
#include "lang/expr/record_condition.h"

namespace gpufs {

// --freeze-on: stops a session's buffer at the first record that a condition holds for. A session
// that records already is taken as it is; else it is made, with the events that the program itself
// is at, and the kernel's stack of each.
class FreezeOn {
public:
    // Borrows the program. Throws UsageError for the condition, Error where the session is stopped
    // already.
    FreezeOn(const Program& program, const std::string& condition, const Session& session);
    FreezeOn(const FreezeOn&) = delete;
    FreezeOn& operator=(const FreezeOn&) = delete;

    void look_at(const RecordLayout& layout, std::span<const std::byte> record);
    bool is_frozen() const noexcept { return is_frozen_; }
    // What was done, and what to do with it.
    std::string end_text() const;
    std::string end_json() const;

private:
    std::string condition_text_;
    Session session_;
    RecordCondition condition_;
    std::vector<std::string> events_;
    std::unique_ptr<FreezeSession> own_;  // null: somebody else's
    bool sets_stacks_ = false, is_frozen_ = false;
};

}  // namespace gpufs
