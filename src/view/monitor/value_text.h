#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/program/types.h"
#include "view/duration.h"

namespace gpufs {

// What addresses and the numbers of stacks mean. Each may be empty: addresses are then shown in
// hexadecimal, stacks by their number.
struct ValueNames {
    // Where an address comes from: a value of its own, or a stack, whose outer frames are where
    // calls return to.
    enum class Place { address, inner_frame, outer_frame };

    // A kernel address in words: "vfs_read+0x1f".
    std::function<std::string(std::uint64_t address, Place place)> kernel;
    // The same of a process; pid 0: not known which.
    std::function<std::string(std::uint32_t pid, std::uint64_t address, Place place)> user;
    // The addresses of a stack, the innermost first. Empty: it is not there any more.
    std::function<std::vector<std::uint64_t>(std::string_view map, std::int32_t id)> frames;
    // A time in words, as a JSON number too. Empty: it is of CLOCK_MONOTONIC, and shown as time of
    // day.
    std::function<std::string(std::uint64_t ns)> time;
};

// How one member of a layout is read and shown: resolved once, and used for every record.
struct ValuePlan {
    enum class Form { number, hex, octal, binary, quantity, time, text, bytes, other };
    static constexpr std::size_t kNoProcess = ~std::size_t{0};

    Form form = Form::number;
    ValueType type;
    std::string name;
    std::size_t offset = 0;
    std::string unit;                     // of Form::quantity
    std::size_t process_at = kNoProcess;  // the first `pid` member of the layout

    bool is_stack() const noexcept {
        return type.kind == ValueType::Kind::kernel_stack ||
               type.kind == ValueType::Kind::user_stack;
    }
    bool is_number() const noexcept;  // lies to the right in a column
};
// `format` as in Action::Piece; empty: as the type says.
ValuePlan plan_value(const Layout& layout, const Member& member, std::string_view format = {});
// All members, but the one named `skip`.
std::vector<ValuePlan> plan_values(const Layout& layout, std::string_view skip = {});

// The integer that lies there; of signed ones the sign fills all bits.
std::uint64_t integer_at(const ValuePlan& plan, std::span<const std::byte> bytes);
// The text up to its NUL, or all of its bytes.
std::string_view text_at(const ValuePlan& plan, std::span<const std::byte> bytes);

// A number of this unit for a person: "12.3 ms" for times, "1.5 KiB" for bytes; else "17 pages".
std::string quantity_text(std::uint64_t number, bool is_signed, std::string_view unit);

// Shows values. `bytes` is always the whole record, key or value: it must be as long as the layout.
class ValueWriter {
public:
    explicit ValueWriter(ValueNames names = {}) : names_(std::move(names)) {}

    // Appends it for a person. Control characters in texts are escaped. A stack is a line a frame:
    // each begins with a newline.
    void text(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes);
    // Appends a JSON value. Numbers are numbers, in their own unit; what stands for a word is that
    // word; a stack is an array of its frames, the innermost first.
    void json(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes);
    // A stack's frames in words, the innermost first: one that says so where there is none.
    std::vector<std::string> frames(const ValuePlan& plan, std::span<const std::byte> bytes) const;

    // A time for a person; and as a JSON number of seconds.
    void time(std::string& out, std::uint64_t ns);
    std::string json_time(std::uint64_t ns) const;

    // The clocks are compared again: once for each batch of records will do.
    void look_at_clock() { clock_.look(); }

    // Texts that filled their member: their end may be missing. Task names are cut by the kernel,
    // so those of 16 bytes do not count.
    std::uint64_t cut_texts() const noexcept { return cut_texts_; }

private:
    std::string_view checked_text(const ValuePlan& plan, std::span<const std::byte> bytes);
    void other(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes);
    std::string address(const ValuePlan& plan, std::span<const std::byte> bytes, std::uint64_t at,
                        ValueNames::Place place = ValueNames::Place::address) const;

    ValueNames names_;
    WallClock clock_;
    std::uint64_t cut_texts_ = 0;
};

}  // namespace gpufs
