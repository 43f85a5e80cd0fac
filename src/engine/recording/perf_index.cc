#include "engine/recording/perf_index.h"

#include <linux/perf_event.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>

#include "base/bytes.h"
#include "base/error.h"
#include "base/kernel_abi.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/recording/open_recording.h"
#include "kernel/host/kallsyms.h"
#include "lang/event/made_format.h"
#include "lang/event/sampling_events.h"

namespace gpufs {
namespace {

using perf_data::Attribute;
using perf_data::Bytes;
using perf_data::Cursor;

// The first records are about tasks and files that were there before; the first sample ends them.
constexpr std::size_t kMostFirst = 1 << 20;
// Ids of the events that this reader makes, where the formats in the file are few or none.
constexpr int kLeastMadeId = 40'000;
constexpr int kMostId = 0xffff;
// Ids of all events: one for each CPU or thread. Events of a damaged file may all name one place.
constexpr std::uint64_t kMostIds = 1 << 24;

// As trace_clock names them.
std::string_view clock_name(int clock) {
    switch (clock) {
        case CLOCK_MONOTONIC:
            return "mono";
        case CLOCK_MONOTONIC_RAW:
            return "mono_raw";
        case CLOCK_BOOTTIME:
            return "boot";
        case CLOCK_TAI:
            return "tai";
        case CLOCK_REALTIME:
            return "real";
        default:
            return "perf";
    }
}

// What perf calls the event, "cpu-clock:u", "cpu/event=0x3c/".
std::string given_name(const Attribute& attribute) {
    if (!attribute.name.empty()) return attribute.name;
    for (const std::string& name : sampling_event_names()) {
        const SamplingEvent* const event = find_sampling_event(name);
        if (event->type == attribute.type && event->config == attribute.config) return name;
    }
    return cat("event_", attribute.type, "_", attribute.config);
}

// A name that an event may have: "cpu_clock".
std::string event_name(const Attribute& attribute) {
    std::string name = given_name(attribute);
    if (attribute.is_tracepoint()) name.erase(0, name.rfind(':') + 1);
    name = name.substr(0, name.find(':'));
    for (char& c : name)
        if (!is_word_char(c)) c = '_';
    return name;
}

}  // namespace

PerfIndex::PerfIndex(int file, std::string path)
    : file_(file),
      path_(std::move(path)),
      formats_(std::make_unique<RecordedEvents>(path_)),
      printk_formats_([this] { return printk_text_; }) {
    facts.format = "perf.data";
    facts.has_whole_stacks = true;
    try {
        Cursor cursor(bytes_of_file(file));
        const perf_data::Header header = perf_data::parse_header(cursor);
        if (header.is_pipe) {
            data = {header.bytes, 0};
        } else {
            data = header.data;
            read_attributes(header);
            if (header.data.bytes != 0)
                read_features(header);
            else
                damage.push_back(
                    "the recording was not ended: what perf record writes last is missing, such as "
                    "the formats of events");
        }
        read_first_records();
    } catch (const UnsupportedError& e) {
        throw UnsupportedError(cat("cannot read '", path_, "': ", e.what()), e.hint());
    } catch (const trace_dat::Truncated& e) {
        throw Error(cat("'", path_, "' is cut at byte ", e.at(), ": no record can be read"));
    } catch (const SysError&) {
        throw;
    } catch (const Error& e) {
        throw Error(cat("cannot read '", path_, "': ", e.what()), e.hint());
    }
    if (events.empty()) throw Error(cat("cannot read '", path_, "': it describes no events"));
    make_events();
    if (!release_.empty())
        facts.uname = trim(cat("Linux ", hostname_.empty() ? "(none)" : hostname_, ' ', release_,
                               ' ', architecture_));
    facts.clock = clock_name(stamping().clock);
    context.events = Events(std::move(formats_));
    context.options.clock_is_ns = true;
    set_kernel_release(context.options, release_);
    context.addresses.symbol = [this](std::uint64_t address) { return find_symbol(address); };
    context.addresses.user = [this](int process, std::uint64_t address) {
        return maps.find(process, address);
    };
    context.addresses.text = [this](std::uint64_t address) {
        return printk_formats_.find(address);
    };
}

// Each entry is the structure, and where the event's ids are.
void PerfIndex::read_attributes(const perf_data::Header& header) {
    const std::uint64_t size = header.attribute_bytes;
    if (size < PERF_ATTR_SIZE_VER0 + 16 || size > 8192)
        throw Error(cat("descriptions of events cannot have ", size, " bytes"));
    Cursor cursor(bytes_of_file(file_), header.attributes.at);
    for (std::uint64_t i = 0; i < header.attributes.bytes / size; ++i) {
        Attribute attribute = perf_data::parse_attribute(cursor.bytes(size - 16));
        const perf_data::Section ids{cursor.u64(), cursor.u64()};
        Cursor at(bytes_of_file(file_), ids.at);
        if (ids.bytes / 8 > kMostIds - ids_)
            throw Error("there are more ids of events than can be");
        ids_ += ids.bytes / 8;
        for (std::uint64_t k = 0; k < ids.bytes / 8; ++k) attribute.ids.push_back(at.u64());
        events.push_back({std::move(attribute), 0});
    }
}

void PerfIndex::read_features(const perf_data::Header& header) {
    Cursor table(bytes_of_file(file_), header.data.at + header.data.bytes);
    std::size_t cut = 0;
    for (unsigned feature = 0; feature < perf_data::kFeatures; ++feature) {
        if (!header.has(feature)) continue;
        try {
            const perf_data::Section section{table.u64(), table.u64()};
            Cursor cursor(bytes_of_file(file_), section.at);
            take_feature(feature, cursor, section.bytes);
        } catch (const SysError&) {
            throw;
        } catch (const trace_dat::Truncated&) {
            ++cut;
        } catch (const Error& e) {
            damage.push_back(
                cat("part ", feature, " behind the records cannot be read: ", e.what()));
        }
    }
    if (cut != 0)
        damage.push_back(
            cat(counted(cut, "part"), " behind the records ", cut == 1 ? "is" : "are", " cut off"));
}

void PerfIndex::take_feature(unsigned feature, Cursor& cursor, std::uint64_t bytes) {
    switch (feature) {
        case perf_data::kTracingData:
            take_tracing_data(cursor);
            break;
        case perf_data::kBuildIds:
            for (const auto& [path, id] : perf_data::parse_build_ids(cursor, bytes))
                maps.add_build_id(path, id);
            break;
        case perf_data::kHostname:
            hostname_ = perf_data::parse_text(cursor);
            break;
        case perf_data::kRelease:
            release_ = perf_data::parse_text(cursor);
            break;
        case perf_data::kVersion:
            facts.recorder = cat("perf ", perf_data::parse_text(cursor));
            break;
        case perf_data::kArchitecture:
            architecture_ = perf_data::parse_text(cursor);
            break;
        case perf_data::kCpus: {
            const std::uint32_t cpus = cursor.u32();
            if (cpus > kMaxCpus) throw Error(cat(cpus, " CPUs are damage"));
            facts.cpus = cpus;
            break;
        }
        case perf_data::kEventNames:
            name_events(perf_data::parse_event_names(cursor));
            break;
        default:
            break;
    }
}

// Stacks have formats of their own here: the tracer's records of user stacks end with 8 frames.
void PerfIndex::take_tracing_data(Cursor& cursor) {
    has_formats_ = true;
    perf_data::TracingData told =
        perf_data::parse_tracing_data(cursor, [&](std::string_view system, std::string text) {
            last_id_ = std::max(last_id_, std::min(declared_id(text), kMostId));
            if (system != "ftrace" || !declared_name(text).ends_with("_stack"))
                formats_->add(system, std::move(text));
        });
    kallsyms_text_ = std::move(told.kallsyms);
    printk_text_ = std::move(told.printk_formats);
    context.tasks.add_lines(told.saved_cmdlines);
}

void PerfIndex::name_events(const std::vector<Attribute>& named) {
    for (const Attribute& one : named)
        for (Event& event : events)
            if (event.attribute.type == one.type && event.attribute.config == one.config &&
                (one.ids.empty() || event.attribute.ids == one.ids))
                event.attribute.name = one.name;
}

void PerfIndex::take_attribute(std::string_view bytes) {
    Attribute attribute = perf_data::parse_attribute(bytes);
    for (std::size_t at = perf_data::attribute_size(bytes); at + 8 <= bytes.size(); at += 8) {
        std::uint64_t id = 0;
        std::memcpy(&id, bytes.data() + at, sizeof id);
        attribute.ids.push_back(id);
    }
    events.push_back({std::move(attribute), 0});
}

// Of the kernel's own, where its first function is. perf record --buildid-mmap tells it by MMAP2.
void PerfIndex::take_map(Bytes body, std::size_t file_name) {
    if (body.size() < file_name || text_address_ != 0) return;
    std::string_view file = chars_of(body.subspan(file_name));
    file = up_to_nul(file);
    if (file == "[kernel.kallsyms]_text" || file == "[kernel.kallsyms]_stext")
        std::memcpy(&text_address_, body.data() + perf_data::kMapOffset, sizeof text_address_);
}

void PerfIndex::take_record(const PerfRecords& records, Bytes record) {
    const Bytes body = record.subspan(perf_data::kRecordHeader);
    switch (perf_data::record_header(record).type) {
        case perf_data::kAttribute:
            take_attribute(chars_of(body));
            break;
        case perf_data::kTracingDataRecord: {
            Cursor cursor(bytes_of_file(file_), records.attached().at);
            take_tracing_data(cursor);
            break;
        }
        case perf_data::kFeature: {
            Cursor cursor(trace_dat::in_memory(std::string(chars_of(body))));
            const std::uint64_t feature = cursor.u64();
            if (feature < perf_data::kFeatures)
                take_feature(static_cast<unsigned>(feature), cursor, body.size() - sizeof feature);
            break;
        }
        case PERF_RECORD_MMAP:
            take_map(body, perf_data::kMmapName);
            break;
        case PERF_RECORD_MMAP2:
            take_map(body, perf_data::kMmap2Name);
            break;
        default:
            break;
    }
}

// In a pipe's file everything comes as records, in front of the first sample.
void PerfIndex::read_first_records() {
    PerfRecords records(file_, data);
    for (std::size_t i = 0; i < kMostFirst; ++i) {
        const Bytes record = records.next();
        if (record.empty() || perf_data::record_header(record).type == PERF_RECORD_SAMPLE) break;
        try {
            take_record(records, record);
        } catch (const SysError&) {
            throw;
        } catch (const Error& e) {
            damage.push_back(cat("a record about the recording cannot be read: ", e.what()));
        }
    }
    if (records.is_compressed())
        facts.compression =
            cat(compression_name(Compression::zstd), " (its version is not recorded)");
}

void PerfIndex::add_made_event(Event& event) {
    event.made_id = new_id();
    std::string name = event_name(event.attribute);
    MadeFields fields;
    fields.add("unsigned long ip", 8, false);
    fields.add("u64 period", 8, false);
    formats_->add("perf", made_format(name, event.made_id, fields,
                                      "\"%pS period=%llu\", (void *)REC->ip, REC->period"));
}

void PerfIndex::add_stack_events() {
    kernel_stack_id = new_id();
    user_stack_id = new_id();
    formats_->add("ftrace", kernel_stack_format(kernel_stack_id));
    formats_->add("ftrace", user_stack_format(user_stack_id));
}

void PerfIndex::make_events() {
    last_id_ = std::max(last_id_, kLeastMadeId);
    bool has_stacks = false, lacks_formats = false;
    for (std::size_t i = 0; i < events.size(); ++i) {
        Event& event = events[i];
        const Attribute& attribute = event.attribute;
        for (const std::uint64_t id : attribute.ids) by_id_.try_emplace(id, i);
        has_stacks = has_stacks || (attribute.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
        const bool has_records =
            attribute.is_tracepoint() && (attribute.sample_type & PERF_SAMPLE_RAW) != 0;
        const bool is_dummy =
            attribute.type == PERF_TYPE_SOFTWARE && attribute.config == PERF_COUNT_SW_DUMMY;
        // There are no more ids than 16 bits have.
        if (!has_records && !is_dummy && last_id_ < kMostId - 2) add_made_event(event);
        lacks_formats = lacks_formats || (has_records && !has_formats_);
    }
    if (has_stacks && last_id_ < kMostId - 2) add_stack_events();
    if (lacks_formats)
        notes.push_back("the formats of events are not in the file: their fields are not known");
    if ((stamping().sample_type & PERF_SAMPLE_TIME) == 0)
        notes.push_back("the file has no times: 'perf record -T' records them");
    if ((stamping().sample_type & PERF_SAMPLE_CPU) == 0)
        notes.push_back("the file does not tell CPUs: all is shown as on CPU 0");
}

const PerfIndex::Event* PerfIndex::event_of(Bytes body) const {
    if (events.size() == 1) return &events.front();
    const auto it = by_id_.find(perf_data::sample_id(stamping(), body));
    if (it != by_id_.end()) return &events[it->second];
    return by_id_.empty() ? &events.front() : nullptr;
}

// perf record copies no symbols. Those of this kernel are the file's where both are of one boot:
// the kernel has the same release and lies at the same, random, address.
bool PerfIndex::is_of_this_boot() {
    utsname here{};
    if (text_address_ == 0 || ::uname(&here) != 0) return false;
    if (release_ != here.release || hostname_ != here.nodename) return false;
    bool is_same = false;
    for_each_line(kallsyms_if_readable(), [&](std::string_view line) {
        std::uint64_t address = 0;
        std::from_chars(line.data(), line.data() + line.size(), address, 16);
        if (address == text_address_ && (line.ends_with(" _text") || line.ends_with(" _stext")))
            is_same = true;
    });
    return is_same;
}

std::optional<Symbol> PerfIndex::find_symbol(std::uint64_t address) {
    if (!kallsyms_) {
        const bool is_here = kallsyms_text_.empty() && is_of_this_boot();
        if (kallsyms_text_.empty() && !is_here)
            notes.push_back("the file has no symbols of its kernel: functions are addresses");
        kallsyms_.emplace(is_here ? kallsyms_if_readable()
                                  : TextPieces([this](const auto& take) { take(kallsyms_text_); }));
    }
    return kallsyms_->find(address);
}

}  // namespace gpufs
