#pragma once

#include "bt/types/type.h"
#include "bt/types/world.h"
#include "lang/event/event_format.h"

namespace gpufs::bt {

// The type of a tracepoint's field as scripts see it:
//   text in the record: a string; of 0 bytes where the field is dynamic (__data_loc, __rel_loc), as
//   its length is that of the record's bytes;
//   another array: an array, whose count is 0 where it is dynamic;
//   a pointer: to a structure by its name, to characters or numbers of their size, or to none;
//   an enum that the World knows: with its words; all else: a number of the field's size and sign.
// Pointers of system calls' arguments (syscalls:sys_enter_*) point to user space, others to the
// kernel.
TypePtr field_type(const EventFormat& event, const Field& field, World& world);

}  // namespace gpufs::bt
