#include "lang/probe/x86_instruction.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace gpufs {
namespace {

constexpr std::size_t kLongest = 15;

// What stands behind the opcode:
//   .  nothing             m  ModRM                 r  ModRM that names registers only
//   b  8 bits              w  16 bits               e  16 and 8 bits (enter)
//   z  32 bits, or 16 with the prefix 66            j  32 bits
//   v  as z, 64 with REX.W                          o  an address
//   B  ModRM and 8 bits    Z  ModRM and z           D  ModRM and 32 bits
//   t  ModRM, and 8 bits where its reg is 0 or 1    T  likewise, z
//   x  ModRM, and with the prefix 66 or F2 16 bits  -  no instruction
// Prefixes, and the bytes that lead to other maps, are decoded before.
using Map = std::string_view;
constexpr Map kOneByte =
    "mmmmbz--mmmmbz--"
    "mmmmbz--mmmmbz--"
    "mmmmbz--mmmmbz--"
    "mmmmbz--mmmmbz--"
    "----------------"
    "................"
    "---m----zZbB...."
    "bbbbbbbbbbbbbbbb"
    "BZ-Bmmmmmmmmmmmm"
    "..........-....."
    "oooo....bz......"
    "bbbbbbbbvvvvvvvv"
    "BBw.--BZe.w..b-."
    "mmmm---.mmmmmmmm"
    "bbbbbbbbjj-b...."
    "-.--..tT......mm";
constexpr Map kTwoBytes =  // behind 0F
    "mmmm-.....-.-m.B"
    "mmmmmmmmmmmmmmmm"
    "rrrr----mmmmmmmm"
    "......-.--------"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "BBBBmmm.xm--mmmm"
    "jjjjjjjjjjjjjjjj"
    "mmmmmmmmmmmmmmmm"
    "...mBm--...mBmmm"
    "mmmmmmmmmmBmmmmm"
    "mmBmBBBm........"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm";
static_assert(kOneByte.size() == 256 && kTwoBytes.size() == 256);

class Decoder {
public:
    explicit Decoder(std::span<const std::byte> code)
        : code_(code.first(std::min(code.size(), kLongest))) {}

    std::size_t length() {
        prefixes();
        operands(form());
        return is_valid_ && at_ <= code_.size() ? at_ : 0;
    }

private:
    unsigned peek(std::size_t ahead = 0) {
        if (at_ + ahead < code_.size()) return std::to_integer<unsigned>(code_[at_ + ahead]);
        is_valid_ = false;
        return 0;
    }
    unsigned take() {
        const unsigned byte = peek();
        ++at_;
        return byte;
    }

    void prefixes() {
        for (;; ++at_) {
            const unsigned byte = peek();
            has_66_ = has_66_ || byte == 0x66;
            has_67_ = has_67_ || byte == 0x67;
            has_f2_ = has_f2_ || byte == 0xf2;
            const bool is_segment = (byte & 0xe7) == 0x26 || byte == 0x64 || byte == 0x65;
            const bool is_other =
                byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
            if (!is_segment && !is_other) break;
        }
        if ((peek() & 0xf0) == 0x40) is_wide_ = (take() & 8) != 0;  // REX
    }

    // The form of the opcode, which is taken with what leads to its map.
    char form() {
        const unsigned first = take();
        switch (first) {
            case 0x0f:
                return two_bytes();
            case 0xc5:
                take();
                return of_map(1);
            case 0xc4:
                return of_map(take() & 0x1f, 1);
            case 0x62:
                return of_map(take() & 7, 2);
            case 0x8f:
                if ((peek() & 0x1f) < 8) return 'm';
                return xop();
            default:
                return kOneByte[first];
        }
    }
    char two_bytes() {
        const unsigned second = take();
        if (second == 0x38 || second == 0x3a) return of_map(second == 0x38 ? 2 : 3);
        return kTwoBytes[second];
    }
    // Of VEX and EVEX: 1 to 3 are those of 0F, 0F 38 and 0F 3A; 5 and 6 are half precision.
    // So many bytes are in front of the opcode.
    char of_map(unsigned map, std::size_t between = 0) {
        at_ += between;
        const unsigned opcode = take();
        if (map == 1) return kTwoBytes[opcode];
        if (map == 3) return 'B';
        return map == 2 || map == 5 || map == 6 ? 'm' : '-';
    }
    char xop() {
        const unsigned map = take() & 0x1f;
        at_ += 2;
        return map == 8 ? 'B' : map == 9 ? 'm' : map == 10 ? 'D' : '-';
    }

    void operands(char form) {
        const std::size_t z = has_66_ && !is_wide_ ? 2 : 4;
        unsigned reg = 0;
        if (std::string_view("mBZDtTx").find(form) != std::string_view::npos) reg = mod_rm();
        switch (form) {
            case '.':
            case 'm':
                break;
            case 'r':
            case 'b':
            case 'B':
                at_ += 1;
                break;
            case 'w':
                at_ += 2;
                break;
            case 'e':
                at_ += 3;
                break;
            case 'z':
            case 'Z':
                at_ += z;
                break;
            case 'j':
            case 'D':
                at_ += 4;
                break;
            case 'v':
                at_ += is_wide_ ? 8 : z;
                break;
            case 'o':
                at_ += has_67_ ? 4 : 8;
                break;
            case 't':
                at_ += reg < 2 ? 1 : 0;
                break;
            case 'T':
                at_ += reg < 2 ? z : 0;
                break;
            case 'x':
                at_ += has_66_ || has_f2_ ? 2 : 0;
                break;
            default:
                is_valid_ = false;
        }
    }

    // Takes ModRM, SIB and the displacement; returns ModRM's reg.
    unsigned mod_rm() {
        const unsigned byte = take(), mod = byte >> 6, rm = byte & 7;
        const bool has_sib = mod != 3 && rm == 4;
        const unsigned base = has_sib ? take() & 7 : rm;
        if (mod == 1)
            at_ += 1;
        else if (mod == 2 || (mod == 0 && base == 5))
            at_ += 4;
        return byte >> 3 & 7;
    }

    std::span<const std::byte> code_;
    std::size_t at_ = 0;
    bool is_valid_ = true, is_wide_ = false, has_66_ = false, has_67_ = false, has_f2_ = false;
};

}  // namespace

std::size_t x86_instruction_length(std::span<const std::byte> code) {
    return Decoder(code).length();
}

}  // namespace gpufs
