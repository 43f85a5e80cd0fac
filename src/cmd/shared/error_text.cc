#include "cmd/shared/error_text.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/text.h"
#include "view/bt/diagnostic_text.h"

namespace gpufs {
namespace {

std::string evidence_text(const Error& e) {
    std::string text;
    for (const std::string_view line : lines_of(e.evidence())) text += cat("\n    ", line);
    return text;
}

std::string bpftrace_text(const Error& e) {
    const auto* placed = dynamic_cast<const Placed*>(&e);
    if (!placed || placed->messages().empty())
        return cat("ERROR: ", e.what(), evidence_text(e),
                   e.hint().empty() ? "" : "\nHINT: ", e.hint());
    std::string text;
    for (const PlacedMessage& message : placed->messages())
        text += bt::diagnostic_text("ERROR", message);
    text.pop_back();
    if (const auto* several = dynamic_cast<const Mistakes*>(&e);
        several && !several->rest().empty())
        text += cat('\n', several->rest());
    text += evidence_text(e);
    if (!e.hint().empty() && placed->messages().front().hint.empty())
        text += cat("\nHINT: ", e.hint());
    return text;
}

}  // namespace

std::string error_text(const Error& e) {
    std::string text = e.what() + evidence_text(e);
    if (!e.hint().empty()) text += cat("\nhint: ", e.hint());
    return text;
}

std::string complaint(const Error& e, Voice voice) {
    return voice == Voice::bpftrace ? bpftrace_text(e) : cat("gpufs: ", error_text(e));
}

}  // namespace gpufs
