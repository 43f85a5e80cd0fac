#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/trace_dat/read.h"

namespace gpufs {

// The file format of trace-cmd, versions 6 and 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)).
// Numbers are of the endianness the header names; the functions below read this machine's.
namespace trace_dat {

inline constexpr std::string_view kMagic{"\x17\x08\x44tracing", 10};
// The texts that stand in front of parts, each with what fills it up.
inline constexpr std::string_view kHeaderPage{"header_page\0", 12};
inline constexpr std::string_view kHeaderEvent{"header_event\0", 13};
inline constexpr std::string_view kOptions{"options  \0", 10};
inline constexpr std::string_view kFlyrecord{"flyrecord\0", 10};
inline constexpr std::string_view kLatency{"latency  \0", 10};

// What an option holds. From header_info on, also the number of a section of version 7, where the
// option holds its offset in the file (8 bytes).
enum class Option : std::uint16_t {
    done = 0,          // version 7: the offset of the next section of options, or 0
    date = 1,          // text: microseconds to add to all times
    cpu_statistics,    // text: per_cpu/cpuN/stats, or "Buffer: NAME"
    buffer,            // an instance; also a section of version 7: its pages
    trace_clock,       // text of trace_clock: "[local] global ..."
    uname,             // text: system, node, release and machine of uname(2)
    hook,              // text
    offset,            // text: nanoseconds to add to all times
    cpu_count,         // 4 bytes
    version,           // text: of the program that recorded
    process_maps,      // text
    trace_id,          // 8 bytes
    time_shift,        // per CPU, what brings a guest's times to its host's
    guest,             // the guests of a host
    tsc_to_ns,         // multiplier (4 bytes), shift (4), offset (8)
    strings,           // descriptions of sections
    header_info = 16,  // events/header_page and events/header_event
    ftrace_events,     // the formats below events/ftrace
    event_formats,     // those of other systems
    kallsyms,          // text of /proc/kallsyms
    printk_formats,    // text of printk_formats
    command_lines,     // text of saved_cmdlines
    buffer_text,       // text of a latency tracer
};

// Version 7: the flag of a section that is compressed.
inline constexpr unsigned kCompressed = 1;
// Time shifts are to be interpolated between two samples.
inline constexpr unsigned kInterpolate = 1;

// What the file begins with.
struct Header {
    unsigned version = 0;  // 6 or 7
    bool is_big_endian = false;
    unsigned long_bytes = 8;  // of user space
    std::size_t page_bytes = 4096;
    std::string compression, compression_version;  // version 7: "none", "zlib", "zstd"
    std::uint64_t options_at = 0;                  // version 7: the first section of options
};

// A section of version 7: what stands at its begin.
struct Section {
    Option id = Option::done;
    bool is_compressed = false;
    std::uint64_t size = 0;  // in the file, without these 16 bytes
};

// One CPU's pages.
struct CpuData {
    int cpu = 0;
    std::uint64_t offset = 0, size = 0;  // in the file
};

// One instance, or the top buffer, whose name is empty. Version 6 has only its name and where its
// "flyrecord" stands; version 7 all of it.
struct Buffer {
    std::string name;
    std::string clock;
    std::uint64_t offset = 0;
    std::size_t page_bytes = 0;  // 0: as the file's header says
    std::vector<CpuData> cpus;
};

// What a guest's times lack to its host's, on one CPU: at `time`, times are multiplied by
// `scaling` / 2^`fraction`, and `offset` is added.
struct TimeShift {
    std::uint64_t time = 0;
    std::int64_t offset = 0;
    std::uint64_t scaling = 1;
    unsigned fraction = 0;
};

struct TimeShifts {
    bool interpolates = false;
    std::vector<std::vector<TimeShift>> cpus;  // by number
};

struct TscToNs {
    std::uint32_t multiplier = 0, shift = 0;
    std::uint64_t offset = 0;
};

// Throws Error when the bytes are no trace.dat, UnsupportedError for what is not read here: another
// version, the other endianness.
Header parse_header(Cursor& cursor);
Section parse_section(Cursor& cursor);
// The text of header_page; header_event behind it is taken, too. Throws Error when they are not it.
std::string parse_header_info(Cursor& cursor);

using OnFormat = std::function<void(std::string_view system, std::string text)>;
void parse_ftrace_formats(Cursor& cursor, const OnFormat& on_format);
void parse_event_formats(Cursor& cursor, const OnFormat& on_format);

// The data of these options.
Buffer parse_buffer(Cursor& cursor, unsigned version);
TimeShifts parse_time_shifts(Cursor& cursor);
TscToNs parse_tsc_to_ns(Cursor& cursor);

}  // namespace trace_dat
}  // namespace gpufs
