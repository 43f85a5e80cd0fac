#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "engine/recorder/recording_file.h"
#include "lang/trace_dat/write.h"
#include "support/ring_pages.h"

namespace gpufs::test {

// The format of an event of the system `clock`, with `fields` behind the common ones, each
// "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;\n".
inline std::string event_format(int id, std::string_view name, std::string_view fields = {}) {
    return cat("name: ", name, "\nID: ", id,
               "\nformat:\n"
               "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
               "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
               "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
               "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
               fields, "\nprint fmt: \"\"\n");
}

// The head of a recording of these events, in pages as PageBuilder makes them.
inline trace_dat::Head recording_head(std::vector<std::string> formats, std::size_t cpus = 1) {
    trace_dat::Head head;
    head.header_page =
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
        "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
    head.header_event = "# compressed entry header\n";
    head.systems = {{"clock", std::move(formats)}};
    head.trace_clock = "local [mono]\n";
    head.uname = "Linux box";
    head.cpus = cpus;
    head.names_room = head.stats_room = 64;
    return head;
}

inline void add_page(RecordingFile& recording, std::size_t cpu, const PageBuilder& page) {
    PageMover::Target& to = recording.target(cpu);
    const std::string bytes = page.text();
    write_all_at(to.file, bytes, to.at + to.bytes, "the recording");
    to.bytes += bytes.size();
}

// A whole recording of one page.
inline void write_recording(const std::string& path, trace_dat::Head head,
                            const PageBuilder& page) {
    RecordingFile recording(path);
    recording.begin(std::move(head), 1 << 20);
    add_page(recording, 0, page);
    recording.commit();
}

}  // namespace gpufs::test
