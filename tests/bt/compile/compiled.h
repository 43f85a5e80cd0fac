#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bt/compile/compile.h"
#include "bt/parse/parse.h"
#include "bt/types/sample_world.h"

// Scripts compiled for a world that is the same on each machine.
namespace gpufs::bt::test {

// A SampleWorld with the event sched:sample: numbers, texts, arrays and pointers; and with
// other:sample_event, which is the raw tracepoint's.
inline SampleWorld world_with_event() {
    SampleWorld world;
    world.add(
        parse_event_format("sched",
                           "name: sample\nID: 7\nformat:\n"
                           "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                           "\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n"
                           "\tfield:unsigned long large;\toffset:16;\tsize:8;\tsigned:0;\n"
                           "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
                           "\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n"
                           "\tfield:u8 address[16];\toffset:44;\tsize:16;\tsigned:0;\n"
                           "\tfield:const char *const *argv;\toffset:64;\tsize:8;\tsigned:0;\n"
                           "\tfield:const char * text;\toffset:72;\tsize:8;\tsigned:0;\n"
                           "\tfield:struct sample * of;\toffset:80;\tsize:8;\tsigned:0;\n"
                           "\nprint fmt: \"\"\n"));
    world.add(
        parse_event_format("other",
                           "name: sample_event\nID: 8\nformat:\n"
                           "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                           "\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n"
                           "\nprint fmt: \"\"\n"));
    return world;
}

// Throws what the compiler throws: UsageError with the mistakes.
inline Compiled compiled(std::string_view text, std::vector<std::string> arguments = {}) {
    ParseInput input;
    input.source = {"script", std::string(text)};
    input.arguments = std::move(arguments);
    input.has_btf = true;
    const Script script = parse(input);
    SampleWorld world = world_with_event();
    CompileOptions options;
    options.types.is_unsafe = true;
    return compile(script, world, with_config(options, script, [](const char*) -> const char* {
                       return nullptr;
                   }));
}

}  // namespace gpufs::bt::test
