#include "view/export/parquet.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/cat.h"
#include "view/export/protobuf.h"
#include "view/export/thrift.h"

namespace gpufs {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::uint64_t kRowsOfGroup = 128 << 10;
constexpr std::size_t kLargestDictionary = 1 << 20;

// Numbers of parquet.thrift.
enum PhysicalType { kInt32 = 1, kInt64 = 2, kByteArray = 6 };
enum ConvertedType { kUtf8 = 0, kUint64 = 14 };
enum Encoding { kPlain = 0, kRle = 3, kRleDictionary = 8 };
constexpr std::int32_t kZstd = 6, kOptional = 1, kDataPage = 0, kDictionaryPage = 2;
namespace file_metadata {
constexpr unsigned kVersion = 1, kSchema = 2, kRows = 3, kGroups = 4, kFacts = 5, kCreatedBy = 6,
                   kOrders = 7;
}
namespace schema_element {
constexpr unsigned kType = 1, kRepetition = 3, kName = 4, kChildren = 5, kConverted = 6;
}
namespace row_group {
constexpr unsigned kColumns = 1, kBytes = 2, kRows = 3;
}
namespace column_chunk {
constexpr unsigned kOffset = 2, kMetadata = 3;
}
namespace column_metadata {
constexpr unsigned kType = 1, kEncodings = 2, kPath = 3, kCodec = 4, kValues = 5, kPlainBytes = 6,
                   kBytes = 7, kDataPage = 9, kDictionaryPage = 11, kStatistics = 12;
}
namespace statistics {
constexpr unsigned kMost = 5, kLeast = 6;
}
namespace page_header {
constexpr unsigned kType = 1, kPlainSize = 2, kSize = 3, kData = 5, kDictionary = 7;
constexpr unsigned kValues = 1, kEncoding = 2, kDefinitionLevels = 3, kRepetitionLevels = 4;
}  // namespace page_header

PhysicalType physical(ParquetWriter::Type type) {
    switch (type) {
        case ParquetWriter::Type::i32:
            return kInt32;
        case ParquetWriter::Type::text:
            return kByteArray;
        case ParquetWriter::Type::i64:
        case ParquetWriter::Type::u64:
            break;
    }
    return kInt64;
}

// Parquet's byte order is this machine's.
static_assert(std::endian::native == std::endian::little);

template <class T>
void append_plain(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Numbers of `width` bits, least first, in groups of eight.
void append_packed(std::string& out, const std::vector<std::int64_t>& numbers, unsigned width) {
    const std::size_t groups = (numbers.size() + 7) / 8;
    append_varint(out, groups << 1 | 1);
    const std::size_t begin = out.size();
    out.resize(begin + groups * width);
    char* to = out.data() + begin;
    std::uint64_t bits = 0;
    unsigned held = 0;
    for (std::size_t i = 0; i < 8 * groups; ++i) {
        if (i < numbers.size()) bits |= static_cast<std::uint64_t>(numbers[i]) << held;
        for (held += width; held >= 8; held -= 8, bits >>= 8) *to++ = static_cast<char>(bits);
    }
}

// Whether rows have a value, as runs of 0 and 1, behind their size.
void append_levels(std::string& out, const std::vector<std::uint32_t>& runs) {
    std::string levels;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i] == 0) continue;
        append_varint(levels, std::uint64_t{runs[i]} << 1);
        levels += static_cast<char>(i % 2);
    }
    append_plain(out, static_cast<std::uint32_t>(levels.size()));
    out += levels;
}

}  // namespace

ParquetWriter::ParquetWriter(Write write) : write_(std::move(write)) {
    put(kMagic);
}

void ParquetWriter::put(std::string_view bytes) {
    write_(bytes);
    at_ += bytes.size();
}

std::size_t ParquetWriter::add_column(std::string name, Type type) {
    Column& column = columns_.emplace_back();
    column.name = std::move(name);
    column.type = type;
    return columns_.size() - 1;
}

// Tells about rows up to the one that is being made.
void ParquetWriter::fill(Column& column, bool has_value) {
    // The runs of odd index are those with a value.
    const auto add = [&](bool with, std::uint64_t count) {
        if (column.runs.empty()) column.runs.push_back(0);
        if (column.runs.size() % 2 == (with ? 1U : 0U)) column.runs.push_back(0);
        column.runs.back() += static_cast<std::uint32_t>(count);
    };
    if (rows_ > column.filled) add(false, rows_ - column.filled);
    column.filled = rows_;
    if (!has_value) return;
    add(true, 1);
    ++column.filled;
}

void ParquetWriter::set(std::size_t index, std::int64_t value) {
    Column& column = columns_[index];
    fill(column, true);
    column.numbers.push_back(value);
}

void ParquetWriter::set(std::size_t index, std::string_view value) {
    Column& column = columns_[index];
    fill(column, true);
    // Texts often come again at once.
    if (column.last_index < 0 || column.last_text != value) {
        const auto [it, is_new] = column.indices.try_emplace(
            std::string(value), static_cast<std::int64_t>(column.indices.size()));
        if (is_new) {
            const std::string text = valid_utf8(value);
            append_plain(column.dictionary, static_cast<std::uint32_t>(text.size()));
            column.dictionary += text;
            is_full_ = is_full_ || column.dictionary.size() > kLargestDictionary;
        }
        column.last_text = it->first;
        column.last_index = it->second;
    }
    column.numbers.push_back(column.last_index);
}

void ParquetWriter::end_row() {
    ++rows_;
    if (rows_ == kRowsOfGroup || is_full_) end_group();
}

void ParquetWriter::end_group() {
    if (rows_ == 0) return;
    Group& group = groups_.emplace_back();
    group.rows = rows_;
    for (Column& column : columns_) group.chunks.push_back(write_chunk(column, rows_));
    all_rows_ += rows_;
    rows_ = 0;
    is_full_ = false;
}

void ParquetWriter::write_page(Chunk& chunk, bool is_dictionary, std::uint64_t values,
                               std::string_view plain) {
    const std::string_view packed = compressor_.compress(std::as_bytes(std::span(plain)));
    Thrift header;
    header.i32(page_header::kType, is_dictionary ? kDictionaryPage : kDataPage);
    header.i32(page_header::kPlainSize, static_cast<std::int32_t>(plain.size()));
    header.i32(page_header::kSize, static_cast<std::int32_t>(packed.size()));
    header.open(is_dictionary ? page_header::kDictionary : page_header::kData);
    header.i32(page_header::kValues, static_cast<std::int32_t>(values));
    header.i32(page_header::kEncoding,
               is_dictionary || !chunk.has_dictionary ? kPlain : kRleDictionary);
    if (!is_dictionary) {
        header.i32(page_header::kDefinitionLevels, kRle);
        header.i32(page_header::kRepetitionLevels, kRle);
    }
    header.close();
    const std::string bytes = header.take();
    (is_dictionary ? chunk.dictionary_at : chunk.data_at) = at_;
    put(bytes);
    put(packed);
    chunk.bytes += bytes.size() + packed.size();
    chunk.plain_bytes += bytes.size() + plain.size();
}

// Leaves the column empty.
ParquetWriter::Chunk ParquetWriter::write_chunk(Column& column, std::uint64_t rows) {
    rows_ = rows;
    fill(column, false);
    Chunk chunk;
    chunk.at = at_;
    chunk.values = rows;
    std::string& page = page_;
    page.clear();
    append_levels(page, column.runs);
    if (column.type == Type::text && !column.numbers.empty()) {
        chunk.has_dictionary = true;
        write_page(chunk, true, column.indices.size(), column.dictionary);
        const auto width =
            std::max(1U, static_cast<unsigned>(std::bit_width(column.indices.size() - 1)));
        page += static_cast<char>(width);
        append_packed(page, column.numbers, width);
    } else {
        if (column.type == Type::i32)
            for (const std::int64_t number : column.numbers)
                append_plain(page, static_cast<std::int32_t>(number));
        else
            page.append(reinterpret_cast<const char*>(column.numbers.data()),
                        column.numbers.size() * sizeof(std::int64_t));
        // The order of unsigned ones is another.
        chunk.has_range = !column.numbers.empty() && column.type != Type::u64;
        if (chunk.has_range) {
            const auto [least, most] = std::ranges::minmax(column.numbers);
            chunk.least = least;
            chunk.most = most;
        }
    }
    write_page(chunk, false, rows, page);
    column.numbers.clear();
    column.indices.clear();
    column.dictionary.clear();
    column.last_index = -1;
    column.runs.clear();
    column.filled = 0;
    return chunk;
}

void ParquetWriter::tell_schema(Thrift& out) const {
    out.list(file_metadata::kSchema, Thrift::Element::structure, columns_.size() + 1);
    out.open_element();
    out.text(schema_element::kName, "schema");
    out.i32(schema_element::kChildren, static_cast<std::int32_t>(columns_.size()));
    out.close();
    for (const Column& column : columns_) {
        out.open_element();
        out.i32(schema_element::kType, physical(column.type));
        out.i32(schema_element::kRepetition, kOptional);
        out.text(schema_element::kName, column.name);
        if (column.type == Type::text) out.i32(schema_element::kConverted, kUtf8);
        if (column.type == Type::u64) out.i32(schema_element::kConverted, kUint64);
        out.close();
    }
}

void ParquetWriter::tell_chunk(Thrift& out, const Column& column, const Chunk& chunk) {
    const auto number = [&](unsigned field, std::uint64_t value) {
        out.i64(field, static_cast<std::int64_t>(value));
    };
    out.open_element();
    number(column_chunk::kOffset, chunk.at);
    out.open(column_chunk::kMetadata);
    out.i32(column_metadata::kType, physical(column.type));
    out.list(column_metadata::kEncodings, Thrift::Element::i32, 2);
    out.element(kRle);
    out.element(chunk.has_dictionary ? kRleDictionary : kPlain);
    out.list(column_metadata::kPath, Thrift::Element::text, 1);
    out.element(std::string_view(column.name));
    out.i32(column_metadata::kCodec, kZstd);
    number(column_metadata::kValues, chunk.values);
    number(column_metadata::kPlainBytes, chunk.plain_bytes);
    number(column_metadata::kBytes, chunk.bytes);
    number(column_metadata::kDataPage, chunk.data_at);
    if (chunk.has_dictionary) number(column_metadata::kDictionaryPage, chunk.dictionary_at);
    if (chunk.has_range) {
        const auto plain = [&](std::int64_t value) {
            std::string text;
            append_plain(text, static_cast<std::uint64_t>(value));
            return text.substr(0, column.type == Type::i32 ? 4 : 8);
        };
        out.open(column_metadata::kStatistics);
        out.text(statistics::kMost, plain(chunk.most));
        out.text(statistics::kLeast, plain(chunk.least));
        out.close();
    }
    out.close();
    out.close();
}

void ParquetWriter::tell_group(Thrift& out, const Group& group) const {
    out.open_element();
    out.list(row_group::kColumns, Thrift::Element::structure, group.chunks.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < group.chunks.size(); ++i) {
        bytes += group.chunks[i].plain_bytes;
        tell_chunk(out, columns_[i], group.chunks[i]);
    }
    out.i64(row_group::kBytes, static_cast<std::int64_t>(bytes));
    out.i64(row_group::kRows, static_cast<std::int64_t>(group.rows));
    out.close();
}

std::string ParquetWriter::footer(
    const std::vector<std::pair<std::string, std::string>>& facts) const {
    Thrift out;
    out.i32(file_metadata::kVersion, 2);
    tell_schema(out);
    out.i64(file_metadata::kRows, static_cast<std::int64_t>(all_rows_));
    out.list(file_metadata::kGroups, Thrift::Element::structure, groups_.size());
    for (const Group& group : groups_) tell_group(out, group);
    out.list(file_metadata::kFacts, Thrift::Element::structure, facts.size());
    for (const auto& [name, value] : facts) {
        out.open_element();
        out.text(1, name);
        out.text(2, value);
        out.close();
    }
    out.text(file_metadata::kCreatedBy, "gpufs");
    // All columns are ordered as their type is.
    out.list(file_metadata::kOrders, Thrift::Element::structure, columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        out.open_element();
        out.open(1);
        out.close();
        out.close();
    }
    return out.take();
}

// Columns that came later get their rows of nulls in the groups before; a chunk may be anywhere.
void ParquetWriter::finish(const std::vector<std::pair<std::string, std::string>>& facts) {
    end_group();
    for (Group& group : groups_)
        while (group.chunks.size() < columns_.size()) {
            group.chunks.push_back(write_chunk(columns_[group.chunks.size()], group.rows));
            rows_ = 0;
        }
    const std::string end = footer(facts);
    put(end);
    std::string length;
    append_plain(length, static_cast<std::uint32_t>(end.size()));
    put(cat(length, kMagic));
}

}  // namespace gpufs
