#include "engine/probe/program_object.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "base/cat.h"
#include "base/hex.h"
#include "base/suggest.h"
#include "base/text.h"
#include "kernel/elf/elf_symbols.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/operations.h"
#include "lang/dwarf/scope.h"

namespace gpufs {
namespace {

bool has_place(const DwarfEntry& variable) {
    return find_inherited(variable, dw::AT_location) ||
           find_inherited(variable, dw::AT_const_value);
}

DwarfType pointed_to(const DwarfType& type) {
    return type.stripped().target();
}

std::string symbol_name(const DwarfEntry& variable) {
    std::string name(name_of(variable));
    if (const auto linkage = find_inherited(variable, dw::AT_linkage_name))
        name = text_of(*linkage).value_or(name);
    return name;
}

}  // namespace

std::uint64_t number_in_bytes(std::string_view bytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
    return number;
}

ObjectFinder::ObjectFinder(DebugInfo& info, const CodeSpot& spot) : info_(info), spot_(spot) {
    context_.address = spot.address;
    context_.function = frame_function(spot.scopes);
    context_.frame_address = [this](std::uint64_t address) { return info_.frame_address(address); };
    context_.thread_block = [this] { return info_.thread_block(); };
}

VariablePlace ObjectFinder::frame() const {
    constexpr char kExpression[] = {static_cast<char>(dw::OP_call_frame_cfa)};
    LocationContext context = context_;
    context.unit = spot_.scopes.empty() ? nullptr : spot_.scopes.front().unit;
    return evaluate_location({kExpression, sizeof kExpression}, context);
}

ProgramObject ObjectFinder::find(const VariablePath& path) {
    at_ = path.variable_at;
    ProgramObject object = variable(path);
    for (const VariablePath::Step& step : path.steps) {
        at_ = step.at;
        take(object, step);
    }
    at_ = path.expression_at;
    return object;
}

VariablePlace ObjectFinder::located(const DwarfEntry& variable) {
    context_.unit = variable.unit;
    if (!has_place(variable) && has_flag(variable, dw::AT_external)) return by_symbol(variable);
    return place_of(variable, context_);
}

void ObjectFinder::fail(std::string reason, std::string_view hint) const {
    throw Unreadable{at_, std::move(reason), std::string(hint), false, false};
}

// --- the variable ---------------------------------------------------------------------------

ProgramObject ObjectFinder::variable(const VariablePath& path) {
    const std::string& name = path.variable;
    if (spot_.scopes.empty())
        fail(cat("the file's debug information says nothing about ", hex(spot_.address)),
             missing_split_hint());
    const auto locals = local_variables(spot_.scopes);
    const auto known = std::ranges::find(
        locals, name, [](const VisibleVariable& one) { return name_of(one.entry); });
    if (known != locals.end()) return object_of(known->entry);
    if (const auto [global, place] = find_global(name); global)
        return place ? ProgramObject{type_of(global), *place, {}, 0} : object_of(global);
    const auto self =
        std::ranges::find(locals, std::string_view("this"),
                          [](const VisibleVariable& one) { return name_of(one.entry); });
    if (self != locals.end()) {
        ProgramObject object = object_of(self->entry);
        if (find_member(pointed_to(object.type), name)) {
            through(object);
            member(object, name);
            return object;
        }
    }
    std::vector<std::string> names;
    for (const VisibleVariable& one : locals) names.emplace_back(name_of(one.entry));
    std::string hint = did_you_mean(name, names);
    if (hint.empty())
        hint = names.empty() ? cat("'", spot_.function, "' has no variables here")
                             : cat("'", spot_.function, "' has ", listed_names(names));
    fail(cat("there is no variable '", name, "' here"), hint);
}

std::string ObjectFinder::missing_split_hint() const {
    if (info_.missing().empty()) return "was this part compiled with -g?";
    return cat("it is in '", info_.missing().front(), "', which is not there");
}

ProgramObject ObjectFinder::object_of(const DwarfEntry& variable) {
    return {type_of(variable), located(variable), {}, 0};
}

// A variable of this unit, or one of another that is not static.
ObjectFinder::Global ObjectFinder::find_global(const std::string& name) {
    const DwarfEntry own = unit_variable(source_unit(spot_.scopes), name);
    if (own && has_place(own)) return {own, {}};
    if (own)
        if (auto place = thread_place(own)) return {own, std::move(place)};
    Global other;
    // The symbols are searched once, however many units declare it.
    std::map<std::string, std::optional<VariablePlace>> places;
    const auto place_of_thread = [&](const DwarfEntry& variable) {
        const auto [it, is_new] = places.try_emplace(symbol_name(variable));
        if (is_new) it->second = thread_place(variable);
        return it->second;
    };
    info_.for_each_unit([&](const DwarfEntry& root) {
        const DwarfEntry found = unit_variable(root, name);
        if (!found || !find_inherited(found, dw::AT_external)) return true;
        if (!has_place(found)) other.place = place_of_thread(found);
        if (has_place(found) || other.place) other.entry = found;
        return !other.entry;
    });
    return other.entry ? other : Global{own, {}};
}

// arm64's compilers describe thread-local variables without a place, for which its assembly has no
// word: only the symbol tells how far behind the block's begin it is.
std::optional<VariablePlace> ObjectFinder::thread_place(const DwarfEntry& variable) {
    const auto found = find_thread_variables(info_.path(), symbol_name(variable));
    if (found.empty()) return std::nullopt;
    VariablePlace place;
    place.kind = PlaceKind::refused;
    const ThreadBlockPlace& block = info_.thread_block();
    if (!block.trouble.empty()) {
        place.reason = block.trouble;
    } else if (found.size() > 1) {
        place.reason = "several parts of the program have a thread-local variable of this name";
    } else {
        place.kind = PlaceKind::memory;
        place.number.base = RuntimeNumber::Base::computed;
        place.number.steps = block.steps;
        place.number.offset = block.offset + static_cast<std::int64_t>(found.front());
    }
    return place;
}

// What is only declared is where the symbol is.
VariablePlace ObjectFinder::by_symbol(const DwarfEntry& variable) {
    if (auto place = thread_place(variable)) return std::move(*place);
    VariablePlace place;
    const auto symbol = find_symbol(ElfFile(info_.path()), symbol_name(variable));
    if (!symbol && !has_flag(variable, dw::AT_declaration)) return place;  // optimized out
    if (!symbol) {
        place.kind = PlaceKind::refused;
        place.reason = "it is in another program or library";
        return place;
    }
    place.kind = PlaceKind::memory;
    place.number.base = RuntimeNumber::Base::linked;
    place.number.offset = static_cast<std::int64_t>(symbol->address);
    return place;
}

// --- the path -------------------------------------------------------------------------------

void ObjectFinder::take(ProgramObject& object, const VariablePath::Step& step) {
    using StepKind = VariablePath::Step::Kind;
    follow_reference(object);
    const DwarfType type = object.type.stripped();
    switch (step.kind) {
        case StepKind::member:
            if (type.kind() == TypeKind::pointer)
                fail(cat("this is a pointer (", object.type.to_text(), ")"),
                     cat("write ->", step.name));
            return member(object, step.name);
        case StepKind::through:
            if (type.kind() == TypeKind::structure)
                fail(cat("this is no pointer but a ", object.type.to_text()),
                     cat("write .", step.name));
            through(object);
            return member(object, step.name);
        case StepKind::target:
            return through(object);
        case StepKind::element:
            return element(object, step.number);
    }
}

void ObjectFinder::member(ProgramObject& object, const std::string& name) {
    const DwarfType type = object.type.stripped();
    if (type.kind() != TypeKind::structure)
        fail(cat("this has no members: it is of type ", object.type.to_text()));
    const auto found = find_member(type, name);
    if (!found) {
        const auto names = member_names(type);
        std::string hint = did_you_mean(name, names);
        if (hint.empty() && names.empty())
            hint = "the file only declares it: its members are not described";
        else if (hint.empty())
            hint = cat("it has ", listed_names(names));
        fail(cat(type.to_text(), " has no member '", name, "'"), hint);
    }
    const DwarfType its = type_of(found->entry);
    shift(object, found->at, its.bytes().value_or(0), found->first_bit, found->bits);
    object.type = its;
}

// From an object to a part of it, `at` bytes behind its begin.
void ObjectFinder::shift(ProgramObject& object, std::uint64_t at, std::uint64_t bytes,
                         unsigned first_bit, std::optional<unsigned> bits) {
    VariablePlace& place = object.place;
    if (object.bits) fail("it is a part of a bit field");
    object.bits = bits;
    object.first_bit = first_bit;
    switch (place.kind) {
        case PlaceKind::memory:
            place.number.offset += static_cast<std::int64_t>(at);
            return;
        case PlaceKind::in_register:
        case PlaceKind::value:
            if (at + bytes > 8) fail("it is in no register as a whole");
            if (at == 0 && !bits) return;
            object.first_bit = static_cast<unsigned>(8 * at) + first_bit;
            object.bits = bits ? bits : std::optional(static_cast<unsigned>(8 * bytes));
            return;
        case PlaceKind::bytes:
            if (at + bytes > place.bytes.size()) fail("its value is not described");
            place.bytes = place.bytes.substr(at, bytes);
            return;
        case PlaceKind::pieces:
            return shift_in_pieces(object, at, bytes, first_bit, bits);
        case PlaceKind::nowhere:
        case PlaceKind::pointer:
        case PlaceKind::refused:
            return;  // said at the end
    }
}

// A part that lies in one piece is as any part of what has that; else it is in pieces, too.
void ObjectFinder::shift_in_pieces(ProgramObject& object, std::uint64_t at, std::uint64_t bytes,
                                   unsigned first_bit, std::optional<unsigned> bits) {
    VariablePlace& place = object.place;
    const std::uint64_t begin = 8 * at + first_bit, end = begin + bits.value_or(8 * bytes);
    VariablePlace made;
    made.kind = PlaceKind::pieces;
    std::uint64_t piece_begin = 0, described = begin;
    for (const VariablePlace::Piece& piece : place.pieces) {
        const std::uint64_t piece_end = piece_begin + piece.bits;
        if (8 * at >= piece_begin && 8 * (at + bytes) <= piece_end && piece.first_bit == 0) {
            object.bits.reset();
            const VariablePlace inner = piece.place;
            place = inner;
            return shift(object, at - piece_begin / 8, bytes, first_bit, bits);
        }
        const std::uint64_t from = std::max(begin, piece_begin), to = std::min(end, piece_end);
        if (from < to) {
            made.pieces.push_back({to - from, piece.place,
                                   piece.first_bit + static_cast<unsigned>(from - piece_begin)});
            described = to;
        }
        piece_begin = piece_end;
    }
    if (described != end) fail("its value is not described");
    object.bits.reset();
    object.first_bit = 0;
    place = std::move(made);
}

// From a pointer to what it points to.
void ObjectFinder::through(ProgramObject& object) {
    const DwarfType type = object.type.stripped();
    if (type.kind() == TypeKind::array) {
        object.type = type.target();
        return;
    }
    if (type.kind() != TypeKind::pointer && type.kind() != TypeKind::reference)
        fail(cat("this is no pointer: it is of type ", object.type.to_text()));
    if (type.entry.unit->address_bytes != 8)
        fail("the pointers of a 32-bit program cannot be followed by a probe");
    VariablePlace& place = object.place;
    if (place.kind == PlaceKind::pointer && place.target) {
        const std::int64_t behind = place.offset;
        place = located(place.target);
        object.type = type.target();
        if (behind != 0)
            shift(object, static_cast<std::uint64_t>(behind), object.type.bytes().value_or(0), 0,
                  {});
        return;
    }
    RuntimeNumber address = value_of(object);
    place = {};
    place.kind = PlaceKind::memory;
    place.number = std::move(address);
    object.type = type.target();
}

// The value of a word, as a number of the running program.
RuntimeNumber ObjectFinder::value_of(const ProgramObject& object) {
    const VariablePlace& place = object.place;
    require_there(place);
    if (object.bits) fail("it is in a part of a register");
    RuntimeNumber value = place.number;
    switch (place.kind) {
        case PlaceKind::memory:
            value.reads.push_back({value.offset, 8});
            value.offset = 0;
            return value;
        case PlaceKind::in_register:
            value = {};
            value.base = RuntimeNumber::Base::in_register;
            value.reg = place.reg;
            return value;
        case PlaceKind::value:
            return value;
        case PlaceKind::bytes:
            value = {};
            value.offset = static_cast<std::int64_t>(number_in_bytes(place.bytes));
            return value;
        default:
            fail("it is in several places at once");
    }
}

void ObjectFinder::element(ProgramObject& object, std::int64_t number) {
    const DwarfType type = object.type.stripped();
    if (type.kind() == TypeKind::pointer) {
        through(object);
    } else if (type.kind() == TypeKind::array) {
        const auto count = type.count();
        if (count && static_cast<std::uint64_t>(number) >= *count && *count > 1)
            fail(cat("it has ", counted(*count, "element"), ": there is no [", number, "]"));
        object.type = type.target();
    } else {
        fail(cat("this is no array: it is of type ", object.type.to_text()));
    }
    const auto bytes = object.type.bytes();
    if (!bytes) fail(cat("the size of ", object.type.to_text(), " is not known"));
    shift(object, static_cast<std::uint64_t>(number) * *bytes, *bytes, 0, {});
}

void ObjectFinder::follow_reference(ProgramObject& object) {
    if (object.type.stripped().kind() == TypeKind::reference) through(object);
}

void ObjectFinder::require_there(const VariablePlace& place) const {
    switch (place.kind) {
        case PlaceKind::nowhere:
            throw Unreadable{at_, "", "", true, true};
        case PlaceKind::refused:
            fail(cat("it cannot be read: ", place.reason));
        case PlaceKind::pointer:
            fail("the compiler keeps no address of it, only what it points to",
                 "name what it points to: a member, by '->'");
        case PlaceKind::pieces:
            fail("it is in several places at once", "name a member of it");
        default:
            return;
    }
}

ir::Type ObjectFinder::require_number(const DwarfType& named) const {
    const DwarfType type = named.stripped();
    const std::uint64_t bytes = type.bytes().value_or(0);
    switch (type.kind()) {
        case TypeKind::pointer:
        case TypeKind::reference:
            return {static_cast<std::uint8_t>(bytes == 4 ? 4 : 8), false};
        case TypeKind::floating:
            fail(cat("it is a floating point number (", named.to_text(),
                     "), and a probe has no type for it"),
                 cat("'gpufs probe add' records its bits as NAME:x", 8 * (bytes == 4 ? 4 : 8)));
        case TypeKind::structure:
            fail(cat("it is a whole ", named.to_text()),
                 cat("name a member: ", listed_names(member_names(type))));
        case TypeKind::array:
            fail(cat("it is a whole ", named.to_text()), "name one element: NAME[0]");
        case TypeKind::none:
            fail(cat("it has no value: it is of type ", named.to_text()));
        default:
            break;
    }
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        fail(cat("a probe reads no number of ", counted(bytes, "byte")));
    return {static_cast<std::uint8_t>(bytes), type.is_signed()};
}

void ObjectFinder::fail_computed(const RuntimeNumber& number, bool is_address) const {
    if (number.is_of_begin())
        throw Unreadable{
            at_, cat("only what it was when the function began is known: ", number.to_text()),
            cat("at the begin it can be read: probe '", spot_.function, "' itself"), false, false};
    throw Unreadable{
        at_,
        cat(is_address ? "its address" : "it has no place: it", " would be computed as ",
            number.to_text(), ", and a probe computes nothing"),
        "", false, true};
}

}  // namespace gpufs
