#include "view/trace/kernel_records.h"

#include <algorithm>
#include <functional>

#include "base/scan.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

constexpr std::size_t kCommWidth = 16;  // "%16s"
constexpr std::size_t kFlagsMost = 8;
// What may stand in front of the event's name, and as much again.
constexpr std::size_t kColumnsMost = 256;

bool is_blank(char c) {
    return c == ' ';
}
bool take_digits(Scan& scan) {
    return !scan.take_all(is_digit).empty();
}
bool take_blanks(Scan& scan) {
    return !scan.take_all(is_blank).empty();
}

// "(    812) ", "(-------) ": the process, with the option record-tgid.
bool take_process(Scan& scan) {
    if (scan.take("(-------) ")) return true;
    if (!scan.take("(")) return false;
    take_blanks(scan);
    return take_digits(scan) && scan.take(") ");
}

// "d..2.", with the option irq-info.
void skip_flags(Scan& scan) {
    if (scan.rest().find(' ') <= kFlagsMost) scan.take_all(std::not_fn(is_blank));
}

// The length of the columns that a record begins with; 0 if the text does not begin with them.
//   "         python3-5217    [001] d..2.   220.941431: "
std::size_t columns_length(std::string_view text) {
    if (text.size() <= kCommWidth) return 0;
    Scan scan(text.substr(kCommWidth));
    if (!scan.take("-")) return 0;
    scan.take("-");  // a pid that is not known: -1
    if (!take_digits(scan) || !take_blanks(scan)) return 0;
    if (scan.rest().starts_with('(') && !take_process(scan)) return 0;
    if (!scan.take("[") || scan.take_all(is_digit).size() < 3 || !scan.take("] ")) return 0;
    skip_flags(scan);
    if (!take_blanks(scan) || !take_digits(scan)) return 0;
    if (scan.take(".") && !take_digits(scan)) return 0;
    return scan.take(": ") ? text.size() - scan.rest().size() : 0;
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

// What the kernel writes between records: "CPU:1 [LOST 5 EVENTS]", "##### CPU 1 buffer started
// ####".
bool is_remark(std::string_view line) {
    return (line.starts_with("CPU:") && line.ends_with(" EVENTS]")) ||
           (line.starts_with("##### CPU ") && line.ends_with(" buffer started ####"));
}

bool is_stack_at(std::string_view text) {
    return text.starts_with("<stack trace>\n") || text.starts_with("<user stack trace>\n");
}

}  // namespace

std::size_t first_record_length(std::string_view text, bool is_all) {
    const std::size_t columns = columns_length(text);
    const bool is_stack = is_stack_at(text.substr(columns));
    std::size_t from = columns;
    for (;;) {
        const std::size_t end = text.find('\n', from);
        if (!is_all && (end == text.npos || text.size() - end < kColumnsMost)) return 0;
        if (end == text.npos || end + 1 == text.size()) return text.size();
        from = end + 1;
        const std::string_view rest = text.substr(from);
        if (columns == 0 || columns_length(rest) > 0 || is_remark(first_line(rest))) return from;
        if (is_stack && !rest.starts_with(" => ")) return from;
    }
}

bool is_stack_record(std::string_view record) {
    const std::size_t columns = columns_length(record);
    return columns > 0 && is_stack_at(record.substr(columns));
}

void append_record(std::string& out, std::string_view record, Controls controls) {
    if (controls == Controls::raw) {
        out += record;
        return;
    }
    const bool is_stack = is_stack_record(record);
    if (columns_length(record) > 0) {
        std::string_view comm = record.substr(0, kCommWidth);
        comm.remove_prefix(std::min(comm.find_first_not_of(' '), comm.size()));
        append_comm(out, comm, controls);
        record.remove_prefix(kCommWidth);
    }
    if (is_stack) {
        out += printable_lines(record, controls);
    } else {
        const std::size_t start = out.size();
        out += record;
        make_line_printable(out, start, controls);
    }
}

}  // namespace gpufs
