#include "base/cat.h"

namespace gpufs {

std::size_t CatPart::bytes() const {
    if (kind_ == Kind::text) return number_;
    if (kind_ == Kind::character) return 1;
    const bool is_negative = kind_ == Kind::negatable && static_cast<std::int64_t>(number_) < 0;
    std::size_t count = is_negative ? 2 : 1;
    for (std::uint64_t rest = is_negative ? 0 - number_ : number_; rest >= 10; rest /= 10) ++count;
    return count;
}

void CatPart::append_to(std::string& out) const {
    switch (kind_) {
        case Kind::text:
            return gpufs::append(out, std::string_view(text_, number_));
        case Kind::character:
            return gpufs::append(out, static_cast<char>(number_));
        case Kind::number:
            return gpufs::append(out, number_);
        case Kind::negatable:
            return gpufs::append(out, static_cast<std::int64_t>(number_));
    }
}

std::string cat_parts(std::span<const CatPart> parts) {
    std::size_t bytes = 0;
    for (const CatPart& part : parts) bytes += part.bytes();
    std::string out;
    out.reserve(bytes);
    for (const CatPart& part : parts) part.append_to(out);
    return out;
}

}  // namespace gpufs
