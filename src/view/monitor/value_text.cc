#include "view/monitor/value_text.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/hex.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/results/map_contents.h"
#include "engine/symbols/number_names.h"
#include "lang/symbols/function_name.h"
#include "view/exact_number.h"
#include "view/json.h"
#include "view/monitor/syscall_line.h"
#include "view/size.h"

namespace gpufs {
namespace {

using Kind = ValueType::Kind;
using Form = ValuePlan::Form;

// TASK_COMM_LEN
constexpr std::size_t kTaskName = 16;
constexpr std::string_view kFrameBegin = "\n        ";

struct Unit {
    std::string_view name;
    std::uint64_t ns;
};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

// Nanoseconds per unit; 0 if it is not a unit of time.
std::uint64_t ns_of(std::string_view unit) {
    const auto known = std::ranges::find(kTimes, unit, &Unit::name);
    return known == std::end(kTimes) ? 0 : known->ns;
}

template <class T>
std::uint64_t load(const std::byte* at, bool is_signed) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if (is_signed) return static_cast<std::uint64_t>(std::int64_t{std::make_signed_t<T>(value)});
    return value;
}

void append_based(std::string& out, std::uint64_t value, int base) {
    char digits[64];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value, base).ptr);
}

void append_bytes(std::string& out, std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) append_hex_byte(out, std::to_integer<unsigned>(b));
}

void append_number(std::string& out, std::uint64_t value, bool is_signed) {
    if (is_signed)
        append(out, static_cast<std::int64_t>(value));
    else
        append(out, value);
}

// The number's word or hexadecimal digits, or the names of its flags; absent if it has none of
// these.
std::optional<std::string> word_of(const ValuePlan& plan, std::uint64_t number) {
    const ValueType& type = plan.type;
    for (const auto& [value, word] : type.words)
        if (value == static_cast<std::int64_t>(number)) return word;
    const unsigned unused = 64 - 8 * static_cast<unsigned>(type.bytes);
    const std::uint64_t own_bits = number << unused >> unused;
    if (type.is_hex) return hex(own_bits);
    if (type.flags.empty()) return std::nullopt;
    return flags_text(type.flags, own_bits);
}

// What a text has as JSON's number, such as " 60.00".
std::string_view number_or_null(std::string_view text) {
    const std::string_view number = trim(text);
    const bool is_number = !number.empty() && is_digit(number.front()) && is_digit(number.back()) &&
                           number.find_first_not_of("0123456789.") == number.npos &&
                           std::ranges::count(number, '.') <= 1 &&
                           (number.front() != '0' || number.size() == 1 || number[1] == '.');
    return is_number ? number : "null";
}

std::string dimensions_text(std::span<const std::byte> bytes) {
    std::uint32_t sizes[3];
    std::memcpy(sizes, bytes.data(), sizeof sizes);
    return cat(sizes[0], 'x', sizes[1], 'x', sizes[2]);
}

bool has_name(Kind kind) {
    return kind == Kind::syscall || kind == Kind::error || kind == Kind::signal ||
           kind == Kind::device || kind == Kind::ip_address || kind == Kind::dimensions ||
           kind == Kind::interrupt || kind == Kind::file_path;
}

Form form_of(Kind kind) {
    switch (kind) {
        case Kind::integer:
        case Kind::process:
            return Form::number;
        case Kind::text:
            return Form::text;
        case Kind::raw_bytes:
            return Form::bytes;
        case Kind::time:
            return Form::time;
        default:
            return Form::other;
    }
}

ValueNames::Place place_in_stack(std::size_t frame) {
    return frame == 0 ? ValueNames::Place::inner_frame : ValueNames::Place::outer_frame;
}

}  // namespace

bool ValuePlan::is_number() const noexcept {
    if (form == Form::other || form == Form::text || form == Form::bytes) return false;
    return type.words.empty() && type.flags.empty() && !type.is_hex;
}

ValuePlan plan_value(const Layout& layout, const Member& member, std::string_view format) {
    ValuePlan plan;
    plan.type = member.type;
    plan.name = member.name;
    plan.offset = member.offset;
    plan.form = form_of(member.type.kind);
    const auto process = std::ranges::find_if(
        layout.members, [](const Member& one) { return one.type.kind == Kind::process; });
    if (process != layout.members.end()) plan.process_at = process->offset;
    if (format.empty() || format == "str" || format == "kstack" || format == "ustack") return plan;
    plan.type.words.clear();
    plan.type.flags.clear();
    plan.type.is_hex = false;
    if (format == "d" || format == "u") {
        plan.form = Form::number;
        plan.type.is_signed = format == "d";
    } else if (format == "x") {
        plan.form = Form::hex;
    } else if (format == "o") {
        plan.form = Form::octal;
    } else if (format == "b") {
        plan.form = Form::binary;
    } else if (format == "time") {
        plan.form = Form::time;
    } else if (format == "ksym" || format == "usym") {
        plan.form = Form::other;
        plan.type.kind = format == "ksym" ? Kind::kernel_address : Kind::user_address;
    } else {
        plan.form = Form::quantity;
        plan.unit = format;
    }
    return plan;
}

std::vector<ValuePlan> plan_values(const Layout& layout, std::string_view skip) {
    std::vector<ValuePlan> plans;
    for (const Member& member : layout.members)
        if (skip.empty() || member.name != skip) plans.push_back(plan_value(layout, member));
    return plans;
}

std::string units_json(std::span<const ValuePlan> plans) {
    JsonObject units;
    bool has_units = false;
    for (const ValuePlan& plan : plans) {
        if (plan.type.unit.empty()) continue;
        units.text(plan.name, plan.type.unit);
        has_units = true;
    }
    return has_units ? units.done() : std::string();
}

std::uint64_t integer_at(const ValuePlan& plan, std::span<const std::byte> bytes) {
    static_assert(std::endian::native == std::endian::little);
    const std::byte* at = bytes.data() + plan.offset;
    switch (plan.type.bytes) {
        case 1:
            return load<std::uint8_t>(at, plan.type.is_signed);
        case 2:
            return load<std::uint16_t>(at, plan.type.is_signed);
        case 4:
            return load<std::uint32_t>(at, plan.type.is_signed);
        default:
            return load<std::uint64_t>(at, plan.type.is_signed);
    }
}

std::string_view text_at(const ValuePlan& plan, std::span<const std::byte> bytes) {
    return up_to_nul(bytes.subspan(plan.offset, plan.type.bytes));
}

std::string flags_text(std::span<const FlagName> flags, std::uint64_t number) {
    std::string text;
    const auto add = [&](std::string_view name) {
        if (!text.empty()) text += '|';
        text += name;
    };
    std::uint64_t rest = number;
    for (const FlagName& flag : flags) {
        if ((rest & flag.bits) != flag.value || (flag.value == 0 && (number & flag.bits) != 0))
            continue;
        add(flag.name);
        rest &= ~flag.bits;
    }
    if (rest != 0 || text.empty()) add(rest == 0 ? "0" : hex(rest));
    return text;
}

std::string quantity_text(std::uint64_t number, bool is_signed, std::string_view unit) {
    const bool is_negative = is_signed && static_cast<std::int64_t>(number) < 0;
    const std::uint64_t most = is_negative ? ~number + 1 : number;
    const std::uint64_t ns = ns_of(unit);
    std::string text;
    if (ns != 0 && most >= 1000 && most <= std::numeric_limits<std::uint64_t>::max() / ns)
        text = precise_duration_text(most * ns);
    else if (unit == "bytes")
        text = size_text(most);
    else
        text = cat(most, unit.empty() ? "" : " ", unit);
    return is_negative ? '-' + text : text;
}

std::string mean_text(const Aggregation& how, std::span<const std::uint64_t> words,
                      std::string_view unit) {
    const std::uint64_t count = words[0], ns = ns_of(unit);
    const bool is_negative = how.is_signed && static_cast<std::int64_t>(words[1]) < 0;
    const std::uint64_t total = is_negative ? ~words[1] + 1 : words[1];
    const std::uint64_t limit = unit == "bytes" || ns == 1 ? 0 : ns != 0 ? 10 : 100;
    if (count == 0 || total % count == 0 || total / count >= limit)
        return quantity_text(mean_of(how, words), how.is_signed, unit);
    return cat(is_negative ? "-" : "", total / count, '.', total % count * 10 / count,
               unit.empty() ? "" : " ", unit);
}

std::string_view ValueWriter::checked_text(const ValuePlan& plan,
                                           std::span<const std::byte> bytes) {
    const std::string_view text = text_at(plan, bytes);
    if (text.size() + 1 >= plan.type.bytes && plan.type.bytes > kTaskName) ++cut_texts_;
    return text;
}

void ValueWriter::text(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes) {
    switch (plan.form) {
        case Form::number: {
            const std::uint64_t number = integer_at(plan, bytes);
            if (const auto word = word_of(plan, number))
                append_printable(out, *word, controls_);
            else
                append_number(out, number, plan.type.is_signed);
            break;
        }
        case Form::text:
            append_printable(out, checked_text(plan, bytes), controls_);
            break;
        case Form::time:
            time(out, integer_at(plan, bytes));
            break;
        case Form::hex:
        case Form::octal:
        case Form::binary: {
            // Only as many bits as the type has: a negative number is not sign-extended.
            const unsigned unused = 64 - 8 * static_cast<unsigned>(plan.type.bytes);
            const int base = plan.form == Form::hex ? 16 : plan.form == Form::octal ? 8 : 2;
            append_based(out, integer_at(plan, bytes) << unused >> unused, base);
            break;
        }
        case Form::quantity:
            out += quantity_text(integer_at(plan, bytes), plan.type.is_signed, plan.unit);
            break;
        case Form::bytes:
            append_bytes(out, bytes.subspan(plan.offset, plan.type.bytes));
            break;
        case Form::other:
            other(out, plan, bytes);
            break;
    }
}

void ValueWriter::time(std::string& out, std::uint64_t ns) {
    if (names_.time)
        out += names_.time(ns);
    else
        clock_.append(out, ns);
}

std::string ValueWriter::json_time(std::uint64_t ns) const {
    return names_.time ? names_.time(ns) : epoch_text(ns);
}

// The kernel's or the user's name for the number.
std::string ValueWriter::name(const ValuePlan& plan, std::span<const std::byte> bytes) const {
    if (plan.type.kind == Kind::ip_address) return ip_text(bytes.subspan(plan.offset, 16));
    if (plan.type.kind == Kind::dimensions) return dimensions_text(bytes.subspan(plan.offset));
    const std::uint64_t number = integer_at(plan, bytes);
    switch (plan.type.kind) {
        case Kind::syscall:
            return syscall_text(static_cast<std::int64_t>(number));
        case Kind::error:
            return errno_text(static_cast<std::int64_t>(number));
        case Kind::signal:
            return signal_text(static_cast<std::int64_t>(number));
        case Kind::interrupt: {
            const auto irq = static_cast<std::uint32_t>(number);
            const std::string device = names_.interrupt ? names_.interrupt(irq) : std::string();
            return device.empty() ? cat(irq) : cat(irq, ' ', device);
        }
        case Kind::file_path:
            if (number == 0) return "";
            return names_.file ? names_.file(plan.type.text_map, number) : hex(number);
        default:
            return device_text(static_cast<std::uint32_t>(number));
    }
}

// Appends a value that needs a lookup.
void ValueWriter::other(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes) {
    if (plan.type.kind == Kind::syscall_record) {
        append_syscall_line(out, bytes.subspan(plan.offset), controls_);
    } else if (has_name(plan.type.kind)) {
        append_printable(out, name(plan, bytes), controls_);
    } else if (!plan.is_stack()) {
        append_printable(out, address(plan, bytes, integer_at(plan, bytes)), controls_);
    } else {
        for (const std::string& frame : frames(plan, bytes)) {
            out += kFrameBegin;
            append_printable(out, frame, controls_);
        }
    }
}

void ValueWriter::json(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes,
                       LargeNumbers large) {
    const Kind kind = plan.type.kind;
    if (kind == Kind::text && plan.type.is_numeric) {
        out += number_or_null(checked_text(plan, bytes));
    } else if (kind == Kind::text) {
        append_json_quoted(out, checked_text(plan, bytes));
    } else if (kind == Kind::raw_bytes) {
        out += '"';
        append_bytes(out, bytes.subspan(plan.offset, plan.type.bytes));
        out += '"';
    } else if (kind == Kind::syscall_record) {
        append_syscall_json(out, bytes.subspan(plan.offset), large);
    } else if (plan.is_stack()) {
        out += json_texts_or_null(names_of(stack(plan, bytes), plan, bytes));
    } else if (kind == Kind::time) {
        out += json_time(integer_at(plan, bytes));
    } else if (has_name(kind)) {
        append_json_quoted(out, name(plan, bytes));
    } else if (kind == Kind::kernel_address || kind == Kind::user_address) {
        append_json_quoted(out, address(plan, bytes, integer_at(plan, bytes)));
    } else {
        const std::uint64_t number = integer_at(plan, bytes);
        if (const auto word = word_of(plan, number))
            append_json_quoted(out, *word);
        else if (large == LargeNumbers::texts)
            append_exact_json(out, number, plan.type.is_signed);
        else
            append_number(out, number, plan.type.is_signed);
    }
}

// What a map has a text for, or an address.
std::string ValueWriter::function(const ValuePlan& plan, std::span<const std::byte> bytes) const {
    constexpr const char* kUnknown = "unknown";
    const std::uint64_t at = integer_at(plan, bytes);
    if (at == 0) return kUnknown;
    std::string text = names_.text ? names_.text(plan.type.text_map, at) : std::string();
    if (!text.empty()) return function_name(text);
    return names_.user ? address(plan, bytes, at, ValueNames::Place::name) : kUnknown;
}

std::string ValueWriter::address(const ValuePlan& plan, std::span<const std::byte> bytes,
                                 std::uint64_t at, ValueNames::Place place) const {
    if (place == ValueNames::Place::address && !plan.type.text_map.empty())
        return function(plan, bytes);
    const bool is_user = plan.type.kind == Kind::user_address || plan.type.kind == Kind::user_stack;
    std::string text;
    if (is_user && names_.user) {
        std::uint32_t pid = 0;
        if (plan.process_at != ValuePlan::kNoProcess)
            std::memcpy(&pid, bytes.data() + plan.process_at, sizeof pid);
        text = names_.user(pid, at, place);
    } else if (!is_user && names_.kernel) {
        text = names_.kernel(at, place);
    }
    if (text.empty()) text = hex(at);
    return text;
}

ValueWriter::Stack ValueWriter::stack(const ValuePlan& plan,
                                      std::span<const std::byte> bytes) const {
    const auto id = static_cast<std::int64_t>(integer_at(plan, bytes));
    if (id == -EEXIST) return {{}, "[stack not kept: its place was taken]"};
    if (id == -E2BIG) return {{}, "[stack not kept: the map is full]"};
    if (id < 0) return {{}, "[no stack]"};
    if (!names_.frames) return {{}, cat("[stack ", id, "]")};
    Stack stack{names_.frames(plan.type.stack_map, static_cast<std::int32_t>(id)), {}};
    if (stack.addresses.empty()) stack.missing = "[stack gone]";
    return stack;
}

std::vector<std::string> ValueWriter::names_of(const Stack& stack, const ValuePlan& plan,
                                               std::span<const std::byte> bytes) const {
    const std::vector<std::uint64_t>& at = stack.addresses;
    std::size_t first = 0;
    if (names_.is_probe && plan.type.kind == Kind::kernel_stack)
        while (first + 1 < at.size() && names_.is_probe(at[first], place_in_stack(first))) ++first;
    const std::size_t most = plan.type.most_frames;
    const std::size_t end = most == 0 ? at.size() : std::min(at.size(), first + most);
    std::vector<std::string> names;
    for (std::size_t i = first; i < end; ++i)
        names.push_back(address(plan, bytes, at[i], place_in_stack(i)));
    return names;
}

std::vector<std::string> ValueWriter::frames(const ValuePlan& plan,
                                             std::span<const std::byte> bytes) const {
    Stack found = stack(plan, bytes);
    if (!found.missing.empty()) return {std::move(found.missing)};
    return names_of(found, plan, bytes);
}

}  // namespace gpufs
