#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "lang/expr/eval.h"
#include "lang/expr/expr.h"
#include "lang/program/program.h"

namespace gpufs {

// The condition of --freeze-on. It applies to the records whose action is `freeze`, and to records
// with the same members; the condition's names are members of those records.
class RecordCondition {
public:
    // Throws SourceError when no such record has all the members, UsageError when the program sends
    // no such record. Keeps pointers into `program`.
    RecordCondition(const Program& program, const Expression& expression);

    bool holds(const RecordLayout& layout, std::span<const std::byte> record) const;

private:
    std::map<const RecordLayout*, Condition> conditions_;
};

}  // namespace gpufs
