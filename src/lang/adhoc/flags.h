#pragma once

#include "lang/event/event_format.h"
#include "lang/program/types.h"

namespace gpufs {

// Sets what a number of this field is called: its words, or the names of its flags, as the event's
// print fmt has them (__print_symbolic, __print_flags) or, where a system call's event has only
// numbers, as its manual page does. Leaves the type as it is where neither has names.
void name_numbers(const EventFormat& event, const Field& field, ValueType& type);

}  // namespace gpufs
