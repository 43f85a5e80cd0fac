#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/event/field_value.h"
#include "lang/trace_text/form.h"
#include "lang/trace_text/known_events.h"

namespace gpufs {

// One event of a text, which is read twice: first all its lines are looked at, to find out what
// fields it has; then each becomes a record.
//
// Where all lines are in the form of an event that is known, its fields are that event's, as far as
// the text shows them. Else the fields are the "name=value" in the lines, numbers where all values
// are numbers, and the whole line as `text`.
class EventText {
public:
    // `candidates`: what it may be; the first that all lines fit is taken.
    EventText(std::string_view name, std::vector<KnownEvent> candidates);

    void look_at(std::string_view text);
    // All lines were looked at: the format of the records, with this id.
    struct Made {
        std::string system, format_text;
        bool is_exact = false;  // all fields are those of a known event
    };
    Made make_format(int id);

    // The record of a line. False where a known event's line does not fit, after all.
    bool encode(std::string_view text, const CommonFields& common, std::vector<std::byte>& record);

private:
    struct Candidate {
        KnownEvent event;
        std::vector<TextForm> forms;
    };
    struct Pair {
        bool is_number = true, is_hex = false, is_large = false, is_negative = false;
        // Addresses come in decimals, too.
        bool is_signed() const { return !is_hex && (is_negative || !is_large); }
        std::size_t at = 0;  // in the record
    };
    // Where a field of the known event is in the records.
    struct Place {
        const Field* field;
        std::size_t at;
        bool is_dynamic;
    };

    static bool read(const Candidate& candidate, std::string_view text,
                     std::vector<TextForm::Value>& values);
    Made make_known(int id);
    Made make_pairs(int id);
    void encode_pairs(std::string_view text, std::vector<std::byte>& record) const;

    std::string name_;
    std::vector<Candidate> candidates_;
    std::map<std::string, Pair, std::less<>> pairs_;
    std::vector<std::string> order_;  // of the pairs' names
    const Candidate* chosen_ = nullptr;
    std::vector<Place> places_;
    std::size_t text_at_ = 0;  // of the whole line
    std::size_t bytes_ = 0;    // of a record without its texts
    int id_ = 0;
    std::vector<TextForm::Value> values_;
};

}  // namespace gpufs
