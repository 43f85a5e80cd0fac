#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "lang/expr/eval.h"
#include "lang/expr/expr.h"
#include "lang/program/program.h"

namespace gpufs {

// A condition on the records that a program sends for --freeze-on, and on those that have the same
// members. Names in it are members of the records.
class RecordCondition {
public:
    // Throws UsageError where no such record has all the members, with what there is, or where the
    // program sends none.
    RecordCondition(const Program& program, const Expression& expression);

    bool holds(const RecordLayout& layout, std::span<const std::byte> record) const;

private:
    std::map<const RecordLayout*, Condition> conditions_;
};

}  // namespace gpufs
