#include "base/quoted.h"

namespace gpufs {

void append_quoted(std::string& out, std::string_view text, Controls controls) {
    out += '"';
    for (;;) {
        const auto mark = text.find_first_of("\"\\");
        append_printable(out, text.substr(0, mark), controls);
        if (mark == text.npos) break;
        out += '\\';
        out += text[mark];
        text.remove_prefix(mark + 1);
    }
    out += '"';
}

}  // namespace gpufs
