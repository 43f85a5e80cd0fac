#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::test {

// One field of a message of Protocol Buffers.
struct ProtoField {
    unsigned number = 0;
    unsigned wire = 0;  // 0: a number, 1: eight bytes, 2: bytes, 5: four bytes
    std::uint64_t value = 0;
    std::string_view bytes;  // of wire type 2
};

// A message, taken apart by the encoding alone. Throws std::runtime_error for what is none. Refers
// to the bytes.
class ProtoMessage {
public:
    explicit ProtoMessage(std::string_view bytes);

    const std::vector<ProtoField>& fields() const { return fields_; }
    bool has(unsigned number) const;
    // The last of this number, as the encoding has it; 0 and empty when there is none.
    std::uint64_t number(unsigned number) const;
    std::string text(unsigned number) const;
    // All of this number.
    std::vector<ProtoMessage> messages(unsigned number) const;
    // A repeated number, packed or not.
    std::vector<std::uint64_t> numbers(unsigned number) const;

private:
    std::vector<ProtoField> fields_;
};

}  // namespace gpufs::test
