#pragma once

#include <string>
#include <vector>

#include "engine/recording/record_source.h"
#include "engine/recording/recorded_events.h"
#include "lang/symbols/kallsyms.h"
#include "lang/symbols/printk_formats.h"
#include "lang/trace_dat/clock.h"
#include "lang/trace_dat/compression.h"
#include "lang/trace_dat/header.h"
#include "lang/trace_dat/ring_page.h"

namespace gpufs {

// All that a trace.dat holds besides the pages, and where these are. Stays where it is: symbols are
// read from the file when the first one is asked for.
class TraceFileHeader {
public:
    // Borrows the descriptor. Throws what TraceFile throws.
    TraceFileHeader(int file, std::string path);
    TraceFileHeader(const TraceFileHeader&) = delete;
    TraceFileHeader& operator=(const TraceFileHeader&) = delete;

    RecordingFacts facts;
    TraceContext context;
    TraceClock clock;
    PageLayout layout;
    Compression compression = Compression::none;
    std::vector<trace_dat::Buffer> buffers;  // those of version 6 with their CPUs, too
    std::uint64_t file_bytes = 0;
    // Where something else than pages begins.
    std::vector<std::uint64_t> borders;
    std::vector<std::string> damage;

private:
    // A size of 4 bytes and a text, in a section (version 7) or in the file.
    struct Place {
        bool is_known = false;
        std::uint64_t at = 0;
    };

    void read_6(trace_dat::Cursor& cursor);
    void read_7();
    void read_options_7(std::uint64_t at);
    void read_section(trace_dat::Option id);
    void take_option(trace_dat::Option id, const std::string& data);
    void take_cpus(trace_dat::Cursor& cursor, std::size_t cpus, trace_dat::Buffer& buffer);
    void take_page_shape(const std::string& header_page);
    void take_buffer(trace_dat::Buffer buffer);
    trace_dat::Cursor open_section(std::uint64_t at);
    std::string sized_text(const Place& place);
    void finish();

    int file_;
    std::string path_;
    trace_dat::Header header_;
    std::string reading_;  // what a complaint is about: "the event formats"
    std::vector<std::pair<trace_dat::Option, std::uint64_t>> sections_;
    std::size_t cpus_ = 0;
    bool has_clock_text_ = false;
    Place kallsyms_place_, printk_place_;
    std::unique_ptr<RecordedEvents> events_;  // until they are all read
    Kallsyms kallsyms_;
    PrintkFormats printk_formats_;
};

}  // namespace gpufs
