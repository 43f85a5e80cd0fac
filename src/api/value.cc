#include "gpufs/value.h"

#include <algorithm>

#include "base/text.h"

namespace gpufs::api {
namespace {

struct ToText {
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(Stack stack) const {
        std::ranges::reverse(stack);
        return join(stack, ";");
    }
};

}  // namespace

std::string to_text(const Value& value) {
    return std::visit(ToText(), value);
}

}  // namespace gpufs::api
