#include "view/trace/kernel_records.h"

#include <algorithm>

#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

constexpr std::size_t kCommWidth = 16;  // "%16s"
constexpr std::size_t kFlagsMost = 8;
// What may stand in front of the event's name, and as much again.
constexpr std::size_t kColumnsMost = 256;

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Takes what stands at the beginning of a text, a piece at a time.
class Pieces {
public:
    explicit Pieces(std::string_view text) : text_(text) {}
    bool take(std::string_view piece) {
        if (!text_.substr(at_).starts_with(piece)) return false;
        at_ += piece.size();
        return true;
    }
    // How many digits there were.
    std::size_t take_digits() { return take_while(is_digit); }
    std::size_t take_blanks() {
        return take_while([](char c) { return c == ' '; });
    }
    // "d..2.", with the option irq-info.
    void skip_flags() {
        const std::size_t length = rest().find(' ');
        if (length <= kFlagsMost) skip(length);
    }
    void skip(std::size_t n) { at_ = std::min(text_.size(), at_ + n); }
    std::string_view rest() const { return text_.substr(at_); }
    std::size_t taken() const { return at_; }

private:
    template <class Is>
    std::size_t take_while(Is&& is) {
        const std::size_t start = at_;
        while (at_ < text_.size() && is(text_[at_])) ++at_;
        return at_ - start;
    }
    std::string_view text_;
    std::size_t at_ = 0;
};

// "(    812) ", "(-------) ": the process, with the option record-tgid.
bool take_process(Pieces& pieces) {
    if (pieces.take("(-------) ")) return true;
    pieces.take_blanks();
    return pieces.take_digits() > 0 && pieces.take(") ");
}

// The length of the columns that a record begins with; 0 if the text does not begin with them.
//   "         python3-5217    [001] d..2.   220.941431: "
std::size_t columns_length(std::string_view text) {
    if (text.size() <= kCommWidth) return 0;
    Pieces pieces(text);
    pieces.skip(kCommWidth);
    if (!pieces.take("-")) return 0;
    pieces.take("-");  // a pid that is not known: -1
    if (pieces.take_digits() == 0 || pieces.take_blanks() == 0) return 0;
    if (pieces.rest().starts_with("(") && (pieces.skip(1), !take_process(pieces))) return 0;
    if (!pieces.take("[") || pieces.take_digits() < 3 || !pieces.take("] ")) return 0;
    pieces.skip_flags();
    if (pieces.take_blanks() == 0 || pieces.take_digits() == 0) return 0;
    if (pieces.take(".") && pieces.take_digits() == 0) return 0;
    return pieces.take(": ") ? pieces.taken() : 0;
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
