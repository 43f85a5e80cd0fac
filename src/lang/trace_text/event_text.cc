#include "lang/trace_text/event_text.h"

#include <algorithm>
#include <cstring>

#include "base/cat.h"
#include "lang/event/made_format.h"
#include "lang/trace_text/pairs.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostPairs = 64;
// What the place of a text in a record can tell (__data_loc).
constexpr std::size_t kLongestText = 0xf000;

template <class T>
void put(std::vector<std::byte>& record, std::size_t at, T value) {
    std::memcpy(record.data() + at, &value, sizeof value);
}

// A number of 1, 2, 4 or 8 bytes.
void put_number(std::vector<std::byte>& record, std::size_t at, std::size_t size,
                std::uint64_t value) {
    std::memcpy(record.data() + at, &value, std::min(size, sizeof value));
}

// At the end of the record, with its NUL; where it is stands at `at`.
void put_dynamic(std::vector<std::byte>& record, std::size_t at, std::string_view text) {
    text = text.substr(0, kLongestText - std::min(kLongestText, record.size()));
    const std::size_t begin = record.size();
    const std::size_t length = text.size() + 1;
    if (begin + length > 0xffff) return;
    record.resize(begin + length);
    std::memcpy(record.data() + begin, text.data(), text.size());
    put(record, at, static_cast<std::uint32_t>(begin | length << 16));
}

bool is_usable_name(std::string_view name) {
    return !name.starts_with("common_") && name != "text" && name.size() < 64;
}

}  // namespace

EventText::EventText(std::string_view name, std::vector<KnownEvent> candidates) : name_(name) {
    candidates_.reserve(candidates.size());
    for (KnownEvent& event : candidates) {
        Candidate& one = candidates_.emplace_back(Candidate{std::move(event), {}});
        if (auto form = TextForm::of_print_format(one.event.format))
            one.forms.push_back(std::move(*form));
        for (const std::string& text : one.event.templates)
            if (auto form = TextForm::of_template(one.event.format, text))
                one.forms.push_back(std::move(*form));
        if (one.forms.empty()) candidates_.pop_back();
    }
}

bool EventText::read(const Candidate& candidate, std::string_view text,
                     std::vector<TextForm::Value>& values) {
    return std::ranges::any_of(candidate.forms,
                               [&](const TextForm& form) { return form.read(text, values); });
}

// A format and a form point into their candidate: it is not moved, but left out.
void EventText::look_at(std::string_view text) {
    for (Candidate& one : candidates_)
        if (!one.forms.empty() && !read(one, text, values_)) one.forms.clear();
    for_each_pair(text, [&](std::string_view name, std::string_view value) {
        if (!is_usable_name(name)) return;
        auto known = pairs_.find(name);
        if (known == pairs_.end()) {
            if (pairs_.size() == kMostPairs) return;
            known = pairs_.emplace(name, Pair()).first;
            order_.emplace_back(name);
        }
        const auto number = number_of(value);
        known->second.is_number = known->second.is_number && number.has_value();
        if (!number) return;
        Pair& pair = known->second;
        pair.is_hex = pair.is_hex || number->is_hex;
        pair.is_negative = pair.is_negative || number->is_negative;
        pair.is_large = pair.is_large || number->magnitude >> 63 != 0;
    });
}

EventText::Made EventText::make_format(int id) {
    id_ = id;
    const auto fits =
        std::ranges::find_if(candidates_, [](const Candidate& one) { return !one.forms.empty(); });
    chosen_ = fits == candidates_.end() ? nullptr : &*fits;
    return chosen_ ? make_known(id) : make_pairs(id);
}

EventText::Made EventText::make_known(int id) {
    const EventFormat& format = chosen_->event.format;
    MadeFields fields;
    for (const Field* const field : chosen_->forms.front().fields()) {
        const std::size_t at = fields.add(field->declaration(), field->size, field->is_signed);
        places_.push_back({field, at, field->is_dynamic()});
    }
    bytes_ = fields.bytes();
    return {format.system, made_format(name_, id, fields, format.print_format), true};
}

EventText::Made EventText::make_pairs(int id) {
    MadeFields fields;
    for (const std::string& name : order_) {
        Pair& pair = pairs_.find(name)->second;
        if (pair.is_number)
            pair.at =
                fields.add(cat(pair.is_signed() ? "s64 " : "u64 ", name), 8, pair.is_signed());
        else
            pair.at = fields.add(cat("__data_loc char[] ", name), 4, false);
    }
    text_at_ = fields.add("__data_loc char[] text", 4, false);
    bytes_ = fields.bytes();
    return {std::string(guessed_system(name_)),
            made_format(name_, id, fields, "\"%s\", __get_str(text)"), false};
}

void EventText::encode_pairs(std::string_view text, std::vector<std::byte>& record) const {
    for_each_pair(text, [&](std::string_view name, std::string_view value) {
        const auto known = pairs_.find(name);
        if (known == pairs_.end()) return;
        if (!known->second.is_number) return put_dynamic(record, known->second.at, value);
        const auto number = number_of(value);
        if (!number) return;
        const std::uint64_t magnitude = number->magnitude;
        put(record, known->second.at, number->is_negative ? 0 - magnitude : magnitude);
    });
    put_dynamic(record, text_at_, text);
}

bool EventText::encode(std::string_view text, const CommonFields& common,
                       std::vector<std::byte>& record) {
    record.assign(bytes_, {});
    put(record, 0, static_cast<std::uint16_t>(id_));
    put(record, 2, static_cast<std::uint8_t>(common.flags));
    put(record, 3, static_cast<std::uint8_t>(common.preempt_count));
    put(record, 4, static_cast<std::int32_t>(common.pid));
    if (!chosen_) {
        encode_pairs(text, record);
        return true;
    }
    if (!read(*chosen_, text, values_)) return false;
    for (const TextForm::Value& value : values_) {
        const auto place = std::ranges::find(places_, value.field, &Place::field);
        if (place == places_.end()) continue;
        if (place->is_dynamic) {
            put_dynamic(record, place->at, value.text);
        } else if (value.field->holds_text()) {
            const std::size_t room = value.field->size - 1;
            std::memcpy(record.data() + place->at, value.text.data(),
                        std::min(room, value.text.size()));
        } else {
            const std::size_t size = value.field->element_size;
            put_number(record, place->at + value.element * size, size, value.number);
        }
    }
    return true;
}

}  // namespace gpufs
