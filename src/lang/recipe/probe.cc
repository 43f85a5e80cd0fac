#include "lang/recipe/probe.h"

#include "base/scan.h"
#include "lang/probe/argument.h"
#include "lang/probe/field_type.h"

namespace gpufs {
namespace {

Field parse_field(const RecipeWord& word, const SourceText& source) {
    const ArgumentParts parts = split_argument(word.text);
    if (parts.name.empty() || parts.fetch.empty() || is_digit(word.text[0]))
        throw SourceError(source, word.span, cat("'", word.text, "' is no field"),
                          "write FIELD=FETCH or FIELD=FETCH:TYPE, such as bytes=%dx:u64");
    const bool has_type = !parts.type.empty();
    const std::string_view type = has_type ? parts.type : parts.fetch == "$comm" ? "string" : "x64";
    const Span at = has_type ? Span{word.span.begin + parts.type_at,
                                    word.span.begin + parts.type_at + type.size()}
                             : word.span;
    Field field = field_of_type(type, source, at);
    field.name = parts.name;
    return field;
}

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
        format.fields.push_back(parse_field(field, source));
    return format;
}

}  // namespace gpufs
