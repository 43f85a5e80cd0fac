#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/trace_dat/read.h"

namespace gpufs {

// The file format of perf record (tools/perf/Documentation/perf.data-file-format.txt of the
// kernel). All is in the recorder's byte order, which the first bytes show; the functions below
// read this machine's only.
namespace perf_data {

using trace_dat::Cursor;

// Of either byte order.
bool begins_as_perf_data(std::string_view bytes);

struct Section {
    std::uint64_t at = 0, bytes = 0;
};

// The first part of the file. A file that was written into a pipe has nothing but records behind
// it, which hold all else.
struct Header {
    bool is_pipe = false;
    std::uint64_t bytes = 0;
    std::uint64_t attribute_bytes = 0;  // of an entry in `attributes`
    Section attributes, data;
    std::array<std::uint64_t, 4> features{};  // bits

    bool has(unsigned feature) const {
        return (features.at(feature / 64) >> feature % 64 & 1) != 0;
    }
};
// Throws Error when the bytes are no perf.data, and UnsupportedError for another byte order.
Header parse_header(Cursor& cursor);

// The numbers of features, each a section behind the data.
enum Feature : unsigned {
    kTracingData = 1,
    kBuildIds = 2,
    kHostname = 3,
    kRelease = 4,
    kVersion = 5,
    kArchitecture = 6,
    kCpus = 7,
    kEventNames = 12,
    kFeatures = 256,
};

// What perf adds to the kernel's types of records (PERF_RECORD_*).
enum UserType : std::uint32_t {
    kAttribute = 64,
    kTracingDataRecord = 66,  // a size of 4 bytes; behind the record is the data
    kFinishedRound = 68,      // nothing earlier comes than what came before the last of these
    kAuxiliaryTrace = 71,     // a size of 8 bytes; behind the record is the data
    kFeature = 80,
    kCompressed = 81,   // a piece of a zstd stream of records
    kCompressed2 = 83,  // the same behind its size of 8 bytes
};

// One event that was opened: of struct perf_event_attr what is needed to read its samples.
struct Attribute {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
    std::uint64_t sample_type = 0, read_format = 0;
    bool stamps_all = false;         // sample_id_all: records that are no samples have a stamp, too
    int clock = -1;                  // clockid, if one was chosen
    std::string name;                // "sched:sched_switch"; empty if the file does not tell
    std::vector<std::uint64_t> ids;  // in its samples

    bool is_tracepoint() const;
};
// `bytes` begin with the structure, which has its own size in it; what is missing is 0. Throws
// Error when there is not even that size, or it is wrong.
Attribute parse_attribute(std::string_view bytes);
// The bytes that the structure has.
std::uint32_t attribute_size(std::string_view bytes);

// A text in a feature: its size, and as many bytes.
std::string parse_text(Cursor& cursor);
// The build ids of files, as bytes, by path: records of `bytes` in all.
std::vector<std::pair<std::string, std::string>> parse_build_ids(Cursor& cursor,
                                                                 std::uint64_t bytes);
// Names and ids of the events.
std::vector<Attribute> parse_event_names(Cursor& cursor);

// What perf copies of tracefs: the formats of the events, which `on_format` takes, and of symbols
// and texts what trace.dat has, too.
struct TracingData {
    std::string kallsyms, printk_formats, saved_cmdlines;
};
TracingData parse_tracing_data(
    Cursor& cursor,
    const std::function<void(std::string_view system, std::string text)>& on_format);

}  // namespace perf_data
}  // namespace gpufs
