#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "lang/program/code.h"
#include "lang/program/types.h"

namespace gpufs {

// A BPF program as a value: all that a front end can say and all that the engine needs. The
// assembler makes one from a .bpf file, generated code makes the same, and whoever runs it (the
// kernel, or the interpreter over a recording) cannot tell which. Everything named stays symbolic
// until it is linked against the formats, maps and features of one machine.

struct Parameter {
    enum class Type { integer, text, time, size };
    std::string name;
    Type type = Type::integer;
    std::string unit;        // what the number counts inside the program: "us", "bytes"
    std::int64_t value = 0;  // the default, in `unit`
    std::string text;        // the default of Type::text
    std::string help;
    SourceRef at;
};

struct MapDeclaration {
    std::string name;
    bpf_map_type type = BPF_MAP_TYPE_HASH;
    Layout key;    // one integer of 4 bytes for arrays; empty for rings
    Layout value;  // of an aggregation: one member, `value`, that has its sign and unit
    Aggregation aggregation;
    std::uint64_t max_entries = 0;  // bytes for a ring
    std::string max_parameter;      // its name, where a parameter gives max_entries
    bool or_perf_ring = false;      // a perf_event_array where the kernel has no ringbuf
    bool is_global = false;         // one-value array that holds globals by name
    std::string loss;               // what its one u64 counts, where that is a loss: "keys refused"
    // What is told of it at the end in one number, and is no loss: of an array what it counted, of
    // a hash map the entries that are left and are not all zero: "starts without an end".
    std::string tally;
    SourceRef at;

    std::size_t value_bytes() const;
    // Asked by an index: all its elements are there from the beginning.
    bool is_array() const {
        return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
    }
};

// What a piece of code is attached to.
struct ProbeTarget {
    enum class Kind {
        tracepoint,
        raw_tracepoint,
        kprobe,
        kretprobe,
        uprobe,
        uretprobe,
        usdt,
        fentry,
        fexit,
        profile,   // samples: hz, or every `period` of `event`
        interval,  // every `period` nanoseconds on one CPU
        begin,     // once, when everything is attached
        end,       // once, before the reports
    };
    Kind kind = Kind::tracepoint;
    // tracepoint: "sched:sched_switch"; kprobe: function[+offset], or module:function; uprobe:
    // "path:function"; usdt: "path:provider:name". May be a shell pattern where has_glob.
    std::string name;
    bool has_glob = false;
    std::uint64_t period = 0;  // ns; or Hz when is_frequency
    bool is_frequency = false;
    SourceRef at;
};

// A program for the kernel: code and where it goes.
struct ProbeProgram {
    std::string name;
    // Each is a list of alternatives (an event that was renamed): the first that exists is taken.
    std::vector<std::vector<ProbeTarget>> targets;
    bool is_optional = false;  // its absence is told, not refused
    // It ends what other programs of its file begin, often while another task runs: what a user's
    // condition is about was decided at the beginning.
    bool is_end = false;
    std::vector<CodeItem> code;
    SourceRef at;
};

// A function that programs call; linked behind each that does.
struct Subprogram {
    std::string name;
    std::vector<CodeItem> code;
    SourceRef at;
};

// What the reader does with a record it received, in order. `freeze`: nothing but to ask
// --freeze-on about it; the record is not told.
struct Action {
    enum class Kind { print, print_map, clear_map, exit, freeze };
    struct Piece {
        std::string text;    // literal, when member is empty
        std::string member;  // of the record
        std::string format;  // "x", "d", "str", "ksym", "usym", "kstack", "ustack", "time", "us", …
        int width = 0;       // columns; negative: to the left
    };
    Kind kind = Kind::print;
    std::vector<Piece> pieces;  // print
    std::string map;            // print_map, clear_map
    int exit_status = 0;
};

// A record that programs send through the ring: its first member is `id`, a u32, by which the
// reader knows it.
struct RecordLayout {
    std::string name;
    std::string title;  // "SLOW": in front of its printed line
    Layout layout;
    std::vector<Action> actions;
    SourceRef at;

    // Only --freeze-on looks at it.
    bool is_for_freeze() const;
};

// What is printed of a map at the end, and every --interval.
struct Report {
    std::string title;
    std::string map;
    std::vector<std::string> by;  // members of the key to group by, in order; empty: all
    bool is_total = false;        // or by none: all entries become one
    bool is_table = false;        // of histograms: a row each, with percentiles
    std::string sort;             // "count", "sum", "max", "key"; empty: the aggregation's own
    std::size_t top = 0;          // rows; 0: all
    SourceRef at;
};

// What the user is told where a program is attached to this event; where a release is named, that
// it is not, because the event counts as missing on kernels of that release.
struct Caution {
    std::string event;    // "sched:sched_switch"
    std::string release;  // a shell pattern for uname(2)'s release; empty: the event is used
    std::string text;
};

// The parameter that is 1 where --freeze-on is asked: then programs send records for it, too.
inline constexpr const char* kFreezing = "freezing";

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
    std::vector<std::string> needed_features;
    std::vector<Caution> cautions;
    std::size_t scratch_bytes = 0;  // per CPU, for what does not fit 512 bytes of stack

    const MapDeclaration* find_map(std::string_view map) const;
    const RecordLayout* find_record(std::string_view record) const;
    const Parameter* find_parameter(std::string_view parameter) const;
    const Subprogram* find_subprogram(std::string_view subprogram) const;
};

}  // namespace gpufs
