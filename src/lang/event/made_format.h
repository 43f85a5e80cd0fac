#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufs {

// Fields of a format that is made, each at the next place that its size allows.
class MadeFields {
public:
    // `declaration` as in C, "char comm[16]". `size` in bytes; elements of arrays of characters
    // have 1. Returns where the field is, from the begin of the record.
    std::size_t add(std::string_view declaration, std::size_t size, bool is_signed);

    const std::string& text() const { return text_; }
    // Bytes of a record with them, and with the fields that each record begins with.
    std::size_t bytes() const { return end_; }

private:
    std::string text_;
    std::size_t end_ = 8;  // behind the common fields
};

// The text of events/SYSTEM/EVENT/format as the kernel has it.
std::string made_format(std::string_view name, int id, const MadeFields& fields,
                        std::string_view print);
// The same of the lines of fields that it has behind the common ones.
std::string made_format(std::string_view name, int id, std::string_view fields,
                        std::string_view print);

// Those of the records of stacks, of the system ftrace: of the kernel, a count of frames and the
// frames; of a process, its id and the frames.
std::string kernel_stack_format(int id);
std::string user_stack_format(int id);

}  // namespace gpufs
