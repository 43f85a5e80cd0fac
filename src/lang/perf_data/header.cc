#include "lang/perf_data/header.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "lang/trace_dat/header.h"

namespace gpufs::perf_data {
namespace {

constexpr std::string_view kMagic = "PERFILE2", kSwappedMagic = "2ELIFREP";
constexpr std::uint64_t kPipeHeader = 16;
// Later versions of the structure are longer; none will be this long.
constexpr std::uint32_t kLongestAttribute = 4096;
constexpr std::uint32_t kMostEvents = 1 << 20;

}  // namespace

bool begins_as_perf_data(std::string_view bytes) {
    return bytes.starts_with(kMagic) || bytes.starts_with(kSwappedMagic);
}

Header parse_header(Cursor& cursor) {
    const std::string magic = cursor.bytes(kMagic.size());
    if (magic == kSwappedMagic)
        throw UnsupportedError("it was recorded on a machine of the other byte order",
                               "'perf script' reads recordings of other machines");
    if (magic != kMagic) throw Error("it does not begin as a perf.data does");
    Header header;
    header.bytes = cursor.u64();
    header.is_pipe = header.bytes == kPipeHeader;
    if (header.is_pipe) return header;
    header.attribute_bytes = cursor.u64();
    for (Section* section : {&header.attributes, &header.data}) {
        section->at = cursor.u64();
        section->bytes = cursor.u64();
    }
    cursor.skip(16);  // a table that perf does not write any more
    for (std::uint64_t& bits : header.features) bits = cursor.u64();
    return header;
}

bool Attribute::is_tracepoint() const {
    return type == PERF_TYPE_TRACEPOINT;
}

std::uint32_t attribute_size(std::string_view bytes) {
    perf_event_attr raw{};
    if (bytes.size() < PERF_ATTR_SIZE_VER0) throw Error("the description of an event is cut");
    std::memcpy(&raw, bytes.data(), PERF_ATTR_SIZE_VER0);
    if (raw.size == 0) return PERF_ATTR_SIZE_VER0;
    if (raw.size < PERF_ATTR_SIZE_VER0 || raw.size > kLongestAttribute)
        throw Error(cat("the description of an event cannot have ", raw.size, " bytes"));
    return raw.size;
}

Attribute parse_attribute(std::string_view bytes) {
    const std::size_t size = attribute_size(bytes);
    perf_event_attr raw{};
    std::memcpy(&raw, bytes.data(), std::min({sizeof raw, size, bytes.size()}));
    Attribute attribute;
    attribute.type = raw.type;
    attribute.config = raw.config;
    attribute.sample_type = raw.sample_type;
    attribute.read_format = raw.read_format;
    attribute.stamps_all = raw.sample_id_all != 0;
    if (raw.use_clockid) attribute.clock = raw.clockid;
    return attribute;
}

std::string parse_text(Cursor& cursor) {
    return std::string(up_to_nul(cursor.bytes(cursor.u32())));
}

std::vector<Attribute> parse_event_names(Cursor& cursor) {
    const std::uint32_t count = cursor.u32(), size = cursor.u32();
    if (count > kMostEvents) throw Error(cat(count, " events are damage"));
    std::vector<Attribute> all;
    for (std::uint32_t i = 0; i < count; ++i) {
        Attribute one = parse_attribute(cursor.bytes(size));
        const std::uint32_t ids = cursor.u32();
        one.name = parse_text(cursor);
        if (ids > kMostEvents) throw Error(cat(ids, " ids of one event are damage"));
        for (std::uint32_t k = 0; k < ids; ++k) one.ids.push_back(cursor.u64());
        all.push_back(std::move(one));
    }
    return all;
}

// Each is a record: its header, a process, 24 bytes for the id, in which perf since 5.13 says how
// long that is, and the path.
std::vector<std::pair<std::string, std::string>> parse_build_ids(Cursor& cursor,
                                                                 std::uint64_t bytes) {
    constexpr std::size_t kHeader = 8, kProcess = 4, kIdRoom = 24, kUsual = 20;
    constexpr std::uint16_t kHasSize = 1 << 15;  // PERF_RECORD_MISC_BUILD_ID_SIZE
    std::vector<std::pair<std::string, std::string>> all;
    while (bytes >= kHeader + kProcess + kIdRoom) {
        cursor.skip(4);
        const std::uint16_t flags = cursor.u16(), size = cursor.u16();
        if (size < kHeader + kProcess + kIdRoom || size > bytes)
            throw Error("a file's build id has a wrong size");
        bytes -= size;
        cursor.skip(kProcess);
        const std::string room = cursor.bytes(kIdRoom);
        const std::size_t length =
            (flags & kHasSize) != 0 ? static_cast<unsigned char>(room[kUsual]) : kUsual;
        const std::string path = cursor.bytes(size - kHeader - kProcess - kIdRoom);
        all.emplace_back(up_to_nul(path), room.substr(0, std::min(length, kUsual)));
    }
    return all;
}

// Its begin is that of a trace.dat; from version 0.6 on there are the names of tasks.
TracingData parse_tracing_data(
    Cursor& cursor,
    const std::function<void(std::string_view system, std::string text)>& on_format) {
    if (cursor.bytes(trace_dat::kMagic.size()) != trace_dat::kMagic)
        throw Error("the event formats do not begin as perf writes them");
    const std::string version = cursor.text();
    cursor.skip(2 + 4);  // byte order, size of long, size of a page: as in the rest of the file
    trace_dat::parse_header_info(cursor);
    trace_dat::parse_ftrace_formats(cursor, on_format);
    trace_dat::parse_event_formats(cursor, on_format);
    TracingData data;
    data.kallsyms = cursor.bytes(cursor.u32());
    data.printk_formats = cursor.bytes(cursor.u32());
    if (version >= "0.6") data.saved_cmdlines = cursor.bytes(cursor.u64());
    return data;
}

}  // namespace gpufs::perf_data
