#include "support/protobuf.h"

#include <stdexcept>

namespace gpufs::test {
namespace {

class ProtoReader {
public:
    explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

    bool is_done() const { return rest_.empty(); }
    std::string_view take(std::uint64_t count) {
        if (count > rest_.size()) throw std::runtime_error("a message ends inside a field");
        const std::string_view bytes = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return bytes;
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70; shift += 7) {
            const auto byte = static_cast<unsigned char>(take(1)[0]);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
        throw std::runtime_error("a number of more than ten bytes");
    }
    std::uint64_t fixed(unsigned count) {
        std::uint64_t value = 0;
        const std::string_view bytes = take(count);
        for (unsigned i = 0; i < count; ++i)
            value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
        return value;
    }

private:
    std::string_view rest_;
};

}  // namespace

ProtoMessage::ProtoMessage(std::string_view bytes) {
    for (ProtoReader reader(bytes); !reader.is_done();) {
        const std::uint64_t key = reader.varint();
        ProtoField field;
        field.number = static_cast<unsigned>(key >> 3);
        field.wire = key & 7;
        if (field.number == 0) throw std::runtime_error("field 0");
        if (field.wire == 0)
            field.value = reader.varint();
        else if (field.wire == 1)
            field.value = reader.fixed(8);
        else if (field.wire == 2)
            field.bytes = reader.take(reader.varint());
        else if (field.wire == 5)
            field.value = reader.fixed(4);
        else
            throw std::runtime_error("an unknown wire type");
        fields_.push_back(field);
    }
}

bool ProtoMessage::has(unsigned number) const {
    for (const ProtoField& field : fields_)
        if (field.number == number) return true;
    return false;
}

std::uint64_t ProtoMessage::number(unsigned number) const {
    std::uint64_t found = 0;
    for (const ProtoField& field : fields_)
        if (field.number == number) found = field.value;
    return found;
}

std::string ProtoMessage::text(unsigned number) const {
    std::string_view found;
    for (const ProtoField& field : fields_)
        if (field.number == number) found = field.bytes;
    return std::string(found);
}

std::vector<ProtoMessage> ProtoMessage::messages(unsigned number) const {
    std::vector<ProtoMessage> found;
    for (const ProtoField& field : fields_)
        if (field.number == number) found.emplace_back(field.bytes);
    return found;
}

std::vector<std::uint64_t> ProtoMessage::numbers(unsigned number) const {
    std::vector<std::uint64_t> found;
    for (const ProtoField& field : fields_) {
        if (field.number != number) continue;
        if (field.wire == 2)
            for (ProtoReader reader(field.bytes); !reader.is_done();)
                found.push_back(reader.varint());
        else
            found.push_back(field.value);
    }
    return found;
}

}  // namespace gpufs::test
