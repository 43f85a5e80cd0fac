#pragma once

#include <optional>
#include <string_view>

#include "lang/adhoc/adhoc.h"
#include "lang/ir/ir.h"

namespace gpufs {

// The process, also where an event has a field `pid`.
inline constexpr const char* kProcess = "process";

// What a name stands for at an event.
struct AdhocValue {
    enum class Source { field, comm, pid, tid, cpu, uid, cgroup, kernel_stack, user_stack, probe };
    Source source = Source::field;
    const Field* field = nullptr;  // the event's
    ValueType type;                // what it is as a member of a key; no bytes: it cannot be one

    bool is_text() const { return type.kind == ValueType::Kind::text; }
    // Something to count with: an integer, or an address.
    bool is_number() const;
};

// Absent where the event has no such field and nothing else is named so.
std::optional<AdhocValue> find_value(const AdhocEvent& event, std::string_view name);
// "did you mean 'prev_pid'?", or what there is.
std::string hint_for_value(const AdhocEvent& event, std::string_view name);

// Code at one event: reads the values of names.
class AdhocValueCode {
public:
    // `context` is what r1 was. Declares the losses and the maps that it needs in the program.
    AdhocValueCode(ir::Code& code, ir::Temp context, const AdhocEvent& event, Program& program)
        : code_(code), context_(context), event_(event), program_(program) {}

    // The number, extended to 64 bits by its sign.
    ir::Temp number(const AdhocValue& value);
    // Writes the value as a member of this type, all bytes of it, at an offset that is a multiple
    // of 8 for texts and raw bytes. Texts that are longer are cut and counted.
    void store(const AdhocValue& value, const ValueType& type, ir::Slot slot, std::size_t offset);

private:
    void store_number(const AdhocValue& value, const ValueType& type, ir::Slot slot,
                      std::size_t offset);
    void store_array(const Field& field, std::size_t bytes, ir::Slot slot, std::size_t offset,
                     bool is_text);
    void store_read_text(const Field& field, std::size_t bytes, ir::Slot slot, std::size_t offset);
    void store_constant(std::string_view text, std::size_t bytes, ir::Slot slot,
                        std::size_t offset);
    void zero(ir::Slot slot, std::size_t from, std::size_t to);
    ir::Temp load_word(const Field& field, std::size_t at);
    ir::Temp stack(bool is_user);
    Relocation field_reference(const Field& field, std::int64_t addend = 0) const;
    void count_loss(const char* name, const char* what);

    ir::Code& code_;
    ir::Temp context_;
    const AdhocEvent& event_;
    Program& program_;
};

}  // namespace gpufs
