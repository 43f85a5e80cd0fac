#include "lang/trace_dat/write.h"

#include <bit>
#include <string_view>

#include "base/align.h"
#include "lang/trace_dat/bytes.h"
#include "lang/trace_dat/header.h"

namespace gpufs::trace_dat {
namespace {

constexpr std::size_t kPlaceBytes = 16;

void put_long_text(std::string& out, std::string_view text) {
    put<std::uint64_t>(out, text.size());
    out += text;
}

void put_text(std::string& out, std::string_view text) {
    put(out, static_cast<std::uint32_t>(text.size()));
    out += text;
}

void put_formats(std::string& out, const std::vector<std::string>& formats) {
    put(out, static_cast<std::uint32_t>(formats.size()));
    for (const std::string& format : formats) put_long_text(out, format);
}

void put_options(const Head& head, HeadBytes& done) {
    std::string& out = done.bytes;
    out += kOptions;
    const std::string room = encode_statistics({}, head.stats_room);
    for (std::size_t cpu = 0; cpu < head.cpus; ++cpu) {
        const std::size_t before = out.size();
        put_option(out, Option::cpu_statistics, room);
        done.stats_stride = out.size() - before;
        if (cpu == 0) done.first_stats_at = out.size() - room.size();
    }
    put_option(out, Option::uname, head.uname + '\0');
    put_option(out, Option::trace_clock, "");
    put(out, static_cast<std::uint16_t>(Option::done));
}

}  // namespace

std::size_t HeadBytes::place_at(std::size_t cpu) const {
    return places_at + cpu * kPlaceBytes;
}

std::string encode_place(const Place& place) {
    std::string out;
    put(out, place.at);
    put(out, place.bytes);
    return out;
}

std::string encode_statistics(std::string_view text, std::size_t room) {
    std::string out(text.substr(0, room - 1));
    if (out.ends_with('\n')) out.pop_back();
    out.resize(room - 2, ' ');
    return out + '\n' + '\0';
}

HeadBytes encode_head(const Head& head) {
    HeadBytes done;
    std::string& out = done.bytes;
    out += kMagic;
    put_word(out, "6");
    out += std::endian::native == std::endian::big ? '\1' : '\0';
    out += static_cast<char>(sizeof(long));
    put(out, static_cast<std::uint32_t>(head.page_bytes));
    out += kHeaderPage;
    put_long_text(out, head.header_page);
    out += kHeaderEvent;
    put_long_text(out, head.header_event);
    put_formats(out, head.ftrace_formats);
    put(out, static_cast<std::uint32_t>(head.systems.size()));
    for (const Head::System& system : head.systems) {
        put_word(out, system.name);
        put_formats(out, system.formats);
    }
    put_text(out, head.kallsyms);
    put_text(out, head.printk_formats);
    put<std::uint64_t>(out, head.names_room);
    done.names_at = out.size();
    out.append(head.names_room, '\0');
    put(out, static_cast<std::uint32_t>(head.cpus));
    put_options(head, done);
    out += kFlyrecord;
    done.places_at = out.size();
    out.append(head.cpus * kPlaceBytes, '\0');
    put_long_text(out, head.trace_clock);
    out.resize(align_up(out.size(), head.page_bytes));
    return done;
}

}  // namespace gpufs::trace_dat
