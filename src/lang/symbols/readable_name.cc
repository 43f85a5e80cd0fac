#include "lang/symbols/readable_name.h"

#include <algorithm>

#include "base/scan.h"
#include "lang/symbols/function_name.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

std::string without_blanks(std::string_view text) {
    std::string made;
    for (const char c : text)
        if (c != ' ') made += c;
    return made;
}

// To demangle all symbols of a large program takes longer than to look for a word in them.
std::string_view word_of(std::string_view name) {
    name = name.substr(0, name.find_first_of("(<["));
    const auto begin = std::find_if_not(name.rbegin(), name.rend(), is_word_char).base();
    const std::string_view word = name.substr(static_cast<std::size_t>(begin - name.begin()));
    return word.starts_with("operator") ? std::string_view() : word;
}

}  // namespace

ReadableName::ReadableName(std::string_view name)
    : name_(name),
      wanted_(without_blanks(name)),
      word_(word_of(name)),
      has_parameters_(without_types(name).name.size() != name.size()) {}

bool ReadableName::is_of(const std::string& symbol) const {
    if (symbol.find(word_) == symbol.npos) return false;
    const std::string whole(without_copy_suffix(symbol));
    if (whole == name_) return true;
    const std::string signature = function_signature(whole);
    return signature != whole && (without_blanks(function_name(whole)) == wanted_ ||
                                  without_blanks(signature) == wanted_);
}

}  // namespace gpufs
