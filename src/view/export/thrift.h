#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// Writes values in Thrift's compact protocol, as the headers and the footer of Parquet are. Fields
// of a structure are written in ascending order of their numbers.
class Thrift {
public:
    void i32(unsigned field, std::int32_t value);
    void i64(unsigned field, std::int64_t value);
    void text(unsigned field, std::string_view value);

    // A structure within: open(), its fields, close().
    void open(unsigned field);
    void close();
    // A list: its begin, then as many elements: structures (open_element(), close()), numbers or
    // texts.
    enum class Element { i32 = 5, text = 8, structure = 12 };
    void list(unsigned field, Element kind, std::size_t count);
    void open_element() { last_.push_back(0); }
    void element(std::int32_t value);
    void element(std::string_view value);

    // The whole structure with its end.
    std::string take();

private:
    void key(unsigned field, unsigned type);

    std::string bytes_;
    std::vector<unsigned> last_{0};  // number of the last field, of each open structure
};

}  // namespace gpufs
