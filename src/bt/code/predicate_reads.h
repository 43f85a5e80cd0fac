#pragma once

#include <unordered_map>

#include "bt/syntax/ast.h"

namespace gpufs::bt {

// Which reads of a map's elements in a probe's body give what its predicate has read, so that one
// lookup does for both: `/@start[tid]/ { … nsecs - @start[tid] … }`. The key is the same through
// the whole probe (a task's id, a field of args), and the script does not write to the map in
// between.
class PredicateReads {
public:
    explicit PredicateReads(const Probe& probe);

    // The read in the predicate whose value the read in the body has; null: it looks up itself.
    const Expr* first_of(const Expr& read) const {
        const auto found = first_.find(&read);
        return found == first_.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<const Expr*, const Expr*> first_;
};

}  // namespace gpufs::bt
