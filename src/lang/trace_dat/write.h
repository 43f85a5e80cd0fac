#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::trace_dat {

// The contents of a trace.dat in front of its records. Texts are copies of tracefs files.
struct Head {
    struct System {
        std::string name;
        std::vector<std::string> formats;
    };

    std::size_t page_bytes = 4096;  // size of one sub-buffer
    std::string header_page, header_event;
    std::vector<std::string> ftrace_formats;
    std::vector<System> systems;  // all but ftrace
    std::string kallsyms;         // may be empty, like printk_formats
    std::string printk_formats;
    std::string trace_clock;  // "local [mono] …"
    std::string uname;
    std::size_t cpus = 0;  // highest CPU number plus 1
    // Bytes reserved for parts that are known only at the end and are overwritten in place: the
    // names of tasks, and the statistics of each CPU.
    std::size_t names_room = 0;
    std::size_t stats_room = 0;
};

// Offset and size of a CPU's records in the file, in bytes. `at` is a multiple of the page size.
struct Place {
    std::uint64_t at = 0, bytes = 0;
};

// An encoded head, and the offsets in it of the parts to be overwritten, in bytes. These parts are
// empty at first: the names are NULs, which every reader takes as the end.
struct HeadBytes {
    std::string bytes;  // a whole number of pages, so that records can follow
    std::size_t names_at = 0;
    std::size_t first_stats_at = 0, stats_stride = 0;
    std::size_t places_at = 0;

    std::size_t stats_at(std::size_t cpu) const { return first_stats_at + cpu * stats_stride; }
    std::size_t place_at(std::size_t cpu) const;
};

// Encodes version 6 in this machine's byte order.
HeadBytes encode_head(const Head& head);
// Encodes one CPU's statistics for the head: truncated or padded to `room` bytes (at least 2),
// padded in front of the last newline, because readers concatenate the texts of all CPUs.
std::string encode_statistics(std::string_view text, std::size_t room);
// Encodes one place for the head.
std::string encode_place(const Place& place);

}  // namespace gpufs::trace_dat
