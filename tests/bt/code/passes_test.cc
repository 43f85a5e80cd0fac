#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/diagnostics.h"
#include "bt/code/compile.h"
#include "bt/code/compiled.h"
#include "bt/parse/parse.h"
#include "bt/types/typed.h"
#include "lang/insn/program_text.h"

// What each pass makes of a script, as `gpufs bt -d` shows it.
namespace gpufs::bt {
namespace {

constexpr const char* kScript =
    "tracepoint:sched:sample /args.number > 5/ {\n"
    "  $twice = args.number * 2;\n"
    "  @n[comm] = count();\n"
    "  @last = $twice;\n"
    "}\n";

Script sample_script() {
    ParseInput input;
    input.source = {"script", kScript};
    return parse(input);
}

Compiled with_stages() {
    const Script script = sample_script();
    test::SampleWorld world = test::world_with_event();
    CompileOptions options;
    options.keeps_stages = true;
    return compile(script, world, options);
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bt_passes)

BOOST_AUTO_TEST_CASE(the_types_of_maps_variables_and_expressions) {
    const Script script = sample_script();
    test::SampleWorld world = test::world_with_event();
    Diagnostics mistakes;
    const TypeTable table(script, world, mistakes);
    const Typed typed = infer_types(script, world, table, {}, mistakes);
    mistakes.throw_if_any();
    BOOST_TEST(types_text(script, typed) ==
               "@n[string[16]]: count_t, 4096 elements\n"
               "@last: int64, 4096 elements\n"
               "tracepoint:sched:sample\n"
               "  $twice: int64\n"
               "    args.number > 5: bool\n"
               "    args.number: int32\n"
               "    $twice: int64\n"
               "    args.number * 2: int64\n"
               "    args.number: int32\n"
               "    comm: string[16]\n"
               "    count(): count_t\n"
               "    @last: int64\n"
               "    $twice: int64\n");
}

BOOST_AUTO_TEST_CASE(the_code_before_registers_are_assigned) {
    const std::string ir = with_stages().ir_text;
    BOOST_TEST(ir.starts_with("tracepoint_0:\n    t0 = r1\n"), ir);
    BOOST_TEST(ir.find("    call add.@n\n") != std::string::npos, ir);
    BOOST_TEST(ir.find(" = @last\n") != std::string::npos, ir);
    BOOST_TEST(has_line(ir, "    *(u64 *)(slot0 + 8) = 0"), ir);
    BOOST_TEST(has_line(ir, "    exit"), ir);
}

BOOST_AUTO_TEST_CASE(the_instructions_with_the_names_that_loading_resolves) {
    const std::string text = program_text(with_stages().program);
    BOOST_TEST(text.starts_with("tracepoint_0: tracepoint sched:sample\n"), text);
    BOOST_TEST(has_line(text, "add.@n:"), text);
    BOOST_TEST(text.find("    call add.@n\n") != std::string::npos, text);
    BOOST_TEST(text.find("    r1 = @last\n") != std::string::npos, text);
    BOOST_TEST(has_line(text, "    exit"), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs::bt
