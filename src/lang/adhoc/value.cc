#include "lang/adhoc/value.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "base/align.h"
#include "base/kernel_abi.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "lang/adhoc/flags.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/file_path.h"
#include "lang/ir/read_memory.h"
#include "lang/ir/stack_map.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

using Source = AdhocValue::Source;
using Kind = ValueType::Kind;

// The maximum size of a text without a fixed length, including the NUL.
constexpr std::size_t kTextBytes = 64;
// The last of addresses in a row that can be asked for.
constexpr std::uint32_t kMaxIndex = 1023;
constexpr std::size_t kStacks = 16384;
constexpr const char* kStackMap = "stacks";
constexpr std::size_t kFiles = 8192;
constexpr const char* kFileMap = "files";

std::size_t whole_words(std::size_t bytes) {
    return align_up(bytes, kWord);
}

ValueType type_of(Kind kind, std::size_t bytes, bool is_signed = false) {
    ValueType type;
    type.kind = kind;
    type.bytes = bytes;
    type.is_signed = is_signed;
    return type;
}

struct Everywhere {
    std::string_view name;
    Source source;
    ValueType type;
};
const std::vector<Everywhere>& known_everywhere() {
    static const std::vector<Everywhere> known = [] {
        std::vector<Everywhere> all{
            {"comm", Source::comm, type_of(Kind::text, kCommBytes)},
            {"pid", Source::pid, type_of(Kind::process, 4)},
            {kProcess, Source::pid, type_of(Kind::process, 4)},
            {"COMM", Source::comm, type_of(Kind::text, kCommBytes)},
            {"PID", Source::pid, type_of(Kind::process, 4)},
            {"TID", Source::tid, type_of(Kind::integer, 4)},
            {"CPU", Source::cpu, type_of(Kind::integer, 4)},
            {"UID", Source::uid, type_of(Kind::integer, 4)},
            {"CGROUP", Source::cgroup, type_of(Kind::integer, 8)},
            {"tid", Source::tid, type_of(Kind::integer, 4)},
            {"common_pid", Source::tid, type_of(Kind::integer, 4)},
            {"cpu", Source::cpu, type_of(Kind::integer, 4)},
            {"uid", Source::uid, type_of(Kind::integer, 4)},
            {"cgroup", Source::cgroup, type_of(Kind::integer, 8)},
            {"kstack", Source::kernel_stack, type_of(Kind::kernel_stack, 4, true)},
            {"ustack", Source::user_stack, type_of(Kind::user_stack, 4, true)},
            {"probe", Source::probe, type_of(Kind::text, 0)},
            {kFunctionKey, Source::function, type_of(Kind::integer, 8)},
        };
        for (Everywhere& one : all)
            if (one.source == Source::kernel_stack || one.source == Source::user_stack)
                one.type.stack_map = kStackMap;
        return all;
    }();
    return known;
}

bool is_known_at(const AdhocEvent& event, const Everywhere& known) {
    return known.source != Source::function || !event.functions.empty();
}

// The type of a field as a member of a key.
ValueType type_of(const AdhocEvent& event, const Field& field) {
    if (field.is_string) {
        const bool has_size = !field.is_pointer && !field.is_dynamic() && field.size != 0;
        return type_of(Kind::text,
                       has_size ? std::min(whole_words(field.size), kTextBytes) : kTextBytes);
    }
    if (field.is_pointer && field.size == kWord)
        return type_of(
            event.format.system == "syscalls" ? Kind::user_address : Kind::kernel_address, kWord);
    const bool is_integer = !field.is_dynamic() && !field.is_array && field.size <= kWord &&
                            std::has_single_bit(field.size);
    const bool is_syscall = (event.format.system == "raw_syscalls" && field.name == "id") ||
                            field.name == "__syscall_nr";
    if (is_integer && is_syscall) return type_of(Kind::syscall, 4, true);
    if (is_integer && field.type == "dev_t") return type_of(Kind::device, field.size);
    if (is_integer) {
        ValueType type = type_of(Kind::integer, field.size, field.is_signed);
        name_numbers(event.format, field, type);
        const auto index = static_cast<std::size_t>(&field - event.format.fields.data());
        if (index < event.fetched.size() && !event.fetched[index].words.empty())
            type.words = event.fetched[index].words;
        return type;
    }
    const bool fits = field.is_array && !field.is_dynamic() && field.size <= kTextBytes;
    return type_of(Kind::raw_bytes, fits ? whole_words(field.size) : 0);
}

// What stands within "KIND(...)"; absent if the name is not of that form.
std::optional<std::string_view> within(std::string_view kind, std::string_view name) {
    Scan scan(name);
    if (!scan.take(kind) || !scan.take("(") || !scan.rest().ends_with(')')) return std::nullopt;
    return scan.rest().substr(0, scan.rest().size() - 1);
}

// "str(FIELD)" or "str(FIELD[INDEX])".
struct TextAt {
    std::string_view field;
    std::optional<std::uint32_t> index;
};
std::optional<TextAt> parse_text_at(std::string_view name) {
    const auto inner = within("str", name);
    if (!inner) return std::nullopt;
    TextAt at{*inner, {}};
    Scan scan(*inner);
    const auto field = scan.take_until('[');
    if (!field) return at;
    at.field = *field;
    at.index = scan.take_number<std::uint32_t>();
    if (!at.index || scan.rest() != "]" || *at.index > kMaxIndex) return std::nullopt;
    return at;
}

std::optional<AdhocValue> find_text_at(const AdhocEvent& event, const TextAt& at) {
    const Field* field = event.format.find(at.field);
    if (!field || field->is_common || field->is_dynamic() || field->is_array ||
        field->size != kWord)
        return std::nullopt;
    return AdhocValue{Source::text_at, field, at.index, type_of(Kind::text, kTextBytes)};
}

// "file(FIELD)".
std::optional<AdhocValue> find_file(const AdhocEvent& event, std::string_view name) {
    const Field* field = event.format.find(name);
    if (!field || field->is_common || field->is_dynamic() || field->is_array || field->is_string ||
        field->size > kWord)
        return std::nullopt;
    AdhocValue file{Source::file, field, {}, type_of(Kind::file_path, kWord)};
    file.type.text_map = kFileMap;
    return file;
}

}  // namespace

bool AdhocValue::is_number() const {
    switch (source) {
        case Source::file:
        case Source::text_at:
        case Source::comm:
        case Source::probe:
        case Source::kernel_stack:
        case Source::user_stack:
        case Source::function:
            return false;
        default:
            return type.kind != Kind::text && type.kind != Kind::raw_bytes;
    }
}

std::optional<AdhocValue> find_value(const AdhocEvent& event, std::string_view name) {
    if (const auto wrapped = parse_text_at(name)) return find_text_at(event, *wrapped);
    if (const auto file = within("file", name)) return find_file(event, *file);
    const Field* field = event.format.find(name);
    if (field && !field->is_common)
        return AdhocValue{Source::field, field, {}, type_of(event, *field)};
    for (const Everywhere& known : known_everywhere()) {
        if (known.name != name || !is_known_at(event, known)) continue;
        AdhocValue value{known.source, nullptr, {}, known.type};
        if (value.source == Source::probe)
            value.type.bytes = whole_words(event.format.full_name().size() + 1);
        if (value.source == Source::function) value.type.words = event.functions;
        return value;
    }
    // Skips the hidden fields and the other common fields at the beginning of each record.
    if (field && field->offset >= kHiddenBytes)
        return AdhocValue{Source::field, field, {}, type_of(event, *field)};
    return std::nullopt;
}

std::string hint_for_value(std::initializer_list<const AdhocEvent*> events, std::string_view name) {
    if (const auto wrapped = parse_text_at(name)) name = wrapped->field;
    if (const auto file = within("file", name)) name = *file;
    std::vector<std::string> names;
    for (const AdhocEvent* event : events)
        for (std::string& field : event->format.field_names())
            if (std::ranges::count(names, field) == 0) names.push_back(std::move(field));
    for (const Everywhere& known : known_everywhere()) {
        const bool is_known = std::ranges::any_of(events, [&](const AdhocEvent* event) {
            return known.source != Source::function ||
                   probe_kind(event->target.kind).is_at_function();
        });
        if (is_known && std::ranges::count(names, known.name) == 0) names.emplace_back(known.name);
    }
    std::string near = did_you_mean(name, names);
    if (!near.empty()) return near;
    std::string list;
    for (const std::string& one : names) list += cat(list.empty() ? "" : " ", one);
    return cat("there are ", list);
}

Relocation AdhocValueCode::field_reference(const Field& field, std::int64_t addend) const {
    Relocation relocation = Relocation::to(Relocation::Kind::field_offset, field.name);
    relocation.addend = addend;
    return relocation;
}

void AdhocValueCode::count_loss(const char* name, const char* what) {
    if (!program_.find_map(name)) declare_loss(program_, name, what);
    append_loss(code_, name);
}

ir::Temp AdhocValueCode::field_number(const Field& field) {
    if (event_.is_record) return code_.load_field(context_, field_reference(field));
    return code_.load({record_, static_cast<std::int64_t>(field.offset)},
                      {static_cast<std::uint8_t>(field.size), field.is_signed});
}

ir::Temp AdhocValueCode::number(const AdhocValue& value) {
    switch (value.source) {
        case Source::field:
            return field_number(*value.field);
        case Source::pid:
            return code_.compute(ir::Op::shr, ir::kU64,
                                 code_.call(BPF_FUNC_get_current_pid_tgid, {}), 32);
        case Source::tid:
            return code_.convert(code_.call(BPF_FUNC_get_current_pid_tgid, {}), ir::kU32);
        case Source::cpu:
            return code_.call(BPF_FUNC_get_smp_processor_id, {});
        case Source::uid:
            return code_.convert(code_.call(BPF_FUNC_get_current_uid_gid, {}), ir::kU32);
        case Source::function: {
            if (event_.functions.size() > 1)
                return code_.call(BPF_FUNC_get_attach_cookie, {context_});
            const ir::Temp cookie = code_.new_temp(ir::kU64);
            code_.assign(cookie, event_.functions.front().first);
            return cookie;
        }
        case Source::cgroup:
            return code_.call(BPF_FUNC_get_current_cgroup_id, {});
        case Source::kernel_stack:
            return stack(false);
        case Source::user_stack:
            return stack(true);
        case Source::comm:
        case Source::probe:
        case Source::text_at:
            break;
        case Source::file:
            return file_path(field_number(*value.field));
    }
    throw std::logic_error("a text is no number");
}

// The stack's id, or a negative errno, which the reader tells.
ir::Temp AdhocValueCode::stack(bool is_user) {
    if (!program_.find_map(kStackMap))
        declare_stacks(program_, kStackMap, kStacks, kStackTraceFrames);
    return code_.call(stack_function(*program_.find_map(kStackMap)),
                      {context_, is_user ? BPF_F_USER_STACK : 0});
}

void AdhocValueCode::store(const AdhocValue& value, const ValueType& type, ir::Slot slot,
                           std::size_t offset) {
    if (value.source == Source::comm) {
        // Before Linux 6.4 the helper does not clear the bytes after the NUL.
        zero(slot, offset, offset + type.bytes);
        code_.call(BPF_FUNC_get_current_comm,
                   {code_.address(slot, static_cast<std::int64_t>(offset)), kCommBytes});
        return;
    }
    if (value.source == Source::probe)
        return store_constant(event_.format.full_name(), type.bytes, slot, offset);
    if (value.is_number() || !value.field || value.source == Source::file)
        return store_number(value, type, slot, offset);
    if (value.source == Source::text_at)
        return store_text_at(space_of_addresses(), address_in(value), type.bytes, slot, offset);
    const Field& field = *value.field;
    const bool is_whole_array = !field.is_dynamic() && !field.is_pointer &&
                                field.size <= type.bytes && field.size % 4 == 0 &&
                                field.offset % 4 == 0;
    if (is_whole_array || !value.is_text())
        return store_array(field, type.bytes, slot, offset, value.is_text());
    const Space space = field.is_pointer ? space_of_addresses() : Space::kernel;
    store_text_at(space, code_.field_address(context_, field_reference(field)), type.bytes, slot,
                  offset);
}

void AdhocValueCode::store_number(const AdhocValue& value, const ValueType& type, ir::Slot slot,
                                  std::size_t offset) {
    code_.store({slot, static_cast<std::int64_t>(offset)}, number(value),
                {static_cast<std::uint8_t>(type.bytes), type.is_signed});
}

// Loads 8 bytes of an array field, in pieces as wide as alignment and element type allow; bytes
// past its end are 0.
ir::Temp AdhocValueCode::load_word(const Field& field, std::size_t at) {
    const auto load = [&](std::size_t from, std::uint8_t bytes) {
        const auto addend = static_cast<std::int64_t>(from);
        if (!event_.is_record)
            return code_.load({record_, static_cast<std::int64_t>(field.offset) + addend},
                              {bytes, false});
        return code_.load({context_, field_reference(field, addend)}, {bytes, false});
    };
    const std::size_t widest = field.element_size == 1 ? kWord : field.element_size;
    std::optional<ir::Temp> word;
    const std::size_t end = std::min(at + kWord, field.size);
    for (std::size_t from = at; from < end;) {
        auto bytes = static_cast<std::uint8_t>(widest);
        while ((field.offset + from) % bytes != 0 || from + bytes > end) bytes /= 2;
        ir::Temp piece = load(from, bytes);
        if (from != at) piece = code_.compute(ir::Op::shl, ir::kU64, piece, (from - at) * 8);
        word = word ? code_.compute(ir::Op::bit_or, ir::kU64, *word, piece) : piece;
        from += bytes;
    }
    return word.value();
}

// Clears the bytes after a text's end: they may be left over from a longer text, and would make
// different keys of one text. The lowest bit set in `ends` is the highest bit of the first zero
// byte.
void AdhocValueCode::store_array(const Field& field, std::size_t bytes, ir::Slot slot,
                                 std::size_t offset, bool is_text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
    const ir::Label done = code_.new_label();
    const std::size_t end = std::min(bytes, whole_words(field.size));
    zero(slot, offset + end, offset + bytes);
    for (std::size_t at = 0; at < end; at += kWord) {
        const ir::Place place{slot, static_cast<std::int64_t>(offset + at)};
        const ir::Temp word = load_word(field, at);
        code_.store(place, word, ir::kU64);
        if (!is_text) continue;
        const ir::Label goes_on = code_.new_label();
        const ir::Temp borrowed = code_.compute(ir::Op::sub, ir::kU64, word, kOnes);
        const ir::Temp inverse = code_.compute(ir::Op::bit_xor, ir::kU64, word, ~std::uint64_t{0});
        const ir::Temp ends =
            code_.compute(ir::Op::bit_and, ir::kU64,
                          code_.compute(ir::Op::bit_and, ir::kU64, borrowed, inverse), kHighs);
        code_.branch(ir::Cmp::eq, ir::kU64, ends, 0, goes_on);
        const ir::Temp lowest =
            code_.compute(ir::Op::bit_and, ir::kU64, ends, code_.negate(ends, ir::kU64));
        const ir::Temp before = code_.compute(ir::Op::sub, ir::kU64, lowest, 1);
        code_.store(place, code_.compute(ir::Op::bit_and, ir::kU64, word, before), ir::kU64);
        zero(slot, offset + at + kWord, offset + end);
        code_.jump(done);
        code_.bind(goes_on);
    }
    code_.bind(done);
}

Space AdhocValueCode::space_of_addresses() const {
    if (event_.format.system == "syscalls") return Space::user;
    if (event_.is_record) return Space::kernel;
    const bool is_in_file = probe_kind(event_.target.kind).is_in_file();
    return is_in_file ? Space::user : Space::none;
}

ir::Temp AdhocValueCode::address_in(const AdhocValue& value) {
    const ir::Temp base = field_number(*value.field);
    if (!value.index) return base;
    const ir::Slot address = code_.new_slot(kWord);
    code_.store(address, 0, ir::kU64);
    append_read(code_, space_of_addresses(), code_.address(address), kWord,
                code_.compute(ir::Op::add, ir::kU64, base, std::uint64_t{*value.index} * kWord));
    return code_.load(address, ir::kU64);
}

ir::Temp AdhocValueCode::file_path(ir::Temp fd) {
    if (!program_.find_map(kFileMap)) declare_file_paths(program_, kFileMap, kFiles);
    return code_.call(file_path_function(kFileMap), {fd});
}

void AdhocValueCode::store_text_at(Space space, ir::Temp from, std::size_t bytes, ir::Slot slot,
                                   std::size_t offset) {
    zero(slot, offset, offset + bytes);
    const ir::Label done = code_.new_label(), is_read = code_.new_label();
    code_.branch(ir::Cmp::eq, ir::kU64, from, 0, done);
    const ir::Temp length = append_read_text(
        code_, space, code_.address(slot, static_cast<std::int64_t>(offset)), bytes, from);
    code_.branch(ir::Cmp::ge, ir::kS32, length, 0, is_read);
    count_loss("texts_unread", "texts that could not be read");
    code_.jump(done);
    code_.bind(is_read);
    append_unless_cut(code_, space, length, bytes, from, done);
    count_loss("texts_cut", "cut texts");
    code_.bind(done);
}

void AdhocValueCode::store_constant(std::string_view text, std::size_t bytes, ir::Slot slot,
                                    std::size_t offset) {
    static_assert(std::endian::native == std::endian::little);
    for (std::size_t at = 0; at < bytes; at += kWord) {
        std::uint64_t word = 0;
        if (at < text.size())
            std::memcpy(&word, text.data() + at, std::min(kWord, text.size() - at));
        code_.store({slot, static_cast<std::int64_t>(offset + at)}, word, ir::kU64);
    }
}

// `from` and `to` must be multiples of 8.
void AdhocValueCode::zero(ir::Slot slot, std::size_t from, std::size_t to) {
    for (; from < to; from += kWord)
        code_.store({slot, static_cast<std::int64_t>(from)}, 0, ir::kU64);
}

}  // namespace gpufs
