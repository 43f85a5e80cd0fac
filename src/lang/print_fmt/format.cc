#include "lang/print_fmt/format.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/extend.h"

namespace gpufs {
namespace {

// The step for %p followed by these letters.
PrintStep::Kind pointer_kind(std::string_view letters) {
    using Step = PrintStep::Kind;
    switch (letters.empty() ? '\0' : letters.front()) {
        case 's':
        case 'f':
            return Step::symbol;
        case 'S':
        case 'F':
        case 'B':
            return Step::symbol_offset;
        case 'I':
        case 'i':
            return Step::ip;
        case 'M':
        case 'm':
            return Step::mac;
        case 'U':
            return Step::uuid;
        case 'h':
            return Step::hex_bytes;
        case 'b':
            return letters == "bl" ? Step::bit_list : Step::bitmap;
        case 'a':
            return Step::physical_address;
        default:
            return Step::pointer;
    }
}

// True for kinds whose argument is an array in the record.
bool prints_bytes(PrintStep::Kind kind) {
    return kind >= PrintStep::Kind::ip && kind <= PrintStep::Kind::physical_address;
}

// The value of a step with is_field.
std::uint64_t field_value(const PrintStep& step, RecordBytes record) {
    if (step.offset > record.size() || step.size > record.size() - step.offset) return 0;
    const std::byte* const at = record.data() + step.offset;
    std::uint64_t value = 0;
    if (step.size == 8)
        std::memcpy(&value, at, 8);
    else if (step.size == 4)
        std::memcpy(&value, at, 4);
    else
        std::memcpy(&value, at, step.size);
    return extend(value, step.size, step.style.is_signed);
}

}  // namespace

PrintFormat::PrintFormat(const EventFormat& event, Addresses addresses) : addresses_(addresses) {
    try {
        compile(event);
    } catch (const Error& error) {
        why_ = error.what();
        compile_fields(event);
    }
}

void PrintFormat::add_text(std::string_view text) {
    if (text.empty()) return;
    if (steps_.empty() || steps_.back().kind != PrintStep::Kind::text) steps_.emplace_back();
    steps_.back().text += text;
}

void PrintFormat::compile(const EventFormat& event) {
    const PrintArguments arguments = parse_print_arguments(event, tree_);
    const std::string_view format = arguments.format;
    std::size_t used = 0;
    for (std::size_t at = 0; at < format.size();) {
        const std::size_t percent = std::min(format.find('%', at), format.size());
        add_text(format.substr(at, percent - at));
        at = percent;
        if (at < format.size()) at = add_conversion(format, at + 1, arguments.values, used);
    }
}

// Compiles the conversion whose '%' is right in front of `at`. Returns the offset of its end.
std::size_t PrintFormat::add_conversion(std::string_view format, std::size_t at,
                                        const std::vector<CNodeId>& values, std::size_t& used) {
    Conversion c;
    at = parse_conversion(format, at, c);
    if (c.letter == '%') {
        add_text("%");
        return at;
    }
    using Step = PrintStep::Kind;
    PrintStep step;
    step.style = c.style;
    step.size = c.size;
    if (c.takes_width) step.width = values.at(used++);
    if (c.takes_precision) step.precision = values.at(used++);
    step.value = values.at(used++);
    step.text = c.pointer;
    step.kind = c.letter == 's'   ? Step::string
                : c.letter == 'c' ? Step::character
                : c.letter == 'p' ? pointer_kind(c.pointer)
                                  : Step::number;
    step.is_plain = step.kind == Step::number && !c.takes_width && !c.takes_precision &&
                    c.style.width < 0 && c.style.precision < 0 && !c.style.plus && !c.style.space &&
                    !c.style.special && !c.style.is_upper;

    const CNode& value = tree_.nodes[step.value];
    step.offset = value.offset;
    step.is_field = step.is_plain && value.op == CNode::Op::load && value.type.size == step.size;
    const bool has_bytes = value.type.kind == CType::Kind::bytes;
    if (value.op == CNode::Op::unknown) {
        step.kind = Step::string;
        step.is_plain = false;
    } else if (step.kind == Step::number || step.kind == Step::character) {
        if (has_bytes || value.type.kind == CType::Kind::text)
            throw Error("prints a place in the record as a number");
    } else if (prints_bytes(step.kind) && !has_bytes) {
        // The target is not in the record; print the address.
        step.kind = Step::pointer;
    }
    steps_.push_back(std::move(step));
    return at;
}

void PrintFormat::compile_fields(const EventFormat& event) {
    tree_ = {};
    steps_.clear();
    EventFormat shown = event;
    std::string format, values;
    for (const Field& f : event.fields) {
        if (f.is_common) continue;
        std::string_view conversion = f.is_signed ? "%lld" : "%llu";
        std::string value = cat("REC->", f.name);
        const std::size_t element = std::max<std::size_t>(f.element_size, 1);
        if (f.holds_text() || (f.is_pointer && f.is_string)) {
            conversion = "%s";
        } else if (f.is_pointer) {
            conversion = "0x%llx";
        } else if (f.is_dynamic()) {
            conversion = "%s";
            const std::string_view rel = f.place == Field::Place::rel_loc ? "_rel" : "";
            value = cat("__print_array(REC->", f.name, ", __get", rel, "_dynamic_array_len(",
                        f.name, ") / ", element, ", ", element, ")");
        } else if (f.is_array && element <= 8) {
            conversion = "%s";
            value = cat("__print_array(REC->", f.name, ", ", f.size / element, ", ", element, ")");
        } else if (f.size != 1 && f.size != 2 && f.size != 4 && f.size != 8) {
            conversion = "%s";
            value = cat("__print_hex_str(REC->", f.name, ", ", f.size, ")");
        }
        format += cat(' ', f.name, '=', conversion);
        values += cat(", ", value);
    }
    shown.print_format = cat('"', format, '"', values);
    try {
        compile(shown);
    } catch (const Error&) {
        add_text(" (fields that cannot be read)");
    }
}

void PrintFormat::print(RecordBytes record, const AddressNames& names, std::string& out) const {
    for (const PrintStep& step : steps_) {
        if (step.kind == PrintStep::Kind::text) {
            out += step.text;
        } else if (step.is_plain) {
            const std::uint64_t value = step.is_field ? field_value(step, record)
                                                      : extend(tree_.integer(step.value, record),
                                                               step.size, step.style.is_signed);
            char digits[24];
            const auto base = static_cast<int>(step.style.base);
            const auto end =
                step.style.is_signed
                    ? std::to_chars(digits, digits + 24, static_cast<std::int64_t>(value), base).ptr
                    : std::to_chars(digits, digits + 24, value, base).ptr;
            out.append(digits, end);
        } else {
            print_step(step, record, names, out);
        }
    }
}

void PrintFormat::print_address(const PrintStep& step, std::uint64_t address,
                                const AddressNames& names, std::string& out) const {
    const bool is_kernel = addresses_ == Addresses::kernel;
    const bool with_offset = step.kind == PrintStep::Kind::symbol_offset;
    const auto symbol = is_kernel || step.kind == PrintStep::Kind::pointer || !names.symbol
                            ? std::nullopt
                            : names.symbol(address);
    if (symbol) {
        out += symbol->name;
        if (with_offset) out += '+';
        if (with_offset) append_number(out, symbol->offset, {.base = 16, .special = true});
    } else if (!is_kernel && address == 0) {
        out += "(nil)";
    } else if (!is_kernel) {
        append_number(out, address, {.base = 16, .special = true});
    } else if (step.kind == PrintStep::Kind::pointer) {
        append_pointer(out, address);
    } else {
        append_symbol(out, address, names, with_offset);
    }
}

void PrintFormat::print_step(const PrintStep& step, RecordBytes record, const AddressNames& names,
                             std::string& out) const {
    NumberStyle style = step.style;
    if (step.width != kNoNode) set_width(style, tree_.integer(step.width, record));
    if (step.precision != kNoNode) set_precision(style, tree_.integer(step.precision, record));

    const std::size_t start = out.size();
    const auto bytes = [&] { return tree_.bytes(step.value, record); };
    const auto integer = [&] { return tree_.integer(step.value, record); };
    switch (step.kind) {
        case PrintStep::Kind::text:
            break;
        case PrintStep::Kind::number:
            // append_number() pads.
            return append_number(out, extend(integer(), step.size, style.is_signed), style);
        case PrintStep::Kind::character:
            out += static_cast<char>(integer());
            break;
        case PrintStep::Kind::string:
            tree_.append_text(step.value, record, names, out);
            cut_from(out, start, style);
            break;
        case PrintStep::Kind::pointer:
        case PrintStep::Kind::symbol:
        case PrintStep::Kind::symbol_offset:
            print_address(step, integer(), names, out);
            break;
        case PrintStep::Kind::ip:
            append_ip(out, step.text, bytes());
            break;
        case PrintStep::Kind::mac:
            append_mac(out, step.text, bytes());
            break;
        case PrintStep::Kind::uuid:
            append_uuid(out, step.text, bytes());
            break;
        case PrintStep::Kind::hex_bytes: {
            // The width is the number of bytes, at most 64; without a width, one byte.
            const int wanted = style.width < 0 ? 1 : std::min(style.width, 64);
            const auto count = static_cast<std::size_t>(wanted);
            const char kind = step.text.size() > 1 ? step.text[1] : ' ';
            const char separator = kind == 'C' ? ':' : kind == 'D' ? '-' : kind == 'N' ? '\0' : ' ';
            const RecordBytes all = bytes();
            return append_hex_bytes(out, all.first(std::min(count, all.size())), separator);
        }
        case PrintStep::Kind::bitmap:
            return append_bitmap(out, static_cast<std::size_t>(std::max(style.width, 0)), bytes());
        case PrintStep::Kind::bit_list:
            return append_bit_list(out, static_cast<std::size_t>(std::max(style.width, 0)),
                                   bytes());
        case PrintStep::Kind::physical_address: {
            // The argument of %pa is a pointer to the address.
            const RecordBytes place = bytes();
            std::uint64_t address = 0;
            for (std::size_t i = std::min<std::size_t>(place.size(), 8); i-- > 0;)
                address = address << 8 | std::to_integer<std::uint64_t>(place[i]);
            return append_number(out, address,
                                 {.base = 16, .zero = true, .special = true, .width = 18});
        }
    }
    pad_from(out, start, style);
}

}  // namespace gpufs
