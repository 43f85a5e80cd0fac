// .eh_frame: any bytes are read to their end, and make a table that holds together.

#include "fuzz/fuzz.h"
#include "lang/unwind/table.h"

namespace gpufs::fuzz {

void read_as(const UnwindMachine& machine, const std::string& text) {
    constexpr std::uint64_t kAddress = 0x10000;
    EhFrame frames(text, kAddress, machine);
    std::uint64_t last = 0;
    frames.for_each([&](std::uint64_t address, const UnwindRule&) {
        expect(address >= last);
        last = address;
    });
    UnwindRules rules;
    const UnwindTable table = make_unwind_table(frames, rules);
    expect(rules.all().size() <= kMostUnwindRules);
    for (std::size_t page = 0; page < table.pages(); ++page) {
        const std::uint32_t begin = table.rows_of[page], end = table.rows_of[page + 1];
        expect(begin < end && end - begin < kRowBlock && end <= table.rows.size());
        expect(table.rows[begin] % kUnwindPageBytes == 0);
        for (std::uint32_t row = begin; row < end; ++row) {
            expect(table.rows[row] >> kUnwindPageBits < rules.all().size());
            expect(row == begin ||
                   table.rows[row - 1] % kUnwindPageBytes < table.rows[row] % kUnwindPageBytes);
        }
    }
}

void one(std::span<const std::uint8_t> bytes) {
    const std::string text = text_of(bytes);
    read_as(kUnwindX86, text);
    read_as(kUnwindArm64, text);
}

}  // namespace gpufs::fuzz
