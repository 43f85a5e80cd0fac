#include "lang/event/event_format.h"

#include <event-parse.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>

#include "base/cat.h"
#include "base/error.h"
#include "base/text.h"
#include "lang/event/format_lines.h"

namespace gpufs {
namespace {

struct TepFree {
    void operator()(tep_handle* tep) const noexcept { tep_free(tep); }
};

// libtraceevent gives "__data_loc char[]" or "char[16]" as the type; strips that to the element
// type.
std::string element_type(std::string_view type) {
    for (const std::string_view prefix : {"__data_loc ", "__rel_loc "})
        if (type.starts_with(prefix)) type.remove_prefix(prefix.size());
    return std::string(trim(type.substr(0, type.find('['))));
}

Field to_field(const tep_format_field& f, bool is_common) {
    const auto has = [&](unsigned long flag) { return (f.flags & flag) != 0; };
    Field field;
    field.name = f.name;
    field.type = element_type(f.type);
    field.offset = static_cast<std::size_t>(f.offset);
    field.size = static_cast<std::size_t>(f.size);
    field.is_array = has(TEP_FIELD_IS_ARRAY);
    field.is_pointer = field.type.ends_with('*') || (has(TEP_FIELD_IS_POINTER) && !field.is_array);
    field.is_signed = has(TEP_FIELD_IS_SIGNED);
    field.is_common = is_common;
    if (has(TEP_FIELD_IS_RELATIVE))
        field.place = Field::Place::rel_loc;
    else if (has(TEP_FIELD_IS_DYNAMIC))
        field.place = Field::Place::data_loc;
    field.element_size = f.elementsize > 0 ? static_cast<std::size_t>(f.elementsize) : field.size;
    // Only arrays of plain char are text. libtraceevent also calls a `char` scalar and u8[] strings
    // when the print format prints them so.
    field.is_string = field.type == "char *" || field.type == "const char *" ||
                      (field.is_array && (field.type == "char" || field.type == "const char"));
    if (field.is_array && field.is_string) field.element_size = 1;
    if (!field.is_array) field.element_size = field.size;
    return field;
}

}  // namespace

std::string Field::declaration() const {
    const std::string_view space = type.ends_with('*') ? "" : " ";
    if (place == Place::data_loc) return cat("__data_loc ", type, "[] ", name);
    if (place == Place::rel_loc) return cat("__rel_loc ", type, "[] ", name);
    if (is_array && element_size > 0) return cat(type, space, name, '[', size / element_size, ']');
    return cat(type, space, name);
}

const Field* EventFormat::find(std::string_view field) const {
    const auto it = std::ranges::find(fields, field, &Field::name);
    return it == fields.end() ? nullptr : &*it;
}

std::vector<const Field*> EventFormat::find_all(std::span<const std::string_view> names) const {
    std::vector<const Field*> found;
    for (const std::string_view wanted : names) {
        const Field* const field = find(wanted);
        if (!field) return {};
        found.push_back(field);
    }
    return found;
}

std::vector<std::string> EventFormat::field_names() const {
    std::vector<std::string> names;
    for (const Field& f : fields)
        if (!f.is_common) names.push_back(f.name);
    return names;
}

bool is_dynamic_probe(const EventFormat& event) {
    return event.find("__probe_ip") || event.find("__probe_ret_ip");
}

std::string distinct_name(const EventFormat& format, const Field& field) {
    std::size_t same = 1;
    for (const Field& other : format.fields) {
        if (&other == &field) break;
        same += other.name == field.name;
    }
    return same == 1 ? field.name : cat(field.name, '_', same);
}

EventFormat parse_event_format(std::string_view system, std::string_view text) {
    // print_fmt/format.h parses the print format. libtraceevent fails on some of them, and crashes
    // on damaged ones and on damaged field lines.
    constexpr std::string_view kPrint = "print fmt: ";
    const auto print = std::min(text.find(kPrint), text.size());
    check_format_lines(system, text.substr(0, print));
    const std::unique_ptr<tep_handle, TepFree> tep{tep_alloc()};
    if (!tep) throw std::bad_alloc();
    tep_set_loglevel(TEP_LOG_NONE);
    // Without this, libtraceevent uses the size of `long` on its build machine.
    tep_set_long_size(tep.get(), sizeof(long));
    const std::string fields = cat(text.substr(0, print), kPrint, "\"\"\n");
    tep_event* event = nullptr;
    const tep_errno code = tep_parse_format(tep.get(), &event, fields.data(), fields.size(),
                                            std::string(system).c_str());
    if (!event || (code != TEP_ERRNO__SUCCESS && !event->format.nr_fields))
        throw Error(cat("cannot parse the format of an event in '", system, "'"));

    EventFormat format{std::string(system), event->name, event->id, {}, {}};
    for (const auto* f = event->format.common_fields; f; f = f->next)
        format.fields.push_back(to_field(*f, true));
    for (const auto* f = event->format.fields; f; f = f->next)
        format.fields.push_back(to_field(*f, false));
    if (print != text.size()) format.print_format = trim(text.substr(print + kPrint.size()));
    return format;
}

bool declares_field(std::string_view format_text, std::string_view field) {
    // "\tfield:char prev_comm[16];\toffset:..." and "\tfield:pid_t prev_pid;\toffset:..."
    for (std::size_t at = 0; (at = format_text.find(field, at)) != format_text.npos; ++at) {
        const std::size_t end = at + field.size();
        if (at == 0 || end >= format_text.size()) continue;
        const char before = format_text[at - 1], after = format_text[end];
        const bool starts = before == ' ' || before == '*' || before == '\t';
        if (!starts || (after != ';' && after != '[')) continue;
        const auto line = format_text.rfind('\n', at);
        if (format_text.substr(line + 1, 7) == "\tfield:") return true;
    }
    return false;
}

int declared_id(std::string_view format_text) {
    constexpr std::string_view kKey = "\nID: ";
    int id = -1;
    if (const auto at = format_text.find(kKey); at != format_text.npos) {
        const std::string_view digits = format_text.substr(at + kKey.size());
        std::from_chars(digits.data(), digits.data() + digits.size(), id);
    }
    return id;
}

std::string_view declared_name(std::string_view format_text) {
    constexpr std::string_view kKey = "name: ";
    if (!format_text.starts_with(kKey)) return {};
    return format_text.substr(kKey.size(), format_text.find('\n') - kKey.size());
}

}  // namespace gpufs
