#include "lang/print_fmt/binary_printf.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/extend.h"
#include "lang/print_fmt/kernel_printf.h"

namespace gpufs {
namespace {

// Reads packed arguments one by one (vbin_printf() in lib/vsprintf.c): numbers at their natural
// alignment, at most 4; strings unaligned, with their NUL.
class Packed {
public:
    explicit Packed(RecordBytes bytes) : bytes_(bytes) {}

    std::uint64_t number(std::size_t size) {
        const std::size_t alignment = std::min<std::size_t>(size, 4);
        at_ = align_up(at_, alignment);
        std::uint64_t value = 0;
        if (at_ <= bytes_.size() && size <= bytes_.size() - at_)
            std::memcpy(&value, bytes_.data() + at_, size);
        at_ += size;
        return value;
    }
    std::string_view text() {
        if (at_ >= bytes_.size()) return {};
        const std::string_view found = up_to_nul(bytes_.subspan(at_));
        at_ += found.size() + 1;
        return found;
    }

private:
    RecordBytes bytes_;
    std::size_t at_ = 0;
};

}  // namespace

void append_binary_printf(std::string& out, std::string_view format, RecordBytes arguments,
                          const AddressNames& names) {
    Packed packed(arguments);
    for (std::size_t at = 0; at < format.size();) {
        const std::size_t percent = std::min(format.find('%', at), format.size());
        out += format.substr(at, percent - at);
        if (percent == format.size()) return;
        Conversion c;
        try {
            at = parse_conversion(format, percent + 1, c);
        } catch (const Error&) {
            out += format.substr(percent);  // the kernel, too, stops converting here
            return;
        }
        if (c.letter == '%') {
            out += '%';
            continue;
        }
        if (c.takes_width) set_width(c.style, packed.number(4));
        if (c.takes_precision) set_precision(c.style, packed.number(4));

        const std::size_t start = out.size();
        if (c.letter == 's') {
            out += packed.text();
            cut_from(out, start, c.style);
        } else if (c.letter == 'c') {
            out += static_cast<char>(packed.number(1));
        } else if (c.letter == 'p') {
            // vbin_printf() stores an address only for these letters. For all others it stores the
            // formatted text, width included, because only it can follow the pointer. %pf and %pF
            // were symbols before Linux 5.5, which has %pfw.
            const char kind = c.pointer.empty() ? 'x' : c.pointer.front();
            const bool was_symbol = kind == 'F' || (kind == 'f' && !c.pointer.starts_with("fw"));
            if (kind == 'S' || kind == 's' || was_symbol) {
                append_symbol(out, packed.number(8), names, kind < 'a');
            } else if (kind == 'x' || kind == 'K' || kind == 'e') {
                append_pointer(out, packed.number(8));
            } else {
                out += packed.text();
                continue;
            }
        } else {
            const std::uint64_t value = extend(packed.number(c.size), c.size, c.style.is_signed);
            append_number(out, value, c.style);
            continue;
        }
        pad_from(out, start, c.style);
    }
}

}  // namespace gpufs
