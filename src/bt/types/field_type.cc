#include "bt/types/field_type.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/c_integer.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs::bt {
namespace {

bool is_call_argument(const EventFormat& event) {
    return event.system == "syscalls" && event.name.starts_with("sys_enter_");
}

// A type's words without those that say nothing about its values, and without its stars:
// "const char *const *" is "char" and 2.
struct TypeText {
    std::string words;
    std::size_t stars = 0;
};
TypeText read_type(std::string_view type) {
    std::string spaced;
    TypeText text;
    for (const char c : type) {
        text.stars += c == '*';
        spaced += c == '*' ? ' ' : c;
    }
    std::vector<std::string> words = split(spaced, ' ');
    std::erase_if(words, [](std::string_view word) {
        return word == "const" || word == "volatile" || word == "__user" || word == "__rcu" ||
               word == "__restrict" || word.starts_with("__seg_");
    });
    text.words = join(words, " ");
    return text;
}

// A structure's or enum's name behind the keyword.
std::optional<std::string> name_behind(std::string_view keyword, std::string_view type) {
    if (!type.starts_with(keyword) || type.size() <= keyword.size() + 1 ||
        type[keyword.size()] != ' ')
        return std::nullopt;
    return std::string(type.substr(keyword.size() + 1));
}

std::optional<std::string> structure_name(std::string_view type) {
    const auto name = name_behind("struct", type);
    return name ? name : name_behind("union", type);
}

TypePtr pointer_field(const TypeText& type, Space space, World& world) {
    TypePtr to;
    if (const auto name = structure_name(type.words))
        to = structure_type(*name);
    else if (const auto integer = find_c_integer(type.words))
        to = integer->is_bool ? boolean_type() : integer_type(integer->bytes, integer->is_signed);
    else if (type.words != "void" && std::ranges::all_of(type.words, is_word_char))
        to = world.find_type(type.words);
    if (!to) to = none_type();
    // Without a star: a pointer to a function.
    for (std::size_t i = 0; i < std::max<std::size_t>(type.stars, 1); ++i)
        to = pointer_type(std::move(to), space);
    return to;
}

TypePtr number_field(const EventFormat& event, const Field& field, const std::string& type,
                     std::size_t bytes, World& world) {
    if (const auto name = name_behind("enum", type))
        if (TypePtr known = world.find_type(*name); known && known->bytes == bytes) return known;
    if (const auto name = structure_name(type)) {
        Type structure = *structure_type(*name);
        structure.bytes = bytes;
        return std::make_shared<const Type>(std::move(structure));
    }
    const auto integer = find_c_integer(type);
    if (integer && integer->is_bool && bytes == 1) return boolean_type();
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        return array_type(integer_type(1, false), bytes);  // a structure behind a typedef
    // The kernel calls all arguments of system calls unsigned.
    const bool is_signed =
        integer && is_call_argument(event) ? integer->is_signed : field.is_signed;
    return integer_type(bytes, is_signed);
}

}  // namespace

TypePtr field_type(const EventFormat& event, const Field& field, World& world) {
    const Space space = is_call_argument(event) ? Space::user : Space::kernel;
    const TypeText type = read_type(field.type);
    if (field.holds_text()) return string_type(field.is_dynamic() ? 0 : field.size);
    if (!field.is_array) {
        return field.is_pointer ? pointer_field(type, space, world)
                                : number_field(event, field, type.words, field.size, world);
    }
    const std::size_t bytes = field.element_size ? field.element_size : 1;
    TypePtr element = type.stars != 0 ? pointer_field(type, space, world)
                                      : number_field(event, field, type.words, bytes, world);
    return array_type(std::move(element), field.is_dynamic() ? 0 : field.size / bytes);
}

}  // namespace gpufs::bt
