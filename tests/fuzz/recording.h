#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "engine/recording/file.h"
#include "fuzz/fuzz.h"

namespace gpufs::fuzz {

// Each record of a file with this content can be looked at, and printed.
inline void read_recording(std::string_view content) {
    const Fd file(::memfd_create("recording", MFD_CLOEXEC));
    write_all(file.get(), content, "a recording");
    try {
        TraceFile recording(cat("/proc/self/fd/", file.get()));
        TraceContext& context = recording.context();
        std::string out;
        for (int left = 10'000; left > 0; --left) {
            const TraceRecord* const record = recording.next();
            if (!record) break;
            expect(!recording.buffer_of(*record).cpus.empty());
            if (const TraceEvent* event = context.events.find(record->id()))
                event->print().print(record->bytes, context.addresses, out);
            out.clear();
            if (left % 3 == 0) recording.take_stack(common_fields(record->bytes));
        }
        recording.damage();
        recording.notes();
        recording.rewind({0});
        recording.next();
    } catch (const Error&) {
    }
}

}  // namespace gpufs::fuzz
