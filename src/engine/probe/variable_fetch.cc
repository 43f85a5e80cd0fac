#include "engine/probe/variable_fetch.h"

#include <algorithm>
#include <set>

#include "base/byte_reader.h"
#include "base/cat.h"
#include "base/hex.h"
#include "base/text.h"
#include "engine/probe/found_place.h"
#include "engine/probe/program_object.h"
#include "engine/probe/program_variable.h"
#include "engine/probe/unreadable.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/operations.h"
#include "lang/dwarf/ranges.h"
#include "lang/probe/field_type.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kMostElements = 64;  // of an array that a probe reads

class Reader {
public:
    Reader(DebugInfo& info, const CodeSpot& spot) : info_(info), spot_(spot), finder_(info, spot) {}

    VariableFetch read(const VariablePath& path) {
        const std::string asked = path.type.substr(0, path.type.find('['));
        return fetch(finder_.find(path), path.type, is_text_type(asked));
    }
    VariableFetch read(const DwarfEntry& variable) {
        return fetch(finder_.object_of(variable), "", false);
    }

private:
    // What reads the word or text at an address; `reads` as of RuntimeNumber, whose last is it.
    std::string memory_fetch(const RuntimeNumber& number) const {
        using Base = RuntimeNumber::Base;
        std::string text;
        std::size_t next = 0;  // the read that comes next
        switch (number.base) {
            case Base::in_register:
                text = register_fetch(number.reg);
                break;
            case Base::linked:
                text = fetch_from_instruction(spot_.address,
                                              static_cast<std::uint64_t>(number.reads.front().at));
                next = 1;
                break;
            case Base::constant:
                finder_.fail(cat("it is at the fixed address ",
                                 hex(static_cast<std::uint64_t>(number.reads.front().at)),
                                 ", and a probe reads none"));
            case Base::computed: {
                RuntimeNumber address = number;
                address.offset = number.reads.front().at;
                address.reads.clear();
                finder_.fail_computed(address, true);
            }
        }
        for (; next < number.reads.size(); ++next)
            text = cat(with_sign(number.reads[next].at), '(', text, ')');
        return text;
    }

    std::string register_fetch(unsigned reg) const {
        const auto name = register_of_dwarf(reg);
        if (!name)
            finder_.fail(
                cat("it is in a register that probes do not see (DWARF's number ", reg, ")"),
                "floating point numbers are: look for a line where it is in memory");
        return cat('%', *name);
    }

    struct Source {
        std::string fetch;
        bool is_memory = false;
    };
    // What has the object's value: memory at its address, a register, a constant.
    Source source_of(const ProgramObject& object) {
        using Base = RuntimeNumber::Base;
        const VariablePlace& place = object.place;
        finder_.require_there(place);
        RuntimeNumber number = place.number;
        switch (place.kind) {
            case PlaceKind::memory:
                number.reads.push_back({number.offset, 8});
                number.offset = 0;
                return {memory_fetch(number), true};
            case PlaceKind::in_register:
                return {register_fetch(place.reg)};
            case PlaceKind::bytes:
                return {constant_fetch(number_in_bytes(place.bytes), object)};
            default:
                break;
        }
        if (number.is_constant())
            return {constant_fetch(static_cast<std::uint64_t>(number.offset), object)};
        if (number.offset == 0 && !number.reads.empty()) return {memory_fetch(number), true};
        if (number.offset == 0 && number.base == Base::in_register)
            return {register_fetch(number.reg)};
        if (number.base == Base::linked && number.reads.empty() && info_.is_fixed())
            return {cat('\\', hex(static_cast<std::uint64_t>(number.offset)))};
        finder_.fail_computed(number);
    }

    static std::string constant_fetch(std::uint64_t number, const ProgramObject& object) {
        if (object.bits) number = number >> object.first_bit;
        const std::uint64_t bits = object.bits ? *object.bits : 8 * object.type.bytes().value_or(8);
        const unsigned unused = bits < 64 ? static_cast<unsigned>(64 - bits) : 0;
        if (object.type.stripped().is_signed())
            return cat('\\', static_cast<std::int64_t>(number << unused) >> unused);
        return cat('\\', (number << unused) >> unused);
    }

    VariableFetch fetch(ProgramObject object, const std::string& asked, bool is_text) {
        finder_.follow_reference(object);
        VariableFetch made;
        made.c_type = object.type.to_text();
        const DwarfType type = object.type.stripped();
        const bool points_to_char =
            type.kind() == TypeKind::pointer && type.target().stripped().is_char();
        if (type.kind() == TypeKind::pointer && (is_text || (asked.empty() && points_to_char))) {
            // A text is where the pointer points.
            finder_.through(object);
            is_text = true;
        } else if (type.kind() == TypeKind::array && asked.empty()) {
            is_text = type.target().stripped().is_char();
        }
        made.place = object.place.to_text();
        if (object.bits) made.place += cat(", ", *object.bits, " bits from bit ", object.first_bit);
        const Source source = source_of(object);
        made.fetch = source.fetch;
        made.type = !asked.empty() ? asked : is_text ? "string" : type_name(object, source, made);
        if ((is_text || made.type.ends_with(']')) && !source.is_memory)
            finder_.fail(cat("it is in no memory, as a ", made.type, " must be"));
        if (type.kind() == TypeKind::enumeration) made.notes.push_back(values_text(type));
        return made;
    }

    static std::string values_text(const DwarfType& type) {
        std::vector<std::string> values;
        for (const auto& [name, number] : enumerators(type))
            values.push_back(cat(number, " is ", name));
        return listed_names(std::move(values));
    }

    // The kernel's type for what the program has.
    std::string type_name(const ProgramObject& object, const Source& source, VariableFetch& made) {
        const DwarfType type = object.type.stripped();
        const std::uint64_t bytes = type.bytes().value_or(0);
        if (type.kind() == TypeKind::array) return array_type(type, source, made);
        const ir::Type number = finder_.require_number(object.type);
        if (type.kind() == TypeKind::pointer || type.kind() == TypeKind::reference)
            return number.bytes == 4 ? "x32" : "x64";
        if (object.bits && object.place.kind != PlaceKind::bytes && source.fetch[0] != '\\')
            return bits_type(object, source, made, bytes);
        // Of a bool in a register only the lowest bit counts: compilers leave the others as they
        // are.
        if (type.kind() == TypeKind::boolean && !source.is_memory && source.fetch[0] == '%')
            return "b1@0/8";
        // Where only the lower bytes count, the others are their sign.
        const std::uint64_t real = object.place.kind == PlaceKind::value
                                       ? std::min<std::uint64_t>(bytes, object.place.number.bytes)
                                       : bytes;
        const bool is_signed = real < bytes ? object.place.number.is_signed : number.is_signed;
        return cat(is_signed ? 's' : 'u', 8 * real);
    }

    std::string bits_type(const ProgramObject& object, const Source& source, VariableFetch& made,
                          std::uint64_t bytes) {
        const unsigned end = object.first_bit + *object.bits;
        if (end > 64) finder_.fail("it is in more than 64 bits");
        const unsigned whole = source.is_memory ? (end <= 8    ? 8
                                                   : end <= 16 ? 16
                                                   : end <= 32 ? 32
                                                               : 64)
                                                : 64;
        if (object.type.stripped().is_signed() && *object.bits < 8 * bytes)
            made.notes.push_back("a bit field is recorded without its sign");
        return cat('b', *object.bits, '@', object.first_bit, '/', whole);
    }

    std::string array_type(const DwarfType& type, const Source& source, VariableFetch& made) {
        const auto count = type.count();
        const DwarfType element = type.target().stripped();
        if (!count || *count == 0)
            finder_.fail("how long this array is is not known", "name one element: NAME[0]");
        if (element.kind() == TypeKind::array || element.kind() == TypeKind::structure)
            finder_.fail(cat("it is a whole ", made.c_type), "name one element: NAME[0]");
        const ProgramObject one{element, {}, {}, 0};
        const std::string name = type_name(one, source, made);
        const std::uint64_t read = std::min(*count, kMostElements);
        if (read < *count)
            made.notes.push_back(cat("only ", read, " of its ", *count, " elements are recorded"));
        return cat(name, '[', read, ']');
    }

    DebugInfo& info_;
    const CodeSpot& spot_;
    ObjectFinder finder_;
};

}  // namespace

std::string VariableFetch::to_text(const std::string& name) const {
    return cat(name, '=', fetch, ':', type);
}

VariableFetch fetch_variable(DebugInfo& info, const SourceText& source, const VariablePath& path,
                             const CodeSpot& spot, const std::string& place) {
    try {
        return Reader(info, spot).read(path);
    } catch (const Unreadable& why) {
        Unreadable told = why;
        if (find_in_program(info, path, spot))
            told.hint = cat("a program reads it: gpufs count -x ", shell_quote(info.path()), ' ',
                            shell_quote(place), " by ", shell_quote(path.to_text(source)));
        refuse_variable(info, source, path, spot, told,
                        [&](const CodeSpot& other) { Reader(info, other).read(path); });
    }
}

std::optional<VariableFetch> find_fetch(DebugInfo& info, const VariablePath& path,
                                        const CodeSpot& spot) try {
    return Reader(info, spot).read(path);
} catch (const Unreadable&) {
    return std::nullopt;
}

bool keeps_parameters_in_frame(const DwarfEntry& function) {
    // What a caller put on the stack is above the frame's address (CFA), and there from the begin
    // on. clang counts from a register that only the prologue sets.
    constexpr char kFrameAddress[] = {static_cast<char>(dw::OP_call_frame_cfa), '\0'};
    const auto base = find_attribute(function, dw::AT_frame_base);
    const bool is_by_address = base && base->is_block() && base->bytes == kFrameAddress;
    bool in_frame = false;
    for_each_child(function, [&](const DwarfEntry& child) {
        if (child.tag() != dw::TAG_formal_parameter) return true;
        const auto location = find_attribute(child, dw::AT_location);
        if (!location || !location->is_block()) return true;
        ByteReader bytes(location->bytes);
        in_frame = bytes.byte() == dw::OP_fbreg && (bytes.sleb() < 0 || !is_by_address);
        return !in_frame;
    });
    return in_frame;
}

std::vector<ListedVariable> list_variables(DebugInfo& info, const CodeSpot& spot, bool globals) {
    std::vector<ListedVariable> listed;
    const auto add = [&](const DwarfEntry& variable, std::string scope) {
        ListedVariable made{std::string(name_of(variable)),
                            type_of(variable).to_text(),
                            "",
                            std::move(scope),
                            "",
                            "",
                            ""};
        const VariablePlace place = ObjectFinder(info, spot).object_of(variable).place;
        made.place = place.kind == PlaceKind::refused ? "-" : place.to_text();
        try {
            const VariableFetch fetch = Reader(info, spot).read(variable);
            made.fetch = cat(fetch.fetch, ':', fetch.type);
        } catch (const Unreadable& why) {
            made.trouble = why.is_nowhere ? "optimized out" : why.reason;
        }
        if (const auto known = find_in_program(info, variable, spot))
            made.program = known->to_text();
        listed.push_back(std::move(made));
    };
    for (const VisibleVariable& one : local_variables(spot.scopes))
        add(one.entry, one.is_parameter() ? "parameter" : "local");
    if (!globals || spot.scopes.empty()) return listed;
    for_each_child(source_unit(spot.scopes), [&](const DwarfEntry& child) {
        if (child.tag() == dw::TAG_variable && !name_of(child).empty() &&
            find_attribute(child, dw::AT_location))
            add(child, "global");
        return true;
    });
    return listed;
}

}  // namespace gpufs
