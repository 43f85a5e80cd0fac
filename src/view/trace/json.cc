#include "view/trace/json.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/bytes.h"
#include "base/cat.h"
#include "view/json.h"
#include "view/losses.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

// Seconds with nine decimals.
void append_seconds(std::string& out, std::uint64_t ns) {
    append(out, ns / 1'000'000'000);
    char digits[10] = {'.'};
    std::uint64_t rest = ns % 1'000'000'000;
    for (std::size_t i = 9; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
    out.append(digits, sizeof digits);
}

void append_number_of(std::string& out, RecordBytes bytes, bool is_signed) {
    Field number;
    number.size = bytes.size();
    number.is_signed = is_signed;
    const std::uint64_t value = integer_of(number, bytes);
    if (is_signed)
        append(out, static_cast<std::int64_t>(value));
    else
        append(out, value);
}

void append_numbers(std::string& out, RecordBytes bytes, std::size_t size, bool is_signed) {
    if (size != 2 && size != 4 && size != 8) size = 1;
    out += '[';
    for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
        if (at) out += ',';
        append_number_of(out, bytes.subspan(at, size), is_signed);
    }
    out += ']';
}

// The field's bytes. An array without a size at the end of a record extends to the record's end.
RecordBytes value_bytes(const Field& field, RecordBytes record) {
    if (field.is_array && !field.is_dynamic() && field.size == 0)
        return field.offset <= record.size() ? record.subspan(field.offset) : RecordBytes{};
    return bytes_of(field, record);
}

}  // namespace

void append_trace_time(std::string& out, std::uint64_t time, bool is_ns) {
    if (is_ns)
        append_seconds(out, time);
    else
        append(out, time);
}

void append_json_value(std::string& out, const Field& field, RecordBytes record) {
    const RecordBytes bytes = value_bytes(field, record);
    if (field.holds_text()) {
        append_json_quoted(out, up_to_nul(bytes));
    } else if (field.is_array || field.is_dynamic()) {
        append_numbers(out, bytes, field.element_size, field.is_signed);
    } else if (field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8) {
        if (bytes.empty())
            out += '0';
        else
            append_number_of(out, bytes, field.is_signed);
    } else {
        append_numbers(out, bytes, 1, false);
    }
}

TraceJson::Plan TraceJson::make_plan(int id) {
    Plan p;
    p.event = context_.events.find(id);
    if (!p.event) return p;
    const EventFormat& format = p.event->format;
    p.name = cat(",\"event\":", json_quote(format.full_name()));
    p.stack = stack_field(format);
    for (const Field& f : format.fields)
        if (!f.is_common) p.members.push_back({&f, cat(json_quote(distinct_name(format, f)), ':')});
    return p;
}

void TraceJson::print(const TraceRecord& record, std::string& out) {
    if (!record.lost_before.is_zero()) {
        JsonObject lost;
        out += add_loss(lost, "lost", record.lost_before).number("cpu", record.cpu).done();
        out += '\n';
    }
    const Plan& p = plans_.get(record.id(), [&](int id) { return make_plan(id); });
    const CommonFields common = common_fields(record.bytes);
    const TraceOptions& options = context_.options;
    out += "{\"time\":";
    append_trace_time(out, record.timestamp, options.clock_is_ns);
    out += ",\"cpu\":";
    append(out, record.cpu);
    out += ",\"comm\":";
    append_json_quoted(out, context_.tasks.comm(common.pid));
    out += ",\"tid\":";
    append(out, common.pid);
    if (options.record_tgid) {
        out += ",\"pid\":";
        append(out, context_.tasks.tgid(common.pid));
    }
    out += p.name;
    if (!p.event) {
        out += cat(",\"id\":", record.id(), ",\"data\":");
        append_numbers(out, record.bytes, 1, false);
    } else if (p.stack.field) {
        print_stack(p, record, out);
    } else {
        out += ",\"fields\":{";
        for (const Plan::Member& member : p.members) {
            if (&member != p.members.data()) out += ',';
            out += member.key;
            append_json_value(out, *member.field, record.bytes);
        }
        out += '}';
    }
    out += ",\"flags\":\"";
    append_irq_info(out, common, options);
    out += "\"}\n";
}

std::string records_summary_json(std::size_t records, const LossLedger& losses) {
    JsonObject summary;
    summary.number("records", records);
    add_loss(summary, "lost", losses.total()).raw("losses", losses_json(losses));
    return JsonObject().raw("summary", summary.done()).done();
}

void TraceJson::print_stack(const Plan& p, const TraceRecord& record, std::string& out) {
    const auto stack = stack_of(*p.stack.field, record.bytes, p.stack.is_user);
    out += stack.empty() ? ",\"stack\":null" : ",\"stack\":[";
    std::string name;
    const AddressNames& names = context_.addresses;
    const AddressNames user = user_names(context_, record, p.stack.is_user);
    for (std::size_t i = 0; i < stack.size(); ++i) {
        if (i != 0) out += ',';
        name.clear();
        append_frame(name, stack[i], frame_place(i), p.stack.is_user ? user : names,
                     context_.options.sym_offset);
        append_json_quoted(out, name);
    }
    if (!stack.empty()) out += ']';
}

}  // namespace gpufs
