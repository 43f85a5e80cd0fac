#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "lang/event/event_format.h"
#include "lang/print_fmt/expr.h"
#include "lang/print_fmt/kernel_printf.h"

namespace gpufs {

// One piece of an event's output: literal text, or a conversion and its argument.
struct PrintStep {
    enum class Kind : std::uint8_t {
        text,
        number,
        character,
        string,
        pointer,
        symbol,
        symbol_offset,
        // These print bytes of the record.
        ip,
        mac,
        uuid,
        hex_bytes,
        bitmap,
        bit_list,
        physical_address,
    };
    Kind kind = Kind::text;
    bool is_plain = false;  // a number without flags and width
    bool is_field = false;  // and its value is the field of `size` bytes at `offset`
    std::uint32_t offset = 0;
    std::uint8_t size = 4;  // bytes of the number's type
    CNodeId value = kNoNode;
    CNodeId width = kNoNode, precision = kNoNode;  // given by "*"
    NumberStyle style;
    std::string text;  // the literal, or the letters behind %p
};

// An event's "print fmt", compiled once, printed per record by offset. The output equals the
// kernel's byte for byte, with the tracefs option hash-ptr off: pointers are not hashed.
class PrintFormat {
public:
    // The style of addresses. `kernel`: "ffff888100e13000", "schedule+0x2b/0xd0 [module]".
    // `library`: as libtraceevent, "0xffff888100e13000", "(nil)", "schedule+0x2b".
    enum class Addresses { kernel, library };

    // Does not throw: an event whose print fmt cannot be parsed prints " field=value field=value".
    explicit PrintFormat(const EventFormat& event, Addresses addresses = Addresses::kernel);

    // Appends the text that follows "event_name: " in a trace. A record that is too short prints
    // zeros and empty strings.
    void print(RecordBytes record, const AddressNames& names, std::string& out) const;

    // Why the print fmt is not used: "calls jiffies_to_msecs()". Empty where it is.
    const std::string& why() const { return why_; }

private:
    void compile(const EventFormat& event);
    void compile_fields(const EventFormat& event);
    void add_text(std::string_view text);
    std::size_t add_conversion(std::string_view format, std::size_t at,
                               const std::vector<CNodeId>& values, std::size_t& used);
    void print_step(const PrintStep& step, RecordBytes record, const AddressNames& names,
                    std::string& out) const;

    void print_address(const PrintStep& step, std::uint64_t address, const AddressNames& names,
                       std::string& out) const;

    Addresses addresses_;
    CTree tree_;
    std::vector<PrintStep> steps_;
    std::string why_;
};

}  // namespace gpufs
