#include "lang/trace_dat/header.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/kernel_abi.h"
#include "base/scan.h"

namespace gpufs::trace_dat {
namespace {

void expect(Cursor& cursor, std::string_view mark) {
    const std::uint64_t at = cursor.at();
    if (cursor.bytes(mark.size()) != mark)
        throw Error(cat("byte ", at, ": expected '", up_to_nul(mark), "'"));
}

}  // namespace

Header parse_header(Cursor& cursor) {
    bool is_ours = false;
    try {
        is_ours = cursor.bytes(kMagic.size()) == kMagic;
    } catch (const Truncated&) {
    }
    if (!is_ours)
        throw Error("it is neither a trace.dat, nor a perf.data, nor the kernel's text of a trace");
    Header header;
    const std::string version = cursor.text();
    header.version = whole_number<int>(version).value_or(0);
    if (header.version != 6 && header.version != 7)
        throw UnsupportedError(cat("it is a trace.dat of version '", version, "'"),
                               "versions 6 and 7 can be read");
    const std::string shape = cursor.bytes(2);
    header.is_big_endian = shape[0] != 0;
    header.long_bytes = static_cast<unsigned char>(shape[1]);
    if (header.is_big_endian != (std::endian::native == std::endian::big))
        throw UnsupportedError(cat("it was recorded on a ", header.is_big_endian ? "big" : "little",
                                   "-endian machine, and this is none"),
                               "'trace-cmd report' reads recordings of other machines");
    header.page_bytes = cursor.u32();
    if (header.version >= 7) {
        header.compression = cursor.text();
        header.compression_version = cursor.text();
        header.options_at = cursor.u64();
    }
    return header;
}

Section parse_section(Cursor& cursor) {
    Section section;
    section.id = Option{cursor.u16()};
    section.is_compressed = (cursor.u16() & kCompressed) != 0;
    cursor.skip(4);  // its description
    section.size = cursor.u64();
    return section;
}

std::string parse_header_info(Cursor& cursor) {
    expect(cursor, kHeaderPage);
    std::string page = cursor.bytes(cursor.u64());
    expect(cursor, kHeaderEvent);
    cursor.bytes(cursor.u64());
    return page;
}

void parse_ftrace_formats(Cursor& cursor, const OnFormat& on_format) {
    for (std::uint32_t left = cursor.u32(); left > 0; --left)
        on_format("ftrace", cursor.bytes(cursor.u64()));
}

void parse_event_formats(Cursor& cursor, const OnFormat& on_format) {
    for (std::uint32_t systems = cursor.u32(); systems > 0; --systems) {
        const std::string system = cursor.text();
        for (std::uint32_t left = cursor.u32(); left > 0; --left)
            on_format(system, cursor.bytes(cursor.u64()));
    }
}

bool is_tgid_table(std::string_view data) {
    // A number of CPUs has bytes that are 0: 4 characters are more than 500 million. A table may
    // have one behind its last line.
    if (data.size() > sizeof(std::uint32_t) && data.ends_with('\0')) data.remove_suffix(1);
    return data.find(' ') != data.npos &&
           std::ranges::all_of(data, [](char c) { return is_digit(c) || c == ' ' || c == '\n'; });
}

Buffer parse_buffer(Cursor& cursor, unsigned version) {
    Buffer buffer;
    buffer.offset = cursor.u64();
    buffer.name = cursor.text();
    if (version < 7) return buffer;
    buffer.clock = cursor.text();
    buffer.page_bytes = cursor.u32();
    for (std::uint32_t left = cursor.u32(); left > 0; --left) {
        CpuData& data = buffer.cpus.emplace_back();
        const std::uint32_t cpu = cursor.u32();
        if (cpu >= kMaxCpus) throw Error(cat("CPU ", cpu, " is damage"));
        data.cpu = static_cast<int>(cpu);
        data.offset = cursor.u64();
        data.size = cursor.u64();
    }
    return buffer;
}

// `fraction` was added to the format later, so it follows all other values.
TimeShifts parse_time_shifts(Cursor& cursor) {
    TimeShifts shifts;
    cursor.skip(8);  // the peer's trace_id
    shifts.interpolates = (cursor.u32() & kInterpolate) != 0;
    for (std::uint32_t cpus = cursor.u32(); cpus > 0; --cpus) {
        std::vector<TimeShift>& samples = shifts.cpus.emplace_back();
        for (std::uint32_t left = cursor.u32(); left > 0; --left)
            samples.emplace_back().time = cursor.u64();
        for (TimeShift& one : samples) one.offset = static_cast<std::int64_t>(cursor.u64());
        for (TimeShift& one : samples) one.scaling = cursor.u64();
    }
    try {
        for (std::vector<TimeShift>& samples : shifts.cpus)
            for (TimeShift& one : samples)
                one.fraction = static_cast<unsigned>(std::min<std::uint64_t>(cursor.u64(), 63));
    } catch (const Truncated&) {
    }
    return shifts;
}

TscToNs parse_tsc_to_ns(Cursor& cursor) {
    TscToNs rule;
    rule.multiplier = cursor.u32();
    rule.shift = cursor.u32();
    return rule;
}

}  // namespace gpufs::trace_dat
