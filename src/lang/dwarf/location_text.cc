#include "base/cat.h"
#include "base/hex.h"
#include "lang/dwarf/location.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

std::string sum_text(std::int64_t number) {
    return number == 0 ? "" : number < 0 ? cat(number) : cat('+', number);
}

}  // namespace

std::string register_text(unsigned reg) {
    const auto name = register_of_dwarf(reg);
    return name ? cat('%', *name) : cat("register ", reg);
}

std::string RuntimeNumber::to_text() const {
    std::string text;
    std::int64_t first = reads.empty() ? offset : reads.front().at;
    switch (base) {
        case Base::constant:
            text = cat(first);
            first = 0;
            break;
        case Base::linked:
            text = hex(static_cast<std::uint64_t>(first));
            first = 0;
            break;
        case Base::in_register:
            text = register_text(reg);
            break;
        case Base::computed:
            text = formula;
            break;
    }
    text += sum_text(first);
    for (std::size_t i = 0; i < reads.size(); ++i)
        text = cat('[', text, ']', sum_text(i + 1 < reads.size() ? reads[i + 1].at : offset));
    return text;
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
