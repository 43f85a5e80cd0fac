// Print formats of events, and records that are shorter than their fields. The lines of the fields
// are libtraceevent's to read.

#include <algorithm>

#include "base/cat.h"
#include "fuzz/fuzz.h"
#include "lang/event/event_format.h"
#include "lang/print_fmt/format.h"

namespace gpufs::fuzz {
namespace {

constexpr const char* kFields =
    "name: thing\nID: 400\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:u64 seqno;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:int count;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:char name[16];\toffset:24;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] ring;\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc u32[] list;\toffset:44;\tsize:4;\tsigned:0;\n"
    "\nprint fmt: ";

}  // namespace

void one(std::span<const std::uint8_t> bytes) {
    const EventFormat event = parse_event_format("gpu", cat(kFields, text_of(bytes)));
    const PrintFormat print(event);
    std::string out;
    for (const std::size_t most : {0, 8, 60, 400})
        print.print(std::as_bytes(bytes.first(std::min(bytes.size(), most))), {}, out);
}

}  // namespace gpufs::fuzz
