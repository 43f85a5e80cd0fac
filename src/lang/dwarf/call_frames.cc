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

CallFrameReader::Id CallFrameReader::read_id(ByteReader& from, std::size_t offset_bytes) const {
    const std::size_t bytes = section_.is_eh ? sizeof(std::uint32_t) : offset_bytes;
    const std::uint64_t number = from.number(bytes);
    const std::uint64_t of_common = section_.is_eh ? 0
                                    : bytes == 4   ? std::uint32_t{0xffffffff}
                                                   : ~std::uint64_t{0};
    return {number, from.is_good() && number == of_common};
}

bool CallFrameReader::read_common(std::uint64_t at, CommonFrames& common) const {
    if (at >= section_.bytes.size()) return false;
    ByteReader whole(section_.bytes.substr(at));
    const auto length = whole.unit_length();
    ByteReader from(whole.take(length.bytes));
    if (!whole.is_good()) return false;
    if (!read_id(from, length.offset_bytes).is_common) return false;
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
        if (const auto function =
                read_function(id_at, from.take(length.bytes), length.offset_bytes))
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
    const auto [id, is_common] = read_id(from, offset_bytes);
    if (is_common) return std::nullopt;
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

// The instructions that functions of C seldom need.
bool decode_rare(ByteReader& from, const CommonFrames& common, std::uint8_t opcode,
                 FrameStep& step) {
    const auto scaled = [&](auto offset) {
        return product(static_cast<std::uint64_t>(offset), common.data_step);
    };
    const auto of_register = [&](Kind kind) {
        step.kind = kind;
        step.reg = from.uleb();
    };
    switch (opcode) {
        case kOffsetExtended:
            of_register(Kind::saved);
            step.number = scaled(from.uleb());
            return true;
        case kOffsetExtendedSigned:
            of_register(Kind::saved);
            step.number = scaled(from.sleb());
            return true;
        case kGnuNegativeOffset:
            of_register(Kind::saved);
            step.number = -scaled(from.uleb());
            return true;
        case kRestoreExtended:
            of_register(Kind::restored);
            return true;
        case kUndefined:
            of_register(Kind::lost);
            return true;
        case kSameValue:
            of_register(Kind::kept);
            return true;
        case kDefCfaSigned:
            of_register(Kind::cfa);
            step.number = scaled(from.sleb());
            return true;
        case kDefCfaOffsetSigned:
            step.kind = Kind::cfa_offset;
            step.number = scaled(from.sleb());
            return true;
        case kDefCfaExpression:
            step.kind = Kind::cfa_expression;
            step.expression = from.take(from.uleb());
            return true;
        case kExpression:
            of_register(Kind::saved_where);
            step.expression = from.take(from.uleb());
            return true;
        case kRegister:
        case kValOffset:
        case kValOffsetSigned:
            of_register(Kind::elsewhere);
            from.uleb();
            return true;
        case kValExpression:
            of_register(Kind::elsewhere);
            from.take(from.uleb());
            return true;
        case kGnuArgsSize:
            step.kind = Kind::none;
            from.uleb();
            return true;
        case kNegateSignedWithPc:
        case kNegateSigned:
            step.kind = Kind::sign;
            return true;
        default:
            return false;
    }
}

// Of the step, what its kind has is set.
bool decode(ByteReader& from, const CommonFrames& common, FrameStep& step) {
    const std::uint8_t opcode = from.byte(), operand = opcode & kOperand;
    const auto advance = [&](std::uint64_t steps) {
        step.kind = Kind::advance;
        step.number = static_cast<std::int64_t>(steps * common.code_step);
        return true;
    };
    switch (opcode & ~kOperand) {
        case kAdvance:
            return advance(operand);
        case kOffset:
            step.kind = Kind::saved;
            step.reg = operand;
            step.number = product(from.uleb(), common.data_step);
            return true;
        case kRestore:
            step.kind = Kind::restored;
            step.reg = operand;
            return true;
    }
    switch (opcode) {
        case kNop:
            step.kind = Kind::none;
            return true;
        case kAdvance1:
            return advance(from.byte());
        case kAdvance2:
            return advance(from.number<std::uint16_t>());
        case kAdvance4:
            return advance(from.number<std::uint32_t>());
        case kDefCfa:
            step.kind = Kind::cfa;
            step.reg = from.uleb();
            step.number = static_cast<std::int64_t>(from.uleb());
            return true;
        case kDefCfaRegister:
            step.kind = Kind::cfa_register;
            step.reg = from.uleb();
            return true;
        case kDefCfaOffset:
            step.kind = Kind::cfa_offset;
            step.number = static_cast<std::int64_t>(from.uleb());
            return true;
        case kRememberState:
            step.kind = Kind::remember;
            return true;
        case kRestoreState:
            step.kind = Kind::recall;
            return true;
        default:
            return decode_rare(from, common, opcode, step);
    }
}

}  // namespace

bool read_frame_step(ByteReader& from, const CommonFrames& common, FrameStep& step) {
    return decode(from, common, step) && from.is_good();
}

}  // namespace gpufs
