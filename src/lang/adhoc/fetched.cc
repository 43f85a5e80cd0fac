#include "lang/adhoc/fetched.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/align.h"
#include "base/cat.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/read_memory.h"
#include "lang/program/function_fields.h"
#include "lang/program/probe_kinds.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

constexpr std::size_t kAddressBytes = 8, kFetchedTextBytes = 48;
// A program has 512 bytes, of which keys take up to kMaxKeyBytes.
constexpr std::size_t kMostFetchedBytes = 160;

// Where struct pt_regs has what the fetch begins with.
std::optional<std::size_t> base_of(const Fetch& fetch, ProbeTarget::Kind kind) {
    using From = Fetch::From;
    const auto field_number = [&](std::size_t index) -> std::optional<std::size_t> {
        const std::vector<Field> fields = function_fields(kind);
        return index < fields.size() ? std::optional(fields[index].offset) : std::nullopt;
    };
    switch (fetch.from) {
        case From::in_register:
            return register_offset(fetch.name);
        case From::stack_address:
        case From::stack_word:
            return register_offset("sp");
        case From::result:
            return field_number(0);
        case From::argument:
            return field_number(static_cast<std::size_t>(fetch.number) - 1);
        default:
            return std::nullopt;
    }
}

std::optional<FetchedField> fetched_field(const ProbeArgument& argument, ProbeTarget::Kind kind) {
    const Fetch& fetch = argument.fetch;
    FetchedField made;
    made.base = base_of(fetch, kind);
    if (!made.base && fetch.from != Fetch::From::constant) return std::nullopt;
    if (!made.base) made.constant = fetch.number;
    if (fetch.from == Fetch::From::stack_word)
        made.steps.push_back({fetch.number * static_cast<std::int64_t>(kAddressBytes)});
    made.steps.insert(made.steps.end(), fetch.steps.begin(), fetch.steps.end());
    const Field& field = argument.field;
    const bool is_text = field.is_string;
    const bool is_number = !field.is_array && std::has_single_bit(field.size) &&
                           !field.type.starts_with('b') && field.size <= kAddressBytes;
    if (is_text ? made.steps.empty() : !is_number) return std::nullopt;
    return made;
}

// How an argument lies in the record that a program makes.
Field field_in_record(const Field& argument, std::size_t end) {
    Field field = argument;
    if (field.is_string) {
        field.place = Field::Place::fixed;
        field.size = kFetchedTextBytes;
    }
    field.offset = align_up(end, field.is_string ? kAddressBytes : field.size);
    return field;
}

}  // namespace

void add_fetched_fields(AdhocEvent& event, const std::vector<ProbeArgument>& arguments) {
    std::size_t end = 0;
    for (const ProbeArgument& argument : arguments) {
        auto fetched = fetched_field(argument, event.target.kind);
        if (!fetched) continue;
        const Field field = field_in_record(argument.field, end);
        if (field.offset + field.size > kMostFetchedBytes) continue;
        end = field.offset + field.size;
        event.format.fields.push_back(field);
        event.fetched.push_back(std::move(*fetched));
    }
}

void add_static_fields(AdhocEvent& event, const std::vector<std::vector<StaticArgument>>& places) {
    if (places.empty()) return;
    std::size_t end = 0;
    for (std::size_t i = 0;; ++i) {
        Field field;
        bool is_readable = true;
        for (const std::vector<StaticArgument>& arguments : places) {
            if (i >= arguments.size()) return;
            const StaticArgument& one = arguments[i];
            is_readable = is_readable && one.kind != StaticArgument::Kind::unknown;
            const bool is_first = &arguments == &places.front();
            field.size = is_first || field.size == one.bytes ? one.bytes : kAddressBytes;
            field.is_signed = field.is_signed || one.is_signed;
        }
        field.name = cat("arg", i);
        field.type = cat(field.is_signed ? 's' : 'u', field.size * 8);
        field.element_size = field.size;
        field.offset = align_up(end, field.size);
        if (!is_readable || field.offset + field.size > kMostFetchedBytes) continue;
        end = field.offset + field.size;
        FetchedField fetched;
        fetched.is_static_argument = true;
        event.format.fields.push_back(std::move(field));
        event.fetched.push_back(std::move(fetched));
    }
}

namespace {

// The field's place is its size, rounded.
bool add_field(AdhocEvent& event, Field field, FetchedField fetched) {
    const std::vector<Field>& fields = event.format.fields;
    field = field_in_record(field, fields.empty() ? 0 : fields.back().offset + fields.back().size);
    if (field.offset + field.size > kMostFetchedBytes) return false;
    event.format.fields.push_back(std::move(field));
    event.fetched.push_back(std::move(fetched));
    return true;
}

}  // namespace

bool add_variable_field(AdhocEvent& event, std::string name, const VariableValue& value,
                        EnumWords words) {
    Field field;
    field.name = std::move(name);
    field.size = field.element_size = value.is_text ? 1 : value.type.bytes;
    field.is_string = field.is_array = value.is_text;
    field.is_signed = !value.is_text && value.type.is_signed;
    field.type = value.is_text ? "char" : cat(field.is_signed ? 's' : 'u', field.size * 8);
    FetchedField fetched;
    fetched.variable = value;
    fetched.words = std::move(words);
    if (value.is_text) fetched.steps = {{}};
    return add_field(event, std::move(field), std::move(fetched));
}

bool add_register_field(AdhocEvent& event, const Field& argument) {
    FetchedField fetched;
    fetched.base = argument.offset;
    return add_field(event, argument, std::move(fetched));
}

FetchedRecord append_fetched_record(ir::Code& code, ir::Temp context, const AdhocEvent& event,
                                    ir::Label unknown) {
    if (std::ranges::none_of(event.fetched, &FetchedField::is_asked_for)) return {context, {}};
    FetchedRecord made{context,
                       {{"texts_unread", "texts that could not be read", code.new_temp(ir::kU32)},
                        {"texts_cut", "cut texts", code.new_temp(ir::kU32)}}};
    const ir::Temp is_unread = made.losses[0].has_happened, is_cut = made.losses[1].has_happened;
    for (const FetchedRecord::Loss& loss : made.losses) code.assign(loss.has_happened, 0);
    const bool is_in_file = probe_kind(event.target.kind).is_in_file();
    const Field& last = event.format.fields.back();
    const std::size_t bytes = align_up(last.offset + last.size, kAddressBytes);
    const ir::Slot record = code.new_slot(bytes);
    for (std::size_t at = 0; at < bytes; at += kAddressBytes)
        code.store({record, static_cast<std::int64_t>(at)}, 0, ir::kU64);
    for (std::size_t i = 0; i < event.fetched.size(); ++i) {
        const FetchedField& fetched = event.fetched[i];
        if (!fetched.is_asked_for) continue;
        const Field& field = event.format.fields[i];
        const auto place = static_cast<std::int64_t>(field.offset);
        ir::Temp value = code.new_temp(ir::kU64);
        if (fetched.is_static_argument)
            code.assign(
                value, code.load_field(context,
                                       Relocation::to(Relocation::Kind::field_offset, field.name)));
        else if (fetched.variable)
            code.assign(value, append_variable(code, context, *fetched.variable, unknown));
        else if (fetched.base)
            code.assign(value,
                        code.load({context, static_cast<std::int64_t>(*fetched.base)}, ir::kU64));
        else
            code.assign(value, fetched.constant);
        for (const Fetch::Step& step : fetched.steps) {
            const ir::Temp from = code.compute(ir::Op::add, ir::kU64, value, step.offset);
            const bool is_last = &step == &fetched.steps.back();
            const Space space = is_in_file || step.is_user ? Space::user : Space::kernel;
            if (is_last && field.is_string) {
                const ir::Label is_read = code.new_label(), is_whole = code.new_label();
                const ir::Temp length =
                    append_read_text(code, space, code.address(record, place), field.size, from);
                code.branch(ir::Cmp::ge, ir::kS32, length, 0, is_read);
                code.assign(is_unread, 1);
                code.jump(is_whole);
                code.bind(is_read);
                append_unless_cut(code, space, length, field.size, from, is_whole);
                code.assign(is_cut, 1);
                code.bind(is_whole);
            } else if (is_last) {
                append_read(code, space, code.address(record, place), field.size, from);
            } else {
                const ir::Slot next = code.new_slot(kAddressBytes);
                code.store(next, 0, ir::kU64);
                append_read(code, space, code.address(next), kAddressBytes, from);
                code.assign(value, code.load(next, ir::kU64));
            }
        }
        if (fetched.steps.empty())
            code.store({record, place}, value, {static_cast<std::uint8_t>(field.size), false});
    }
    made.address = code.address(record);
    const bool has_text = std::ranges::any_of(event.format.fields, &Field::is_string);
    if (!has_text) made.losses.clear();
    return made;
}

}  // namespace gpufs
