// Whole recordings, as another machine may send them.

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "engine/trace/file.h"
#include "fuzz/fuzz.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    const Fd file(::memfd_create("trace.dat", MFD_CLOEXEC));
    write_all(file.get(), text_of(bytes), "a recording");
    try {
        TraceFile recording(cat("/proc/self/fd/", file.get()));
        TraceContext& context = recording.context();
        std::string out;
        // Each record can be looked at, and printed.
        for (int left = 10'000; left > 0; --left) {
            const TraceRecord* const record = recording.next();
            if (!record) break;
            expect(!recording.buffer_of(*record).cpus.empty());
            if (const TraceEvent* event = context.events.find(record->id()))
                event->print().print(record->bytes, context.addresses, out);
            out.clear();
        }
        recording.damage();
        recording.rewind({0});
        recording.next();
    } catch (const Error&) {
    }
}

}  // namespace gpufs::fuzz
