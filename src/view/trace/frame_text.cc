#include "view/trace/frame_text.h"

#include "base/cat.h"
#include "base/hex.h"

namespace gpufs {
std::string to_text(const Frame& frame) {
    if (frame.name.empty())
        return frame.module.empty() ? hex(frame.offset) : cat(frame.module, '+', hex(frame.offset));
    std::string text = frame.name;
    if (frame.offset != 0) text += cat('+', hex(frame.offset));
    if (frame.module.starts_with('[')) {
        text += cat(' ', frame.module);
    } else if (!frame.module.empty()) {
        text += cat(" (", frame.module, ')');
    }
    if (!frame.source.empty()) text += cat(" at ", frame.source);
    return text;
}

}  // namespace gpufs
