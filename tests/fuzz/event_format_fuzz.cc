// Whole format files of events, as another machine's trace.dat may bring them.

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "lang/event/event_format.h"
#include "lang/print_fmt/format.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    EventFormat event;
    try {
        event = parse_event_format("gpu", text_of(bytes));
    } catch (const Error&) {
        return;
    }
    // What is taken can be looked at, and printed.
    for (const Field& field : event.fields) {
        expect(!field.name.empty() && !field.type.empty());
        expect(field.element_size > 0 || field.size == 0);
        expect(!field.declaration().empty());
    }
    std::string out;
    PrintFormat(event).print(std::as_bytes(bytes), {}, out);
}

}  // namespace gpufs::fuzz
