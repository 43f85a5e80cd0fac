#include "lang/trace_text/known_events.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>

#include "base/cat.h"
#include "base/file.h"
#include "lang/print_fmt/format.h"
#include "lang/trace_text/form.h"

namespace gpufs {
namespace {

const std::string kTrees = "tests/data/formats/";

// The formats of a system's events in a captured tree.
std::vector<EventFormat> captured(const std::string& tree, const std::string& system) {
    const std::string folder = cat(kTrees, tree, "/events/", system, '/');
    std::vector<EventFormat> formats;
    if (!file_exists(folder)) return formats;
    for (const std::string& event : list_directory(folder))
        if (const auto text = read_file_if_readable(cat(folder, event, "/format")))
            formats.push_back(parse_event_format(system, *text));
    return formats;
}

std::vector<EventFormat> captured_of_drivers() {
    std::vector<EventFormat> all;
    for (const char* tree : {"7.3", "low-level", "6.12", "6.1", "5.10"})
        for (const char* system : {"amdgpu", "amdgpu_dm", "i915", "vpu", "xe"})
            for (EventFormat& format : captured(tree, system)) all.push_back(std::move(format));
    return all;
}

bool is_known(const EventFormat& format) {
    return std::ranges::any_of(known_events(format.name), [&](const KnownEvent& known) {
        return known.format.system == format.system &&
               known.format.print_format == format.print_format &&
               std::ranges::equal(known.format.fields, format.fields,
                                  [](const Field& a, const Field& b) {
                                      return a.declaration() == b.declaration() && a.size == b.size;
                                  });
    });
}

// A record whose fields have values that differ: numbers from 1 on, texts "t1", "t2"; what is shown
// as a word, one that has it.
class Filled {
public:
    explicit Filled(const EventFormat& format) : format_(format) {
        for (const Field& field : format.fields)
            bytes_.resize(std::max(bytes_.size(), field.offset + field.size));
        std::uint64_t next = 1;
        for (const Field& field : format.fields) {
            if (field.is_common) continue;
            if (field.holds_text())
                put_text(field, cat('t', next));
            else if (!field.is_dynamic())
                for (std::size_t at = 0; at < field.size; at += field.element_size)
                    put_number(field.offset + at, field.element_size, value_of(field, next + at));
            ++next;
        }
    }
    std::string text() const {
        std::string printed;
        PrintFormat(format_).print(bytes_, {}, printed);
        return printed.starts_with(' ') ? printed.substr(1) : printed;
    }
    // Whether the text's values are those of the record.
    bool holds(const TextForm::Value& value) const {
        const Field& field = *value.field;
        if (field.holds_text()) return text_of(field, bytes_) == value.text;
        std::uint64_t number = 0;
        std::memcpy(&number, bytes_.data() + field.offset + value.element * field.element_size,
                    std::min(field.element_size, sizeof number));
        return number == value.number;
    }

private:
    static std::uint64_t value_of(const Field& field, std::uint64_t otherwise) {
        if (field.type == "bool") return 1;
        return field.name == "flags" ? 8 : otherwise;
    }
    void put_number(std::size_t at, std::size_t size, std::uint64_t number) {
        std::memcpy(bytes_.data() + at, &number, std::min(size, sizeof number));
    }
    void put_text(const Field& field, const std::string& text) {
        if (!field.is_dynamic()) {
            std::memcpy(bytes_.data() + field.offset, text.data(),
                        std::min(text.size(), field.size - 1));
            return;
        }
        const auto length = static_cast<std::uint32_t>(text.size() + 1);
        const auto at = static_cast<std::uint32_t>(bytes_.size()) | length << 16;
        std::memcpy(bytes_.data() + field.offset, &at, sizeof at);
        for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
        bytes_.push_back(std::byte{0});
    }

    const EventFormat& format_;
    std::vector<std::byte> bytes_;
};

// Why a text of the event is read as words only; empty where all that it tells is read.
std::string trouble(const EventFormat& format) {
    const Filled filled(format);
    const std::string text = filled.text();
    std::string why = "its print fmt has more than fields";
    for (const KnownEvent& known : known_events(format.name)) {
        const auto form = TextForm::of_print_format(known.format);
        std::vector<TextForm::Value> values;
        if (!form || !form->read(text, values)) continue;
        const auto wrong = std::ranges::find_if(values, [&](TextForm::Value value) {
            value.field = format.find(value.field->name);
            return !value.field || !filled.holds(value);
        });
        if (wrong == values.end()) return {};
        why = cat(wrong->field->name, " is another: ", text);
    }
    return why;
}

// What shows parts of fields, names of functions or fields of another event: of displays, of
// registers, of power.
bool is_told_as_words(std::string_view event) {
    constexpr std::string_view kDisplay[] = {"intel_", "g4x_", "vlv_", "amdgpu_dm_", "dcn_"};
    constexpr std::string_view kOthers[] = {
        "amdgpu_vm_update_ptes",  "i915_reg_rw", "job", "jsm", "pm",
        "xe_guc_engine_activity", "xe_reg_rw"};
    return event.starts_with("xe_pm_") || std::ranges::find(kOthers, event) != std::end(kOthers) ||
           std::ranges::any_of(kDisplay, [&](auto begin) { return event.starts_with(begin); });
}

BOOST_AUTO_TEST_SUITE(known_text_events)

BOOST_AUTO_TEST_CASE(each_form_of_a_drivers_event_that_a_kernel_has_is_known) {
    const std::vector<EventFormat> all = captured_of_drivers();
    BOOST_TEST(all.size() > 400u);
    for (const EventFormat& format : all) BOOST_TEST(is_known(format), format.full_name());
}

BOOST_AUTO_TEST_CASE(what_a_driver_prints_is_read_back_to_its_values) {
    std::map<std::string, std::string> unread;
    std::size_t read = 0;
    for (const EventFormat& format : captured_of_drivers())
        if (std::string why = trouble(format); why.empty())
            ++read;
        else if (!is_told_as_words(format.name))
            unread.emplace(format.full_name(), std::move(why));
    BOOST_TEST(read > 200u);
    for (const auto& [event, why] : unread) BOOST_ERROR(cat(event, ": ", why));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
