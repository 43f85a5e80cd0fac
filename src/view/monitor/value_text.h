#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/symbol.h"
#include "lang/program/types.h"
#include "view/duration.h"

namespace gpufs {

// Functions that name addresses and resolve stack ids. Each may be empty: addresses are then shown
// in hexadecimal, stacks by their id.
struct ValueNames {
    // The origin of an address: a single value, or a frame of a stack. Outer frames are return
    // addresses. `name`: a function is meant; without a symbol it is "unknown (libx.so+0x1f)".
    enum class Place { address, inner_frame, outer_frame, name };

    // The name of a kernel address: "vfs_read+0x1f".
    std::function<std::string(std::uint64_t address, Place place)> kernel;
    // The name of a user address; pid 0: unknown process.
    std::function<std::string(std::uint32_t pid, std::uint64_t address, Place place)> user;
    // The addresses of a stack, innermost first. Empty if it is no longer in the map.
    std::function<std::vector<std::uint64_t>(std::string_view map, std::int32_t id)> frames;
    // The text that a map has for a key; empty if it has none.
    std::function<std::string(std::string_view map, std::uint64_t key)> text;
    // The path that a map has for a file; says so where it has none.
    std::function<std::string(std::string_view map, std::uint64_t key)> file;
    // Whether a kernel address is in a function of the probe itself (is_probe_function()). Such
    // frames are left out at the top of stacks. If this function is empty, none is.
    std::function<bool(std::uint64_t address, Place place)> is_probe;
    // The PCI device that has an interrupt: "0000:3b:00.0"; empty if none has it.
    std::function<std::string(std::uint32_t irq)> interrupt;
    // A time as text, which must also be a JSON number. If this function is empty, times are
    // CLOCK_MONOTONIC: shown as time of day, in JSON as seconds since 1970.
    std::function<std::string(std::uint64_t ns)> time;
};

constexpr FramePlace frame_place(ValueNames::Place place) {
    return place == ValueNames::Place::outer_frame ? FramePlace::outer : FramePlace::innermost;
}

// How to read and show one member of a layout: resolved once, used for every record.
struct ValuePlan {
    enum class Form { number, hex, octal, binary, quantity, time, text, bytes, other };
    static constexpr std::size_t kNoProcess = ~std::size_t{0};

    Form form = Form::number;
    ValueType type;
    std::string name;
    std::size_t offset = 0;
    std::string unit;                     // for Form::quantity
    std::size_t process_at = kNoProcess;  // offset of the first `pid` member of the layout

    bool is_stack() const noexcept {
        return type.kind == ValueType::Kind::kernel_stack ||
               type.kind == ValueType::Kind::user_stack;
    }
    bool is_number() const noexcept;  // right-aligned in a column
};
// `format` as in Action::Piece; empty: the type's default.
ValuePlan plan_value(const Layout& layout, const Member& member, std::string_view format = {});
// Plans all members except the one named `skip`.
std::vector<ValuePlan> plan_values(const Layout& layout, std::string_view skip = {});

// {"waited":"us"}: the units of the members that have one; empty if none has.
std::string units_json(std::span<const ValuePlan> plans);

// The integer at the member's offset, sign-extended to 64 bits if its type is signed.
std::uint64_t integer_at(const ValuePlan& plan, std::span<const std::byte> bytes);
// The text up to its NUL, or all bytes if there is none.
std::string_view text_at(const ValuePlan& plan, std::span<const std::byte> bytes);

// A number of this unit for a person: "41 us", "1.52 ms", "12.3 ms" for times; "1.5 KiB" for
// bytes; else "17 pages".
std::string quantity_text(std::uint64_t number, bool is_signed, std::string_view unit);
// The mean of an aggregation's values likewise: with one decimal, which is cut off, not rounded,
// where it is not whole and below 100, of times below 10: "1.4", "0.7 us". Sizes and ns are whole.
std::string mean_text(const Aggregation& how, std::span<const std::uint64_t> words,
                      std::string_view unit);

// The names of what is in a number, and the rest in hex: "O_WRONLY|O_CREAT|0x20000"; "0" of 0.
std::string flags_text(std::span<const FlagName> flags, std::uint64_t number);

// How JSON has numbers that a double does not hold: as numbers, or, for JavaScript, as texts.
enum class LargeNumbers { numbers, texts };

// Formats values. `bytes` is always the whole record, key or value, with the length of the layout.
class ValueWriter {
public:
    explicit ValueWriter(ValueNames names = {}, Controls controls = Controls::escaped)
        : names_(std::move(names)), controls_(controls) {}

    // Appends the value for a person. Escapes control characters in texts. A stack has one line per
    // frame, each beginning with a newline.
    void text(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes);
    // Appends a JSON value. Numbers remain numbers, in their own unit; values with words become the
    // word; a time is one of json_time(); a stack is an array of its frames, innermost first, or
    // null if it is missing.
    void json(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes,
              LargeNumbers large = LargeNumbers::numbers);
    // The frames of a stack as text, innermost first; a missing stack is one frame that says so.
    // Control characters are as they are.
    std::vector<std::string> frames(const ValuePlan& plan, std::span<const std::byte> bytes) const;

    // What a name from elsewhere looks like for a person.
    std::string shown(std::string_view name) const { return printable(name, controls_); }

    // A time for a person; and as a JSON number of seconds.
    void time(std::string& out, std::uint64_t ns);
    std::string json_time(std::uint64_t ns) const;

    // Reads the clocks again: once per batch of records suffices.
    void look_at_clock() { clock_.look(); }

    // Number of texts that filled their member and may be truncated. Texts of 16 bytes do not
    // count: they are task names, which the kernel truncates.
    std::uint64_t cut_texts() const noexcept { return cut_texts_; }

private:
    // The addresses of a stack, innermost first; or why it is missing.
    struct Stack {
        std::vector<std::uint64_t> addresses;
        std::string missing;
    };
    Stack stack(const ValuePlan& plan, std::span<const std::byte> bytes) const;
    std::vector<std::string> names_of(const Stack& stack, const ValuePlan& plan,
                                      std::span<const std::byte> bytes) const;
    std::string_view checked_text(const ValuePlan& plan, std::span<const std::byte> bytes);
    void other(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes);
    std::string name(const ValuePlan& plan, std::span<const std::byte> bytes) const;
    std::string address(const ValuePlan& plan, std::span<const std::byte> bytes, std::uint64_t at,
                        ValueNames::Place place = ValueNames::Place::address) const;
    std::string function(const ValuePlan& plan, std::span<const std::byte> bytes) const;

    ValueNames names_;
    Controls controls_;
    WallClock clock_;
    std::uint64_t cut_texts_ = 0;
};

}  // namespace gpufs
