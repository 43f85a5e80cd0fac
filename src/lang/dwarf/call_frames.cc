#include "lang/dwarf/call_frames.h"

#include <algorithm>

namespace gpufs {
namespace {

// DW_EH_PE_*, of the Linux Standard Base.
enum Encoding : std::uint8_t {
    kAbsolute = 0x00,
    kUleb = 0x01,
    kData2 = 0x02,
    kData4 = 0x03,
    kData8 = 0x04,
    kSigned = 0x08,
    kSleb = 0x09,
    kSigned2 = 0x0a,
    kSigned4 = 0x0b,
    kSigned8 = 0x0c,
    kForm = 0x0f,
    kPcRelative = 0x10,
    kRelation = 0x70,
    kOmitted = 0xff,
};

// DW_CFA_*: section 7.24, and GNU's extensions.
enum Opcode : std::uint8_t {
    kAdvance = 0x40,  // and the two others with an operand in their low bits
    kOffset = 0x80,
    kRestore = 0xc0,
    kOperand = 0x3f,
    kNop = 0x00,
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
    kDefCfa = 0x0c,
    kDefCfaRegister = 0x0d,
    kDefCfaOffset = 0x0e,
    kDefCfaExpression = 0x0f,
    kExpression = 0x10,
    kOffsetExtendedSigned = 0x11,
    kDefCfaSigned = 0x12,
    kDefCfaOffsetSigned = 0x13,
    kValOffset = 0x14,
    kValOffsetSigned = 0x15,
    kValExpression = 0x16,
    // DW_CFA_AARCH64_negate_ra_state_with_pc and DW_CFA_AARCH64_negate_ra_state. Elsewhere the
    // second is GNU's window_save.
    kNegateSignedWithPc = 0x2c,
    kNegateSigned = 0x2d,
    kGnuArgsSize = 0x2e,
    kGnuNegativeOffset = 0x2f,
};

using Kind = FrameStep::Kind;

std::int64_t product(std::uint64_t value, std::int64_t factor) {
    return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(factor));
}

}  // namespace

std::optional<std::uint64_t> CallFrameReader::read_value(ByteReader& from,
                                                         std::uint8_t encoding) const {
    switch (encoding & kForm) {
        case kAbsolute:
        case kSigned:
            return from.number(section_.address_bytes);
        case kData8:
        case kSigned8:
            return from.number<std::uint64_t>();
        case kUleb:
            return from.uleb();
        case kSleb:
            return static_cast<std::uint64_t>(from.sleb());
        case kData2:
            return from.number<std::uint16_t>();
        case kSigned2:
            return static_cast<std::uint64_t>(std::int64_t{from.number<std::int16_t>()});
        case kData4:
            return from.number<std::uint32_t>();
        case kSigned4:
            return static_cast<std::uint64_t>(std::int64_t{from.number<std::int32_t>()});
        default:
            return std::nullopt;
    }
}

bool CallFrameReader::read_common(std::uint64_t at, CommonFrames& common) const {
    if (at >= section_.bytes.size()) return false;
    ByteReader whole(section_.bytes.substr(at));
    const auto length = whole.unit_length();
    ByteReader from(whole.take(length.bytes));
    if (!whole.is_good()) return false;
    const std::size_t id_bytes = section_.is_eh ? 4 : length.offset_bytes;
    const std::uint64_t id = from.number(id_bytes);
    const std::uint64_t mark = section_.is_eh  ? 0
                               : id_bytes == 4 ? std::uint32_t{0xffffffff}
                                               : ~std::uint64_t{0};
    if (id != mark) return false;  // a function's
    const unsigned version = from.byte();
    if (version != 1 && version != 3 && version != 4) return false;
    const std::string_view augmentation = from.text();
    if (version == 4) from.take(2);  // sizes of addresses and of segment selectors
    common.code_step = from.uleb();
    common.data_step = from.sleb();
    common.return_register = version == 1 ? from.byte() : from.uleb();
    if (!augmentation.empty() && augmentation.front() != 'z') return false;
    ByteReader data(augmentation.empty() ? std::string_view() : from.take(from.uleb()));
    common.has_data = !augmentation.empty();
    for (const char letter : augmentation.substr(common.has_data ? 1 : 0)) {
        if (letter == 'R') {
            common.encoding = data.byte();
        } else if (letter == 'L') {
            data.byte();
        } else if (letter == 'P') {
            const std::uint8_t encoding = data.byte();
            if (encoding != kOmitted && !read_value(data, encoding)) return false;
        } else if (letter == 'S') {
            common.is_signal = true;
        } else if (letter != 'B' && letter != 'G') {  // arm64's: which key signs, tagged memory
            return false;
        }
    }
    common.at = at;
    common.code = from.take(from.left());
    return from.is_good() && data.is_good();
}

std::optional<std::size_t> CallFrameReader::common_at(std::uint64_t at) {
    // Functions mostly follow what they have in common.
    for (std::size_t i = commons_.size(); i-- > 0 && i + 8 > commons_.size();)
        if (commons_[i].at == at) return i;
    const auto known = std::ranges::find(commons_, at, &CommonFrames::at);
    if (known != commons_.end()) return static_cast<std::size_t>(known - commons_.begin());
    CommonFrames common;
    if (!read_common(at, common)) return std::nullopt;
    commons_.push_back(common);
    return commons_.size() - 1;
}

std::optional<FunctionFrames> CallFrameReader::next() {
    while (at_ < section_.bytes.size()) {
        ByteReader from(section_.bytes.substr(at_));
        const auto length = from.unit_length();
        if (length.bytes == 0 && section_.is_eh) break;  // the end
        const std::size_t id_at = section_.bytes.size() - from.left();
        if (!from.is_good() || length.bytes > from.left()) {
            ++damaged_;
            break;
        }
        at_ = id_at + length.bytes;
        const std::size_t id_bytes = section_.is_eh ? 4 : length.offset_bytes;
        if (const auto function = read_function(id_at, from.take(length.bytes), id_bytes))
            return function;
    }
    at_ = section_.bytes.size();
    return std::nullopt;
}

// `id_at`: where the entry is in the section. Absent: it is none, or damaged, or for code that the
// linker left out.
std::optional<FunctionFrames> CallFrameReader::read_function(std::uint64_t id_at,
                                                             std::string_view entry,
                                                             std::size_t offset_bytes) {
    ByteReader from(entry);
    const std::uint64_t id = from.number(offset_bytes);
    const std::uint64_t no_function =
        offset_bytes == 4 ? std::uint32_t{0xffffffff} : ~std::uint64_t{0};
    if (from.is_good() && id == (section_.is_eh ? 0 : no_function)) return std::nullopt;
    const auto damage = [this] {
        ++damaged_;
        return std::nullopt;
    };
    // In .eh_frame it counts back from where it stands.
    const auto index =
        section_.is_eh ? (id <= id_at ? common_at(id_at - id) : std::nullopt) : common_at(id);
    if (!index) return damage();
    const CommonFrames& common = commons_[*index];
    const std::uint64_t place =
        section_.address + id_at + static_cast<std::uint64_t>(from.position() - entry.data());
    auto begin = read_value(from, common.encoding);
    const auto size = read_value(from, common.encoding & kForm & ~kSigned);
    const auto relation = common.encoding & kRelation;
    if (common.has_data) from.take(from.uleb());
    if (!begin || !size || !from.is_good() || (relation != 0 && relation != kPcRelative))
        return damage();
    if (relation == kPcRelative) *begin += place;
    // A function that the linker removed begins at 0.
    if (*size == 0 || *begin == 0 || *begin + *size < *begin) return std::nullopt;
    return FunctionFrames{*begin, *begin + *size, *index, from.take(from.left())};
}

namespace {

FrameStep step(Kind kind, std::uint64_t reg = 0, std::int64_t number = 0,
               std::string_view expression = {}) {
    return {kind, reg, number, expression};
}

// The instructions that functions of C seldom need.
std::optional<FrameStep> decode_rare(ByteReader& from, const CommonFrames& common,
                                     std::uint8_t opcode) {
    const auto scaled = [&](auto offset) {
        return product(static_cast<std::uint64_t>(offset), common.data_step);
    };
    std::uint64_t reg = 0;
    switch (opcode) {
        case kOffsetExtended:
            reg = from.uleb();
            return step(Kind::saved, reg, scaled(from.uleb()));
        case kOffsetExtendedSigned:
            reg = from.uleb();
            return step(Kind::saved, reg, scaled(from.sleb()));
        case kGnuNegativeOffset:
            reg = from.uleb();
            return step(Kind::saved, reg, -scaled(from.uleb()));
        case kRestoreExtended:
            return step(Kind::restored, from.uleb());
        case kUndefined:
            return step(Kind::lost, from.uleb());
        case kSameValue:
            return step(Kind::kept, from.uleb());
        case kDefCfaSigned:
            reg = from.uleb();
            return step(Kind::cfa, reg, scaled(from.sleb()));
        case kDefCfaOffsetSigned:
            return step(Kind::cfa_offset, 0, scaled(from.sleb()));
        case kDefCfaExpression:
            return step(Kind::cfa_expression, 0, 0, from.take(from.uleb()));
        case kExpression:
            reg = from.uleb();
            return step(Kind::saved_where, reg, 0, from.take(from.uleb()));
        case kRegister:
        case kValOffset:
        case kValOffsetSigned:
            reg = from.uleb();
            from.uleb();
            return step(Kind::elsewhere, reg);
        case kValExpression:
            reg = from.uleb();
            from.take(from.uleb());
            return step(Kind::elsewhere, reg);
        case kGnuArgsSize:
            from.uleb();
            return step(Kind::none);
        case kNegateSignedWithPc:
        case kNegateSigned:
            return step(Kind::sign);
        default:
            return std::nullopt;
    }
}

std::optional<FrameStep> decode(ByteReader& from, const CommonFrames& common) {
    const std::uint8_t opcode = from.byte(), operand = opcode & kOperand;
    const auto advance = [&](std::uint64_t steps) {
        return step(Kind::advance, 0, static_cast<std::int64_t>(steps * common.code_step));
    };
    switch (opcode & ~kOperand) {
        case kAdvance:
            return advance(operand);
        case kOffset:
            return step(Kind::saved, operand, product(from.uleb(), common.data_step));
        case kRestore:
            return step(Kind::restored, operand);
    }
    std::uint64_t reg = 0;
    switch (opcode) {
        case kNop:
            return step(Kind::none);
        case kAdvance1:
            return advance(from.byte());
        case kAdvance2:
            return advance(from.number<std::uint16_t>());
        case kAdvance4:
            return advance(from.number<std::uint32_t>());
        case kDefCfa:
            reg = from.uleb();
            return step(Kind::cfa, reg, static_cast<std::int64_t>(from.uleb()));
        case kDefCfaRegister:
            return step(Kind::cfa_register, from.uleb());
        case kDefCfaOffset:
            return step(Kind::cfa_offset, 0, static_cast<std::int64_t>(from.uleb()));
        case kRememberState:
            return step(Kind::remember);
        case kRestoreState:
            return step(Kind::recall);
        default:
            return decode_rare(from, common, opcode);
    }
}

}  // namespace

std::optional<FrameStep> read_frame_step(ByteReader& from, const CommonFrames& common) {
    const auto step = decode(from, common);
    return from.is_good() ? step : std::nullopt;
}

}  // namespace gpufs
