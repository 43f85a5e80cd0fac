#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/trace_dat/compression.h"

namespace gpufs {

class Thrift;

// Writes a table as a Parquet file (format version 2 with pages of version 1): numbers plain, texts
// through a dictionary, all compressed by zstd. Nothing is kept but the rows of the last group,
// some megabytes, and where the others are. A file without its end cannot be read: what a format
// with its table of contents at the end cannot avoid.
class ParquetWriter {
public:
    // Receives pieces of the file.
    using Write = std::function<void(std::string_view bytes)>;
    explicit ParquetWriter(Write write);

    enum class Type {
        i32,
        i64,
        u64,
        text,  // UTF-8; bytes that are none are replaced
    };
    // A column; may be added between rows, also when there are rows without it. A row without a
    // value has a null there. Returns its index.
    std::size_t add_column(std::string name, Type type);

    // The value of the row that is being made; at most one for each column, which add_column()
    // numbered.
    void set(std::size_t index, std::int64_t value);
    void set(std::size_t index, std::string_view value);
    void end_row();
    std::uint64_t rows() const { return all_rows_ + rows_; }

    // Nothing follows. `facts`: names and values, for who asks the file where it is from.
    void finish(const std::vector<std::pair<std::string, std::string>>& facts);

private:
    // A column of the rows that are not written yet.
    struct Column {
        std::string name;
        Type type = Type::i64;
        std::vector<std::int64_t> numbers;  // of a text its index in the dictionary
        std::unordered_map<std::string, std::int64_t> indices;
        std::string dictionary;  // as it is written
        std::string_view last_text;
        std::int64_t last_index = -1;
        // Whether rows have a value: lengths of runs, without one and with one by turns.
        std::vector<std::uint32_t> runs;
        std::uint64_t filled = 0;  // rows that the runs are about
    };
    // A column of a group, as the footer tells of it.
    struct Chunk {
        std::uint64_t at = 0, dictionary_at = 0, data_at = 0;
        std::uint64_t values = 0, bytes = 0, plain_bytes = 0;
        bool has_dictionary = false, has_range = false;
        std::int64_t least = 0, most = 0;
    };
    struct Group {
        std::uint64_t rows = 0;
        std::vector<Chunk> chunks;
    };

    void fill(Column& column, bool has_value);
    void end_group();
    Chunk write_chunk(Column& column, std::uint64_t rows);
    void write_page(Chunk& chunk, bool is_dictionary, std::uint64_t values, std::string_view plain);
    void put(std::string_view bytes);
    // Parts of the footer.
    void tell_schema(Thrift& out) const;
    void tell_group(Thrift& out, const Group& group) const;
    static void tell_chunk(Thrift& out, const Column& column, const Chunk& chunk);
    std::string footer(const std::vector<std::pair<std::string, std::string>>& facts) const;

    Write write_;
    FastCompressor compressor_;
    std::string page_;  // that is being written
    std::uint64_t at_ = 0;
    std::vector<Column> columns_;
    std::vector<Group> groups_;
    std::uint64_t rows_ = 0, all_rows_ = 0;  // of this group; of those before
    bool is_full_ = false;                   // a dictionary is as large as it may be
};

}  // namespace gpufs
