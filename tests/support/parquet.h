#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::test {

// A table as a reader that knows nothing but the format of Parquet reads it: values as text, absent
// where a row has none.
struct ParquetTable {
    std::vector<std::string> names;  // of the columns, in their order
    std::map<std::string, std::vector<std::optional<std::string>>> columns;
    std::map<std::string, std::string> facts;
    std::size_t rows = 0, groups = 0;

    const std::vector<std::optional<std::string>>& operator[](const std::string& name) const {
        return columns.at(name);
    }
};
// Throws std::runtime_error for what is not right in the file.
ParquetTable read_parquet(std::string_view file);

}  // namespace gpufs::test
