#include "lang/unwind/eh_frame.h"

#include <algorithm>
#include <optional>

#include "base/byte_reader.h"
#include "lang/unwind/cfi_machine.h"

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
constexpr std::uint32_t kLongLength = 0xffffffff;  // followed by a length of 64 bits
// In front of an aligned function there is padding, which nothing runs: the rule in front of it may
// go on. Other gaps are functions of assembly language, without rules.
constexpr std::uint64_t kAlignment = 16;

std::optional<std::uint64_t> read_value(ByteReader& from, std::uint8_t form) {
    switch (form & kForm) {
        case kAbsolute:
        case kData8:
        case kSigned:
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

// The length of an entry, and how many bytes tell it.
struct EntryLength {
    std::uint64_t bytes = 0;
    std::size_t field_bytes = sizeof(std::uint32_t);
};
EntryLength length_at(std::string_view bytes, std::size_t at) {
    ByteReader from(bytes.substr(at));
    EntryLength length;
    length.bytes = from.number<std::uint32_t>();
    if (length.bytes == kLongLength) {
        length.bytes = from.number<std::uint64_t>();
        length.field_bytes += sizeof(std::uint64_t);
    }
    return length;
}

}  // namespace

EhFrame::EhFrame(std::string_view bytes, std::uint64_t address, const UnwindMachine& machine)
    : bytes_(bytes), address_(address), machine_(machine) {
    read_entries();
}

bool EhFrame::read_common(std::size_t at, Common& common) const {
    const EntryLength length = length_at(bytes_, at);
    const std::size_t body = at + length.field_bytes;
    if (body > bytes_.size() || length.bytes > bytes_.size() - body) return false;
    ByteReader from(bytes_.substr(body, length.bytes));
    if (from.number<std::uint32_t>() != 0) return false;  // a function's
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

std::size_t EhFrame::common_at(std::size_t at) {
    // Functions mostly follow what they have in common.
    for (std::size_t i = commons_.size(); i-- > 0 && i + 8 > commons_.size();)
        if (commons_[i].at == at) return i;
    const auto is_it = [at](const Common& one) { return one.at == at; };
    const auto known = std::ranges::find_if(commons_, is_it);
    if (known != commons_.end()) return static_cast<std::size_t>(known - commons_.begin());
    Common common;
    if (!read_common(at, common)) return commons_.max_size();
    commons_.push_back(common);
    return commons_.size() - 1;
}

void EhFrame::read_entries() {
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= bytes_.size();) {
        const EntryLength length = length_at(bytes_, at);
        if (length.bytes == 0) break;  // the end
        const std::size_t body = at + length.field_bytes;
        if (body > bytes_.size() || length.bytes > bytes_.size() - body) {
            ++damaged_;
            break;
        }
        at = body + length.bytes;
        ByteReader from(bytes_.substr(body, length.bytes));
        const auto back = from.number<std::uint32_t>();
        if (back == 0) continue;  // read when a function refers to it
        const std::size_t index = back <= body ? common_at(body - back) : commons_.max_size();
        if (index >= commons_.size()) {
            ++damaged_;
            continue;
        }
        const Common& common = commons_[index];
        const std::uint64_t place =
            address_ + static_cast<std::uint64_t>(from.position() - bytes_.data());
        auto begin = read_value(from, common.encoding);
        const auto size = read_value(from, common.encoding & kForm & ~kSigned);
        const auto relation = common.encoding & kRelation;
        if (common.has_data) from.take(from.uleb());
        if (!begin || !size || !from.is_good() || (relation != 0 && relation != kPcRelative)) {
            ++damaged_;
            continue;
        }
        if (relation == kPcRelative) *begin += place;
        // A function that the linker removed begins at 0.
        if (*size == 0 || *begin == 0 || *begin + *size < *begin) continue;
        entries_.push_back({*begin, *begin + *size, index, from.take(from.left())});
    }
    if (!std::ranges::is_sorted(entries_, {}, &Entry::begin))
        std::ranges::stable_sort(entries_, {}, &Entry::begin);
}

void EhFrame::for_each(const Visit& visit) {
    CfiMachine machine;
    std::uint64_t known_to = 0;  // the rules of the functions so far
    std::size_t common = commons_.max_size();
    UnwindRule last;
    const auto tell = [&](std::uint64_t address, const UnwindRule& rule) {
        if (rule == last) return;
        visit(address, rule);
        last = rule;
    };
    for (const Entry& entry : entries_) {
        if (entry.end <= known_to) continue;  // the same function again
        const std::uint64_t begin = std::max(entry.begin, known_to);
        const bool is_padding = begin % kAlignment == 0 && begin - known_to < kAlignment;
        if (begin != known_to && !is_padding) tell(known_to, {});
        if (entry.common != common) {
            common = entry.common;
            const Common& of = commons_[common];
            machine.begin({&machine_, of.code_step, of.data_step, of.return_register, of.is_signal},
                          of.code);
        }
        const bool is_good = machine.run(entry.begin, entry.end, entry.code,
                                         [&](std::uint64_t address, const UnwindRule& rule) {
                                             tell(std::max(address, begin), rule);
                                         });
        if (!is_good) ++damaged_;
        known_to = entry.end;
    }
    if (known_to != 0) tell(known_to, {});
}

}  // namespace gpufs
