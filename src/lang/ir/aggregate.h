#pragma once

#include <cstddef>
#include <string>

#include "lang/ir/ir.h"
#include "lang/program/program.h"

namespace gpufs {

// Code that adds to the aggregations of maps: a function for each map, which all programs call that
// add to it. It looks the entry up, makes it where there is none, and adds in place. Where only one
// place of one program adds to a map, the code may stand there, without a call.
//
// What is exact. Every add is atomic, in per-CPU maps too: there nobody shares the cache line, so
// it costs a few nanoseconds, and it holds where a program is interrupted between its load and its
// store by another one on the same CPU (an interrupt's tracepoint, a sample's NMI). Extremes are
// put in by compare-and-exchange, which Linux 5.12 has ("atomics"): on older kernels an
// interrupting program's extreme can be lost, never its count or its total. An entry begins as
// zeros, unless another program was faster. What found no room is counted as a loss.

// How a function is given the key.
struct AggregateKey {
    // Of the key's address. The kernel refuses to read the stack of programs across it.
    std::size_t alignment = 8;
    // Behind the key are the bytes for a histogram's bucket (MapDeclaration::bucket_at() + 4 in
    // all), and the function may write them. Otherwise it copies the key.
    bool has_room = false;
};

// "add.NAME"
std::string add_function(const MapDeclaration& map);

// The functions of a program's maps.
class AggregateFunctions {
public:
    // Borrows the program.
    explicit AggregateFunctions(Program& program) : program_(program) {}

    // Adds the map's function to the program, and "NAME.refused", which counts the values that
    // found no room (of an array of several: whose index is too large). Its arguments: the address
    // of the key, or the index of an array, which a map of one value with an address (is_global)
    // does not have; then the value, 64 bits, which a count does not have.
    // log2 and log_linear put what is less than 0 into bucket 0.
    void define(const MapDeclaration& map, const AggregateKey& key);

private:
    struct Made {
        MapDeclaration map;
        AggregateKey key;
        std::size_t index;  // into Program::subprograms
    };
    Program& program_;
    std::vector<Made> made_;  // those of different code
};

// Adds a function that adds to a sum and returns what it was before: of a key that found no room,
// 0. Its arguments are those of the function above. Returns its name; of a map that has it, it is
// not made again.
std::string define_fetch(Program& program, const MapDeclaration& map, const AggregateKey& key);

// Whether the two below have code for the map: for those without extremes.
bool adds_without_call(const MapDeclaration& map);
// Adds, with the code of the map's function, to the element whose key is at an address. Declares
// what counts the keys that found no room. Not for histograms.
void append_add(Program& program, ir::Code& code, const MapDeclaration& map, ir::Temp key,
                const ir::Operand& value);
// Adds to the value of a map of one that has an address (is_global).
void append_add_to_value(ir::Code& code, const MapDeclaration& map, const ir::Operand& value);

// Declares the map, too, for generated programs, whose keys have room. A map without key members
// gets a u32, as arrays have; one without value members a number.
void declare_aggregation(Program& program, MapDeclaration map);
// Calls the function. `key` has 8 bytes more than the map's key, which comes first.
void append_aggregation(ir::Code& code, const MapDeclaration& map, ir::Slot key,
                        const ir::Operand& value);

// A counter of losses, as `.lost NAME "WHAT"` declares it, and code that adds one to it.
void declare_loss(Program& program, std::string name, std::string what, SourceRef at = {});
void append_loss(ir::Code& code, const std::string& name);
// The counter of what finds no room in a map, and its declaration, if the map can refuse anything.
std::string refused_of(const MapDeclaration& map);
void declare_refused(Program& program, const MapDeclaration& map);

}  // namespace gpufs
