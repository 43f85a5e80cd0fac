#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/shared/command.h"
#include "engine/recording/wanted_records.h"
#include "engine/session/session.h"
#include "engine/trace/live_trace.h"
#include "lang/expr/expr.h"
#include "view/trace/json.h"
#include "view/trace/kernel_text.h"

namespace gpufs {

// How records are printed.
struct ShowForm {
    bool json = false;
    Controls controls = Controls::escaped;
    // Text: behind the error that a system call returns, which the kernel prints as a number, its
    // name: "sys_openat -> 0xfffffffffffffffe ENOENT".
    bool names_errors = false;
};

// Which records of a session's buffer are printed, and how.
struct ShowChoices {
    std::vector<std::string> events{};      // words as Events::match() takes them; empty: all
    std::optional<Expression> condition{};  // an event that lacks a field of it is not printed
    std::optional<unsigned long> last{};    // only so many events, each with its stacks
    ShowForm form{};
    bool strict = false;

    // Whether records must be looked into, which the kernel's own text does not allow.
    bool needs_fields() const { return form.json || condition || !events.empty(); }
};

// Turns the wanted records into lines, in the form that the user asked for.
class RecordPrinter {
public:
    RecordPrinter(const Session& session, const ShowChoices& choices);

    // Makes `lines` those of the next wanted record. Null when the source has none now.
    template <class Source>
    const TraceRecord* next(Source& source, std::string& lines) {
        const TraceRecord* const record = wanted_.next(source);
        lines.clear();
        if (record && is_json_)
            json_.print(*record, lines);
        else if (record)
            text_.print(*record, lines);
        return record;
    }
    // A stack belongs to the event before it and is not counted as one.
    bool is_stack(const TraceRecord& record) { return wanted_.is_stack(record.id()); }
    void refresh_names() { trace_.context().tasks.refresh(); }

private:
    LiveTrace trace_;
    KernelText text_;
    TraceJson json_;
    WantedRecords wanted_;
    bool is_json_;
};

// Prints what is in the buffer, and leaves it there. `file` is the kernel's text, `trace` or
// `snapshot`.
void copy_text(Context& ctx, const Tracefs& at, const char* file, const ShowChoices& choices);
// The same for chosen records. Throws UnsupportedError where the kernel gives their fields only by
// taking them out.
void print_buffer(Context& ctx, const Session& session, const ShowChoices& choices);
// Prints the records and takes them out of the buffer. Returns the exit status.
int consume_buffer(Context& ctx, const Session& session, const ShowChoices& choices);
// Prints what is in the buffer by whatever way this kernel has: JSON consumes the records, and says
// so, if there is no other way to get their fields.
void print_or_consume_buffer(Context& ctx, const Session& session, const ShowChoices& choices);

// Tells what was read and what is missing of it: a line on `err`, or a last object of JSON.
void tell_end_of_buffer(Context& ctx, const ShowChoices& choices, std::size_t shown,
                        std::string_view what, const LossLedger& losses);
void tell_damage(Context& ctx, const std::vector<std::string>& damage);

}  // namespace gpufs
