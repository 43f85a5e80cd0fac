#include "cmd/shared/error_text.h"

#include "base/text.h"

namespace gpufs {

std::string error_text(const Error& e) {
    std::string text = e.what();
    for (const std::string_view line : lines_of(e.evidence())) text += cat("\n    ", line);
    if (!e.hint().empty()) text += cat("\nhint: ", e.hint());
    return text;
}

}  // namespace gpufs
