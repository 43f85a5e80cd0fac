#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// One field of an event, as its `format` file describes it.
struct Field {
    // Where the bytes are. `data_loc`: the field is a u32 whose low half is an offset from the
    // start of the record and whose high half is a length. `rel_loc`: the same, but the offset
    // counts from the end of the field itself.
    enum class Place { fixed, data_loc, rel_loc };

    std::string name;
    std::string type;        // the element's C type: "int", "char", "pid_t", "const char *"
    std::size_t offset = 0;  // from the start of the record, in bytes
    std::size_t size = 0;    // bytes at `offset`: the whole array, or 4 where place is not fixed
    std::size_t element_size = 0;  // bytes of one element of `type`; `size` for a scalar
    Place place = Place::fixed;
    bool is_array = false;   // an array, fixed or dynamic
    bool is_string = false;  // text: char[N], __string(), or a pointer to characters
    bool is_pointer = false;
    bool is_signed = false;
    bool is_common = false;  // one of the common_* fields in front of every record

    // The type as C spells the field: "char prev_comm[16]", "__data_loc char[] name".
    std::string declaration() const;
    bool is_dynamic() const { return place != Place::fixed; }
    // True for text stored in the record itself; a `const char *` field stores only an address.
    bool holds_text() const { return is_string && !is_pointer; }
};

// The kernel overwrites this many bytes at the start of a tracepoint program's record with a
// pointer of its own.
inline constexpr std::size_t kHiddenBytes = 8;

// The contents of one event's `format` file. Field order and offsets differ between kernels, so the
// rest of gpufs addresses fields by name.
struct EventFormat {
    std::string system;
    std::string name;
    int id = 0;                 // common_type of this event's records on this boot
    std::vector<Field> fields;  // in the file's order, common_* first
    std::string print_format;   // what follows "print fmt: ", as written

    std::string full_name() const { return system + ':' + name; }
    // Null when there is no such field.
    const Field* find(std::string_view field) const;
    // All of these, in their order; none when one is missing.
    std::vector<const Field*> find_all(std::span<const std::string_view> names) const;
    // Names of the event's own fields, without common_*, for "did you mean" hints.
    std::vector<std::string> field_names() const;
};

// Whether it is one of kprobe_events or uprobe_events.
bool is_dynamic_probe(const EventFormat& event);

// The field's name, for where names must differ: with "_2" behind it if a field before it has the
// same one (amdgpu_vm_grab_id has two of the name `ring`).
std::string distinct_name(const EventFormat& format, const Field& field);

// Parses the text of events/SYSTEM/EVENT/format. Throws Error when the text is not a format file. A
// "print fmt" that cannot be parsed is not an error: it is kept as text.
EventFormat parse_event_format(std::string_view system, std::string_view text);

// True if the format text declares a field of this name. A text search, cheap enough for thousands
// of formats; parse only those that match.
bool declares_field(std::string_view format_text, std::string_view field);
// The number behind "ID: ", and the word behind "name: " in the first line; the same cheap look. -1
// and empty when the text has none.
int declared_id(std::string_view format_text);
std::string_view declared_name(std::string_view format_text);

}  // namespace gpufs
