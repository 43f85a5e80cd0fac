#include "lang/dwarf/lines.h"

#include <utility>

#include "base/byte_reader.h"
#include "base/path.h"
#include "lang/dwarf/numbers.h"

namespace gpufs {
namespace {

// DWARF 5, section 7.22; earlier versions use the same numbers.
enum StandardOpcode : std::uint8_t {
    kExtended = 0,
    kCopy = 1,
    kAdvancePc = 2,
    kAdvanceLine = 3,
    kSetFile = 4,
    kSetColumn = 5,
    kNegateStatement = 6,
    kConstAddPc = 8,
    kFixedAdvancePc = 9,
    kSetPrologueEnd = 10,
};
enum ExtendedOpcode : std::uint8_t { kEndSequence = 1, kSetAddress = 2 };
constexpr std::uint64_t kPath = 1, kDirectory = 2;  // DW_LNCT_path, DW_LNCT_directory_index

// The header of a unit's program.
struct Header {
    unsigned version = 0;
    std::size_t offset_bytes = 4;
    std::uint64_t min_instruction = 1;
    bool is_statement = true;  // what rows are until an instruction says otherwise
    std::int64_t line_base = 0;
    std::uint64_t line_range = 1;
    unsigned opcode_base = 1;
    std::string_view operand_counts;  // of the opcodes, starting with 1
    std::string_view tables;          // directories and files
    std::string_view program;
};

std::optional<Header> parse_header(std::string_view unit) {
    ByteReader outer(unit);
    const ByteReader::UnitLength length = outer.unit_length();
    ByteReader in(outer.take(length.bytes));
    Header header;
    header.offset_bytes = length.offset_bytes;
    header.version = static_cast<unsigned>(in.number(2));
    if (header.version < 2 || header.version > 5) return std::nullopt;
    if (header.version >= 5) in.take(2);  // sizes of addresses and of segment selectors
    const std::uint64_t header_bytes = in.number(header.offset_bytes);
    ByteReader head(in.take(header_bytes));
    header.program = in.take(in.left());
    header.min_instruction = head.byte();
    if (header.version >= 4) head.byte();  // maximum operations per instruction
    header.is_statement = head.byte() != 0;
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

// Runs a program: calls visit(row) for each row of its table. Stops if `visit` returns false.
template <class Visit>
void run(const Header& header, const Visit& visit) {
    ByteReader in(header.program);
    const LineRow first{.is_statement = header.is_statement};
    LineRow row = first;
    const auto make_row = [&] {
        const bool goes_on = visit(std::as_const(row));
        row.is_prologue_end = false;
        return goes_on;
    };
    const auto advance = [&](std::uint64_t operations) {
        row.address += operations * header.min_instruction;
    };
    while (!in.at_end()) {
        const unsigned opcode = in.byte();
        if (opcode >= header.opcode_base) {
            const unsigned special = opcode - header.opcode_base;
            advance(special / header.line_range);
            row.line += static_cast<std::uint64_t>(header.line_base) + special % header.line_range;
            if (!make_row()) return;
            continue;
        }
        switch (opcode) {
            case kExtended: {
                ByteReader extended(in.take(in.uleb()));
                const unsigned what = extended.byte();
                if (what == kSetAddress && extended.left() <= sizeof row.address)
                    row.address = extended.number(extended.left());
                if (what != kEndSequence) break;
                row.is_end = true;
                if (!in.is_good() || !make_row()) return;
                row = first;
                break;
            }
            case kCopy:
                if (!make_row()) return;
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
            case kNegateStatement:
                row.is_statement = !row.is_statement;
                break;
            case kSetPrologueEnd:
                row.is_prologue_end = true;
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

// A field of an entry: a number, or a text, which may be in another section and is read when asked
// for.
struct TableField {
    std::uint64_t number = 0;  // or the text's offset
    std::uint64_t form = 0;
    std::string_view in_place;

    std::string text(const LineTexts& texts) const {
        if (form == dw::FORM_line_strp && texts.line_str) return texts.line_str(number);
        if (form == dw::FORM_strp && texts.str) return texts.str(number);
        return std::string(in_place);
    }
};
TableField take_form(ByteReader& in, std::uint64_t form, std::size_t offset_bytes) {
    switch (form) {
        case dw::FORM_string:
            return {0, form, in.text()};
        case dw::FORM_strp:
        case dw::FORM_line_strp:
        case dw::FORM_strp_sup:
            return {in.number(offset_bytes), form, {}};
        case dw::FORM_udata:
        case dw::FORM_strx:
            return {in.uleb(), form, {}};
        case dw::FORM_block:
            in.take(in.uleb());
            return {};
        case dw::FORM_data1:
        case dw::FORM_strx1:
            return {in.number(1), form, {}};
        case dw::FORM_data2:
        case dw::FORM_strx2:
            return {in.number(2), form, {}};
        case dw::FORM_strx3:
            return {in.number(3), form, {}};
        case dw::FORM_data4:
        case dw::FORM_strx4:
            return {in.number(4), form, {}};
        case dw::FORM_data8:
            return {in.number(8), form, {}};
        case dw::FORM_data16:
            in.take(16);
            return {};
    }
    in.take(in.left() + 1);  // of unknown size: nothing after it can be read
    return {};
}

// Reads one of DWARF 5's two tables: the list of an entry's fields, then the entries, counted from
// 0. Calls visit(number, path, directory) for each until it returns false.
template <class Visit>
void walk_table(ByteReader& in, std::size_t offset_bytes, const Visit& visit) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> fields(in.byte());
    for (auto& [content, form] : fields) {
        content = in.uleb();
        form = in.uleb();
    }
    const std::uint64_t count = in.uleb();
    if (fields.empty()) return;
    for (std::uint64_t i = 0; i < count && !in.at_end(); ++i) {
        TableField path;
        std::uint64_t directory = 0;
        for (const auto& [content, form] : fields) {
            const TableField field = take_form(in, form, offset_bytes);
            if (content == kPath) path = field;
            if (content == kDirectory) directory = field.number;
        }
        if (!in.is_good() || !visit(i, path, directory)) return;
    }
}

// DWARF 2 to 4: directories, then files, both counted from 1; an empty name ends each list.
template <class Visit>
void walk_old_files(const Header& header, const Visit& visit) {
    const auto field = [](std::string_view text) { return TableField{0, dw::FORM_string, text}; };
    ByteReader in(header.tables);
    std::vector<std::string_view> directories{""};
    for (std::string_view name = in.text(); !name.empty(); name = in.text())
        directories.push_back(name);
    for (std::uint64_t i = 1; !in.at_end(); ++i) {
        const std::string_view name = in.text();
        if (name.empty()) return;
        const std::uint64_t directory = in.uleb();
        in.uleb();  // time
        in.uleb();  // size
        const bool is_known = directory < directories.size();
        if (!visit(i, field(name), field(is_known ? directories[directory] : ""))) return;
    }
}

// Calls visit(number, path, directory's path) for each file until it returns false; both paths are
// TableFields.
template <class Visit>
void walk_files(const Header& header, const Visit& visit) {
    if (header.version < 5) return walk_old_files(header, visit);
    ByteReader in(header.tables);
    std::vector<TableField> directories;
    walk_table(in, header.offset_bytes, [&](std::uint64_t, const TableField& path, std::uint64_t) {
        directories.push_back(path);
        return true;
    });
    walk_table(in, header.offset_bytes,
               [&](std::uint64_t number, const TableField& path, std::uint64_t directory) {
                   const bool is_known = directory < directories.size();
                   return visit(number, path, is_known ? directories[directory] : TableField{});
               });
}

// Without its directory.
std::string name_of_file(const Header& header, std::uint64_t file, const LineTexts& texts) {
    std::string found;
    walk_files(header, [&](std::uint64_t number, const TableField& path, const TableField&) {
        if (number != file) return true;
        found = file_name(path.text(texts));
        return false;
    });
    return found;
}

// Linkers place removed code at address 0 or at the highest addresses.
bool is_left_out(std::uint64_t address) {
    constexpr std::uint64_t kHighest32 = 0xfffffffe, kHighest64 = ~std::uint64_t{0} - 1;
    return address == 0 || address == kHighest32 || address == kHighest32 + 1 ||
           address >= kHighest64;
}

// Visits the rows of code that the linker left in, until the visitor returns false.
template <class Visit>
void run_what_is_left(const Header& header, Visit visit) {
    bool is_removed = false, is_first = true;
    run(header, [&](const LineRow& row) {
        if (std::exchange(is_first, row.is_end)) is_removed = is_left_out(row.address);
        return is_removed || visit(row);
    });
}

}  // namespace

std::uint64_t line_unit_bytes(std::string_view begin) {
    ByteReader in(begin);
    const ByteReader::UnitLength length = in.unit_length();
    if (!in.is_good() || length.bytes == 0 || length.bytes > ~std::uint64_t{0} >> 1) return 0;
    return length.bytes + length.field_bytes;
}

std::vector<CodeSpan> line_unit_spans(std::string_view unit) {
    std::vector<CodeSpan> spans;
    const auto header = parse_header(unit);
    if (!header) return spans;
    std::optional<std::uint64_t> begin;
    run(*header, [&](const LineRow& row) {
        if (!begin) begin = row.address;
        if (!row.is_end) return true;
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
    std::optional<LineRow> before, found;
    run_what_is_left(*header, [&](const LineRow& row) {
        if (before && before->address <= address && address < row.address) found = before;
        if (row.is_end) {
            before.reset();
        } else {
            before = row;
        }
        return !found;
    });
    if (!found || found->line == 0) return std::nullopt;
    SourceLine source{name_of_file(*header, found->file, texts), found->line};
    if (source.file.empty()) return std::nullopt;
    return source;
}

std::string source_file_name(std::string_view unit, const LineTexts& texts, std::uint64_t number) {
    const auto header = parse_header(unit);
    return header ? name_of_file(*header, number, texts) : std::string();
}

std::vector<std::string> line_unit_files(std::string_view unit, const LineTexts& texts) {
    std::vector<std::string> files;
    const auto header = parse_header(unit);
    if (!header) return files;
    walk_files(*header,
               [&](std::uint64_t number, const TableField& path, const TableField& directory) {
                   files.resize(number + 1);
                   files.back() = path.text(texts);
                   if (const std::string above = directory.text(texts);
                       !above.empty() && !files.back().starts_with('/'))
                       files.back() = above + '/' + files.back();
                   return true;
               });
    return files;
}

void for_each_line_row(std::string_view unit, const std::function<bool(const LineRow&)>& visit) {
    const auto header = parse_header(unit);
    if (header) run_what_is_left(*header, visit);
}

}  // namespace gpufs
