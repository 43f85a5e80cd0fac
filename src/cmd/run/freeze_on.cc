#include "cmd/run/freeze_on.h"

#include "base/cat.h"
#include "view/json.h"

namespace gpufs {

FreezeOn::FreezeOn(const Program& program, const Expression& condition, const Session& session)
    : condition_text_(condition.source.text),
      condition_(program, condition),
      freeze_(program, session) {}

void FreezeOn::look_at(const RecordLayout& layout, std::span<const std::byte> record) {
    if (!is_frozen() && condition_.holds(layout, record)) refused_ = freeze_.freeze();
}

std::string FreezeOn::end_text() const {
    if (!is_frozen()) return cat("nothing to freeze for: '", condition_text_, "' never held");
    const Session& session = freeze_.session();
    std::string text =
        cat(session.described(), " stopped when '", condition_text_, "' held: 'gpufs show",
            session.option(), "' has what led to it, 'gpufs ", freeze_.is_own() ? "reset" : "start",
            session.option(), freeze_.is_own() ? "' removes it" : "' lets it record again");
    for (const std::string& why : refused_) text += cat("\nthen it went on: ", why);
    return text;
}

std::string FreezeOn::end_json() const {
    JsonObject line;
    line.text("freeze_on", condition_text_).boolean("frozen", is_frozen());
    if (refused_.empty()) return line.done();
    JsonArray refused;
    for (const std::string& why : refused_) refused.add_text(why);
    return line.raw("refused", refused.done()).done();
}

}  // namespace gpufs
