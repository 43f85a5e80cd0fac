#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "lang/adhoc/adhoc.h"
#include "lang/ir/ir.h"

namespace gpufs {

// Always means the process id, even if an event has a field `pid`.
inline constexpr const char* kProcess = "process";
// Texts and raw bytes are written in words.
inline constexpr std::size_t kWord = 8;
// Room for the buckets of all keys of a histogram, about 100 bytes each.
inline constexpr std::size_t kHistogramEntries = 16384;

// The meaning of a name at an event.
struct AdhocValue {
    enum class Source {
        field,
        text_at,  // behind the address that is the field's number
        file,     // the path of the running task's file whose descriptor is the field's number
        comm,
        pid,
        tid,
        cpu,
        uid,
        cgroup,
        kernel_stack,
        user_stack,
        probe,
        function,
    };
    Source source = Source::field;
    const Field* field = nullptr;  // points into the event's format
    // text_at: behind the address that is so many places after the one in the field.
    std::optional<std::uint32_t> index;
    ValueType type;  // its type as a member of a key; 0 bytes: it cannot be one

    bool is_text() const { return type.kind == ValueType::Kind::text; }
    // An integer or an address.
    bool is_number() const;
};

// Absent if the event has no such field and the name is no common one. "str(arg1)" is the text at
// the address in a field, "str(argv[1])" the one at the second of the addresses there; "file(fd)"
// is the path of the running task's file that has the number in a field.
std::optional<AdhocValue> find_value(const AdhocEvent& event, std::string_view name);
// "did you mean 'prev_pid'?", or the list of the events' names.
std::string hint_for_value(std::initializer_list<const AdhocEvent*> events, std::string_view name);

// Generates code that reads values at one event.
class AdhocValueCode {
public:
    // `context` is the initial r1, `record` what the event's fields are in: the same, or what
    // append_fetched_record() made. Declares the losses and maps that the code needs in the
    // program.
    AdhocValueCode(ir::Code& code, ir::Temp context, ir::Temp record, const AdhocEvent& event,
                   Program& program)
        : code_(code), context_(context), record_(record), event_(event), program_(program) {}

    // The number, sign- or zero-extended to 64 bits.
    ir::Temp number(const AdhocValue& value);
    // Writes the value as a member of this type and initializes all of its bytes. `offset` must be
    // a multiple of 8 for texts and raw bytes. Longer texts are truncated and counted.
    void store(const AdhocValue& value, const ValueType& type, ir::Slot slot, std::size_t offset);

private:
    ir::Temp field_number(const Field& field);
    void store_number(const AdhocValue& value, const ValueType& type, ir::Slot slot,
                      std::size_t offset);
    void store_array(const Field& field, std::size_t bytes, ir::Slot slot, std::size_t offset,
                     bool is_text);
    // Whose memory the addresses in the event's fields are of.
    Space space_of_addresses() const;
    // Stores the text at an address; an empty one at 0.
    void store_text_at(Space space, ir::Temp from, std::size_t bytes, ir::Slot slot,
                       std::size_t offset);
    ir::Temp address_in(const AdhocValue& value);
    // The key of a file's path in the map of paths; 0 of a number that is no file.
    ir::Temp file_path(ir::Temp fd);
    void store_constant(std::string_view text, std::size_t bytes, ir::Slot slot,
                        std::size_t offset);
    void zero(ir::Slot slot, std::size_t from, std::size_t to);
    ir::Temp load_word(const Field& field, std::size_t at);
    ir::Temp stack(bool is_user);
    Relocation field_reference(const Field& field, std::int64_t addend = 0) const;
    void count_loss(const char* name, const char* what);

    ir::Code& code_;
    ir::Temp context_, record_;
    const AdhocEvent& event_;
    Program& program_;
};

}  // namespace gpufs
