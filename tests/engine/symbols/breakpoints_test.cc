#include "engine/symbols/breakpoints.h"

#define BOOST_TEST_DYN_LINK
#include <fcntl.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/read_at.h"
#include "lang/probe/x86_instruction.h"

// mov $110,%eax · syscall · ret, or four instructions of arm64.
#if defined(__x86_64__)
asm(R"(
    .pushsection .text
    .globl gpufs_test_instructions
    .type gpufs_test_instructions, %function
gpufs_test_instructions:
    .byte 0xb8, 0x6e, 0, 0, 0, 0x0f, 0x05, 0xc3
    .size gpufs_test_instructions, . - gpufs_test_instructions
    .popsection
)");
constexpr bool kBegins[] = {true, false, false, false, false, true, false, true};
constexpr bool kIsX86 = true;
#else
asm(R"(
    .pushsection .text
    .globl gpufs_test_instructions
    .type gpufs_test_instructions, %function
gpufs_test_instructions:
    nop
    nop
    .size gpufs_test_instructions, . - gpufs_test_instructions
    .popsection
)");
constexpr bool kBegins[] = {true, false, false, false, true, false, false, false};
constexpr bool kIsX86 = false;
#endif

namespace gpufs {
namespace {

const std::string kOwn = "/proc/self/exe";

boost::test_tools::assertion_result is_x86(boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result result(kIsX86);
    result.message() << "needs x86-64";
    return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(breakpoints)

BOOST_AUTO_TEST_CASE(are_for_places_where_an_instruction_begins) {
    const std::vector<ElfFunction> found = find_functions(kOwn, "gpufs_test_instructions");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    const ElfFunction& function = found.front();
    BOOST_TEST(function.size == std::size(kBegins));
    for (std::size_t i = 0; i < std::size(kBegins); ++i) {
        BOOST_TEST(!why_no_breakpoint(kOwn, function, i) == kBegins[i]);
        BOOST_TEST(!why_no_breakpoint_at(kOwn, function.offset + i) == kBegins[i]);
    }
    const auto inside = why_no_breakpoint(kOwn, function, 6);
    BOOST_TEST_REQUIRE(inside.has_value());
    BOOST_TEST(inside->why ==
               "0x6 is inside of an instruction of 'gpufs_test_instructions': a probe there would "
               "change what the program does");
    BOOST_TEST(inside->hint.starts_with("the instruction begins at gpufs_test_instructions+0x"));
    const auto behind = why_no_breakpoint(kOwn, function, 9);
    BOOST_TEST_REQUIRE(behind.has_value());
    BOOST_TEST(behind->why == "'gpufs_test_instructions' has 8 bytes: 0x9 is behind its end");
}

BOOST_AUTO_TEST_CASE(are_not_refused_where_no_code_can_be_read) {
    BOOST_TEST(!why_no_breakpoint_at("Makefile", 5));
    BOOST_TEST(!why_no_breakpoint_at("/nonexistent", 5));
}

// The instructions of a function end where it ends.
BOOST_AUTO_TEST_CASE(instructions_fill_the_functions_of_the_c_library,
                     *boost::unit_test::precondition(is_x86)) {
    const auto libc = find_code_file("libc");
    BOOST_TEST_REQUIRE(libc.index() == 0u);
    const std::string& path = std::get<0>(libc);
    const Fd file = open_file(path, O_RDONLY);
    std::size_t functions = 0;
    std::vector<std::byte> code;
    for (const ElfFunction& function : find_functions(path, "*")) {
        if (function.size == 0) continue;
        code.resize(function.size);
        BOOST_TEST_REQUIRE(read_at(file.get(), function.offset, code, path) == code.size());
        std::size_t at = 0;
        while (at < code.size()) {
            const std::size_t length = x86_instruction_length(std::span(code).subspan(at));
            if (length == 0) break;
            at += length;
        }
        if (at != code.size()) BOOST_TEST(at == code.size(), function.name);
        ++functions;
    }
    BOOST_TEST(functions > 2000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
