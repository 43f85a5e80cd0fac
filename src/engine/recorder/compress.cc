#include "engine/recorder/compress.h"

#include <fcntl.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/read_at.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "lang/trace_dat/bytes.h"
#include "lang/trace_dat/compression.h"
#include "lang/trace_dat/header.h"

namespace gpufs {
namespace {

using trace_dat::Cursor;
using trace_dat::Option;
using trace_dat::put;
using trace_dat::put_option;
using trace_dat::put_word;

// Readers decompress one chunk at a time.
constexpr std::size_t kPagesAChunk = 64;

std::string compressed(std::string_view bytes) {
    const std::string packed = compress(Compression::zstd, std::as_bytes(std::span(bytes)));
    std::string out;
    put(out, static_cast<std::uint32_t>(packed.size()));
    put(out, static_cast<std::uint32_t>(bytes.size()));
    return out + packed;
}

// The contents of the original file.
struct Recorded {
    trace_dat::Header header;
    // Sections of version 7 have the same bytes as the parts of version 6.
    std::vector<std::pair<Option, std::string>> sections;
    std::string options;  // without the end mark
    std::vector<trace_dat::CpuData> cpus;
    std::string clock;
};

std::string cut_out(const trace_dat::Source& source, std::uint64_t from, std::uint64_t to) {
    return Cursor(source, from).bytes(to - from);
}

Recorded take_apart(const trace_dat::Source& source) {
    Recorded recorded;
    Cursor cursor(source);
    recorded.header = trace_dat::parse_header(cursor);
    if (recorded.header.version != 6) throw Error("it is no trace.dat of version 6");
    const auto part = [&](Option id, auto&& skip) {
        const std::uint64_t from = cursor.at();
        skip();
        recorded.sections.emplace_back(id, cut_out(source, from, cursor.at()));
    };
    const trace_dat::OnFormat pass = [](std::string_view, const std::string&) {};
    part(Option::header_info, [&] { trace_dat::parse_header_info(cursor); });
    part(Option::ftrace_events, [&] { trace_dat::parse_ftrace_formats(cursor, pass); });
    part(Option::event_formats, [&] { trace_dat::parse_event_formats(cursor, pass); });
    part(Option::kallsyms, [&] { cursor.skip(cursor.u32()); });
    part(Option::printk_formats, [&] { cursor.skip(cursor.u32()); });
    std::string names = cursor.bytes(cursor.u64());
    names.resize(names.find_last_not_of('\0') + 1);
    std::string section;
    put<std::uint64_t>(section, names.size());
    recorded.sections.emplace_back(Option::command_lines, section.append(names));

    const std::uint32_t cpus = cursor.u32();
    cursor.skip(trace_dat::kOptions.size());
    const std::uint64_t from = cursor.at();
    std::uint64_t end = from;
    for (; Option{cursor.u16()} != Option::done; end = cursor.at()) cursor.skip(cursor.u32());
    recorded.options = cut_out(source, from, end);
    cursor.skip(trace_dat::kFlyrecord.size());
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        trace_dat::CpuData& data = recorded.cpus.emplace_back();
        data.cpu = static_cast<int>(cpu);
        data.offset = cursor.u64();
        data.size = cursor.u64();
    }
    recorded.clock = chosen_word(up_to_nul(cursor.bytes(cursor.u64())));
    return recorded;
}

class Writer {
public:
    explicit Writer(WholeFile& file) : file_(file) {}

    std::uint64_t at() const { return at_; }
    void append(std::string_view bytes) {
        file_.add(bytes);
        at_ += bytes.size();
    }
    void replace(std::uint64_t at, std::uint64_t number) {
        std::string bytes;
        put(bytes, number);
        file_.replace(at, bytes);
    }
    // Returns the offset of the section. Its size field is the last 8 bytes of its 16-byte head.
    std::uint64_t section(Option id, bool is_compressed, std::string_view content) {
        const std::uint64_t begin = at_;
        std::string head;
        put(head, static_cast<std::uint16_t>(id));
        put(head, static_cast<std::uint16_t>(is_compressed ? trace_dat::kCompressed : 0));
        put(head, std::uint32_t{0});  // offset of its description: the first string
        put<std::uint64_t>(head, content.size());
        append(head + std::string(content));
        return begin;
    }

private:
    WholeFile& file_;
    std::uint64_t at_ = 0;
};

std::string as_bytes_of(std::uint64_t number) {
    std::string out;
    put(out, number);
    return out;
}

// Writes one CPU's pages: the number of chunks, then the chunks.
void write_pages(Writer& writer, const trace_dat::Source& source, const trace_dat::CpuData& from,
                 std::size_t chunk_bytes, trace_dat::CpuData& to) {
    to = {from.cpu, writer.at(), 0};
    if (from.size == 0) return;
    std::string count;
    put(count, static_cast<std::uint32_t>((from.size + chunk_bytes - 1) / chunk_bytes));
    writer.append(count);
    Cursor cursor(source, from.offset);
    for (std::uint64_t left = from.size; left > 0;) {
        const std::uint64_t n = std::min<std::uint64_t>(left, chunk_bytes);
        writer.append(compressed(cursor.bytes(n)));
        left -= n;
    }
    to.size = writer.at() - to.offset;
}

std::string buffer_option(std::uint64_t section, const Recorded& recorded,
                          const std::vector<trace_dat::CpuData>& cpus) {
    std::string out = as_bytes_of(section);
    put_word(out, "");  // the top-level buffer has no name
    put_word(out, recorded.clock);
    put(out, static_cast<std::uint32_t>(recorded.header.page_bytes));
    put(out, static_cast<std::uint32_t>(cpus.size()));
    for (const trace_dat::CpuData& cpu : cpus) {
        put(out, static_cast<std::uint32_t>(cpu.cpu));
        put(out, cpu.offset);
        put(out, cpu.size);
    }
    return out;
}

}  // namespace

void compress_recording(const std::string& path) {
    const Fd file = open_file(path, O_RDONLY);
    const trace_dat::Source source = [&](std::uint64_t at, std::span<char> into) {
        return read_at(file.get(), at, std::as_writable_bytes(into), path);
    };
    const Recorded recorded = take_apart(source);

    WholeFile whole(path);
    Writer writer(whole);
    std::string begin(trace_dat::kMagic);
    put_word(begin, "7");
    begin += recorded.header.is_big_endian ? '\1' : '\0';
    begin += static_cast<char>(recorded.header.long_bytes);
    put(begin, static_cast<std::uint32_t>(recorded.header.page_bytes));
    put_word(begin, compression_name(Compression::zstd));
    put_word(begin, compression_version(Compression::zstd));
    writer.append(begin);
    const std::uint64_t options_at = writer.at();
    writer.append(as_bytes_of(0));

    std::string options = recorded.options;
    for (const auto& [id, bytes] : recorded.sections)
        put_option(options, id, as_bytes_of(writer.section(id, true, compressed(bytes))));
    const std::uint64_t pages = writer.section(Option::buffer, true, {});
    std::vector<trace_dat::CpuData> cpus(recorded.cpus.size());
    for (std::size_t i = 0; i < cpus.size(); ++i)
        write_pages(writer, source, recorded.cpus[i], kPagesAChunk * recorded.header.page_bytes,
                    cpus[i]);
    constexpr std::uint64_t kHeadBytes = 16;
    writer.replace(pages + kHeadBytes - 8, writer.at() - pages - kHeadBytes);
    std::string count;
    put(count, static_cast<std::uint32_t>(cpus.size()));
    put_option(options, Option::cpu_count, count);  // KernelShark reads only this one
    put_option(options, Option::buffer, buffer_option(pages, recorded, cpus));
    put_option(options, Option::done, as_bytes_of(0));
    writer.replace(options_at, writer.section(Option::done, false, options));
    std::string descriptions;
    put_word(descriptions, "part");
    writer.section(Option::strings, true, compressed(descriptions));
    whole.commit();
}

}  // namespace gpufs
