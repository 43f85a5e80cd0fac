#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lang/asm/assembler.h"

namespace gpufs::test {

// A program of these declarations, and one probe that does nothing.
inline Program declared(const std::string& text) {
    return assemble({"test", text + "\n.prog p begin\n  r0 = 0\n  exit\n"});
}

// The bytes of a record, key or value, member by member.
class LayoutBytes {
public:
    explicit LayoutBytes(const Layout& layout) : layout_(layout), bytes_(layout.bytes) {}

    template <class T>
    LayoutBytes& set(std::string_view member, T value) {
        std::memcpy(bytes_.data() + layout_.find(member)->offset, &value, sizeof value);
        return *this;
    }
    LayoutBytes& text(std::string_view member, std::string_view value) {
        std::memcpy(bytes_.data() + layout_.find(member)->offset, value.data(), value.size());
        return *this;
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    const Layout& layout_;
    std::vector<std::byte> bytes_;
};

}  // namespace gpufs::test
