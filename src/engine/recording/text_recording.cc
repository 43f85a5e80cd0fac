#include "engine/recording/text_recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "engine/recording/line_reader.h"
#include "engine/recording/made_record.h"
#include "engine/recording/recorded_events.h"
#include "engine/recording/text_symbols.h"
#include "engine/trace/kernel_events.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/event/made_format.h"
#include "lang/trace_text/event_text.h"
#include "lang/trace_text/line.h"

namespace gpufs {
namespace {

// Ids of the tracer's own events, and of the first other.
enum OwnId : std::uint16_t { kFunction = 1, kKernelStack = 4, kPrint = 5, kUserStack = 12 };
constexpr int kFirstTextId = 1000, kLastTextId = 0xffff;
constexpr std::size_t kMostFrames = 1000;

// What a line is.
enum class LineKind { event, function, kernel_stack, user_stack, print };

// trace-cmd puts a name in front of all; the kernel has none for functions and stacks.
LineKind kind_of(const TraceTextLine& line) {
    const std::string_view all = line.event.empty() ? line.text : line.event;
    if (line.event.empty()) {
        if (all.starts_with("<stack trace>")) return LineKind::kernel_stack;
        if (all.starts_with("<user stack trace>")) return LineKind::user_stack;
        return LineKind::function;
    }
    if (all == "kernel_stack") return LineKind::kernel_stack;
    if (all == "user_stack") return LineKind::user_stack;
    if (all == "function") return LineKind::function;
    if (all == "print" || all == "bprint" || all == "bputs" || all == "tracing_mark_write")
        return LineKind::print;
    return LineKind::event;
}

// " => schedule", "=> schedule (ffffffff821f8c03)", "\t=> 0x7f12".
std::optional<std::string_view> frame_of(std::string_view line) {
    line = trim(line);
    if (!line.starts_with("=> ")) return std::nullopt;
    return trim(line.substr(3));
}

// The events of this machine, by the name that a text has. None where they cannot be read.
class EventsHere {
public:
    std::vector<KnownEvent> find(std::string_view name) {
        std::vector<KnownEvent> found;
        if (!events_) load();
        const auto [begin, end] = names_.equal_range(name);
        for (auto it = begin; it != end; ++it)
            if (const EventFormat* const format = events_->find_format(it->second))
                found.push_back({*format, text_templates(it->second)});
        return found;
    }

private:
    void load() {
        events_.emplace();
        try {
            events_ = kernel_events(find_tracefs());
            for (const std::string& name : events_->names())
                names_.emplace(name.substr(name.find(':') + 1), name);
        } catch (const Error&) {  // not root, or no tracefs
            events_.emplace();
        }
    }

    std::optional<Events> events_;
    std::multimap<std::string, std::string, std::less<>> names_;
};

class TextRecording : public RecordSource {
public:
    TextRecording(Fd file, const std::string& path);

    TraceContext& context() override { return context_; }
    const RecordingFacts& facts() const override { return facts_; }
    const std::vector<RecordingBuffer>& buffers() const override { return buffers_; }
    std::size_t buffer_of(const TraceRecord&) const override { return 0; }

    const TraceRecord* next() override;
    const TraceRecord* peek_behind(std::size_t n) override;
    const TraceRecord* take_behind(std::size_t n) override;
    void rewind(const std::vector<unsigned>& cpus, std::uint64_t) override;

    RecordingProgress progress() const override { return {lines_.bytes_read(), buffers_[0].bytes}; }
    std::vector<std::string> damage() const override;
    std::vector<std::string> notes() const override { return notes_; }

private:
    // A record, its bytes, and what its line tells of its task.
    struct Made {
        TraceRecord record;
        std::vector<std::byte> bytes;
        int pid = 0, process = 0;
        std::string comm;
    };
    // As many lines are read ahead of the record that is given out.
    static constexpr std::size_t kMostAhead = 1000;
    const TraceRecord* give();
    std::size_t index_ahead(std::size_t n);
    void look_at_all();
    void look_at(const TraceTextLine& line);
    void make_events(const std::string& path);
    void make_own_events(RecordedEvents& formats);
    bool read_one(Made& made);
    void make(LineKind kind, const TraceTextLine& line, Made& made);
    void make_function(const TraceTextLine& line, Made& made);
    void make_print(const TraceTextLine& line, Made& made);
    void make_stack(bool is_user, const TraceTextLine& line, Made& made);
    std::optional<std::string_view> next_line();

    Fd file_;
    LineReader lines_;
    TraceContext context_;
    RecordingFacts facts_;
    std::vector<RecordingBuffer> buffers_;
    TraceHeading heading_;
    std::map<std::string, EventText, std::less<>> events_;
    EventsHere here_;
    TextSymbols symbols_;
    std::vector<std::string> notes_;
    std::set<int> seen_cpus_;
    bool has_records_ = false;

    WantedCpus cpus_;
    Made current_, taken_;
    std::deque<Made> ahead_;  // records after the current one
    bool has_ended_ = false;
    std::string held_line_;  // that ended a stack
    bool holds_line_ = false;
    std::map<int, Loss> lost_;
    bool is_first_ = true;
    std::uint64_t strange_ = 0, first_strange_ = 0;  // lines
    std::uint64_t unread_ = 0, first_unread_ = 0;
    std::uint64_t early_ = 0, first_early_ = 0;
    std::uint64_t latest_ = 0;  // time so far
};

TextRecording::TextRecording(Fd file, const std::string& path)
    : file_(std::move(file)), lines_(file_.get()) {
    struct stat status {};
    check(::fstat(file_.get(), &status), [&] { return cat("read '", path, "'"); });
    facts_.format = "text";
    context_.addresses.symbol = [this](std::uint64_t address) { return symbols_.find(address); };
    look_at_all();
    make_events(path);
    RecordingBuffer& buffer = buffers_.emplace_back();
    buffer.bytes = static_cast<std::uint64_t>(status.st_size);
    facts_.cpus = std::max(heading_.cpus, seen_cpus_.empty()
                                              ? std::size_t{1}
                                              : static_cast<std::size_t>(*seen_cpus_.rbegin()) + 1);
    for (std::size_t cpu = 0; cpu < facts_.cpus; ++cpu)
        buffer.cpus.push_back(static_cast<int>(cpu));
    rewind({}, 0);
}

void TextRecording::look_at(const TraceTextLine& line) {
    if (!has_records_) context_.options.clock_is_ns = line.is_ns;
    has_records_ = true;
    if (line.process != 0) context_.options.record_tgid = true;
    if (kind_of(line) != LineKind::event) return;
    auto known = events_.find(line.event);
    if (known == events_.end()) {
        if (events_.size() >= kLastTextId - kFirstTextId) return;
        std::vector<KnownEvent> candidates = known_events(line.event);
        for (KnownEvent& one : here_.find(line.event)) candidates.push_back(std::move(one));
        known =
            events_.try_emplace(std::string(line.event), line.event, std::move(candidates)).first;
    }
    known->second.look_at(line.text);
}

// A last line that is cut says nothing about its event.
void TextRecording::look_at_all() {
    while (const auto line = lines_.next())
        if (const auto record = parse_trace_line(*line)) {
            seen_cpus_.insert(record->cpu);
            if (lines_.is_whole()) look_at(*record);
        } else if (!has_records_) {
            take_heading(*line, heading_);
        }
}

void TextRecording::make_own_events(RecordedEvents& formats) {
    MadeFields function, print;
    function.add("unsigned long ip", 8, false);
    function.add("unsigned long parent_ip", 8, false);
    print.add("unsigned long ip", 8, false);
    print.add("char buf[]", 0, false);
    const auto add = [&](std::string_view name, int id, const MadeFields& fields) {
        formats.add("ftrace", made_format(name, id, fields, "\"\""));
    };
    add("function", kFunction, function);
    add("print", kPrint, print);
    formats.add("ftrace", kernel_stack_format(kKernelStack));
    formats.add("ftrace", user_stack_format(kUserStack));
}

void TextRecording::make_events(const std::string& path) {
    auto formats = std::make_unique<RecordedEvents>(path);
    make_own_events(*formats);
    std::vector<std::string> by_pairs;
    int id = kFirstTextId;
    for (auto& [name, event] : events_) {
        const EventText::Made made = event.make_format(id++);
        if (!made.is_exact) by_pairs.push_back(name);
        formats->add(made.system, made.format_text);
    }
    context_.events = Events(std::move(formats));
    if (by_pairs.empty()) return;
    const std::size_t count = by_pairs.size();
    if (count > 8) by_pairs.resize(8);
    notes_.push_back(cat("a text has no formats of events: the fields of ", join(by_pairs, ", "),
                         count > 8 ? cat(" and ", count - 8, " more") : std::string(),
                         " are what stands as name=value in its lines"));
}

void TextRecording::rewind(const std::vector<unsigned>& cpus, std::uint64_t) {
    cpus_ = WantedCpus(cpus);
    lines_.rewind();
    holds_line_ = has_ended_ = false;
    ahead_.clear();
    lost_.clear();
    is_first_ = true;
    strange_ = unread_ = early_ = 0;
    latest_ = 0;
}

std::optional<std::string_view> TextRecording::next_line() {
    if (!holds_line_) return lines_.next();
    holds_line_ = false;
    return held_line_;
}

const TraceRecord* TextRecording::next() {
    if (ahead_.empty()) return read_one(current_) ? give() : nullptr;
    current_ = std::move(ahead_.front());
    ahead_.pop_front();
    return give();
}

const TraceRecord* TextRecording::give() {
    if (current_.pid > 0 && current_.comm != TaskNames::kUnknown) {
        context_.tasks.add(current_.pid, current_.comm);
        if (current_.process != 0) context_.tasks.add_process(current_.pid, current_.process);
    }
    return &current_.record;
}

// Where in ahead_ the n-th record of the current one's CPU is; its size if it is not among them.
std::size_t TextRecording::index_ahead(std::size_t n) {
    for (std::size_t i = 0; i < kMostAhead; ++i) {
        if (i == ahead_.size()) {
            Made next;
            if (!read_one(next)) break;
            ahead_.push_back(std::move(next));
        }
        if (ahead_[i].record.cpu == current_.record.cpu && n-- == 0) return i;
    }
    return ahead_.size();
}

const TraceRecord* TextRecording::peek_behind(std::size_t n) {
    const std::size_t i = index_ahead(n);
    return i < ahead_.size() ? &ahead_[i].record : nullptr;
}

const TraceRecord* TextRecording::take_behind(std::size_t n) {
    const auto at = ahead_.begin() + static_cast<std::ptrdiff_t>(index_ahead(n));
    taken_ = std::move(*at);
    ahead_.erase(at);
    return &taken_.record;
}

bool TextRecording::read_one(Made& made) {
    for (;;) {
        const auto text = next_line();
        has_ended_ = !text;
        if (!text) return false;
        const auto line = parse_trace_line(*text);
        if (!line) {
            TraceHeading heading;
            if (const auto lost = parse_lost_line(*text))
                lost_[lost->cpu] +=
                    lost->count == 0 ? Loss::at_least(1) : Loss::exactly(lost->count);
            else if (!text->empty() && !take_heading(*text, heading) &&
                     !text->starts_with("##### CPU ") && strange_++ == 0)
                first_strange_ = lines_.line();
            continue;
        }
        made.record = {};
        if (line->time < latest_ && early_++ == 0) first_early_ = lines_.line();
        made.record.timestamp = latest_ = std::max(latest_, line->time);
        made.record.cpu = line->cpu;
        made.record.stream = static_cast<std::size_t>(line->cpu);
        made.pid = line->common.pid;
        made.process = line->process;
        made.comm = line->comm;
        made.bytes.clear();
        make(kind_of(*line), *line, made);
        if (!cpus_.has(line->cpu)) continue;
        if (made.bytes.empty()) {
            if (unread_++ == 0) first_unread_ = lines_.line();
            continue;
        }
        if (is_first_ && heading_.overwritten > 0)
            made.record.lost_before = Loss::exactly(heading_.overwritten);
        is_first_ = false;
        made.record.lost_before += std::exchange(lost_[made.record.cpu], {});
        made.record.bytes = made.bytes;
        return true;
    }
}

// No bytes: the line cannot be read.
void TextRecording::make(LineKind kind, const TraceTextLine& line, Made& made) {
    switch (kind) {
        case LineKind::function:
            return make_function(line, made);
        case LineKind::print:
            return make_print(line, made);
        case LineKind::kernel_stack:
        case LineKind::user_stack:
            return make_stack(kind == LineKind::user_stack, line, made);
        case LineKind::event:
            break;
    }
    const auto known = events_.find(line.event);
    if (known == events_.end() || !known->second.encode(line.text, line.common, made.bytes))
        made.bytes.clear();
}

// "do_idle <-cpu_startup_entry", "do_idle <-- cpu_startup_entry".
void TextRecording::make_function(const TraceTextLine& line, Made& made) {
    const auto arrow = line.text.find(" <-");
    std::string_view caller;
    if (arrow != line.text.npos) {
        caller = line.text.substr(arrow + 3);
        if (caller.starts_with('-')) caller.remove_prefix(1);
    }
    made.bytes.assign(24, {});
    put_common(made.bytes, kFunction, line.common);
    put_at(made.bytes, 8, symbols_.address_of(line.text.substr(0, arrow)));
    put_at(made.bytes, 16, caller.empty() ? std::uint64_t{0} : symbols_.address_of(caller));
}

// "tracing_mark_write: text"; trace-cmd: "print: tracing_mark_write: text".
void TextRecording::make_print(const TraceTextLine& line, Made& made) {
    std::string_view function = line.event, text = line.text;
    if (line.event != "tracing_mark_write") {
        const auto colon = text.find(": ");
        function = text.substr(0, colon);
        text.remove_prefix(colon == text.npos ? text.size() : colon + 2);
    }
    made.bytes.assign(16 + text.size() + 2, {});
    put_common(made.bytes, kPrint, line.common);
    put_at(made.bytes, 8, symbols_.address_of(function));
    std::memcpy(made.bytes.data() + 16, text.data(), text.size());
    put_at(made.bytes, 16 + text.size(), '\n');
}

// The frames stand in the lines behind.
void TextRecording::make_stack(bool is_user, const TraceTextLine& line, Made& made) {
    made.bytes.assign(16, {});
    put_common(made.bytes, is_user ? kUserStack : kKernelStack, line.common);
    if (is_user) put_at(made.bytes, 8, static_cast<std::int32_t>(line.process));
    // The line goes away with the next one; all that is needed of it is taken by now.
    for (auto text = lines_.next(); text; text = lines_.next()) {
        const auto frame = frame_of(*text);
        if (!frame) {
            held_line_ = *text;
            holds_line_ = true;
            break;
        }
        if (made.bytes.size() > 16 + 8 * kMostFrames) continue;
        std::uint64_t address = 0;
        std::string_view digits = *frame;
        const auto open = digits.find('<');
        if (open != digits.npos) digits = digits.substr(open + 1);
        if (digits.starts_with("0x")) digits.remove_prefix(2);
        if (is_user) std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
        if (!is_user) address = symbols_.address_of(*frame);
        if (address == 0) continue;
        made.bytes.resize(made.bytes.size() + 8);
        put_at(made.bytes, made.bytes.size() - 8, address);
    }
}

std::vector<std::string> TextRecording::damage() const {
    std::vector<std::string> all;
    if (has_ended_)
        for (const auto& [cpu, lost] : lost_)
            if (!lost.is_zero() && cpus_.has(cpu))
                all.push_back(lost_behind_last(static_cast<std::uint64_t>(cpu), lost));
    if (strange_ > 0)
        all.push_back(cat("line ", first_strange_, ": it is no record",
                          strange_ > 1 ? cat(", nor are ", strange_ - 1, " more lines") : ""));
    if (unread_ > 0)
        all.push_back(cat("line ", first_unread_, ": its event cannot be read",
                          unread_ > 1 ? cat(", nor those of ", unread_ - 1, " more lines") : ""));
    if (early_ > 0)
        all.push_back(cat("line ", first_early_, ": it is earlier than a line above",
                          early_ > 1 ? cat(", as are ", early_ - 1, " more lines") : "",
                          ", whose time it gets"));
    return all;
}

}  // namespace

std::unique_ptr<RecordSource> open_text_recording(Fd file, const std::string& path) {
    return std::make_unique<TextRecording>(std::move(file), path);
}

}  // namespace gpufs
