#pragma once

#include <string>
#include <vector>

#include "lang/adhoc/adhoc.h"
#include "lang/ir/ir.h"
#include "lang/probe/argument.h"
#include "lang/program/static_argument.h"

namespace gpufs {

// Programs cannot read the record of a dynamic probe, and a static one has none: they get the
// registers of its place, and read its arguments by the same rules into a record of their own.

// Adds to the event's format the fields that a program can read so, in the order of `arguments`,
// and to `fetched` how. Left out are bit fields, arrays, what is read from a fixed address or by
// the kernel's types, and what finds no room on a program's stack. The event's target is a probe at
// a function.
void add_fetched_fields(AdhocEvent& event, const std::vector<ProbeArgument>& arguments);

// The same with the arguments arg0, arg1, ... that a static probe has at all its places. A number
// has the size and the sign that it has there, or 8 bytes where the places differ.
void add_static_fields(AdhocEvent& event, const std::vector<std::vector<StaticArgument>>& places);

// Adds a field that is a variable of the code at the event's target. Of a text it has the first 48
// bytes. False if it finds no room on a program's stack.
bool add_variable_field(AdhocEvent& event, std::string name, const VariableValue& value,
                        EnumWords words = {});
// The same of a register with an argument of the function that begins there: "arg0".
bool add_register_field(AdhocEvent& event, const Field& argument);

// Where a program has the fields that it fetched, and which losses it is to count once it knows
// that the hit is wanted.
struct FetchedRecord {
    ir::Temp address;
    struct Loss {
        const char *map, *words;
        ir::Temp has_happened;  // 1, else 0
    };
    std::vector<Loss> losses;
};

// Reads the fields that are asked for into memory on the program's stack; the context where there
// are none. Jumps to `unknown` where a value is not known. Text that cannot be read is empty, and a
// loss, as text that is cut; other memory that cannot be read is 0.
FetchedRecord append_fetched_record(ir::Code& code, ir::Temp context, const AdhocEvent& event,
                                    ir::Label unknown);

}  // namespace gpufs
