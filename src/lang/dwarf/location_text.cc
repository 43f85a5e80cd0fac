#include "base/cat.h"
#include "base/hex.h"
#include "lang/dwarf/location.h"

namespace gpufs {
std::string RuntimeNumber::to_text() const {
    return gpufs::to_text(to_steps());
}

std::string VariablePlace::to_text() const {
    switch (kind) {
        case Kind::nowhere:
            return "optimized out";
        case Kind::memory:
            return cat('[', number.to_text(), ']');
        case Kind::in_register:
            return register_text(reg);
        case Kind::value:
            return cat("= ", number.to_text());
        case Kind::bytes: {
            std::string text = "= bytes";
            constexpr std::size_t kShown = 16;
            for (const char c : std::string_view(bytes).substr(0, kShown)) {
                text += ' ';
                append_hex_byte(text, static_cast<unsigned char>(c));
            }
            return text + (bytes.size() > kShown ? " …" : "");
        }
        case Kind::pieces: {
            std::string text = "in pieces:";
            for (const Piece& piece : pieces)
                text += cat(&piece == &pieces.front() ? " " : ", ", piece.place.to_text());
            return text;
        }
        case Kind::pointer:
            return "points to what is in no memory";
        case Kind::refused:
            return reason;
    }
    return {};
}

}  // namespace gpufs
