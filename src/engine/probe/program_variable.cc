#include "engine/probe/program_variable.h"

#include <utility>

#include "base/cat.h"
#include "engine/probe/program_object.h"
#include "engine/probe/unreadable.h"
#include "lang/dwarf/scope.h"
#include "lang/probe/field_type.h"

namespace gpufs {
namespace {

using StepKind = ValueStep::Kind;
using Part = VariableValue::Part;

constexpr unsigned kWordBits = 64, kByteBits = 8;

ValueSteps constant_steps(std::uint64_t number) {
    return {{StepKind::constant, static_cast<std::int64_t>(number)}};
}

class ProgramReader {
public:
    ProgramReader(DebugInfo& info, const CodeSpot& spot)
        : info_(info), spot_(spot), finder_(info, spot) {}

    ProgramVariable read(const VariablePath& path, VariableUse use = VariableUse::number) {
        return read(finder_.find(path), path.type, use);
    }
    ProgramVariable read(const DwarfEntry& variable) {
        return read(finder_.object_of(variable), "", VariableUse::number);
    }

private:
    ProgramVariable read(ProgramObject object, const std::string& asked, VariableUse use) {
        finder_.follow_reference(object);
        ProgramVariable made;
        made.c_type = object.type.to_text();
        made.value.code_address = spot_.address;
        made.place = object.place.to_text();
        const DwarfType type = object.type.stripped();
        if (use == VariableUse::size) {
            read_size(object, made);
        } else if (use == VariableUse::address) {
            read_address(object, made);
        } else if (is_text(type, asked)) {
            if (type.kind() == TypeKind::pointer) finder_.through(object);
            read_address(object, made);
            made.type = "string";
            made.value.is_text = true;
        } else {
            read_number(object, asked, made);
        }
        if (!made.value.begin_registers().empty()) made.value.function = function();
        require_readable(made.value);
        return made;
    }

    static bool is_text(const DwarfType& type, const std::string& asked) {
        if (!asked.empty()) return is_text_type(asked);
        const bool has_target = type.kind() == TypeKind::pointer || type.kind() == TypeKind::array;
        return has_target && type.target().stripped().is_char();
    }

    void read_address(const ProgramObject& object, ProgramVariable& made) {
        finder_.require_there(object.place);
        if (object.place.kind != PlaceKind::memory || object.bits)
            finder_.fail("it has no address: it is in no memory of its own");
        made.type = "x64";
        made.is_address = true;
        made.value.parts.push_back({object.place.number.to_steps()});
    }

    void read_size(const ProgramObject& object, ProgramVariable& made) {
        const auto bytes = object.type.bytes();
        if (!bytes || object.bits)
            finder_.fail(cat("the size of ", object.type.to_text(), " is not known in bytes"));
        made.type = "u64";
        made.value.parts.push_back({constant_steps(*bytes)});
    }

    void read_number(const ProgramObject& object, const std::string& asked, ProgramVariable& made) {
        const DwarfType type = object.type.stripped();
        made.is_address = type.kind() == TypeKind::pointer || type.kind() == TypeKind::reference;
        made.value.type = asked.empty() ? finder_.require_number(object.type) : require_type(asked);
        made.type = cat(made.is_address             ? 'x'
                        : made.value.type.is_signed ? 's'
                                                    : 'u',
                        kByteBits * made.value.type.bytes);
        if (type.kind() == TypeKind::enumeration)
            for (const auto& [name, number] : enumerators(type))
                made.words.emplace_back(number, name);
        add_parts(object, made.value);
    }

    ir::Type require_type(const std::string& asked) const {
        if (const auto type = find_number_type(asked)) return *type;
        finder_.fail(cat("a program reads no ", asked),
                     "string, and of numbers u8, u16, u32, u64, s8 … and x8 …");
    }

    void add_parts(const ProgramObject& object, VariableValue& value) {
        const VariablePlace& place = object.place;
        if (place.kind != PlaceKind::pieces) {
            finder_.require_there(place);
            const bool is_bool = object.type.stripped().kind() == TypeKind::boolean;
            unsigned bits = object.bits.value_or(kByteBits * value.type.bytes);
            // Of a bool in a register only the lowest bit counts.
            if (is_bool && !object.bits && place.kind == PlaceKind::in_register) bits = 1;
            return add_part(place, object.first_bit, bits, value);
        }
        unsigned left = kByteBits * value.type.bytes;
        for (const VariablePlace::Piece& piece : place.pieces) {
            finder_.require_there(piece.place);
            const auto bits = static_cast<unsigned>(std::min<std::uint64_t>(piece.bits, left));
            if (bits != 0) add_part(piece.place, piece.first_bit, bits, value);
            left -= bits;
        }
    }

    void add_part(const VariablePlace& place, unsigned first_bit, unsigned bits,
                  VariableValue& value) {
        Part part{{}, false, first_bit, bits};
        switch (place.kind) {
            case PlaceKind::memory:
                return add_memory(place.number, first_bit, bits, value);
            case PlaceKind::in_register:
                part.steps = {{StepKind::in_register, place.reg}};
                break;
            case PlaceKind::value:
                part.steps = place.number.to_steps();
                break;
            case PlaceKind::bytes:
                part.steps = constant_steps(number_in_bytes(place.bytes));
                break;
            default:
                finder_.fail("it is in several places at once");
        }
        value.parts.push_back(std::move(part));
    }

    // From the byte that has the first bit; what does not lie in 8 bytes then, as two parts.
    void add_memory(RuntimeNumber address, unsigned first_bit, unsigned bits,
                    VariableValue& value) {
        const auto from = [&](std::int64_t bytes, unsigned first, unsigned count) {
            RuntimeNumber there = address;
            there.offset += bytes;
            value.parts.push_back({there.to_steps(), true, first, count});
        };
        address.offset += first_bit / kByteBits;
        const unsigned first = first_bit % kByteBits;
        const unsigned here = std::min(bits, kWordBits - first);
        from(0, first, here);
        if (here < bits) from(kWordBits / kByteBits, 0, bits - here);
    }

    // Where the function begins that the place is in.
    std::optional<VariableValue::Function> function() {
        const DwarfEntry entry = frame_function(spot_.scopes);
        const auto address = entry ? entry_address(entry) : std::nullopt;
        const auto offset = address ? info_.program().file_offset(*address) : std::nullopt;
        const VariablePlace frame = finder_.frame();
        if (!offset || frame.kind != PlaceKind::memory) return std::nullopt;
        return VariableValue::Function{qualified_name(entry), *offset, frame.number.to_steps()};
    }

    void require_readable(const VariableValue& value) {
        const std::string trouble = trouble_with(value);
        if (!trouble.empty()) finder_.fail(trouble);
    }

    DebugInfo& info_;
    const CodeSpot& spot_;
    ObjectFinder finder_;
};

template <class What>
std::optional<ProgramVariable> find(DebugInfo& info, const What& what, const CodeSpot& spot) try {
    return ProgramReader(info, spot).read(what);
} catch (const Unreadable&) {
    return std::nullopt;
}

}  // namespace

std::string ProgramVariable::to_text() const {
    const std::string text = value.to_text();
    return value.is_text ? cat('[', text, "]:", type) : cat(text, ':', type);
}

ProgramVariable read_variable(DebugInfo& info, const SourceText& source, const VariablePath& path,
                              const CodeSpot& spot, VariableUse use) {
    try {
        return ProgramReader(info, spot).read(path, use);
    } catch (const Unreadable& why) {
        refuse_variable(info, source, path, spot, why,
                        [&](const CodeSpot& other) { ProgramReader(info, other).read(path, use); });
    }
}

std::optional<ProgramVariable> find_in_program(DebugInfo& info, const VariablePath& path,
                                               const CodeSpot& spot) {
    return find(info, path, spot);
}

std::optional<ProgramVariable> find_in_program(DebugInfo& info, const DwarfEntry& variable,
                                               const CodeSpot& spot) {
    return find(info, variable, spot);
}

}  // namespace gpufs
