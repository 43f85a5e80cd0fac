#include "lang/symbols/dwarf_lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpufs {
namespace {

// DWARF 5, sections 7.22 and 7.5.6; earlier versions use the same numbers.
enum StandardOpcode : std::uint8_t {
    kExtended = 0,
    kCopy = 1,
    kAdvancePc = 2,
    kAdvanceLine = 3,
    kSetFile = 4,
    kSetColumn = 5,
    kConstAddPc = 8,
    kFixedAdvancePc = 9,
};
enum ExtendedOpcode : std::uint8_t { kEndSequence = 1, kSetAddress = 2 };
constexpr std::uint64_t kPath = 1;  // DW_LNCT_path
enum Form : std::uint64_t {
    kData2 = 0x05,
    kData4 = 0x06,
    kData8 = 0x07,
    kString = 0x08,
    kBlock = 0x09,
    kData1 = 0x0b,
    kStrp = 0x0e,
    kUdata = 0x0f,
    kStrx = 0x1a,
    kStrpSup = 0x1d,
    kData16 = 0x1e,
    kLineStrp = 0x1f,
    kStrx1 = 0x25,
    kStrx2 = 0x26,
    kStrx3 = 0x27,
    kStrx4 = 0x28,
};
constexpr std::uint32_t kLongOffsets = 0xffffffff;  // followed by a length of 64 bits

// Reads values from bytes. Past the end all values are 0 and is_good() is false.
class Cursor {
public:
    explicit Cursor(std::string_view bytes) : rest_(bytes) {}

    bool is_good() const { return is_good_; }
    bool at_end() const { return rest_.empty(); }
    std::size_t left() const { return rest_.size(); }

    std::string_view take(std::uint64_t n) {
        if (n > rest_.size()) {
            is_good_ = false;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }
    // An unsigned number of `bytes` bytes, at most 8.
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        const std::string_view taken = take(bytes);
        if (taken.empty()) return 0;
        if constexpr (kIsLittle) {
            std::memcpy(&value, taken.data(), taken.size());
        } else {
            for (const char c : taken) value = value << 8 | static_cast<unsigned char>(c);
        }
        return value;
    }
    std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
    std::uint64_t uleb() { return leb().first; }
    std::int64_t sleb() {
        const auto [value, bits] = leb();
        const bool is_negative = bits > 0 && bits < 64 && (value >> (bits - 1) & 1);
        return static_cast<std::int64_t>(is_negative ? value | ~std::uint64_t{0} << bits : value);
    }
    std::string_view text() {
        const auto end = rest_.find('\0');
        const std::string_view taken = take(end == rest_.npos ? rest_.size() + 1 : end + 1);
        return taken.substr(0, taken.empty() ? 0 : taken.size() - 1);
    }

private:
    static constexpr bool kIsLittle = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    std::pair<std::uint64_t, unsigned> leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const std::uint64_t part = byte();
            if (shift < 64) value |= (part & 0x7f) << shift;
            shift += 7;
            if (!(part & 0x80)) return {value, std::min(shift, 64u)};
        }
    }

    std::string_view rest_;
    bool is_good_ = true;
};

// The header of a unit's program.
struct Header {
    unsigned version = 0;
    std::size_t offset_bytes = 4;
    std::uint64_t min_instruction = 1;
    std::int64_t line_base = 0;
    std::uint64_t line_range = 1;
    unsigned opcode_base = 1;
    std::string_view operand_counts;  // of the opcodes, starting with 1
    std::string_view tables;          // directories and files
    std::string_view program;
};

// The length of a unit after this field, and the size of the field itself.
struct UnitLength {
    std::uint64_t bytes = 0;
    std::size_t field_bytes = 0;
    std::size_t offset_bytes = 4;
};
UnitLength take_length(Cursor& in) {
    const std::uint64_t length = in.number(4);
    if (length != kLongOffsets) return {length, 4, 4};
    return {in.number(8), 12, 8};
}

std::optional<Header> parse_header(std::string_view unit) {
    Cursor outer(unit);
    const UnitLength length = take_length(outer);
    Cursor in(outer.take(length.bytes));
    Header header;
    header.offset_bytes = length.offset_bytes;
    header.version = static_cast<unsigned>(in.number(2));
    if (header.version < 2 || header.version > 5) return std::nullopt;
    if (header.version >= 5) in.take(2);  // sizes of addresses and of segment selectors
    const std::uint64_t header_bytes = in.number(header.offset_bytes);
    Cursor head(in.take(header_bytes));
    header.program = in.take(in.left());
    header.min_instruction = head.byte();
    if (header.version >= 4) head.byte();  // maximum operations per instruction
    head.byte();                           // default_is_stmt
    const std::int64_t line_base = head.byte();
    header.line_base = line_base < 128 ? line_base : line_base - 256;
    header.line_range = head.byte();
    header.opcode_base = head.byte();
    header.operand_counts = head.take(header.opcode_base ? header.opcode_base - 1 : 0);
    header.tables = head.take(head.left());
    if (!outer.is_good() || !in.is_good() || !head.is_good() || header.line_range == 0)
        return std::nullopt;
    return header;
}

struct Row {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint64_t line = 1;  // may wrap in a damaged program
};

// Runs a program: calls visit(row, is_end) for each row of its table and for the end of each
// sequence, whose address is the first after it. Stops if `visit` returns false.
template <class Visit>
void run(const Header& header, const Visit& visit) {
    Cursor in(header.program);
    Row row;
    const auto advance = [&](std::uint64_t operations) {
        row.address += operations * header.min_instruction;
    };
    while (!in.at_end()) {
        const unsigned opcode = in.byte();
        if (opcode >= header.opcode_base) {
            const unsigned special = opcode - header.opcode_base;
            advance(special / header.line_range);
            row.line += static_cast<std::uint64_t>(header.line_base) + special % header.line_range;
            if (!visit(row, false)) return;
            continue;
        }
        switch (opcode) {
            case kExtended: {
                Cursor extended(in.take(in.uleb()));
                const unsigned what = extended.byte();
                if (what == kSetAddress && extended.left() <= sizeof row.address)
                    row.address = extended.number(extended.left());
                if (what != kEndSequence) break;
                if (!in.is_good() || !visit(row, true)) return;
                row = Row{};
                break;
            }
            case kCopy:
                if (!visit(row, false)) return;
                break;
            case kAdvancePc:
                advance(in.uleb());
                break;
            case kAdvanceLine:
                row.line += static_cast<std::uint64_t>(in.sleb());
                break;
            case kSetFile:
                row.file = in.uleb();
                break;
            case kConstAddPc:
                advance((255u - header.opcode_base) / header.line_range);
                break;
            case kFixedAdvancePc:
                row.address += in.number(2);
                break;
            default:  // not relevant here, or of a later version
                for (auto n = static_cast<unsigned char>(header.operand_counts[opcode - 1]); n > 0;
                     --n)
                    in.uleb();
        }
    }
}

// The last component of a path.
std::string base_name(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

// DWARF 2 to 4: directories, then files counted from 1; an empty name ends each list.
std::string old_file_name(const Header& header, std::uint64_t file) {
    Cursor in(header.tables);
    while (!in.text().empty()) {
    }
    for (std::uint64_t i = 1; !in.at_end(); ++i) {
        const std::string_view name = in.text();
        if (name.empty()) break;
        if (i == file) return base_name(name);
        for (int field = 0; field < 3; ++field) in.uleb();  // directory, time, size
    }
    return {};
}

// Reads a field of an entry; returns its text if it has one.
std::string take_form(Cursor& in, std::uint64_t form, std::size_t offset_bytes,
                      const LineTexts* texts) {
    switch (form) {
        case kString:
            return std::string(in.text());
        case kStrp:
        case kLineStrp:
        case kStrpSup: {
            const std::uint64_t at = in.number(offset_bytes);
            if (!texts || !in.is_good()) return {};
            if (form == kLineStrp && texts->line_str) return texts->line_str(at);
            if (form == kStrp && texts->str) return texts->str(at);
            return {};
        }
        case kUdata:
        case kStrx:
            in.uleb();
            return {};
        case kBlock:
            in.take(in.uleb());
            return {};
        case kData1:
        case kStrx1:
            in.take(1);
            return {};
        case kData2:
        case kStrx2:
            in.take(2);
            return {};
        case kStrx3:
            in.take(3);
            return {};
        case kData4:
        case kStrx4:
            in.take(4);
            return {};
        case kData8:
            in.take(8);
            return {};
        case kData16:
            in.take(16);
            return {};
    }
    in.take(in.left() + 1);  // of unknown size: nothing after it can be read
    return {};
}

// Reads one of DWARF 5's two tables: the list of an entry's fields, then the entries, counted from
// 0. Returns the path of entry `wanted`; with null `texts` only skips the table.
std::string take_table(Cursor& in, std::size_t offset_bytes, std::uint64_t wanted,
                       const LineTexts* texts) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> fields(in.byte());
    for (auto& [content, form] : fields) {
        content = in.uleb();
        form = in.uleb();
    }
    const std::uint64_t count = in.uleb();
    if (fields.empty()) return {};
    std::string path;
    for (std::uint64_t i = 0; i < count && !in.at_end(); ++i) {
        for (const auto& [content, form] : fields) {
            const bool is_it = i == wanted && content == kPath;
            std::string text = take_form(in, form, offset_bytes, is_it ? texts : nullptr);
            if (is_it && texts) path = std::move(text);
        }
        if (texts && i == wanted) break;
    }
    return path;
}

std::string file_name(const Header& header, std::uint64_t file, const LineTexts& texts) {
    if (header.version < 5) return old_file_name(header, file);
    Cursor in(header.tables);
    take_table(in, header.offset_bytes, 0, nullptr);  // directories
    return base_name(take_table(in, header.offset_bytes, file, &texts));
}

// Linkers place removed code at address 0 or at the highest addresses.
bool is_left_out(std::uint64_t address) {
    constexpr std::uint64_t kHighest32 = 0xfffffffe, kHighest64 = ~std::uint64_t{0} - 1;
    return address == 0 || address == kHighest32 || address == kHighest32 + 1 ||
           address >= kHighest64;
}

}  // namespace

std::uint64_t line_unit_bytes(std::string_view begin) {
    Cursor in(begin);
    const UnitLength length = take_length(in);
    if (!in.is_good() || length.bytes == 0 || length.bytes > ~std::uint64_t{0} >> 1) return 0;
    return length.bytes + length.field_bytes;
}

std::vector<CodeSpan> line_unit_spans(std::string_view unit) {
    std::vector<CodeSpan> spans;
    const auto header = parse_header(unit);
    if (!header) return spans;
    std::optional<std::uint64_t> begin;
    run(*header, [&](const Row& row, bool is_end) {
        if (!begin) begin = row.address;
        if (!is_end) return true;
        if (!is_left_out(*begin) && row.address > *begin) spans.push_back({*begin, row.address});
        begin.reset();
        return true;
    });
    return spans;
}

std::optional<SourceLine> find_source_line(std::string_view unit, const LineTexts& texts,
                                           std::uint64_t address) {
    const auto header = parse_header(unit);
    if (!header) return std::nullopt;
    std::optional<Row> before, found;
    run(*header, [&](const Row& row, bool is_end) {
        if (before && before->address <= address && address < row.address) found = before;
        if (is_end) {
            before.reset();
        } else {
            before = row;
        }
        return !found;
    });
    if (!found || found->line == 0) return std::nullopt;
    SourceLine source{file_name(*header, found->file, texts), found->line};
    if (source.file.empty()) return std::nullopt;
    return source;
}

}  // namespace gpufs
