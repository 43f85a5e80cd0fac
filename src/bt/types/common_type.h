#pragma once

#include <cstddef>

#include "bt/types/type.h"

// What two types have in common.
namespace gpufs::bt {

// A type as it is in variables, keys and values of maps: integers have 8 bytes, texts whole words.
TypePtr stored(const TypePtr& type);
// Whether both are the same in every way that the code depends on. Either may be null: not known
// yet.
bool same(const TypePtr& a, const TypePtr& b);

// What holds values of both; null where nothing does. Either may be null: not known yet.
TypePtr merged(const TypePtr& a, const TypePtr& b);
// The field of a tuple that corresponds to the one at `index` of another: records have theirs in
// any order. Null: there is none.
const Type::Field* same_field(const Type& tuple, const Type::Field& field, std::size_t index);

// Whether an int64 holds all numbers of the type.
bool fits_int64(const Type& type);

// The type in which two numbers are compared and computed: unsigned only where one of them may be
// too large for an int64.
bool is_signed_together(const Type& a, const Type& b);

}  // namespace gpufs::bt
