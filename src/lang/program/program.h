#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "lang/program/code.h"
#include "lang/program/map_declaration.h"
#include "lang/program/types.h"

namespace gpufs {

// A BPF program as a value: everything that a front end produces and the engine needs. The
// assembler makes one from a .bpf file, the ad-hoc commands generate one, and it runs in the kernel
// or, over a recording, in the interpreter. Names stay symbolic until the program is linked for the
// event formats, maps and features of one kernel.

struct Parameter {
    enum class Type { integer, text, time, size };
    std::string name;
    Type type = Type::integer;
    std::string unit;  // unit of `value`, and of the number that the program sees: "us", "bytes"
    std::int64_t value = 0;  // the default, in `unit`
    std::string text;        // the default of Type::text
    std::string help;
    SourceRef at;
};

// The place that a program is attached to.
struct ProbeTarget {
    enum class Kind {
        tracepoint,
        raw_tracepoint,
        recorded,  // a tracepoint, over recordings only
        kprobe,
        kretprobe,
        uprobe,
        uretprobe,
        usdt,
        fentry,
        fexit,
        profile,     // samples CPUs: at a frequency, or every `period`
        interval,    // every `period` ns, on one CPU
        watchpoint,  // when memory is read, written or run
        begin,       // once, when everything is attached
        end,         // once, before the reports
        signal,      // when gpufs gets the signal `name`: SIGUSR1 or SIGUSR2
        each,        // then, once for each key of the map `name`
        snapshot,    // the same, at the end of each interval, too
        iter,        // once for each object of a kind, when everything is attached
    };
    // What programs that are run by hand can be given: the 12 words of a raw tracepoint.
    static constexpr std::size_t kMostKeyBytes = 96;
    Kind kind = Kind::tracepoint;
    // tracepoint: "sched:sched_switch"; kprobe: function[+offset], or module:function; uprobe:
    // "path:function"; usdt: "path:provider:name". profile: the perf event. watchpoint:
    // "0xADDRESS:LENGTH:MODE". iter: what it goes through, "task". each, snapshot: the map. A shell
    // pattern if has_glob.
    std::string name;
    bool has_glob = false;
    std::uint64_t period = 0;  // ns; Hz if is_frequency; a count if profile has an event
    bool is_frequency = false;
    // usdt: only this one of the places that the probe has, from 0.
    std::optional<std::size_t> place;
    // The program asks by function_cookie() at which function of a pattern it runs.
    bool has_cookies = false;
    std::uint32_t process = 0;  // iter over tasks: only those of this process; 0: all
    SourceRef at;

    bool is_for_keys() const { return kind == Kind::each || kind == Kind::snapshot; }
};

// One BPF program: its code and what it is attached to.
struct ProbeProgram {
    std::string name;
    // Attached to one target of each list: the first alternative that exists (for renamed events).
    std::vector<std::vector<ProbeTarget>> targets;
    bool is_optional = false;  // if no target exists, this is reported, not an error
    // What becomes of a target that does not exist while another one does, of this program or of
    // one with the same `at`.
    enum class IfAbsent { mistake, caution, nothing };
    IfAbsent if_absent = IfAbsent::mistake;
    bool may_be_without_any = false;  // the same where none exists
    // A numeric parameter: the program is left out where that is 0. Empty: never.
    std::string wanted_by;
    // The program is left out where the one of this name, in front of it, has a place. Empty:
    // never.
    std::string unless;
    // It ends a measurement that another program of the file begins. It may run in another task, so
    // the user's condition is tested only where the measurement begins.
    bool is_end = false;
    std::vector<CodeItem> code;
    SourceRef at;
};

// A local function; the linker appends it to each program that calls it.
struct Subprogram {
    std::string name;
    std::vector<CodeItem> code;
    SourceRef at;
    // It is given the context, and gives it only to helpers that do not read the record.
    bool leaves_record_alone = false;
    // No line of the source has its instructions.
    bool is_generated = false;
};

// What the reader does with a received record; actions run in order. `freeze`: only tests the
// record against --freeze-on; it is not printed.
struct Action {
    enum class Kind { print, print_map, clear_map, exit, freeze };
    struct Piece {
        std::string text;    // literal text, if `member` is empty
        std::string member;  // name of the record's member to print
        std::string format;  // "x", "d", "str", "ksym", "usym", "kstack", "ustack", "time", "us", …
        int width = 0;       // minimum columns; negative: left-aligned
    };
    Kind kind = Kind::print;
    std::vector<Piece> pieces;  // print
    std::string map;            // print_map, clear_map
    int exit_status = 0;
};

// The layout of a record that programs send through the ring. Its first member is `id`, a u32 by
// which the reader recognizes it.
struct RecordLayout {
    std::string name;
    std::string title;  // printed in front of its line: "SLOW"
    Layout layout;
    std::vector<Action> actions;
    SourceRef at;

    // True if the record has the action `freeze`.
    bool is_for_freeze() const;
};

// How a map is printed at the end and at every --interval.
struct Report {
    std::string title;
    std::string map;
    std::vector<std::string> by;  // members of the key to group by, in order; empty: all members
    bool is_total = false;        // group by nothing: merge all entries into one
    bool is_table = false;        // print histograms as one row each, with percentiles
    bool says_none = false;       // a text says so where there is no entry: "n: 0", "of comm: none"
    std::string sort;             // "count", "sum", "max", "key"; empty: by the aggregation's kind
    std::size_t top = 0;          // number of rows; 0: all
    SourceRef at;
};

// A warning that is printed when a program is attached to this event. With a `release`: on kernels
// of that release the event counts as missing, and the warning says why. Without an event: it is
// printed when the program, an optional one, has no place at all.
struct Caution {
    std::string event;    // "sched:sched_switch"; empty: none
    std::string missing;  // a program that has no place; empty: none
    std::string program;  // only where this one is attached; empty: any
    std::string release;  // a shell pattern for the release of uname(2); empty: the event is used
                          // everywhere
    std::string text;
};

// The parameter that is 1 under --freeze-on; programs then also send the records for it.
inline constexpr const char* kFreezing = "freezing";
// The parameter that is 1 where only the tasks of a COMMAND are looked at. No user sets it.
inline constexpr const char* kFollowing = "following";

struct Program {
    std::string name;
    std::string summary;
    std::vector<SourceText> sources;  // the file and what it includes
    std::string licence = "Dual MIT/GPL";
    std::vector<Parameter> parameters;
    std::vector<MapDeclaration> maps;
    std::vector<RecordLayout> records;
    std::vector<Report> reports;
    std::vector<ProbeProgram> programs;
    std::vector<Subprogram> subprograms;
    std::vector<Guard> guards;
    // What its included texts declare is its own, too: beside others none of it is shared.
    bool owns_included = false;
    std::vector<std::string> needed_features;
    std::vector<std::string> needed_modules;  // not over recordings
    std::vector<Caution> cautions;
    std::size_t scratch_bytes =
        0;  // bytes of scratch memory per CPU, for data beyond the 512 bytes of stack

    const MapDeclaration* find_map(std::string_view map) const;
    const RecordLayout* find_record(std::string_view record) const;
    const Parameter* find_parameter(std::string_view parameter) const;
    const Subprogram* find_subprogram(std::string_view subprogram) const;
};

}  // namespace gpufs
