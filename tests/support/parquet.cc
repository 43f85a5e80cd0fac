#include "support/parquet.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>

#include "lang/trace_dat/compression.h"

namespace gpufs::test {
namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

// A value of Thrift's compact protocol.
struct Value {
    std::int64_t number = 0;
    std::string text;
    std::vector<Value> list;
    std::map<int, Value> fields;

    const Value& operator[](int field) const { return fields.at(field); }
    bool has(int field) const { return fields.contains(field); }
};

class ThriftReader {
public:
    explicit ThriftReader(std::string_view bytes) : rest_(bytes) {}

    Value structure() {
        Value value;
        for (int field = 0;;) {
            const unsigned head = byte();
            if (head == 0) return value;
            const int step = static_cast<int>(head >> 4);
            field = step == 0 ? static_cast<int>(zigzag()) : field + step;
            value.fields[field] = of_type(head & 15);
        }
    }
    std::size_t left() const { return rest_.size(); }

private:
    unsigned byte() {
        require(!rest_.empty(), "the structure is cut");
        const auto value = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        return value;
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const unsigned one = byte();
            value |= std::uint64_t{one & 0x7f} << shift;
            if (one < 0x80) return value;
        }
    }
    std::int64_t zigzag() {
        const std::uint64_t value = varint();
        return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
    }
    Value of_type(unsigned type) {
        Value value;
        switch (type) {
            case 1:
            case 2:
                value.number = type == 1;
                return value;
            case 3:
                value.number = byte();
                return value;
            case 5:
            case 6:
                value.number = zigzag();
                return value;
            case 8: {
                const std::uint64_t length = varint();
                require(length <= rest_.size(), "a text is cut");
                value.text = rest_.substr(0, length);
                rest_.remove_prefix(length);
                return value;
            }
            case 9: {
                const unsigned head = byte();
                const std::uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
                for (std::uint64_t i = 0; i < count; ++i) value.list.push_back(of_type(head & 15));
                return value;
            }
            case 12:
                return structure();
            default:
                throw std::runtime_error("a type of Thrift that Parquet does not need");
        }
    }

    std::string_view rest_;
};

std::uint64_t little_endian(std::string_view bytes, std::size_t size) {
    require(bytes.size() >= size, "a number is cut");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
}

// Runs and packed groups of numbers of `width` bits.
std::vector<std::uint64_t> read_hybrid(std::string_view bytes, unsigned width, std::size_t count) {
    std::vector<std::uint64_t> values;
    while (values.size() < count) {
        std::uint64_t head = 0;
        for (unsigned shift = 0;; shift += 7) {
            require(!bytes.empty(), "a run is cut");
            const auto one = static_cast<unsigned char>(bytes.front());
            bytes.remove_prefix(1);
            head |= std::uint64_t{one & 0x7fU} << shift;
            if (one < 0x80) break;
        }
        if (head & 1) {
            const std::size_t groups = head >> 1;
            require(bytes.size() >= groups * width, "packed numbers are cut");
            for (std::size_t i = 0; i < 8 * groups && values.size() < count; ++i) {
                std::uint64_t value = 0;
                for (unsigned b = 0; b < width; ++b) {
                    const std::size_t at = i * width + b;
                    value |= std::uint64_t{static_cast<unsigned char>(bytes[at / 8]) >> at % 8 & 1U}
                             << b;
                }
                values.push_back(value);
            }
            bytes.remove_prefix(groups * width);
        } else {
            const std::size_t size = (width + 7) / 8;
            const std::uint64_t value = little_endian(bytes, size);
            bytes.remove_prefix(size);
            values.insert(values.end(), head >> 1, value);
            require(values.size() <= count, "a run is too long");
        }
    }
    return values;
}

// The page at this place of the file, and its header.
std::string page_at(std::string_view file, std::uint64_t at, Value& header) {
    ThriftReader reader(file.substr(at));
    header = reader.structure();
    const std::string_view packed = file.substr(file.size() - reader.left())
                                        .substr(0, static_cast<std::size_t>(header[3].number));
    std::string page(static_cast<std::size_t>(header[2].number), '\0');
    const std::size_t size = uncompress(Compression::zstd, std::as_bytes(std::span(packed)),
                                        std::as_writable_bytes(std::span(page)));
    require(size == page.size(), "a page has another size than its header says");
    return page;
}

}  // namespace

ParquetTable read_parquet(std::string_view file) {
    require(file.size() > 12 && file.starts_with("PAR1") && file.ends_with("PAR1"), "no Parquet");
    const std::size_t length = little_endian(file.substr(file.size() - 8), 4);
    ThriftReader reader(file.substr(file.size() - 8 - length, length));
    const Value footer = reader.structure();
    require(reader.left() == 0, "the footer is longer than its content");
    ParquetTable table;
    table.rows = static_cast<std::size_t>(footer[3].number);
    for (const Value& fact : footer[5].list) table.facts[fact[1].text] = fact[2].text;
    const std::vector<Value>& schema = footer[2].list;
    require(schema.at(0)[5].number == static_cast<std::int64_t>(schema.size() - 1), "columns");
    for (std::size_t i = 1; i < schema.size(); ++i) {
        table.names.push_back(schema[i][4].text);
        require(table.columns.try_emplace(schema[i][4].text).second, "two columns of one name");
    }
    table.groups = footer[4].list.size();
    for (const Value& group : footer[4].list) {
        require(group[1].list.size() == table.names.size(), "a group lacks columns");
        for (std::size_t i = 0; i < table.names.size(); ++i) {
            const Value& chunk = group[1].list[i][3];
            const Value& element = schema[i + 1];
            require(chunk[3].list.at(0).text == table.names[i], "the order of columns");
            require(chunk[1].number == element[1].number && chunk[4].number == 6, "type, codec");
            Value header;
            std::vector<std::string> dictionary;
            if (chunk.has(11)) {
                const std::string page =
                    page_at(file, static_cast<std::uint64_t>(chunk[11].number), header);
                std::string_view rest = page;
                for (std::int64_t k = 0; k < header[7][1].number; ++k) {
                    const std::size_t size = little_endian(rest, 4);
                    dictionary.emplace_back(rest.substr(4, size));
                    rest.remove_prefix(4 + size);
                }
                require(rest.empty(), "the dictionary is longer than its entries");
            }
            const std::string page =
                page_at(file, static_cast<std::uint64_t>(chunk[9].number), header);
            const auto rows = static_cast<std::size_t>(header[5][1].number);
            require(group[3].number == header[5][1].number, "rows of a page");
            const std::size_t size = little_endian(page, 4);
            const auto levels = read_hybrid(std::string_view(page).substr(4, size), 1, rows);
            std::string_view rest = std::string_view(page).substr(4 + size);
            std::size_t present = 0;
            for (const std::uint64_t level : levels) present += level;
            std::vector<std::uint64_t> indices;
            if (chunk.has(11))
                indices = read_hybrid(rest.substr(1), static_cast<unsigned char>(rest[0]), present);
            auto& column = table.columns[table.names[i]];
            std::size_t next = 0;
            for (const std::uint64_t level : levels) {
                if (level == 0) {
                    column.emplace_back();
                    continue;
                }
                if (chunk.has(11)) {
                    column.emplace_back(dictionary.at(indices[next++]));
                    continue;
                }
                const std::size_t bytes = element[1].number == 1 ? 4 : 8;
                const std::uint64_t number = little_endian(rest, bytes);
                rest.remove_prefix(bytes);
                const bool is_unsigned = element.has(6) && element[6].number == 14;
                if (bytes == 4)
                    column.emplace_back(std::to_string(static_cast<std::int32_t>(number)));
                else if (is_unsigned)
                    column.emplace_back(std::to_string(number));
                else
                    column.emplace_back(std::to_string(static_cast<std::int64_t>(number)));
            }
        }
    }
    for (const auto& [name, column] : table.columns)
        require(column.size() == table.rows, "a column lacks rows");
    return table;
}

}  // namespace gpufs::test
