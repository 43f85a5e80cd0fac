// Conditions: the filter that is written reads back to the same tree, and compiles.

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "lang/event/event_format.h"
#include "lang/expr/bpf.h"
#include "lang/expr/expr.h"

namespace gpufs::fuzz {
namespace {

constexpr const char* kEvent =
    "name: thing\nID: 400\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:u64 seqno;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:int count;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:u8 flags;\toffset:22;\tsize:1;\tsigned:0;\n"
    "\tfield:char name[16];\toffset:24;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] ring;\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:const char * path;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\nprint fmt: \"\"\n";

}  // namespace

void one(std::span<const std::uint8_t> bytes) {
    static const EventFormat event = parse_event_format("gpu", kEvent);
    try {
        const Expression expression = parse_expression({"--if", text_of(bytes)});
        const std::string filter = to_filter(expression, event);
        // What is read back is written in the same way: patterns that the kernel gets wrong are
        // put differently once.
        const Expression again = parse_expression({"filter", filter});
        expect(to_filter(again, event) == filter);
        expect(!compile_condition(expression, event).empty());
    } catch (const UsageError&) {
        // No condition for this event.
    }
}

}  // namespace gpufs::fuzz
