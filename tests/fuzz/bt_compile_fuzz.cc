// Scripts: any text becomes a Program, or mistakes; nothing else comes out of the compiler.

#include "base/error.h"
#include "bt/compile/compiled.h"
#include "fuzz/fuzz.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    try {
        const bt::Compiled compiled = bt::test::compiled(text_of(bytes), {"7", "text"});
        expect(!compiled.program.programs.empty());
        for (const bt::SentRecord& record : compiled.records)
            for (const bt::SentValue& value : record.values)
                expect(value.type && value.offset + value.type->bytes <= record.bytes);
    } catch (const Error& e) {
        expect(!std::string_view(e.what()).empty());
    }
}

}  // namespace gpufs::fuzz
