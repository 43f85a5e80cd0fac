#include "view/trace/csv.h"

#include "base/cat.h"
#include "view/trace/json.h"
#include "view/trace/record_bytes.h"

namespace gpufs {
namespace {

// The cell that `out` has from `start` on: what a spreadsheet would take apart stands in quotes.
void quote(std::string& out, std::size_t start) {
    if (out.find_first_of(",\"\r\n", start) == out.npos) return;
    const std::string text = out.substr(start);
    out.resize(start);
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

void append_value(std::string& out, const Field& field, RecordBytes record) {
    if (field.holds_text())
        out += text_of(field, record);
    else
        append_json_value(out, field, record);
}

}  // namespace

void RecordCsv::append_cell(std::string& out, std::string_view text) const {
    const std::size_t start = out.size();
    append_printable(out, text, context_.controls);
    quote(out, start);
}

RecordCsv::RecordCsv(TraceContext& context, std::string_view only) : context_(context) {
    if (!only.empty()) only_ = context.events.find(only);
}

std::string RecordCsv::header() const {
    std::string line = "time,cpu,tid,pid,comm,event";
    if (!only_) return line + ",fields\n";
    for (const std::string& field : only_->format.field_names()) {
        line += ',';
        append_cell(line, field);
    }
    return line + '\n';
}

RecordCsv::Plan RecordCsv::make_plan(int id) const {
    Plan plan;
    plan.event = context_.events.find(id);
    if (!plan.event) return plan;
    append_cell(plan.name, plan.event->format.full_name());
    plan.stack = stack_field(plan.event->format);
    return plan;
}

void RecordCsv::print(const TraceRecord& record, std::string& out) {
    const Plan& plan = plans_.get(record.id(), [&](int id) { return make_plan(id); });
    const TraceEvent* const event = plan.event;
    if (only_ && event != only_) return;
    const int tid = common_fields(record.bytes).pid;
    append_trace_time(out, record.timestamp, context_.options.clock_is_ns);
    out += ',';
    append(out, record.cpu);
    out += ',';
    append(out, tid);
    out += ',';
    if (const int pid = context_.tasks.tgid(tid); pid != 0) append(out, pid);
    out += ',';
    append_cell(out, context_.tasks.comm(tid));
    out += ',';
    if (!event) {
        out += cat("unknown event ", record.id(), ",\n");
        return;
    }
    out += plan.name;
    const StackField& stack = plan.stack;
    cell_.clear();
    if (stack.field) {
        cell_ += "stack=";
        const AddressNames user = user_names(context_, record, stack.is_user);
        const auto frames = stack_of(*stack.field, record.bytes, stack.is_user);
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (i != 0) cell_ += ';';
            append_frame(cell_, frames[i], frame_place(i),
                         stack.is_user ? user : context_.addresses, context_.options.sym_offset);
        }
    } else {
        for (const Field& field : event->format.fields) {
            if (field.is_common) continue;
            if (only_) {
                cell_.clear();
                append_value(cell_, field, record.bytes);
                out += ',';
                append_cell(out, cell_);
                continue;
            }
            if (!cell_.empty()) cell_ += ' ';
            cell_ += field.name;
            cell_ += '=';
            append_value(cell_, field, record.bytes);
        }
    }
    if (!only_) {
        out += ',';
        append_cell(out, cell_);
    }
    out += '\n';
}

}  // namespace gpufs
