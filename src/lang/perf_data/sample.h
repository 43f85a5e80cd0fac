#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "lang/perf_data/header.h"

namespace gpufs::perf_data {

using Bytes = std::span<const std::byte>;

// The header that each record begins with; `type` is one of PERF_RECORD_* or UserType.
struct RecordHeader {
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
    std::uint16_t size = 0;  // of the record, with this header
};
inline constexpr std::size_t kRecordHeader = 8;
// Where the bodies of PERF_RECORD_MMAP and _MMAP2 have the offset in the file and the file's name.
inline constexpr std::size_t kMapOffset = 24, kMmapName = 32, kMmap2Name = 64;
RecordHeader record_header(Bytes record);

// When, where and by whom: what all records may have. 0 what is not recorded.
struct Stamp {
    std::uint64_t time = 0;
    std::int32_t pid = 0, tid = 0;
    std::uint32_t cpu = 0;
};

// An event that happened.
struct Sample {
    Stamp stamp;
    std::uint64_t ip = 0, period = 0;
    Bytes callchain;  // 8 bytes each, innermost first; marks (PERF_CONTEXT_*) between
    Bytes raw;        // of a tracepoint: the record as the tracer has it
};

// These read a body: a record behind its header. They return false where it is too short for what
// its event says is in it.
bool parse_sample(const Attribute& attribute, Bytes body, Sample& sample);
// Of a record that is no sample; where the event stamps only samples, nothing is read.
bool parse_stamp(const Attribute& attribute, Bytes body, Stamp& stamp);

// The id of the event that a sample is of; all events of a file have it in the same place. 0 where
// there is none.
std::uint64_t sample_id(const Attribute& any, Bytes body);

}  // namespace gpufs::perf_data
