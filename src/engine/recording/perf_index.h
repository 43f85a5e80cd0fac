#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/recording/perf_maps.h"
#include "engine/recording/perf_records.h"
#include "engine/recording/record_source.h"
#include "engine/recording/recorded_events.h"
#include "lang/perf_data/header.h"
#include "lang/symbols/kallsyms.h"
#include "lang/symbols/printk_formats.h"

namespace gpufs {

// All that a perf.data holds besides its records: which events there are, and how their samples
// look. Stays where it is.
class PerfIndex {
public:
    // Borrows the descriptor. Throws what TraceFile throws.
    PerfIndex(int file, std::string path);
    PerfIndex(const PerfIndex&) = delete;
    PerfIndex& operator=(const PerfIndex&) = delete;

    struct Event {
        perf_data::Attribute attribute;
        // The records are made by this reader, with this id: the event is no tracepoint, or its
        // samples lack the tracer's records. 0: they are the tracer's.
        std::uint16_t made_id = 0;
    };

    RecordingFacts facts;
    TraceContext context;
    perf_data::Section data;
    std::vector<Event> events;
    std::uint16_t kernel_stack_id = 0, user_stack_id = 0;
    std::vector<std::string> damage, notes;
    PerfMaps maps;  // filled by who reads the records

    // The event that a sample is of; null if no event has its id.
    const Event* event_of(perf_data::Bytes body) const;
    // The one whose stamp is behind records that are no samples.
    const perf_data::Attribute& stamping() const { return events.front().attribute; }

private:
    void read_attributes(const perf_data::Header& header);
    void read_features(const perf_data::Header& header);
    void read_first_records();
    void take_record(const PerfRecords& records, perf_data::Bytes record);
    void take_attribute(std::string_view bytes);
    void take_feature(unsigned feature, perf_data::Cursor& cursor, std::uint64_t bytes);
    void take_tracing_data(perf_data::Cursor& cursor);
    void take_map(perf_data::Bytes body, std::size_t file_name);
    void name_events(const std::vector<perf_data::Attribute>& named);
    void make_events();
    void add_made_event(Event& event);
    void add_stack_events();
    std::uint16_t new_id() { return static_cast<std::uint16_t>(++last_id_); }
    std::optional<Symbol> find_symbol(std::uint64_t address);
    bool is_of_this_boot();

    int file_;
    std::string path_;
    std::unordered_map<std::uint64_t, std::size_t> by_id_;  // of samples: index of the event
    std::unique_ptr<RecordedEvents> formats_;
    std::uint64_t ids_ = 0;  // of all events
    int last_id_ = 0;
    bool has_formats_ = false;
    std::string hostname_, release_, architecture_;
    std::uint64_t text_address_ = 0;  // of the kernel's first function; 0: not told
    std::string kallsyms_text_, printk_text_;
    std::optional<Kallsyms> kallsyms_;
    PrintkFormats printk_formats_;
};

}  // namespace gpufs
