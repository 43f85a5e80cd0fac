#include "lang/dwarf/frame.h"

#include <vector>

#include "base/byte_reader.h"

namespace gpufs {
namespace {

// DWARF 5, section 7.24, and the encodings of pointers in .eh_frame (Linux Standard Base).
enum Instruction : unsigned {
    kAdvance = 0x40,
    kOffset = 0x80,
    kRestore = 0xc0,
    kSetLocation = 0x01,
    kAdvance1 = 0x02,
    kAdvance2 = 0x03,
    kAdvance4 = 0x04,
    kOffsetExtended = 0x05,
    kRestoreExtended = 0x06,
    kUndefined = 0x07,
    kSameValue = 0x08,
    kRegister = 0x09,
    kRememberState = 0x0a,
    kRestoreState = 0x0b,
    kDefineCfa = 0x0c,
    kDefineCfaRegister = 0x0d,
    kDefineCfaOffset = 0x0e,
    kDefineCfaExpression = 0x0f,
    kExpression = 0x10,
    kOffsetExtendedSigned = 0x11,
    kDefineCfaSigned = 0x12,
    kDefineCfaOffsetSigned = 0x13,
    kValueOffset = 0x14,
    kValueOffsetSigned = 0x15,
    kValueExpression = 0x16,
    kNegateReturnAddressStateWithPc = 0x2c,
    kNegateReturnAddressState = 0x2d,
    kArgumentsSize = 0x2e,
    kNegativeOffsetExtended = 0x2f,
};
enum Encoding : unsigned {
    kAbsolute = 0x00,
    kUleb = 0x01,
    kUdata2 = 0x02,
    kUdata4 = 0x03,
    kUdata8 = 0x04,
    kSleb = 0x09,
    kSdata2 = 0x0a,
    kSdata4 = 0x0b,
    kSdata8 = 0x0c,
    kRelativeToPlace = 0x10,
};

// What several functions have in common.
struct Common {
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    unsigned encoding = kAbsolute;
    bool has_augmentation = false;
    std::string_view instructions;
};

class FrameReader {
public:
    explicit FrameReader(const FrameSection& section) : section_(section) {}

    std::optional<FrameAddress> find(std::uint64_t address) {
        for (std::uint64_t at = 0; at < section_.bytes.size();) {
            ByteReader in(section_.bytes.substr(at));
            const auto [length, field_bytes, offset_bytes] = in.unit_length();
            if (!in.is_good() || length > in.left()) return std::nullopt;
            const std::uint64_t body = section_.bytes.size() - in.left();
            at = body + length;
            if (length == 0) continue;  // the end of what one object file gave
            const std::uint64_t id_bytes = section_.is_eh ? 4 : offset_bytes;
            const std::uint64_t id = in.number(id_bytes);
            const std::uint64_t common_mark = section_.is_eh  ? 0
                                              : id_bytes == 4 ? 0xffffffff
                                                              : ~std::uint64_t{0};
            if (id == common_mark) continue;
            // In .eh_frame it counts back from where it stands.
            const auto common = common_at(section_.is_eh ? body - id : id);
            if (!common) continue;
            if (id_bytes > length) return std::nullopt;
            ByteReader function(in.take(length - id_bytes));
            end_ = at;
            const std::uint64_t begin = pointer(function, common->encoding);
            const std::uint64_t bytes = pointer(function, common->encoding & 0xf);
            if (!function.is_good() || address < begin || address - begin >= bytes) continue;
            if (common->has_augmentation) function.take(function.uleb());
            return run(*common, function.take(function.left()), begin, address);
        }
        return std::nullopt;
    }

private:
    std::uint64_t pointer(ByteReader& in, unsigned encoding) {
        const std::uint64_t place = section_.address + end_ - in.left();
        std::uint64_t value = 0;
        switch (encoding & 0xf) {
            case kAbsolute:
                value = in.number(section_.address_bytes);
                break;
            case kUleb:
                value = in.uleb();
                break;
            case kUdata2:
                value = in.number(2);
                break;
            case kSdata2:
                value = static_cast<std::uint64_t>(static_cast<std::int16_t>(in.number(2)));
                break;
            case kUdata4:
                value = in.number(4);
                break;
            case kSdata4:
                value = static_cast<std::uint64_t>(static_cast<std::int32_t>(in.number(4)));
                break;
            case kUdata8:
            case kSdata8:
                value = in.number(8);
                break;
            case kSleb:
                value = static_cast<std::uint64_t>(in.sleb());
                break;
            default:
                in.take(in.left() + 1);
        }
        return (encoding & 0x70) == kRelativeToPlace ? value + place : value;
    }

    std::optional<Common> common_at(std::uint64_t at) {
        if (at >= section_.bytes.size()) return std::nullopt;
        ByteReader in(section_.bytes.substr(at));
        const auto [length, field_bytes, offset_bytes] = in.unit_length();
        if (!in.is_good() || length > in.left()) return std::nullopt;
        end_ = section_.bytes.size() - in.left() + length;
        ByteReader body(in.take(length));
        body.take(section_.is_eh ? 4 : offset_bytes);
        const unsigned version = body.byte();
        const std::string_view augmentation = body.text();
        if (version >= 4) body.take(2);  // sizes of addresses and of segments
        Common made;
        made.code_factor = body.uleb();
        made.data_factor = body.sleb();
        if (version == 1)
            body.byte();  // the register of the return address
        else
            body.uleb();
        if (augmentation.starts_with('z')) {
            made.has_augmentation = true;
            const std::uint64_t bytes = body.uleb();
            const std::size_t behind = body.left() - std::min<std::uint64_t>(bytes, body.left());
            for (const char letter : augmentation.substr(1)) {
                if (letter == 'R') {
                    made.encoding = body.byte();
                } else if (letter == 'L') {
                    body.byte();
                } else if (letter == 'P') {
                    const unsigned encoding = body.byte();
                    pointer(body, encoding & 0xf);
                } else if (letter != 'S' && letter != 'B') {
                    break;
                }
            }
            body.take(body.left() > behind ? body.left() - behind : 0);
        } else if (!augmentation.empty()) {
            return std::nullopt;
        }
        made.instructions = body.take(body.left());
        return body.is_good() ? std::optional(made) : std::nullopt;
    }

    std::optional<FrameAddress> run(const Common& common, std::string_view of_function,
                                    std::uint64_t begin, std::uint64_t address) {
        std::optional<FrameAddress> now;
        std::vector<std::optional<FrameAddress>> remembered;
        std::uint64_t at = begin;
        if (!execute(common, common.instructions, now, remembered, at, address))
            return std::nullopt;
        at = begin;
        if (!execute(common, of_function, now, remembered, at, address)) return std::nullopt;
        return now;
    }

    // Runs instructions up to the row of `address`. False: one is unknown.
    bool execute(const Common& common, std::string_view instructions,
                 std::optional<FrameAddress>& now,
                 std::vector<std::optional<FrameAddress>>& remembered, std::uint64_t& at,
                 std::uint64_t address) {
        ByteReader in(instructions);
        const auto advance = [&](std::uint64_t steps) { at += steps * common.code_factor; };
        const auto scaled = [&](std::int64_t offset) { return offset * common.data_factor; };
        const auto cfa = [&]() -> FrameAddress& { return now ? *now : now.emplace(); };
        while (!in.at_end() && at <= address) {
            const unsigned whole = in.byte();
            switch (whole & 0xc0) {
                case kAdvance:
                    advance(whole & 0x3f);
                    continue;
                case kOffset:
                    in.uleb();
                    continue;
                case kRestore:
                    continue;
            }
            switch (whole) {
                case 0:
                case kNegateReturnAddressState:
                case kNegateReturnAddressStateWithPc:
                    break;
                case kSetLocation:
                    at = in.number(section_.address_bytes);
                    break;
                case kAdvance1:
                    advance(in.number(1));
                    break;
                case kAdvance2:
                    advance(in.number(2));
                    break;
                case kAdvance4:
                    advance(in.number(4));
                    break;
                case kRememberState:
                    remembered.push_back(now);
                    break;
                case kRestoreState:
                    if (remembered.empty()) return false;
                    now = remembered.back();
                    remembered.pop_back();
                    break;
                case kDefineCfa: {
                    const auto reg = static_cast<unsigned>(in.uleb());
                    now = FrameAddress{reg, static_cast<std::int64_t>(in.uleb()), {}};
                    break;
                }
                case kDefineCfaSigned: {
                    const auto reg = static_cast<unsigned>(in.uleb());
                    now = FrameAddress{reg, scaled(in.sleb()), {}};
                    break;
                }
                case kDefineCfaRegister:
                    cfa().reg = static_cast<unsigned>(in.uleb());
                    cfa().expression = {};
                    break;
                case kDefineCfaOffset:
                    cfa().offset = static_cast<std::int64_t>(in.uleb());
                    break;
                case kDefineCfaOffsetSigned:
                    cfa().offset = scaled(in.sleb());
                    break;
                case kDefineCfaExpression:
                    cfa().expression = in.take(in.uleb());
                    break;
                case kRestoreExtended:
                case kUndefined:
                case kSameValue:
                case kArgumentsSize:
                    in.uleb();
                    break;
                case kOffsetExtended:
                case kRegister:
                case kValueOffset:
                case kNegativeOffsetExtended:
                    in.uleb();
                    in.uleb();
                    break;
                case kOffsetExtendedSigned:
                case kValueOffsetSigned:
                    in.uleb();
                    in.sleb();
                    break;
                case kExpression:
                case kValueExpression:
                    in.uleb();
                    in.take(in.uleb());
                    break;
                default:
                    return false;
            }
            if (!in.is_good()) return false;
        }
        return true;
    }

    const FrameSection& section_;
    std::uint64_t end_ = 0;  // offset, in the section, of the end of what pointer() reads from
};

}  // namespace

std::optional<FrameAddress> frame_address_at(const FrameSection& section, std::uint64_t address) {
    return FrameReader(section).find(address);
}

}  // namespace gpufs
