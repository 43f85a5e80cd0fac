#include "lang/recipe/probe.h"

#include <algorithm>
#include <charconv>

#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"

namespace gpufs {
namespace {

struct TypeRow {
    std::string_view word;
    std::size_t size;
    bool is_signed;
};
// The types of kernel/trace/trace_probe.c. x8 to x64 print in hexadecimal.
constexpr TypeRow kTypes[] = {
    {"u8", 1, false},  {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},   {"s8", 1, true},
    {"s16", 2, true},  {"s32", 4, true},  {"s64", 8, true},  {"x8", 1, false},    {"x16", 2, false},
    {"x32", 4, false}, {"x64", 8, false}, {"char", 1, true}, {"symbol", 8, false}};
constexpr std::string_view kTextTypes[] = {"string", "ustring", "symstr"};

Field text_field() {
    Field field;
    field.type = "char";
    field.size = 4;
    field.element_size = 1;
    field.place = Field::Place::data_loc;
    field.is_array = field.is_string = true;
    return field;
}

// b<width>@<offset>/<container size>
std::size_t bitfield_bytes(std::string_view word) {
    const auto slash = word.find('/');
    if (!word.starts_with('b') || word.find('@') == word.npos || slash == word.npos) return 0;
    std::size_t bits = 0;
    std::from_chars(word.data() + slash + 1, word.data() + word.size(), bits);
    return bits / 8;
}

class FieldReader {
public:
    FieldReader(const RecipeWord& word, const SourceText& source) : word_(word), source_(source) {}

    Field read() {
        const std::string_view text = word_.text;
        const auto equals = text.find('=');
        if (equals == text.npos || equals == 0 || equals + 1 == text.size() || is_digit(text[0]) ||
            !std::ranges::all_of(text.substr(0, equals), is_word_char))
            fail(word_.span, cat("'", text, "' is no field"),
                 "write FIELD=FETCH or FIELD=FETCH:TYPE, such as bytes=%dx:u64");
        const std::string_view fetch = text.substr(equals + 1);
        // The ':' in front of a type comes after the last parenthesis.
        const auto parenthesis = fetch.rfind(')');
        const auto colon = fetch.rfind(':');
        const bool has_type =
            colon != fetch.npos && (parenthesis == fetch.npos || colon > parenthesis);
        const auto type_at = equals + 1 + colon + 1;
        Field field = has_type           ? type(text.substr(type_at),
                                                {word_.span.begin + type_at, word_.span.begin + text.size()})
                      : fetch == "$comm" ? text_field()
                                         : type("x64", word_.span);
        field.name = text.substr(0, equals);
        return field;
    }

private:
    Field type(std::string_view word, Span at) {
        std::size_t elements = 0;
        std::string_view element = word;
        if (const auto bracket = word.find('['); bracket != word.npos) {
            const auto last = word.data() + word.size() - 1;
            const auto r = std::from_chars(word.data() + bracket + 1, last, elements);
            if (r.ptr != last || *last != ']' || elements == 0)
                fail(at, cat("'", word, "' is no array"), "such as u8[16]");
            element = word.substr(0, bracket);
        }
        if (std::ranges::count(kTextTypes, element)) return text_field();
        Field field;
        const auto it = std::ranges::find(kTypes, element, &TypeRow::word);
        if (it != std::end(kTypes)) {
            field.element_size = it->size;
            field.is_signed = it->is_signed;
        } else if (const std::size_t bytes = bitfield_bytes(element); bytes > 0) {
            field.element_size = bytes;
        } else {
            std::vector<std::string> names(std::begin(kTextTypes), std::end(kTextTypes));
            for (const TypeRow& row : kTypes) names.emplace_back(row.word);
            std::string hint = did_you_mean(element, names);
            fail(at, cat("'", element, "' is no type of a probe's field"),
                 hint.empty() ? cat("types: ", join(names, " ")) : hint);
        }
        field.type = element;
        field.is_array = elements > 0;
        field.size = field.element_size * std::max<std::size_t>(elements, 1);
        return field;
    }

    [[noreturn]] void fail(Span at, std::string_view message, std::string hint) const {
        throw SourceError(source_, at, message, std::move(hint));
    }

    const RecipeWord& word_;
    const SourceText& source_;
};

Field number_field(std::string_view name, std::string_view type, std::size_t size, bool is_signed) {
    Field field;
    field.name = name;
    field.type = type;
    field.size = field.element_size = size;
    field.is_signed = is_signed;
    field.is_common = name.starts_with("common_");
    return field;
}

}  // namespace

EventFormat format_of(const RecipeProbe& probe, const SourceText& source) {
    EventFormat format;
    format.system = "probe";
    format.name = probe.name.text;
    format.fields = {number_field("common_type", "unsigned short", 2, false),
                     number_field("common_flags", "unsigned char", 1, false),
                     number_field("common_preempt_count", "unsigned char", 1, false),
                     number_field("common_pid", "int", 4, true)};
    // The fields that the kernel adds to kprobe and uprobe events (kprobe_event_define_fields() and
    // uprobe_event_define_fields()).
    if (probe.is_return()) {
        const bool user = probe.is_user();
        format.fields.push_back(
            number_field(user ? "__probe_vaddr_func" : "__probe_func", "unsigned long", 8, false));
        format.fields.push_back(
            number_field(user ? "__probe_vaddr_ret" : "__probe_ret_ip", "unsigned long", 8, false));
    } else {
        format.fields.push_back(number_field("__probe_ip", "unsigned long", 8, false));
    }
    for (const RecipeWord& field : probe.fields)
        format.fields.push_back(FieldReader(field, source).read());
    return format;
}

}  // namespace gpufs
