#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::trace_dat {

// What a trace.dat says in front of its records. Texts are those of the kernel's files.
struct Head {
    struct System {
        std::string name;
        std::vector<std::string> formats;
    };

    std::size_t page_bytes = 4096;  // of one sub-buffer
    std::string header_page, header_event;
    std::vector<std::string> ftrace_formats;
    std::vector<System> systems;  // without ftrace
    std::string kallsyms;         // may be empty, as printk_formats
    std::string printk_formats;
    std::string trace_clock;  // "local [mono] …"
    std::string uname;
    std::size_t cpus = 0;  // one more than the highest number of a CPU
    // What is only known later has a fixed room, so that it can be written again in place: the
    // names of tasks, and the text about each CPU.
    std::size_t names_room = 0;
    std::size_t stats_room = 0;
};

// Where a CPU's records are in the file, in bytes. `at` is a multiple of the page size.
struct Place {
    std::uint64_t at = 0, bytes = 0;
};

// A head as bytes, and where in them the parts are that change. All of these are empty: the room
// for names is NULs, which end them for every reader.
struct HeadBytes {
    std::string bytes;  // whole pages: the first records can follow
    std::size_t names_at = 0;
    std::size_t first_stats_at = 0, stats_stride = 0;
    std::size_t places_at = 0;

    std::size_t stats_at(std::size_t cpu) const { return first_stats_at + cpu * stats_stride; }
    std::size_t place_at(std::size_t cpu) const;
};

// Version 6, in this machine's byte order.
HeadBytes encode_head(const Head& head);
// One CPU's text, cut or filled to the room, which is at least 2, as it stands in a head: filled in
// front of its last newline, because readers put the texts of all CPUs together.
std::string encode_statistics(std::string_view text, std::size_t room);
// One place as it stands in a head.
std::string encode_place(const Place& place);

}  // namespace gpufs::trace_dat
