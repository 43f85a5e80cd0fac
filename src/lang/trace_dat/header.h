#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/trace_dat/read.h"

namespace gpufs {

// The file format of trace-cmd, versions 6 and 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)). The
// header states the byte order of numbers; the functions below read this machine's only.
namespace trace_dat {

inline constexpr std::string_view kMagic{"\x17\x08\x44tracing", 10};
// The markers in front of parts, with their padding.
inline constexpr std::string_view kHeaderPage{"header_page\0", 12};
inline constexpr std::string_view kHeaderEvent{"header_event\0", 13};
inline constexpr std::string_view kOptions{"options  \0", 10};
inline constexpr std::string_view kFlyrecord{"flyrecord\0", 10};
inline constexpr std::string_view kLatency{"latency  \0", 10};

// The id of an option, with the option's content. From header_info on, also the id of a section of
// version 7; the option then holds the section's offset in the file (8 bytes).
enum class Option : std::uint16_t {
    done = 0,          // version 7: the offset of the next section of options, or 0
    date = 1,          // text: microseconds to add to all times
    cpu_statistics,    // text: per_cpu/cpuN/stats, or "Buffer: NAME"
    buffer,            // an instance; also a section of version 7: its pages
    trace_clock,       // text of trace_clock: "[local] global ..."
    uname,             // text: system, node, release and machine of uname(2)
    hook,              // text
    offset,            // text: nanoseconds to add to all times
    cpu_count,         // 4 bytes; of gpuvis' branch of trace-cmd, text: see is_tgid_table()
    version,           // text: of the program that recorded
    process_maps,      // text
    trace_id,          // 8 bytes
    time_shift,        // per CPU, how to convert a guest's times to its host's
    guest,             // the guests of a host
    tsc_to_ns,         // multiplier (4 bytes), shift (4), offset (8)
    strings,           // descriptions of sections
    header_info = 16,  // events/header_page and events/header_event
    ftrace_events,     // the formats of events/ftrace
    event_formats,     // the formats of other systems
    kallsyms,          // text of /proc/kallsyms
    printk_formats,    // text of printk_formats
    command_lines,  // text of saved_cmdlines; ours has behind a NUL, where others end, saved_tgids
    buffer_text,    // text of a latency tracer
};

// Version 7: the flag of a section that is compressed.
inline constexpr unsigned kCompressed = 1;
// Flag of time_shift: interpolate between two samples.
inline constexpr unsigned kInterpolate = 1;

// The header of the file.
struct Header {
    unsigned version = 0;  // 6 or 7
    bool is_big_endian = false;
    unsigned long_bytes = 8;  // of the recorder's user space
    std::size_t page_bytes = 4096;
    std::string compression, compression_version;  // version 7: "none", "zlib", "zstd"
    std::uint64_t options_at = 0;                  // version 7: the first section of options
};

// The header of a section of version 7.
struct Section {
    Option id = Option::done;
    bool is_compressed = false;
    std::uint64_t size = 0;  // bytes in the file, without this header of 16 bytes
};

// The pages of one CPU.
struct CpuData {
    int cpu = 0;
    std::uint64_t offset = 0, size = 0;  // bytes, in the file
};

// An instance's buffer, or the top-level one, whose name is empty. In version 6 the option has only
// the name and the offset of the "flyrecord" part; in version 7 all members are set.
struct Buffer {
    std::string name;
    std::string clock;
    std::uint64_t offset = 0;
    std::size_t page_bytes = 0;  // 0: as in the file's header
    std::vector<CpuData> cpus;
};

// A sample of the difference between guest and host clock on one CPU: from guest time `time` (in
// units of the trace clock), host time = guest time * `scaling` / 2^`fraction` + `offset`.
struct TimeShift {
    std::uint64_t time = 0;
    std::int64_t offset = 0;
    std::uint64_t scaling = 1;
    unsigned fraction = 0;
};

struct TimeShifts {
    bool interpolates = false;
    std::vector<std::vector<TimeShift>> cpus;  // index: CPU number
};

// The offset behind these is left alone, as by trace-cmd.
struct TscToNs {
    std::uint32_t multiplier = 0, shift = 0;
};

// Throws Error when the bytes are not a trace.dat, UnsupportedError for another version or byte
// order.
Header parse_header(Cursor& cursor);
Section parse_section(Cursor& cursor);
// Returns the text of header_page and skips header_event behind it. Throws Error when the markers
// are not there.
std::string parse_header_info(Cursor& cursor);

using OnFormat = std::function<void(std::string_view system, std::string text)>;
void parse_ftrace_formats(Cursor& cursor, const OnFormat& on_format);
void parse_event_formats(Cursor& cursor, const OnFormat& on_format);

// Whether the data of the option cpu_count is a table of lines "TID TGID", which the branch of
// trace-cmd that gpuvis ships writes under this id.
bool is_tgid_table(std::string_view data);

// Parse the data of the options buffer, time_shift and tsc_to_ns.
Buffer parse_buffer(Cursor& cursor, unsigned version);
TimeShifts parse_time_shifts(Cursor& cursor);
TscToNs parse_tsc_to_ns(Cursor& cursor);

}  // namespace trace_dat
}  // namespace gpufs
