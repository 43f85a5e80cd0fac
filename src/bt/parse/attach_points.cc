// Attach points: "kprobe:vfs_*", "uprobe:libc:malloc+0x10", "profile:hz:99".

#include <algorithm>
#include <span>

#include "base/cat.h"
#include "base/scan.h"
#include "base/signals.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bt/parse/work.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/perf_events.h"
#include "bt/syntax/words.h"

namespace gpufs::bt {
namespace {

constexpr std::uint64_t kNsPerSecond = 1000000000;

struct Part {
    std::string text;
    SourceRef at;
    bool is_quoted = false;
};

class AttachPointParser {
public:
    AttachPointParser(const Work& work, const Token& token) : work_(work), token_(token) {
        point_.at = token.at;
        split();
    }

    AttachPoint parse() {
        const Part provider = parts_[0];
        const Provider* found = find_provider(provider.text);
        if (found == nullptr) {
            const bool is_of_developers = provider.text == "bench" || provider.text == "test";
            throw Mistake{provider.at, cat("Invalid probe type: ", provider.text),
                          is_of_developers
                              ? "it is for bpftrace's own tests, which gpufs does not run"
                              : did_you_mean(provider.text, provider_names())};
        }
        point_.provider = *found;
        parts_.erase(parts_.begin());
        switch (*found) {
            case Provider::begin:
            case Provider::end:
                require(parts_.empty(), "nothing behind it");
                break;
            case Provider::self:
                self();
                break;
            case Provider::kprobe:
            case Provider::kretprobe:
            case Provider::fentry:
            case Provider::fexit:
                kernel_function();
                break;
            case Provider::uprobe:
            case Provider::uretprobe:
                user_function();
                break;
            case Provider::usdt:
                usdt();
                break;
            case Provider::tracepoint:
                tracepoint();
                break;
            case Provider::rawtracepoint:
                raw_tracepoint();
                break;
            case Provider::profile:
            case Provider::interval:
                timer();
                break;
            case Provider::software:
                perf_event(software_events());
                break;
            case Provider::hardware:
                perf_event(hardware_events());
                break;
            case Provider::watchpoint:
            case Provider::asyncwatchpoint:
                watchpoint();
                break;
            case Provider::iter:
                iter();
                break;
        }
        return std::move(point_);
    }

private:
    void split();
    void begin_part(std::size_t i) {
        const std::size_t at = token_.at.span.begin + i;
        parts_.push_back({{}, {token_.at.source, {at, at + 1}}, false});
    }
    void put_argument(std::size_t& i);

    [[noreturn]] void fail(std::string_view message, std::string_view hint = {}) const {
        throw Mistake{token_.at, cat(name_of(point_.provider), " ", message), std::string(hint)};
    }
    void require(bool holds, std::string_view form) const {
        if (!holds) fail(cat("takes ", form));
    }
    void require_parts(std::size_t least, std::size_t most, std::string_view form) const {
        require(
            parts_.size() >= least && parts_.size() <= most &&
                std::ranges::none_of(parts_, [](const Part& part) { return part.text.empty(); }),
            form);
    }
    static bool is_number(std::string_view text) { return !text.empty() && is_digit(text[0]); }
    static std::uint64_t number(const Part& part) { return number_value(part.text, part.at); }

    void name_and_offset(const Part& part);
    void function_or_address(const Part& part);
    void self();
    void kernel_function();
    void user_function();
    void usdt();
    void tracepoint();
    void raw_tracepoint();
    void timer();
    void perf_event(std::span<const PerfEventName> events);
    void watchpoint();
    void iter();

    const Work& work_;
    const Token& token_;
    std::vector<Part> parts_;
    AttachPoint point_;
};

// The parts between ':', without quotes and blanks, and with the script's arguments for $N.
void AttachPointParser::split() {
    const std::string_view text = token_.text;
    begin_part(0);
    bool is_in_quotes = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        Part& part = parts_.back();
        part.at.span.end = token_.at.span.begin + i + 1;
        if (text[i] == '"') {
            is_in_quotes = !is_in_quotes;
            part.is_quoted = true;
        } else if (text[i] == '\\' && is_in_quotes && i + 1 < text.size()) {
            part.text += text[++i];
            point_.text += text[i];
        } else if (text[i] == ':' && !is_in_quotes) {
            part.at.span.end = std::max(part.at.span.begin, part.at.span.end - 1);
            point_.text += ':';
            begin_part(i + 1);
        } else if (text[i] == '$') {
            put_argument(i);
        } else if (!is_space(text[i]) || is_in_quotes) {
            part.text += text[i];
            point_.text += text[i];
        }
    }
}

// Called at a '$'; leaves `i` at the last character of $N. An argument may hold several parts.
void AttachPointParser::put_argument(std::size_t& i) {
    const std::size_t begin = i;
    Scan scan(token_.text.substr(i + 1));
    const std::string_view digits = scan.take_all(is_digit);
    if (digits.empty()) {
        parts_.back().text += '$';
        point_.text += '$';
        return;
    }
    i += digits.size();
    const std::size_t at = token_.at.span.begin + begin;
    const SourceRef place{token_.at.source, {at, at + 1 + digits.size()}};
    const auto index = Scan(digits).take_number<std::size_t>();
    if (!index || *index == 0 || *index > work_.positional.size())
        throw Mistake{place, cat("there is no argument $", digits),
                      cat("the script was given ", counted(work_.positional.size(), "argument"))};
    for (const char c : work_.positional[*index - 1]) {
        point_.text += c;
        if (c == ':')
            begin_part(begin);
        else
            parts_.back().text += c;
        parts_.back().at = place;
    }
}

void AttachPointParser::self() {
    require_parts(2, 2, "signal:NAME, as in self:signal:SIGUSR1");
    if (parts_[0].text != "signal")
        fail(cat("has no '", parts_[0].text, "'"), "self:signal:SIGUSR1");
    point_.target = parts_[0].text;
    point_.name = parts_[1].text;
    if (!find_user_signal(point_.name))
        throw Mistake{parts_[1].at, cat("there are no probes of the signal '", point_.name, "'"),
                      "SIGUSR1 and SIGUSR2 have some"};
}

// "vfs_read+0x10": the name and the offset behind it.
void AttachPointParser::name_and_offset(const Part& part) {
    const std::size_t plus = part.is_quoted ? std::string::npos : part.text.rfind('+');
    point_.name = part.text.substr(0, plus);
    if (plus == std::string::npos) return;
    const std::string offset = part.text.substr(plus + 1);
    if (!is_number(offset)) {
        // "operator+" of C++ is a name.
        if (point_.is_cpp)
            point_.name = part.text;
        else
            throw Mistake{part.at, cat("the offset '", offset, "' is not a number"),
                          "FUNCTION+16, FUNCTION+0x10"};
        return;
    }
    point_.offset = number_value(offset, part.at);
}

void AttachPointParser::function_or_address(const Part& part) {
    if (is_number(part.text) && !part.is_quoted)
        point_.address = number(part);
    else
        name_and_offset(part);
}

void AttachPointParser::kernel_function() {
    const bool is_fentry =
        point_.provider == Provider::fentry || point_.provider == Provider::fexit;
    if (is_fentry && parts_.size() == 3 && parts_[0].text == "bpf") {
        point_.space = parts_[1].text;
        parts_.erase(parts_.begin() + 1);
    }
    require_parts(1, 2, is_fentry ? "[MODULE:]FUNCTION" : "[MODULE:]FUNCTION[+OFFSET]");
    if (parts_.size() == 2) point_.target = parts_[0].text;
    if (is_fentry)
        point_.name = parts_.back().text;
    else
        function_or_address(parts_.back());
    if (point_.provider == Provider::kretprobe && point_.offset != 0)
        fail("takes no offset", "a function returns at one place: its end");
}

void AttachPointParser::user_function() {
    if (parts_.size() == 3) {
        const std::string& language = parts_[1].text;
        if (language != "cpp" && language != "c")
            throw Mistake{parts_[1].at, cat("'", language, "' is no language of functions"),
                          "PATH:cpp:\"NAME\" or PATH:NAME"};
        point_.is_cpp = language == "cpp";
        parts_.erase(parts_.begin() + 1);
    }
    require_parts(1, 2, "PATH:FUNCTION[+OFFSET] or PATH:ADDRESS");
    if (parts_.size() == 2) point_.target = parts_[0].text;
    const std::size_t line = point_.target.rfind('@');
    if (line != std::string::npos && is_number(parts_.back().text)) {
        if (point_.provider == Provider::uretprobe)
            fail("takes no line of a source", "a function returns at one place: its end");
        point_.source = point_.target.substr(line + 1);
        point_.target.resize(line);
        point_.line = number(parts_.back());
        require(!point_.source.empty() && !point_.target.empty(), "PATH@SOURCE:LINE");
        return;
    }
    function_or_address(parts_.back());
    if (point_.provider == Provider::uretprobe && point_.offset != 0)
        fail("takes no offset", "a function returns at one place: its end");
}

void AttachPointParser::usdt() {
    // The path may be empty, which -p gives; so may the provider: any one.
    require(!parts_.empty() && parts_.size() <= 3 && !parts_.back().text.empty(),
            "PATH:[PROVIDER:]NAME");
    if (parts_.size() > 1) point_.target = parts_[0].text;
    if (parts_.size() > 2) point_.space = parts_[1].text;
    point_.name = parts_.back().text;
}

void AttachPointParser::tracepoint() {
    require_parts(2, 2, "CATEGORY:NAME");
    point_.target = parts_[0].text;
    point_.name = parts_[1].text;
}

void AttachPointParser::raw_tracepoint() {
    require_parts(1, 2, "[MODULE:]NAME");
    if (parts_.size() == 2) point_.target = parts_[0].text;
    point_.name = parts_.back().text;
}

// "hz:99", "ms:10", "5ms", "1000000"
void AttachPointParser::timer() {
    constexpr std::string_view kForms = "hz:N, s:N, ms:N, us:N or a time such as 5ms";
    require_parts(1, 2, kForms);
    const Part value = parts_.back();
    point_.number = number(value);
    if (point_.number == 0) throw Mistake{value.at, "a period of 0 is none", ""};
    if (parts_.size() == 1) {
        const auto unit = value.text.find_first_not_of("0123456789_");
        const bool has_unit = unit != std::string::npos && unit_size_of(value.text.substr(unit));
        point_.target = has_unit ? value.text.substr(unit) : "ns";
        return;
    }
    point_.target = parts_[0].text;
    if (point_.target == "hz") {
        // One timer for all CPUs need not be a frequency to the kernel.
        point_.is_frequency = point_.provider == Provider::profile;
        if (!point_.is_frequency)
            point_.number = std::max<std::uint64_t>(kNsPerSecond / point_.number, 1);
        return;
    }
    const auto unit = unit_size_of(point_.target);
    if (!unit)
        throw Mistake{parts_[0].at, cat("'", point_.target, "' is no unit of time"),
                      "the units are hz s ms us"};
    if (__builtin_mul_overflow(point_.number, *unit, &point_.number))
        throw Mistake{value.at, "the period does not fit in 64 bits of ns", ""};
}

// "faults", "faults:100"
void AttachPointParser::perf_event(std::span<const PerfEventName> events) {
    // "cs:" is "cs".
    if (parts_.size() == 2 && parts_[1].text.empty()) parts_.pop_back();
    require_parts(1, 2, "EVENT[:COUNT]");
    const Part& name = parts_[0];
    const auto event = std::ranges::find_if(events, [&](const PerfEventName& e) {
        return name.text == e.name || name.text == e.other;
    });
    if (event == events.end()) {
        std::vector<std::string> known;
        for (const PerfEventName& e : events) {
            known.emplace_back(e.name);
            if (!e.other.empty()) known.emplace_back(e.other);
        }
        const std::string near = did_you_mean(name.text, known);
        throw Mistake{name.at,
                      cat("there is no ", name_of(point_.provider), " event '", name.text, "'"),
                      near.empty() ? cat("the events are ", join(known, " ")) : near};
    }
    point_.target = event->name;
    if (parts_.size() == 2) point_.number = number(parts_[1]);
}

// "0x1000:8:rw", "function+arg0:8:w"
void AttachPointParser::watchpoint() {
    require_parts(3, 3, "ADDRESS:LENGTH:MODE or FUNCTION+argN:LENGTH:MODE");
    const Part& where = parts_[0];
    if (is_number(where.text)) {
        point_.address = number(where);
    } else {
        const std::size_t plus = where.text.rfind("+arg");
        const std::string index = plus == std::string::npos ? "" : where.text.substr(plus + 4);
        if (index.size() != 1 || !is_digit(index[0]))
            throw Mistake{where.at, cat("'", where.text, "' is no place to watch"),
                          "0xADDRESS, or FUNCTION+arg0"};
        point_.name = where.text.substr(0, plus);
        point_.argument = static_cast<unsigned>(index[0] - '0');
    }
    point_.number = number(parts_[1]);
    if (point_.number != 1 && point_.number != 2 && point_.number != 4 && point_.number != 8)
        throw Mistake{parts_[1].at, "a watchpoint is 1, 2, 4 or 8 bytes long", ""};
    point_.mode = parts_[2].text;
    std::string sorted = point_.mode;
    std::ranges::sort(sorted);
    const bool is_known = sorted.find_first_not_of("rwx") == std::string::npos &&
                          std::ranges::adjacent_find(sorted) == sorted.end();
    if (!is_known)
        throw Mistake{parts_[2].at, cat("'", point_.mode, "' is no mode of a watchpoint"),
                      "any of r (read), w (write), x (run)"};
}

// "task", "task:/sys/fs/bpf/list"
void AttachPointParser::iter() {
    require_parts(1, 2, "task, task_file or task_vma, and where to pin it");
    point_.name = parts_[0].text;
    if (parts_.size() == 2) point_.pin = parts_[1].text;
}

}  // namespace

AttachPoint parse_attach_point(const Work& work, const Token& token) {
    return AttachPointParser(work, token).parse();
}

}  // namespace gpufs::bt
