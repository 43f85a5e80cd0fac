#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bt/types/compile_options.h"
#include "bt/types/typed.h"
#include "lang/ir/ir.h"

namespace gpufs::bt {

// Names of what the compiler adds to a Program. A script's map is "@" and its name.
inline constexpr const char* kRing = "records";
inline constexpr const char* kSend = "send";
inline constexpr const char* kFrames = "frames";
inline constexpr const char* kClaimFrame = "claim_frame";
inline constexpr const char* kZeros = "zeros";

// What the programs of a script share: its maps, the functions that they call, the records that
// they send. Each is declared when it is first asked for.
class ScriptCode {
public:
    ScriptCode(const Script& script, const Typed& typed, const TypeTable& table, World& world,
               const CompileOptions& options, Compiled& made);

    const Script& script() const { return script_; }
    const Typed& typed() const { return typed_; }
    const TypeTable& table() const { return table_; }
    World& world() { return world_; }
    const CompileOptions& options() const { return options_; }
    Program& program() { return made_.program; }
    Compiled& made() { return made_; }

    // The Program's declaration of a map of the script.
    const MapDeclaration& map(const TypedMap& map);
    // The same, of what is added to its elements: a number's are sums.
    MapDeclaration added_to(const TypedMap& map);
    // Its one value has an address, and is looked up nowhere: of a number that is always there.
    bool has_address(const TypedMap& map) const;
    // A histogram without keys, whose slots are the elements of an array. Of an array, nothing can
    // be taken away, and what was zeroed is as what was never counted.
    bool is_array_of_slots(const TypedMap& map) const {
        return map.value->is_histogram() && !map.is_keyed && !emptied_.contains(map.name);
    }
    // One place of one program adds to it.
    bool is_added_to_once(const TypedMap& map) const;
    // A map without keys whose value is there, and printed, though nothing was put in.
    bool is_always_there(const TypedMap& map) const;
    // As ScriptMap has it.
    bool is_only_added_to(const TypedMap& map) const;
    // The script takes what is in the map, or an element of it, away.
    bool deletes(const std::string& map) const { return deleted_.contains(map); }
    // The function that adds to it, as AggregateFunctions::define() has it.
    std::string add_function_of(const TypedMap& map);
    // The function that adds to a number and gives what it was before: arguments: the key's
    // address, of a map whose value has none; the number.
    std::string fetch_function_of(const TypedMap& map);
    // The counter of what found no room in it.
    std::string refused_of_map(const TypedMap& map);
    // The function of slots of its histogram: argument: the number.
    std::string slot_function_of(const TypedMap& map);
    // The same in place: the slot.
    static ir::Temp append_slot(ir::Code& code, const TypedMap& map, ir::Temp value);
    // The function that adds to its time series: arguments: the key's address, with room for the
    // slot behind it, the value, the time in ns.
    std::string series_function_of(const TypedMap& map);
    // The function get_stackid() of the map of stacks that a type names.
    std::string stack_function_of(const Type& stack);
    std::string depth_function_of(const Type& stack);
    // The function that sends: arguments: the context, the record's address, its bytes; 0, or what
    // the kernel says of a record that was lost.
    std::string send_function();
    // The function that gives a program its frame, memory of this CPU that nobody else uses until
    // it is given back: the address, or 0. The first 8 bytes are its own.
    std::string claim_function();
    void need_frame(std::size_t bytes) { frame_bytes_ = std::max(frame_bytes_, bytes); }
    // The map with the COMMAND's process id, which whoever runs the program puts there.
    const char* child_map();
    // The map whose one number tells that exit() was called: no other hit of a program that calls
    // it runs then, however long the reader takes to end the script.
    const char* exit_map();
    // The map with so many zero bytes.
    const char* zeros(std::size_t bytes);

    // Adds a record; its name is made here.
    std::string add_record(SentRecord record);
    std::uint32_t add_format(const std::string& format);
    // The number by which a program sends a name (probe, func), which the reader prints.
    std::uint64_t add_name(const std::string& name);

    // A name that no function has yet.
    std::string new_function_name(const char* stem);

    // Sizes that are known once all programs are there.
    void finish();

private:
    void note_uses();
    void declare_frames();

    const Script& script_;
    const Typed& typed_;
    const TypeTable& table_;
    World& world_;
    const CompileOptions& options_;
    Compiled& made_;
    std::map<std::string, std::size_t> adds_;  // by map: how many places add to it
    std::set<std::string> deleted_, emptied_;  // maps: by delete() and clear(); by zero(), too
    std::set<std::string> looked_at_;          // maps that programs do not only add to
    std::size_t frame_bytes_ = 0, zero_bytes_ = 0, functions_ = 0;
};

}  // namespace gpufs::bt
