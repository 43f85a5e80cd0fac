#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bt/types/type.h"
#include "view/bt/value_names.h"
#include "view/bt/value_text.h"

namespace gpufs::bt::test {

using ByteVector = std::vector<std::byte>;

// The bytes of values, one after the other, as they lie in memory.
class Sample {
public:
    template <class T>
    Sample& add(T value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof value);
        std::memcpy(bytes_.data() + at, &value, sizeof value);
        return *this;
    }
    Sample& text(std::string_view value, std::size_t size) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + size);
        std::memcpy(bytes_.data() + at, value.data(), value.size());
        return *this;
    }
    Sample& zeros(std::size_t size) { return text("", size); }
    const ByteVector& bytes() const { return bytes_; }
    operator Bytes() const { return bytes_; }

private:
    ByteVector bytes_;
};

template <class... Ts>
ByteVector bytes_of(Ts... values) {
    Sample sample;
    (sample.add(values), ...);
    return sample.bytes();
}

inline ByteVector text_bytes(std::string_view text, std::size_t size) {
    return Sample().text(text, size).bytes();
}

// A machine on which little is known.
class KnownNames : public ValueNames {
public:
    Frame kernel(std::uint64_t address, FramePlace) override {
        if (address < 0x1000) return {};
        return {"vfs_read", "", address - 0x1000, ""};
    }
    // main() ends with a call at 0x2ffe.
    Frame user(std::uint32_t pid, std::uint64_t address, FramePlace place) override {
        if (pid != 7 || address < 0x2000) return {};
        if (address >= (place == FramePlace::outer ? 0x3000 : 0x2fff))
            return {"next", "/bin/cat", address - 0x2fff, ""};
        return {"main", "/bin/cat", address - 0x2000, address == 0x2fff ? "cat.c:7" : ""};
    }
    std::optional<Symbols::FilePlace> file_place(std::uint32_t pid,
                                                 std::uint64_t address) override {
        if (pid != 7 || address < 0x2000) return std::nullopt;
        return Symbols::FilePlace{"\x0a\xff", address - 0x2000};
    }
    std::vector<std::uint64_t> frames(const std::string& map, std::int32_t id) override {
        if (map != "stacks" || id != 3) return {};
        return {0x201f, 0x2fff, 0x10};
    }
    std::string user_name(std::uint64_t uid) override { return uid == 0 ? "root" : ""; }
    std::string task_name(std::uint32_t tid) override { return tid == 7 ? "cat" : ""; }
    std::string cgroup_path(std::uint64_t id) override {
        return id == 5 ? "unified:/system.slice" : "";
    }
    // Each clock began at its own second.
    std::uint64_t wall_ns(Clock clock, std::uint64_t ns) override {
        constexpr std::uint64_t kSecond = 1'000'000'000;
        return (static_cast<std::uint64_t>(clock) + 1) * 100 * kSecond + ns;
    }
};

inline KnownNames& known_names() {
    static KnownNames names;
    return names;
}

inline ValueTables known_tables() {
    return {.names = {{0x77, "kprobe:vfs_read"}}, .formats = {"%s.%f", "%S"}, .cut_trailer = ".."};
}

// A type of one kind that says how its numbers are to be read.
inline TypePtr aggregation(Type::Kind kind, bool is_signed) {
    Type type = *plain_type(kind);
    type.is_signed = is_signed;
    return std::make_shared<const Type>(std::move(type));
}

inline TypePtr enumeration() {
    Type type = *integer_type(4, false);
    type.name = "color";
    type.words = {{0, "RED"}, {1, "GREEN"}, {-1, "NONE"}};
    return std::make_shared<const Type>(std::move(type));
}

// struct point { int x; unsigned low : 3, high : 5; }
inline TypePtr point_type() {
    auto structure = std::make_shared<Structure>();
    structure->name = "point";
    structure->bytes = 8;
    structure->fields = {
        {.name = "x", .type = integer_type(4, true)},
        {.name = "low", .type = integer_type(4, false), .offset = 4, .bit_shift = 0, .bit_size = 3},
        {.name = "high",
         .type = integer_type(4, true),
         .offset = 4,
         .bit_shift = 3,
         .bit_size = 5}};
    Type type = *structure_type("point");
    type.bytes = structure->bytes;
    type.structure = std::move(structure);
    return std::make_shared<const Type>(std::move(type));
}

inline TypePtr pair_of(TypePtr first, TypePtr second) {
    return tuple_type(
        {{.name = "", .type = std::move(first)}, {.name = "", .type = std::move(second)}});
}

// The bytes of a tuple that has these in its fields.
inline ByteVector fields_of(const TypePtr& tuple, const std::vector<ByteVector>& fields) {
    ByteVector out(tuple->bytes);
    for (std::size_t i = 0; i < fields.size(); ++i)
        std::ranges::copy(fields[i],
                          out.begin() + static_cast<std::ptrdiff_t>(tuple->fields[i].offset));
    return out;
}

inline TypePtr stack(Type::Kind kind, Type::StackForm form = Type::StackForm::bpftrace) {
    Type type = *plain_type(kind);
    type.map = "stacks";
    type.form = form;
    return std::make_shared<const Type>(std::move(type));
}

}  // namespace gpufs::bt::test
