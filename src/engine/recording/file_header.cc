#include "engine/recording/file_header.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/error.h"
#include "base/kernel_abi.h"
#include "base/text.h"
#include "engine/recording/open_recording.h"

namespace gpufs {
namespace {

using trace_dat::Cursor;
using trace_dat::Option;

// Larger pages than the kernel makes are damage (kernel/trace/ring_buffer.c: RB_WRITE_MASK + 1).
constexpr std::size_t kLargestPage = 1 << 20;
// Sections of options that refer to each other.
constexpr std::size_t kMostOptionSections = 1 << 16;

// "0x1f", "-5".
std::int64_t number_in(const std::string& data) {
    return static_cast<std::int64_t>(std::strtoll(data.c_str(), nullptr, 0));
}

// The third word of "Linux host 6.12.41 x86_64".
std::string release_in(const std::string& uname) {
    const std::vector<std::string> words = split(uname, ' ');
    return words.size() > 2 ? words[2] : std::string();
}

void check_page_bytes(std::size_t bytes) {
    if (bytes > kLargestPage) throw Error(cat("pages of ", bytes, " bytes are damage"));
}

std::string_view name_of(Option id) {
    switch (id) {
        case Option::header_info:
            return "the description of its pages";
        case Option::ftrace_events:
        case Option::event_formats:
            return "the event formats";
        case Option::kallsyms:
            return "the kernel's symbols";
        case Option::printk_formats:
            return "the kernel's format strings";
        case Option::command_lines:
            return "the names of tasks";
        default:
            return "its options";
    }
}

}  // namespace

TraceFileHeader::TraceFileHeader(int file, std::string path)
    : file_(file),
      path_(std::move(path)),
      events_(std::make_unique<RecordedEvents>(path_)),
      kallsyms_([this](const auto& take) { take(sized_text(kallsyms_place_)); }),
      printk_formats_([this] { return sized_text(printk_place_); }) {
    struct stat status {};
    check(::fstat(file_, &status), [&] { return cat("read '", path_, "'"); });
    file_bytes = static_cast<std::uint64_t>(status.st_size);
    context.addresses.symbol = [this](std::uint64_t address) { return kallsyms_.find(address); };
    context.addresses.text = [this](std::uint64_t address) {
        return printk_formats_.find(address);
    };
    reading_ = "its beginning";
    try {
        Cursor cursor(bytes_of_file(file_));
        header_ = trace_dat::parse_header(cursor);
        if (header_.version == 6)
            read_6(cursor);
        else
            read_7();
    } catch (const UnsupportedError& e) {
        throw UnsupportedError(cat("cannot read '", path_, "': ", e.what()), e.hint());
    } catch (const trace_dat::Truncated& e) {
        // What it asked for may begin far behind the end.
        throw Error(cat("'", path_, "' is cut at byte ", std::min(e.at(), file_bytes), ", inside ",
                        reading_, ": no record can be read"));
    } catch (const SysError&) {
        throw;
    } catch (const Error& e) {
        throw Error(cat("cannot read '", path_, "': ", e.what()), e.hint());
    }
    finish();
}

void TraceFileHeader::take_page_shape(const std::string& header_page) {
    layout = parse_page_layout(header_page);
    check_page_bytes(layout.page_bytes);
}

// One that cannot be read leaves the others alone.
void TraceFileHeader::take_buffer(trace_dat::Buffer buffer) {
    try {
        check_page_bytes(buffer.page_bytes);
        buffers.push_back(std::move(buffer));
    } catch (const Error& e) {
        damage.push_back(cat("buffer '", buffer.name, "' cannot be read: ", e.what()));
    }
}

void TraceFileHeader::read_6(Cursor& cursor) {
    const auto offer = [&](std::string_view system, std::string text) {
        events_->add(system, std::move(text));
    };
    reading_ = name_of(Option::header_info);
    take_page_shape(trace_dat::parse_header_info(cursor));
    reading_ = name_of(Option::event_formats);
    trace_dat::parse_ftrace_formats(cursor, offer);
    trace_dat::parse_event_formats(cursor, offer);
    reading_ = name_of(Option::kallsyms);
    kallsyms_place_ = {true, cursor.at()};
    cursor.skip(cursor.u32());
    reading_ = name_of(Option::printk_formats);
    printk_place_ = {true, cursor.at()};
    cursor.skip(cursor.u32());
    reading_ = name_of(Option::command_lines);
    context.tasks.add_recorded(cursor.bytes(cursor.u64()));
    reading_ = name_of(Option::done);
    cpus_ = cursor.u32();
    std::string mark = cursor.bytes(trace_dat::kOptions.size());
    if (mark == trace_dat::kOptions) {
        for (;;) {
            const Option id{cursor.u16()};
            if (id == Option::done) break;
            take_option(id, cursor.bytes(cursor.u32()));
        }
        mark = cursor.bytes(trace_dat::kFlyrecord.size());
    }
    reading_ = "the table of its pages";
    if (mark == trace_dat::kLatency)
        throw UnsupportedError("it holds the text of a latency tracer, no records",
                               cat("'trace-cmd report -i ", shell_quote(path_), "' shows it"));
    if (mark != trace_dat::kFlyrecord)
        throw Error(cat("byte ", cursor.at() - mark.size(), ": expected 'flyrecord'"));
    trace_dat::Buffer top;
    take_cpus(cursor, cpus_, top);
    for (trace_dat::Buffer& buffer : buffers) {
        borders.push_back(buffer.offset);
        try {
            Cursor at(bytes_of_file(file_), buffer.offset);
            if (at.bytes(trace_dat::kFlyrecord.size()) != trace_dat::kFlyrecord)
                throw Error(cat("byte ", buffer.offset, ": expected 'flyrecord'"));
            take_cpus(at, cpus_, buffer);
        } catch (const SysError&) {
            throw;
        } catch (const Error& e) {
            damage.push_back(cat("buffer '", buffer.name, "' cannot be read: ", e.what()));
        }
    }
    buffers.insert(buffers.begin(), std::move(top));
}

// Where the pages of each CPU are, and which clock is in them.
void TraceFileHeader::take_cpus(Cursor& cursor, std::size_t cpus, trace_dat::Buffer& buffer) {
    if (cpus > kMaxCpus) throw Error(cat(cpus, " CPUs are damage"));
    for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
        trace_dat::CpuData data{static_cast<int>(cpu), cursor.u64(), 0};
        data.size = cursor.u64();
        buffer.cpus.push_back(data);
    }
    if (!has_clock_text_) return;
    try {
        buffer.clock = chosen_word(up_to_nul(cursor.bytes(cursor.u64())));
    } catch (const SysError&) {
        throw;
    } catch (const Error&) {
        buffer.clock.clear();  // some recorders wrote none
    }
}

void TraceFileHeader::read_7() {
    const auto known = find_compression(header_.compression);
    facts.compression = cat(header_.compression, ' ', header_.compression_version);
    if (!known)
        throw UnsupportedError(cat("it is compressed with '", header_.compression, "'"),
                               "'none', 'zlib' and 'zstd' can be read");
    compression = *known;
    if (compression == Compression::none) facts.compression.clear();
    reading_ = name_of(Option::done);
    read_options_7(header_.options_at);
    for (const Option id : {Option::header_info, Option::ftrace_events, Option::event_formats,
                            Option::command_lines, Option::kallsyms, Option::printk_formats})
        read_section(id);
}

void TraceFileHeader::read_options_7(std::uint64_t at) {
    for (std::size_t sections = 0; at != 0 && sections < kMostOptionSections; ++sections) {
        borders.push_back(at);
        Cursor cursor = open_section(at);
        for (at = 0;;) {
            const Option id{cursor.u16()};
            const std::string data = cursor.bytes(cursor.u32());
            if (id == Option::done) {
                Cursor next(trace_dat::in_memory(data));
                at = next.u64();
                break;
            }
            take_option(id, data);
        }
    }
}

// Without the description of the pages there is nothing; all else may be missing.
void TraceFileHeader::read_section(Option id) {
    reading_ = name_of(id);
    const auto it = std::ranges::find(sections_, id, [](const auto& s) { return s.first; });
    if (it == sections_.end()) {
        if (id == Option::header_info) throw Error("it does not describe its pages");
        return;
    }
    const auto offer = [&](std::string_view system, std::string text) {
        events_->add(system, std::move(text));
    };
    try {
        if (id == Option::kallsyms) {
            kallsyms_place_ = {true, it->second};
        } else if (id == Option::printk_formats) {
            printk_place_ = {true, it->second};
        } else {
            Cursor cursor = open_section(it->second);
            if (id == Option::header_info)
                take_page_shape(trace_dat::parse_header_info(cursor));
            else if (id == Option::ftrace_events)
                trace_dat::parse_ftrace_formats(cursor, offer);
            else if (id == Option::event_formats)
                trace_dat::parse_event_formats(cursor, offer);
            else
                context.tasks.add_recorded(cursor.bytes(cursor.u64()));
        }
    } catch (const SysError&) {
        throw;
    } catch (const Error& e) {
        if (id == Option::header_info) throw;
        damage.push_back(cat(reading_, " are incomplete: ", e.what()));
    }
}

// A cursor at the first byte behind the section's header; in memory when it is compressed.
Cursor TraceFileHeader::open_section(std::uint64_t at) {
    Cursor cursor(bytes_of_file(file_), at);
    const trace_dat::Section section = trace_dat::parse_section(cursor);
    if (!section.is_compressed || compression == Compression::none) return cursor;
    const std::uint32_t packed = cursor.u32(), plain = cursor.u32();
    const std::string bytes = cursor.bytes(packed);
    if (!is_plausible(packed, plain)) throw Error(cat("byte ", at, ": a damaged section"));
    std::string text(plain, '\0');
    text.resize(uncompress(compression, std::as_bytes(std::span(bytes)),
                           std::as_writable_bytes(std::span(text))));
    return Cursor(trace_dat::in_memory(std::move(text)));
}

std::string TraceFileHeader::sized_text(const Place& place) {
    if (!place.is_known) return {};
    try {
        Cursor cursor =
            header_.version == 6 ? Cursor(bytes_of_file(file_), place.at) : open_section(place.at);
        return cursor.bytes(cursor.u32());
    } catch (const SysError&) {
        throw;
    } catch (const Error& e) {
        damage.push_back(cat(&place == &printk_place_ ? "format strings" : "symbols",
                             " of the kernel are incomplete: ", e.what()));
        return {};
    }
}

void TraceFileHeader::take_option(Option id, const std::string& data) {
    Cursor cursor(trace_dat::in_memory(data));
    // Modulo 2^64, as times are: damaged numbers may be of any size.
    const auto add_to_clock = [&](std::uint64_t ns) {
        clock.offset_ns =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(clock.offset_ns) + ns);
    };
    try {
        switch (id) {
            case Option::date:
                add_to_clock(static_cast<std::uint64_t>(number_in(data)) * 1000);
                break;
            case Option::offset:
                add_to_clock(static_cast<std::uint64_t>(number_in(data)));
                break;
            case Option::cpu_statistics:
                facts.statistics += cat(trim(up_to_nul(data)), '\n');
                break;
            case Option::buffer:
                take_buffer(trace_dat::parse_buffer(cursor, header_.version));
                break;
            case Option::trace_clock:
                has_clock_text_ = true;
                facts.clock = chosen_word(up_to_nul(data));
                break;
            case Option::uname:
                facts.uname = up_to_nul(data);
                break;
            case Option::version:
                facts.recorder = up_to_nul(data);
                break;
            case Option::cpu_count:
                if (trace_dat::is_tgid_table(data)) {
                    context.tasks.add_tgid_lines(up_to_nul(data));
                    context.options.record_tgid = true;
                } else {
                    cpus_ = cursor.u32();
                }
                break;
            case Option::time_shift:
                clock.shifts = trace_dat::parse_time_shifts(cursor);
                break;
            case Option::tsc_to_ns:
                clock.tsc_to_ns = trace_dat::parse_tsc_to_ns(cursor);
                break;
            case Option::buffer_text:
                throw UnsupportedError(
                    "it holds the text of a latency tracer, no records",
                    cat("'trace-cmd report -i ", shell_quote(path_), "' shows it"));
            default:
                if (id >= Option::header_info) sections_.emplace_back(id, cursor.u64());
                break;
        }
    } catch (const trace_dat::Truncated&) {
        damage.push_back(cat("option ", static_cast<unsigned>(id), " is too short"));
    }
}

void TraceFileHeader::finish() {
    context.events = Events(std::move(events_));
    facts.version = header_.version;
    facts.format = cat("trace.dat version ", header_.version);
    facts.cpus = cpus_;
    // Version 7 counts them nowhere but in its buffers.
    if (facts.cpus == 0)
        for (const trace_dat::Buffer& buffer : buffers)
            for (const trace_dat::CpuData& data : buffer.cpus)
                facts.cpus = std::max(facts.cpus, static_cast<std::size_t>(data.cpu) + 1);
    for (const trace_dat::Buffer& buffer : buffers)
        if (facts.clock.empty()) facts.clock = buffer.clock;
    context.options.clock_is_ns = counts_nanoseconds(facts.clock) || clock.tsc_to_ns;
    set_kernel_release(context.options, release_in(facts.uname));
}

}  // namespace gpufs
