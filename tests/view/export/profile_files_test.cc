#include "view/export/profile_files.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "engine/recording/recorded_events.h"
#include "support/gzip.h"
#include "support/protobuf.h"
#include "support/ring_pages.h"

namespace gpufs {
namespace {

using test::bytes_of;
using test::ProtoMessage;

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_files)

// A driver's function and a library's are both `submit`: one calls the other.
BOOST_AUTO_TEST_CASE(a_kernel_function_is_not_the_programs_of_the_same_name) {
    TraceContext context;
    auto source = std::make_unique<RecordedEvents>();
    for (const char* name : {"print", "kernel_stack", "user_stack"})
        source->add("ftrace",
                    read_file(cat("tests/data/formats/6.18/events/ftrace/", name, "/format")));
    context.events = Events(std::move(source));
    context.tasks.add(7, "game");
    context.addresses.symbol = [](std::uint64_t) { return Symbol{"submit", {}, 1, 16}; };
    context.addresses.user = [](int, std::uint64_t) {
        return Symbol{"submit", "libgpu.so", 1, 16};
    };

    StackProfile profile(context);
    const auto add = [&](const char* event, const std::string& fields) {
        const auto id =
            static_cast<std::uint16_t>(context.events.find_format(cat("ftrace:", event))->id);
        const std::string bytes = bytes_of(id) + bytes_of(std::uint16_t{0}) + bytes_of(7) + fields;
        profile.add({1000, 0, {}, test::as_record(bytes)});
    };
    const std::uint64_t kernel = 0xffffffff81000012, user = 0x401000;
    add("print", bytes_of(kernel) + std::string(4, '\0'));
    add("kernel_stack", bytes_of(std::uint64_t{1}) + bytes_of(kernel));
    add("user_stack", bytes_of(std::uint64_t{7}) + bytes_of(user) + std::string(7 * 8, '\0'));
    profile.finish();
    BOOST_TEST(folded_stacks(profile) == "game;submit;submit_[k] 1\n");

    const std::string bytes = test::ungzipped(pprof_bytes(profile, true));
    const ProtoMessage file(bytes);
    std::vector<std::string_view> texts;
    for (const test::ProtoField& field : file.fields())
        if (field.number == 6) texts.push_back(field.bytes);
    const auto functions = file.messages(5);
    BOOST_TEST_REQUIRE(functions.size() == 2u);
    BOOST_TEST(texts.at(functions[0].number(2)) == "submit");
    BOOST_TEST(texts.at(functions[1].number(2)) == "submit_[k]");
    const auto locations = file.messages(4);
    BOOST_TEST_REQUIRE(locations.size() == 2u);
    for (std::size_t i : {0u, 1u})
        BOOST_TEST(locations[i].messages(4).at(0).number(1) == functions[i].number(1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
