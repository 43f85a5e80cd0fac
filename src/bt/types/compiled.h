#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/source.h"
#include "bt/types/type.h"
#include "lang/program/program.h"

// What the compiler makes of a script: a Program for the linker and the loader, and what the reader
// needs to print what its programs send, and its maps.
namespace gpufs::bt {

// A map as the script sees it.
struct ScriptMap {
    std::string name;           // without the @; the Program's map is "@" + name
    std::vector<TypePtr> keys;  // empty: a scalar
    TypePtr key;  // of the whole key as it lies in the map: the one key's, or the tuple's;
                  // null for a scalar, whose key in the kernel's map is a u64 0
    // What the script first has in each place of the key, in a word, for a column: "comm".
    std::vector<std::string> key_names;
    TypePtr value;
    // A scalar that the script never deletes: where nothing was put in, it is zero.
    bool is_always_there = false;
    // Of a number, or of counts, totals and histograms: what is in the map now less what was in it
    // before is what came since, and no program looks at it.
    bool is_only_added_to = false;
    // hist and lhist: the Program's map has a u32 behind the key, aligned to 8 bytes: the slot. Its
    // value is a u64, the count. Of a scalar that is never emptied, the map is an array, and the
    // slot is the index.
    //
    // hist: slot 0: n < 0; n in 0..2^bits-1: 1 + n; else with l = log2(n) - bits:
    // 1 + ((l + 1) << bits) + ((n >> l) & (2^bits - 1)).
    //
    // lhist: slot 0: n < low; n >= high: 1 + (high - low) / step; else 1 + (n - low) / step.
    //
    // tseries: the same u32, epoch % count; the value is a u64, the epoch, and the element's value.
    // An epoch of 0, and one of 2^63 or more, is none.
};

// One argument of a printf or a value that print() sends: where it lies in the record.
struct SentValue {
    TypePtr type;
    std::size_t offset = 0;  // in bytes, from the record's beginning, where a u32 is the id
    bool is_own = false;     // a text that the script itself has: it is printed as it is
};

// A record that programs send, and what the reader does when it comes, in order of coming.
struct SentRecord {
    enum class Kind {
        printf,  // `text` is the format
        errorf,  // the same, to stderr, with the place
        warnf,
        print,         // the one value
        print_map,     // `map`; `values` has top and div, u64, where `has_top` (div 0: none)
        print_entry,   // `map` and one value: an element of an aggregation
        clear,         // `map`
        zero,          // `map`
        exit,          // one value: the status, an s64
        time,          // `text`: a format of strftime
        join,          // `text`: the separator; one value: a u32 count, 4 bytes of zeros, then
                       // strings of `stride` bytes
        system,        // `text` is a format
        cat,           // `text` is a format
        helper_error,  // `text`: the helper's name; one value: s64, the return code
    };
    Kind kind = Kind::printf;
    std::string name;  // of the RecordLayout
    std::string text;
    std::string map;
    bool has_top = false;
    bool clears = false;  // print_map: clear() follows at once: what is printed is taken out
    std::size_t stride = 0;
    std::vector<SentValue> values;
    std::size_t bytes = 0;
    SourceRef at;
    std::vector<SourceRef> expanded_from;  // errorf, warnf: the uses of macros that led there
};

// The language changed: what a script means and prints is as bpftrace's newest has it, or as 0.17
// does, where that is asked for.
enum class Language { newest, as_of_0_17 };

// What a script's config block and the environment say about output.
struct OutputConfig {
    Language language = Language::newest;
    bool prints_maps_on_exit = true;
    bool says_attached = false;  // how many probes there are, before and after they are attached
    bool has_warnings = true;    // warnf() and what went wrong while it ran
    std::string cut_string_trailer = "..";
    std::size_t cat_bytes = 10240;
    // Source lines in user stacks, where debug information has them; 0.17 had none.
    std::optional<bool> shows_lines;
    bool wants_lines() const { return shows_lines.value_or(language == Language::newest); }
};

// The map whose one value, a u64, is the process id of the COMMAND. Only scripts have it that ask.
inline constexpr const char* kChildMap = "child";

// The map of one word in which exit() says that it was called: kExitTold, or else the code above
// kExitCodeShift, where its record found no room.
inline constexpr const char* kExitMap = "exited";
inline constexpr std::uint64_t kExitTold = 1, kExitUntold = 2;
inline constexpr unsigned kExitCodeShift = 8;

struct Compiled {
    Program program;
    std::vector<ScriptMap> maps;  // in order of appearance
    std::vector<SentRecord> records;
    // Of probe_name: function_cookie() of a name to the name.
    std::map<std::uint64_t, std::string> names;
    std::vector<std::string> formats;  // of timestamp
    OutputConfig output;
    bool has_user_addresses = false;  // stacks or symbols of processes
    std::vector<PlacedMessage> warnings;
    // What the passes made, as text, where CompileOptions::keeps_stages.
    std::string types_text, ir_text;
};

// How many probes a script's programs are for, patterns counted as one.
inline std::size_t probe_count(const Compiled& script) {
    std::size_t probes = 0;
    for (const ProbeProgram& one : script.program.programs) probes += one.targets.size();
    return probes;
}

}  // namespace gpufs::bt
