#pragma once

#include "lang/adhoc/fetched.h"
#include "lang/adhoc/key.h"

namespace gpufs {

// What the makers of ad-hoc programs share.

// How many bytes a program has room for in keys; the rest of its 512 is for conditions and records.
inline constexpr std::size_t kMaxKeyBytes = 192;

// One program at one event, under construction.
class AdhocProbe {
public:
    // Hits of tasks that the filter, if there is one, refuses end before anything is read.
    AdhocProbe(const AdhocEvent& event, Program& program, const AdhocFilter* filter = nullptr);
    AdhocProbe(const AdhocProbe&) = delete;
    AdhocProbe& operator=(const AdhocProbe&) = delete;

    ir::Code& code() { return code_; }
    AdhocValueCode& values() { return values_; }
    ir::Temp context() const { return context_; }

    // Hits that the filter refuses go no further.
    void filter(const AdhocFilter& filter);
    // A slot for a key, with zeros where no member is; without members the u32 0, an array's only
    // key.
    ir::Slot new_key(const Layout& layout);
    // The same with the names' values at this event.
    ir::Slot key(std::span<const AdhocWord> names, const Layout& layout);
    // Adds to an aggregation of the program; `key` as above.
    void add_to(std::string_view map, ir::Slot key, const ir::Operand& value = 1);
    // Ends the code and adds it to the program.
    void finish(std::string name);

private:
    ir::Temp begin(const AdhocFilter* filter);
    void filter_tasks(const AdhocFilter& filter);
    void count_losses();

    const AdhocEvent& event_;
    Program& program_;
    ir::Code code_;
    ir::Temp context_;
    ir::Label out_, unknown_;
    bool has_filtered_tasks_ = false;
    std::vector<FetchedRecord::Loss> losses_;  // that are not counted yet
    ir::Temp record_;
    AdhocValueCode values_;
};

// A program with the question's title and texts, and nothing else.
Program begin_program(const AdhocQuestion& question, std::string name);

// Declares the map, by these keys, and its report. Per-CPU: an array of one without keys, else a
// hash map of `entries`.
void add_report(Program& program, std::string map, std::string title, const Layout& key,
                std::size_t entries, const Aggregation& how, const ValueType& value);

// Complains of what the filter says that an event does not know.
void check_filter(const AdhocFilter& filter, std::span<const AdhocEvent> events,
                  Diagnostics& mistakes);
// Does the event have all fields that the filter names?
bool suits(const AdhocFilter& filter, const AdhocEvent& event);

}  // namespace gpufs
