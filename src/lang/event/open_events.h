#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/kernel_abi.h"
#include "lang/event/field_value.h"

namespace gpufs {

// What code runs as when it makes a record; each interrupts those before it.
enum class InterruptLevel : std::uint8_t { task, softirq, hardirq, nmi };
inline constexpr std::size_t kInterruptLevels = 4;

inline InterruptLevel interrupt_level(const CommonFields& record) {
    if ((record.flags & kTraceNmi) != 0) return InterruptLevel::nmi;
    if ((record.flags & kTraceHardirq) != 0) return InterruptLevel::hardirq;
    return (record.flags & kTraceSoftirq) != 0 ? InterruptLevel::softirq : InterruptLevel::task;
}

// The events of one CPU whose stacks may still come, each with a value. The stack of an event is
// made by the same task at the same level, and only records of interrupts, which have a deeper
// level, come between the two. So there is at most one such event at each level, and any record
// ends those of deeper levels and of other tasks.
template <class T>
class OpenEvents {
public:
    // Opens an event. Calls close(value) for each one that it ends.
    template <class Close>
    void open(const CommonFields& event, T value, const Close& close) {
        const InterruptLevel level = interrupt_level(event);
        close_unless(close, [&](const Entry& entry) {
            return entry.level < level && entry.pid == event.pid;
        });
        entries_[count_++] = {level, event.pid, std::move(value)};
    }
    void open(const CommonFields& event, T value) { open(event, std::move(value), kNothing); }

    // The value of the event that a stack belongs to; null if that event is not among them. Calls
    // close(value) for each one that the stack ends.
    template <class Close>
    T* find(const CommonFields& stack, const Close& close) {
        const InterruptLevel level = interrupt_level(stack);
        close_unless(close, [&](const Entry& entry) {
            return entry.level <= level && entry.pid == stack.pid;
        });
        return count_ != 0 && entries_[count_ - 1].level == level ? &entries_[count_ - 1].value
                                                                  : nullptr;
    }
    T* find(const CommonFields& stack) { return find(stack, kNothing); }

    // Whether an event with this value is still open.
    bool has(const T& value) const {
        return std::any_of(entries_.begin(), entries_.begin() + count_,
                           [&](const Entry& entry) { return entry.value == value; });
    }

    // Where records were lost, and at the end.
    template <class Close>
    void close_all(const Close& close) {
        close_unless(close, [](const Entry&) { return false; });
    }
    void close_all() { close_all(kNothing); }

private:
    struct Entry {
        InterruptLevel level = InterruptLevel::task;
        int pid = 0;
        T value{};
    };
    static constexpr auto kNothing = [](const T&) {};

    template <class Close, class StaysOpen>
    void close_unless(const Close& close, const StaysOpen& stays_open) {
        for (; count_ != 0 && !stays_open(entries_[count_ - 1]); --count_)
            close(entries_[count_ - 1].value);
    }

    std::array<Entry, kInterruptLevels> entries_;  // the innermost last
    std::size_t count_ = 0;
};

}  // namespace gpufs
