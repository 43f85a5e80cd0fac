#include "bt/types/c_types.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/align.h"
#include "base/c_integer.h"
#include "base/cat.h"
#include "base/find_by_name.h"
#include "base/suggest.h"
#include "bt/types/uapi_constants.h"

namespace gpufs::bt {
namespace {

// An array of more is a mistake.
constexpr std::size_t kMostTypeBytes = std::size_t{1} << 31;
constexpr int kMostTypedefs = 32;        // behind each other
constexpr std::size_t kMostNested = 64;  // structures in each other
constexpr std::size_t kMostStars = 16, kMostDimensions = 16;

struct Word {
    std::string_view name;
    TypePtr (*type)();
};
template <std::size_t bytes, bool is_signed>
TypePtr sized_integer() {
    return integer_type(bytes, is_signed);
}
template <Type::Kind kind>
TypePtr plain() {
    return plain_type(kind);
}
template <std::size_t count>
TypePtr bytes() {
    return bytes_type(count);
}
// bpftrace's own words for types, and those of C that are no integers; "string" and "buffer" have a
// size behind them.
constexpr Word kWords[] = {
    {"int8", sized_integer<1, true>},
    {"int16", sized_integer<2, true>},
    {"int32", sized_integer<4, true>},
    {"int64", sized_integer<8, true>},
    {"uint8", sized_integer<1, false>},
    {"uint16", sized_integer<2, false>},
    {"uint32", sized_integer<4, false>},
    {"uint64", sized_integer<8, false>},
    {"bool", boolean_type},
    {"float", bytes<4>},
    {"double", bytes<8>},
    {"long double", bytes<16>},
    {"__int128", bytes<16>},
    {"signed __int128", bytes<16>},
    {"unsigned __int128", bytes<16>},
    {"void", none_type},
    {"inet", plain<Type::Kind::inet>},
    {"macaddr_t", plain<Type::Kind::mac_address>},
    {"ksym_t", plain<Type::Kind::kernel_symbol>},
    {"usym_t", plain<Type::Kind::user_symbol>},
    {"username", plain<Type::Kind::user_name>},
    {"timestamp", plain<Type::Kind::timestamp>},
    {"cgroup_path_t", plain<Type::Kind::cgroup_path>},
    {"strerror_t", plain<Type::Kind::error_name>},
};

const Word* find_word(std::string_view name) {
    const auto* const it = std::ranges::find(kWords, name, &Word::name);
    return it == std::end(kWords) ? nullptr : it;
}

bool has_size_behind(const TypeName& name) {
    return name.kind == TypeName::Kind::plain && (name.name == "string" || name.name == "buffer");
}

bool is_plain_char(const TypeName& name) {
    if (name.kind != TypeName::Kind::plain) return false;
    const auto integer = find_c_integer(name.name);
    return integer && integer->is_char;
}

std::string_view keyword(const CRecord& record) {
    return record.is_union ? "union" : "struct";
}

std::string text_of(const TypeName& name) {
    switch (name.kind) {
        case TypeName::Kind::structure:
            return "struct " + name.name;
        case TypeName::Kind::union_:
            return "union " + name.name;
        case TypeName::Kind::enumeration:
            return "enum " + name.name;
        case TypeName::Kind::plain:
            break;
    }
    return name.name;
}

TypePtr structure_type_of(std::shared_ptr<const Structure> structure) {
    Type type;
    type.kind = Type::Kind::structure;
    type.name = structure->name;
    type.bytes = structure->bytes;
    type.structure = std::move(structure);
    return std::make_shared<const Type>(std::move(type));
}

}  // namespace

// A structure that is being laid out.
struct TypeTable::Layout {
    const TypeTable& table;
    const CRecord& record;
    std::shared_ptr<Structure> made = std::make_shared<Structure>();
    std::size_t next_bit = 0, bits = 0;  // where the next member may begin; the size until now
    std::size_t alignment = 1;
    std::set<std::string> names{};

    void add(const CMember& member);
    void add_bit_field(const CMember& member, const Type& type);
    void add_whole(const CMember& member, const TypePtr& type);
    // Bytes that a member of this type is aligned to.
    std::size_t alignment_of_member(const CMember& member, const Type& type) const;
    void add_field(const CMember& member, Type::Field field);
    void take(std::size_t first_bit, std::size_t count) {
        bits = std::max(bits, first_bit + count);
        next_bit = record.is_union ? 0 : first_bit + count;
    }
};

std::size_t TypeTable::Layout::alignment_of_member(const CMember& member, const Type& type) const {
    const auto limited = [&](std::size_t bytes) {
        bytes = std::max<std::size_t>(bytes, member.alignment);
        return record.pack != 0 ? std::min<std::size_t>(bytes, record.pack) : bytes;
    };
    if (record.is_packed || member.is_packed) return limited(1);
    const auto natural = [this](const auto& self, const Type& of) -> std::size_t {
        if (of.is(Type::Kind::array)) return self(self, *of.element);
        if (of.is(Type::Kind::pointer) || of.is_number()) return of.bytes;
        const auto structure = table.structure(of);
        if (!structure) return 1;
        const auto own = std::ranges::find(table.layouts_, structure);
        if (own != table.layouts_.end())
            return table.alignments_[static_cast<std::size_t>(own - table.layouts_.begin())];
        // BTF does not tell it: that of the members, where they lie as they should.
        std::size_t most = 1;
        for (const Type::Field& field : structure->fields)
            if (const std::size_t one = self(self, *field.type); field.offset % one == 0)
                most = std::max(most, one);
        return of.bytes % most == 0 ? most : 1;
    };
    std::size_t most = std::max<std::size_t>(natural(natural, type), 1);
    // What typedefs say of it, and what is no number here.
    const TypeName* name = &member.type;
    for (int depth = 0; depth < kMostTypedefs && name->pointers == 0 &&
                        name->kind == TypeName::Kind::plain && member.inner == 0;
         ++depth) {
        const auto own = table.typedefs_.find(name->name);
        if (own == table.typedefs_.end()) {
            if (const Word* word = find_word(name->name))
                if (const TypePtr bytes = word->type(); bytes->is(Type::Kind::array))
                    most = std::max(most, bytes->bytes);
            break;
        }
        most = std::max<std::size_t>(most, own->second->alignment);
        name = &own->second->type;
    }
    return limited(most);
}

void TypeTable::Layout::add(const CMember& member) {
    TypePtr type = table.member_type(member);
    if (!type) return;
    if (!type->is_number() && member.bits)
        return table.mistake(member.at, cat("'", member.name, "' is no number: it has no bits"));
    if (type->is(Type::Kind::none) || (type->is(Type::Kind::structure) && !type->structure))
        return table.mistake(member.at, cat("the size of ", text_of(member.type), " is not known"));
    if (member.bits)
        add_bit_field(member, *type);
    else
        add_whole(member, type);
    if (bits / 8 > kMostTypeBytes) {
        table.mistake(member.at, cat(keyword(record), " '", record.name, "' is too large"));
        bits = next_bit = 0;
    }
}

// As the ABI of x86-64 has it: a bit field lies within one aligned unit of its type.
void TypeTable::Layout::add_bit_field(const CMember& member, const Type& type) {
    const unsigned width = *member.bits;
    const std::size_t unit_bits = type.bytes * 8;
    if (width > unit_bits)
        return table.mistake(member.at, cat("'", member.name, "' has ", width, " bits of ",
                                            unit_bits, " that its type has"));
    if (width == 0) {  // ends the unit
        const std::size_t unit =
            record.pack ? std::min<std::size_t>(8 * record.pack, unit_bits) : unit_bits;
        next_bit = align_up(next_bit, unit);
        return;
    }
    const bool is_packed = record.is_packed || member.is_packed || record.pack != 0;
    if (member.alignment != 0) next_bit = align_up(next_bit, 8 * alignment_of_member(member, type));
    const bool straddles = next_bit / unit_bits != (next_bit + width - 1) / unit_bits;
    if (straddles && !is_packed) next_bit = align_up(next_bit, unit_bits);
    if (!member.name.empty()) {
        const BitPlace place = bit_place(next_bit, width, type.bytes);
        add_field(member, {member.name, std::make_shared<const Type>(type), place.offset,
                           place.shift, width});
        alignment = std::max(alignment, alignment_of_member(member, type));
    }
    take(next_bit, width);
}

void TypeTable::Layout::add_field(const CMember& member, Type::Field field) {
    if (!names.insert(field.name).second)
        table.mistake(member.at, cat("there is a member '", field.name, "' already"));
    made->fields.push_back(std::move(field));
}

void TypeTable::Layout::add_whole(const CMember& member, const TypePtr& type) {
    const std::size_t aligned = alignment_of_member(member, *type);
    const std::size_t at = align_up(align_up(next_bit, 8) / 8, aligned);
    alignment = std::max(alignment, aligned);
    if (!member.name.empty()) {
        add_field(member, {member.name, type, at, 0, 0});
    } else if (member.inner != 0) {
        for (Type::Field field : type->structure->fields) {
            field.offset += at;
            add_field(member, std::move(field));
        }
    }
    take(at * 8, type->bytes * 8);
}

TypeTable::TypeTable(const Script& script, World& world, Diagnostics& diagnostics)
    : TypeTable(script, world, &diagnostics) {
    for (std::size_t i = 0; i < script.records.size(); ++i) lay_out(i);
    diagnostics_ = nullptr;
}

TypeTable::TypeTable(const Script& script, World& world) : TypeTable(script, world, nullptr) {}

TypeTable::TypeTable(const Script& script, World& world, Diagnostics* diagnostics)
    : script_(script),
      world_(world),
      layouts_(script.records.size()),
      alignments_(script.records.size(), 1),
      diagnostics_(diagnostics) {
    for (std::size_t i = 0; i < script.records.size(); ++i)
        if (!script.records[i].name.empty()) records_.emplace(script.records[i].name, i);
    for (const CTypedef& one : script.typedefs) typedefs_.emplace(one.name, &one);
    for (const CEnum& one : script.enums) define_enum(one);
}

void TypeTable::mistake(SourceRef at, std::string_view message, std::string_view hint) const {
    if (diagnostics_) diagnostics_->error(script_.sources.at(at.source), at.span, message, hint);
}

void TypeTable::define_enum(const CEnum& definition) {
    // As gcc and clang choose: unsigned int, unless a value asks for another.
    std::int64_t least = 0, most = 0;
    Type type;
    type.kind = Type::Kind::integer;
    type.name = definition.name;
    for (const auto& [word, number] : definition.values) {
        least = std::min(least, number);
        most = std::max(most, number);
        type.words.emplace_back(number, word);
    }
    type.is_signed = least < 0;
    const bool is_wide =
        least < std::numeric_limits<std::int32_t>::min() ||
        most > (type.is_signed ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                               : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
    type.bytes = is_wide ? 8 : 4;
    const TypePtr made = std::make_shared<const Type>(std::move(type));
    if (!definition.name.empty()) enums_.emplace(definition.name, made);
    for (const auto& [word, number] : definition.values)
        if (!constants_.emplace(word, Constant{number, made}).second)
            mistake(definition.at, cat("'", word, "' is defined twice"));
}

std::shared_ptr<const Structure> TypeTable::lay_out(std::size_t index) const {
    if (layouts_[index]) return layouts_[index];
    const CRecord& record = script_.records[index];
    const bool contains_itself = open_.contains(index);
    if (contains_itself || open_.size() == kMostNested) {
        mistake(record.at, cat(keyword(record), " '", record.name,
                               contains_itself ? "' contains itself" : "' is in too many others"));
        return nullptr;
    }
    open_.insert(index);
    Layout layout{*this, record};
    layout.alignment = std::max<std::size_t>(record.alignment, 1);
    layout.made->name = record.name;
    layout.made->is_union = record.is_union;
    for (const CMember& member : record.members) layout.add(member);
    layout.made->bytes = align_up(align_up(layout.bits, 8) / 8, layout.alignment);
    alignments_[index] = layout.alignment;
    layouts_[index] = std::move(layout.made);
    open_.erase(index);
    return layouts_[index];
}

// Null, and a mistake is told, where there is no such type.
TypePtr TypeTable::member_type(const CMember& member) const {
    TypePtr base;
    if (member.inner != 0) {
        const auto inner = lay_out(member.inner - 1);
        if (!inner) return nullptr;
        base = structure_type_of(inner);
    } else if (member.type.pointers != 0 && (member.type.kind == TypeName::Kind::structure ||
                                             member.type.kind == TypeName::Kind::union_)) {
        base = structure_type(member.type.name);  // looked up where a script follows it
    } else {
        base = base_type(member.type, Space::none, 0, {}, member.type.pointers != 0);
    }
    if (!base) {
        const bool is_told = member.type.kind != TypeName::Kind::enumeration &&
                             member.type.kind != TypeName::Kind::plain &&
                             records_.contains(member.type.name);  // where it was laid out
        if (!is_told && diagnostics_ && !diagnostics_->is_full())
            mistake(member.type.at, cat("no type is named '", text_of(member.type), "'"),
                    hint_for_type(text_of(member.type)));
        return nullptr;
    }
    TypePtr type = derive(std::move(base), member.type);
    if (!type) mistake(member.at, cat("'", member.name, "' is too large"));
    return type;
}

TypePtr TypeTable::base_type(const TypeName& name, Space space, int depth,
                             const std::string& program, bool is_pointed_to) const {
    if (name.name.empty() || name.of) return nullptr;
    if (has_size_behind(name)) {
        const std::size_t bytes = name.dimensions.empty() ? 0 : name.dimensions.front();
        if (bytes > kMostTypeBytes) return nullptr;
        return name.name == "string" ? string_type(bytes) : buffer_type(bytes);
    }
    const auto found_as = [&](const auto& is_meant) -> TypePtr {
        if (!program.empty())
            if (TypePtr found = world_.find_user_type(program, name.name);
                found && is_meant(*found))
                return found;
        TypePtr found = world_.find_type(name.name);
        return found && is_meant(*found) ? found : nullptr;
    };
    const auto of_world = [&](Type::Kind kind) {
        return found_as([&](const Type& type) { return type.is(kind); });
    };
    if (name.kind == TypeName::Kind::enumeration) {
        const auto own = enums_.find(name.name);
        return own != enums_.end() ? own->second : of_world(Type::Kind::integer);
    }
    if (name.kind != TypeName::Kind::plain) {
        const auto own = records_.find(name.name);
        if (own == records_.end()) return of_world(Type::Kind::structure);
        // typedef struct s s_t; struct s { s_t *next; };
        if (is_pointed_to && open_.contains(own->second)) return structure_type(name.name);
        const auto made = lay_out(own->second);
        return made ? structure_type_of(made) : nullptr;
    }
    if (const auto own = typedefs_.find(name.name); own != typedefs_.end()) {
        if (depth == kMostTypedefs) return nullptr;
        const TypeName& behind = own->second->type;
        TypePtr inner =
            base_type(behind, space, depth + 1, program, is_pointed_to || behind.pointers != 0);
        return inner ? derive(std::move(inner), behind, space) : nullptr;
    }
    if (const Word* word = find_word(name.name)) return word->type();
    if (const auto integer = find_c_integer(name.name))
        return integer->is_bool ? boolean_type() : integer_type(integer->bytes, integer->is_signed);
    return found_as([](const Type&) { return true; });
}

TypePtr TypeTable::resolve(const TypeName& name, Space space, const std::string& program) const {
    TypePtr base = base_type(name, space, 0, program);
    return base ? derive(std::move(base), name, space) : nullptr;
}

TypePtr TypeTable::derive(TypePtr inner, const TypeName& name, Space space) const {
    if (name.pointers > kMostStars || name.dimensions.size() > kMostDimensions) return nullptr;
    TypePtr type = std::move(inner);
    if (name.pointers != 0 && type->is(Type::Kind::structure) && !type->name.empty() &&
        type->number == 0)
        type = structure_type(type->name);
    for (unsigned i = 0; i < name.pointers; ++i) type = pointer_type(std::move(type), space);
    std::size_t first = has_size_behind(name) ? 1 : 0, count = name.dimensions.size();
    if (count != 0 && name.pointers == 0 && is_plain_char(name)) {
        if (name.dimensions[count - 1] > kMostTypeBytes) return nullptr;
        type = char_array_type(name.dimensions[--count]);
    }
    for (; count > first; --count) {
        const std::uint64_t elements = name.dimensions[count - 1];
        if (elements > kMostTypeBytes / std::max<std::size_t>(type->bytes, 1)) return nullptr;
        type = array_type(std::move(type), elements);
    }
    return type;
}

std::string TypeTable::hint_for_type(const std::string& name) const {
    std::vector<std::string> known = integer_typedef_names();
    for (const Word& word : kWords) known.emplace_back(word.name);
    for (const char* word : {"string", "buffer", "char", "short", "int", "long", "unsigned"})
        known.emplace_back(word);
    for (const auto& [tag, index] : records_)
        known.push_back(cat(keyword(script_.records[index]), " ", tag));
    for (const auto& [tag, type] : enums_) known.push_back("enum " + tag);
    for (const auto& [own, definition] : typedefs_) known.push_back(own);
    const std::string hint = did_you_mean(name, known);
    return hint.empty() ? hint_for_headers(script_) : hint;
}

std::shared_ptr<const Structure> TypeTable::structure(const Type& type) const {
    if (!type.is(Type::Kind::structure)) return nullptr;
    if (type.structure) return type.structure;
    if (type.number != 0) return world_.user_structure(type.number);
    if (const auto own = records_.find(type.name); own != records_.end())
        return layouts_[own->second];
    return world_.find_structure(type.name);
}

std::optional<TypeTable::Constant> TypeTable::constant(const std::string& name) const {
    if (const auto own = constants_.find(name); own != constants_.end()) return own->second;
    if (const auto number = uapi_constant(name)) return Constant{*number, nullptr};
    if (auto found = world_.enumerator(name))
        return Constant{found->number, std::move(found->type)};
    return std::nullopt;
}

std::string hint_for_headers(const Script& script) {
    if (script.includes.empty()) return "";
    return cat("it may be of <", script.includes.front(),
               ">; headers are not read, what they define is taken from the kernel's types");
}

const Type::Field* member(const Structure& structure, std::string_view name) {
    return find_by_name(structure.fields, name);
}

std::string hint_for_member(const Structure& structure, std::string_view name) {
    std::vector<std::string> names;
    for (const Type::Field& field : structure.fields) names.push_back(field.name);
    return did_you_mean(name, names);
}

}  // namespace gpufs::bt
