#include "view/bt/value_text.h"

#include <arpa/inet.h>

#include <csignal>
#include <cstring>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/hex.h"
#include "kernel/host/syscall_names.h"
#include "lang/symbols/function_name.h"
#include "view/bt/json_words.h"
#include "view/bt/time_text.h"

namespace gpufs::bt {

namespace {

using Kind = Type::Kind;

void append_number(std::string& out, std::uint64_t number, bool is_signed) {
    if (is_signed)
        append(out, static_cast<std::int64_t>(number));
    else
        append(out, number);
}

bool is_enum(const Type& type) {
    return type.is(Kind::integer) && (!type.name.empty() || !type.words.empty());
}

// The name of an enum's number; a number that has none in decimal.
std::string enum_word(const Type& type, Bytes bytes) {
    const std::uint64_t number = number_of(type, bytes);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * type.bytes);
    for (const auto& [value, name] : type.words)
        if (((static_cast<std::uint64_t>(value) ^ number) & mask) == 0) return name;
    std::string out;
    append_number(out, number, type.is_signed);
    return out;
}

std::string inet_text(Bytes bytes) {
    const auto family = load<std::uint32_t>(bytes);
    char text[INET6_ADDRSTRLEN] = "";
    if (family == AF_INET || family == AF_INET6)
        ::inet_ntop(static_cast<int>(family), bytes.data() + sizeof family, text, sizeof text);
    return text;
}

std::string mac_text(Bytes bytes) {
    std::string out;
    for (std::size_t i = 0; i < 6; ++i) {
        if (i > 0) out += ':';
        append_hex_byte(out, static_cast<unsigned>(bytes[i]), "0123456789ABCDEF");
    }
    return out;
}

std::string error_words(int number) {
    const char* words = ::strerrordesc_np(number);
    return words ? words : "Unknown error";
}

// As strsignal(3) has it.
std::string signal_words(int number) {
    if (number < 0 || number > SIGRTMAX) return "N/A";
    if (const char* words = ::sigdescr_np(number)) return words;
    return number < SIGRTMIN ? cat("Unknown signal ", number)
                             : cat("Real-time signal ", number - SIGRTMIN);
}

std::string syscall_words(int number) {
    const std::string_view name = syscall_name(number);
    return name.empty() ? "Unknown syscall" : std::string(name);
}

std::string symbol_text(const Frame& frame, std::uint64_t address) {
    return frame.name.empty() ? hex(address) : frame.name;
}

void append_stats(std::string& out, const Type& type, Bytes bytes, std::uint64_t div, bool is_old) {
    const auto [count, total] = count_and_total(type, bytes);
    append(out, is_old ? "count " : "{ .count = ");
    append(out, count);
    append(out, is_old ? ", average " : ", .average = ");
    append_number(out, divided(result_of(type, bytes), type.is_signed, div), type.is_signed);
    append(out, is_old ? ", total " : ", .total = ");
    append_number(out, total, type.is_signed);
    if (!is_old) append(out, " }");
}

void append_stats_json(std::string& out, const Type& type, Bytes bytes, std::uint64_t div) {
    const auto [count, total] = count_and_total(type, bytes);
    const std::uint64_t average = divided(result_of(type, bytes), type.is_signed, div);
    bool is_first = true;
    const auto member = [&](std::string_view name, std::uint64_t number, bool is_signed) {
        append_json_name(out, name, is_first);
        append_json_number(out, number, is_signed);
    };
    out += '{';
    member("count", count, false);
    member("average", average, type.is_signed);
    member("total", total, type.is_signed);
    out += '}';
}

const std::vector<Type::Field>& members_of(const Type& type) {
    static const std::vector<Type::Field> none;
    if (!type.is(Kind::structure)) return type.fields;
    return type.structure ? type.structure->fields : none;
}

// A tuple whose parts have names.
bool is_record(const Type& type) {
    return type.is(Kind::structure) ||
           (type.is(Kind::tuple) && !type.fields.empty() && !type.fields[0].name.empty());
}

}  // namespace

void append_buffer(std::string& out, Bytes contents, BufferForm form) {
    bool is_first = true;
    for (const std::byte byte : contents) {
        const auto code = static_cast<unsigned>(byte);
        if (form == BufferForm::printable && code >= ' ' && code <= '~') {
            out += static_cast<char>(code);
            continue;
        }
        if (form == BufferForm::digits && !is_first) out += ' ';
        if (form != BufferForm::digits) out += "\\x";
        append_hex_byte(out, code);
        is_first = false;
    }
}

void ValueWriter::text(std::string& out, const Type& type, Bytes bytes, std::uint64_t div) const {
    write(out, type, bytes, {.div = div});
}

void ValueWriter::key(std::string& out, const Type& type, Bytes bytes) const {
    write_key(out, type, bytes, Blanks::yes);
}

void ValueWriter::json_key(std::string& out, const Type& type, Bytes bytes) const {
    std::string text;
    write_key(text, type, bytes, Blanks::no);
    append_json_quoted(out, text);
}

void ValueWriter::write_key(std::string& out, const Type& type, Bytes bytes, Blanks blanks) const {
    const std::size_t start = out.size();
    write(out, type, bytes, {.blanks = blanks, .is_key = true});
    if (!type.is(Kind::tuple) || is_record(type)) return;
    out.pop_back();
    out.erase(start, 1);
}

void ValueWriter::write(std::string& out, const Type& type, Bytes bytes, How how) const {
    switch (type.kind) {
        case Kind::none:
            out += "null";
            return;
        case Kind::integer:
            if (is_enum(type))
                out += enum_word(type, bytes);
            else
                append_number(out, divided(number_of(type, bytes), type.is_signed, how.div),
                              type.is_signed);
            return;
        case Kind::boolean:
            out += number_of(type, bytes) != 0 ? "true" : "false";
            return;
        case Kind::string: {
            const std::string_view text = string_of(type, bytes);
            out += text;
            if (text.size() == type.bytes && type.count == 0 && !text.empty())
                out += tables_.cut_trailer;
            return;
        }
        case Kind::buffer:
            append_buffer(out, contents_of(type, bytes), BufferForm::printable);
            return;
        case Kind::pointer:
            if (tables_.is_old && !how.is_key)
                append(out, number_of(type, bytes));
            else
                out += hex(number_of(type, bytes));
            return;
        case Kind::array:
            write_array(out, type, bytes, how);
            return;
        case Kind::structure:
        case Kind::tuple:
            if (is_record(type))
                write_record(out, members_of(type), bytes, how);
            else
                write_tuple(out, type, bytes, how);
            return;
        case Kind::count:
        case Kind::sum:
        case Kind::min:
        case Kind::max:
        case Kind::avg:
            append_number(out, divided(result_of(type, bytes), type.is_signed, how.div),
                          type.is_signed);
            return;
        case Kind::stats:
            append_stats(out, type, bytes, how.div, tables_.is_old);
            return;
        case Kind::kernel_stack:
        case Kind::user_stack:
            write_stack(out, type, bytes);
            return;
        default:
            out += word(type, bytes);
            return;
    }
}

// Each CPU has an idle task, and all of them have the id 0.
std::string ValueWriter::task_name(std::uint32_t tid) const {
    return tid == 0 ? "swapper" : names_.task_name(tid);
}

std::string ValueWriter::word(const Type& type, Bytes bytes) const {
    switch (type.kind) {
        case Kind::kernel_symbol: {
            const auto address = load<std::uint64_t>(bytes);
            return symbol_text(names_.kernel(address, FramePlace::innermost), address);
        }
        case Kind::user_symbol: {
            const auto address = load<std::uint64_t>(bytes);
            return symbol_text(
                names_.user(load<std::uint32_t>(bytes, 8), address, FramePlace::innermost),
                address);
        }
        case Kind::inet:
            return inet_text(bytes);
        case Kind::mac_address:
            return mac_text(bytes);
        case Kind::user_name:
            return names_.user_name(number_of(type, bytes));
        case Kind::task_name:
            return task_name(load<std::uint32_t>(bytes));
        case Kind::timestamp:
            return timestamp(bytes);
        case Kind::cgroup_path:
            return names_.cgroup_path(number_of(type, bytes));
        case Kind::error_name:
            return error_words(load<std::int32_t>(bytes));
        case Kind::syscall_name:
            return syscall_words(load<std::int32_t>(bytes));
        case Kind::signal_name:
            return signal_words(load<std::int32_t>(bytes));
        case Kind::probe_name: {
            const auto name = tables_.names.find(number_of(type, bytes));
            if (name != tables_.names.end()) return function_signature(name->second);
            return names_.kernel(number_of(type, bytes), FramePlace::innermost).name;
        }
        default:
            return {};
    }
}

std::string ValueWriter::timestamp(Bytes bytes) const {
    const auto format = load<std::uint32_t>(bytes, 8);
    if (format >= tables_.formats.size()) return {};
    const auto clock = static_cast<ValueNames::Clock>(load<std::uint32_t>(bytes, 12));
    return time_text(tables_.formats[format], names_.wall_ns(clock, load<std::uint64_t>(bytes)));
}

void ValueWriter::write_array(std::string& out, const Type& type, Bytes bytes, How how) const {
    out += '[';
    for (std::size_t i = 0; i < type.count; ++i) {
        if (i > 0) out += ',';
        write(out, *type.element, bytes.subspan(i * type.element->bytes), how);
    }
    out += ']';
}

void ValueWriter::write_tuple(std::string& out, const Type& type, Bytes bytes, How how) const {
    out += '(';
    bool is_first = true;
    for (const Type::Field& field : type.fields) {
        if (!is_first) out += how.blanks == Blanks::yes ? ", " : ",";
        is_first = false;
        write_field(out, field, bytes, how);
    }
    out += ')';
}

void ValueWriter::write_record(std::string& out, const std::vector<Type::Field>& fields,
                               Bytes bytes, How how) const {
    const bool has_blanks = how.blanks == Blanks::yes && !fields.empty();
    out += has_blanks ? "{ " : "{";
    bool is_first = true;
    for (const Type::Field& field : fields) {
        if (!is_first) out += has_blanks ? ", " : ",";
        is_first = false;
        out += '.';
        out += field.name;
        out += has_blanks ? " = " : "=";
        write_field(out, field, bytes, how);
    }
    out += has_blanks ? " }" : "}";
}

void ValueWriter::write_field(std::string& out, const Type::Field& field, Bytes bytes,
                              How how) const {
    const Bytes unit = bytes.subspan(field.offset);
    if (field.bit_size == 0) return write(out, *field.type, unit, how);
    const std::uint64_t number = bit_field_of(field, unit);
    write(out, *field.type, bytes_of(number), how);
}

void ValueWriter::write_stack(std::string& out, const Type& type, Bytes bytes) const {
    out += '\n';
    const auto id = load<std::int32_t>(bytes);
    const auto pid = load<std::uint32_t>(bytes, sizeof id);
    if (id < 0) return;
    std::vector<std::uint64_t> frames = names_.frames(type.map, id);
    if (type.frames > 0 && frames.size() > type.frames) frames.resize(type.frames);
    auto at = FramePlace::innermost;
    for (const std::uint64_t address : frames) {
        if (type.form == Type::StackForm::raw) {
            append(out, std::string_view(hex(address)).substr(2)), out += '\n';
            continue;
        }
        const bool is_user = type.is(Kind::user_stack);
        if (type.form == Type::StackForm::build_id) {
            const auto place = names_.file_place(pid, address);
            for (const char byte : place ? place->build_id : std::string())
                out += hex(static_cast<unsigned char>(byte), 2).substr(2);
            out += place ? cat(' ', hex(place->offset, 2)) : hex(address).substr(2);
            out += '\n';
            continue;
        }
        const Frame frame = is_user ? names_.user(pid, address, at) : names_.kernel(address, at);
        at = FramePlace::outer;
        const bool is_perf = type.form == Type::StackForm::perf;
        const std::string begin =
            is_perf ? cat('\t', std::string_view(hex(address)).substr(2), ' ') : "        ";
        std::string source = is_perf ? "" : frame.source;
        const auto end_line = [&] { out += source.empty() ? "\n" : cat('@', source, '\n'); };
        for (const InlinedFunction& one : frame.inlined) {
            out += begin;
            out += is_perf ? cat(one.name, " (inlined)") : cat("[inlined] ", one.name);
            end_line();
            if (!is_perf) source = one.called_at;
        }
        out += begin;
        out += symbol_text(frame, address);
        if (!frame.name.empty()) out += cat('+', frame.offset);
        const std::string& module = frame.path.empty() ? frame.module : frame.path;
        if (is_perf && is_user && !module.empty()) out += cat(" (", module, ')');
        end_line();
    }
}

void ValueWriter::json(std::string& out, const Type& type, Bytes bytes, std::uint64_t div) const {
    switch (type.kind) {
        case Kind::none:
        case Kind::boolean:
            write(out, type, bytes, {});
            return;
        case Kind::integer:
        case Kind::pointer:
            append_json_number(out, divided(number_of(type, bytes), type.is_signed, div),
                               type.is_signed);
            return;
        case Kind::count:
        case Kind::sum:
        case Kind::min:
        case Kind::max:
        case Kind::avg:
            append_json_number(out, divided(result_of(type, bytes), type.is_signed, div),
                               type.is_signed);
            return;
        case Kind::stats:
            append_stats_json(out, type, bytes, div);
            return;
        case Kind::buffer: {
            JsonArray numbers;
            for (const std::byte byte : contents_of(type, bytes))
                numbers.add_number(static_cast<unsigned>(byte));
            out += numbers.done();
            return;
        }
        case Kind::array:
            json_array(out, type, bytes, div);
            return;
        case Kind::structure:
        case Kind::tuple:
            if (is_record(type))
                json_record(out, members_of(type), bytes, div);
            else
                json_tuple(out, type, bytes, div);
            return;
        default: {
            std::string text;
            write(text, type, bytes, {});
            append_json_quoted(out, text);
            return;
        }
    }
}

void ValueWriter::json_array(std::string& out, const Type& type, Bytes bytes,
                             std::uint64_t div) const {
    out += '[';
    for (std::size_t i = 0; i < type.count; ++i) {
        if (i > 0) out += ',';
        json(out, *type.element, bytes.subspan(i * type.element->bytes), div);
    }
    out += ']';
}

void ValueWriter::json_tuple(std::string& out, const Type& type, Bytes bytes,
                             std::uint64_t div) const {
    out += '[';
    bool is_first = true;
    for (const Type::Field& field : type.fields) {
        if (!is_first) out += ',';
        is_first = false;
        json_field(out, field, bytes, div);
    }
    out += ']';
}

void ValueWriter::json_record(std::string& out, const std::vector<Type::Field>& fields, Bytes bytes,
                              std::uint64_t div) const {
    out += '{';
    bool is_first = true;
    for (const Type::Field& field : fields) {
        append_json_name(out, field.name, is_first);
        json_field(out, field, bytes, div);
    }
    out += '}';
}

void ValueWriter::json_field(std::string& out, const Type::Field& field, Bytes bytes,
                             std::uint64_t div) const {
    const Bytes unit = bytes.subspan(field.offset);
    if (field.bit_size == 0) return json(out, *field.type, unit, div);
    const std::uint64_t number = bit_field_of(field, unit);
    json(out, *field.type, bytes_of(number), div);
}

}  // namespace gpufs::bt
