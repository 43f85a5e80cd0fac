#include "lang/program/merge_programs.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "lang/asm/assembler.h"
#include "lang/link/link.h"
#include "lang/link/maker.h"

namespace gpufs {
namespace {

constexpr const char* kLibrary =
    ".map  events ring max 4096\n"
    ".lost unsent \"records\"\n"
    ".param pid = 0 \"one process\"\n"
    ".func send\n"
    " r2 = pid ll\n"
    ".if feature ringbuf\n"
    " r1 = map[unsent][0]\n"
    ".endif\n"
    " r0 = 0\n"
    " exit\n";

Program program(const std::string& name, const std::string& text,
                const std::string& library = kLibrary) {
    return assemble({cat(name, ".bpf"), cat(".monitor ", name, " \"about ", name, "\"\n", text)},
                    [&](std::string_view file, const SourceText&) {
                        return SourceText{std::string(file), library};
                    });
}

// Both have a parameter, a map, a record, a report, a function and a program of the same names.
Program one(const std::string& name, const std::string& library = kLibrary) {
    return program(name,
                   ".include \"lib/send.bpf\"\n"
                   ".caution sched:sched_switch \"many of these\"\n"
                   ".param  rows = 16 \"how many\"\n"
                   ".map    stacks stack_trace max rows\n"
                   ".map    seen   hash key { at kstack(stacks) }, value count, max rows, "
                   "report \"Seen\"\n"
                   ".record hit \"HIT\" { pid u32 } then { print \"{pid}\", print seen }\n"
                   ".func   helped\n"
                   " r1 = map[seen]\n"
                   " r2 = rows ll\n"
                   " call send\n"
                   " exit\n"
                   ".prog   main begin\n"
                   ".if feature batch\n"
                   " w3 = record(hit)\n"
                   ".endif\n"
                   " call helped\n"
                   " r0 = 0\n"
                   " exit\n",
                   library);
}

template <class List>
std::vector<std::string> names_of(const List& list) {
    std::vector<std::string> names;
    for (const auto& each : list) names.push_back(each.name);
    return names;
}
using Names = std::vector<std::string>;

std::string message_of(std::vector<Program> programs) {
    try {
        merge_programs(std::move(programs));
    } catch (const UsageError& e) {
        return e.what();
    }
    return "no error";
}

BOOST_AUTO_TEST_SUITE(merge)

BOOST_AUTO_TEST_CASE(one_program_stays_as_it_is) {
    const Program merged = merge_programs({one("drm")});
    BOOST_TEST(merged.name == "drm");
    BOOST_TEST(names_of(merged.maps) == (Names{"events", "unsent", "stacks", "seen"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_map_of_signatures_keeps_the_parameter_that_names_its_calls) {
    const std::string text =
        ".param call = \"*\"\n.map calls syscalls only call\n.prog p begin\n r0 = 0\n exit\n";
    const Program merged = merge_programs({program("a", text), program("b", text)});
    BOOST_TEST(merged.find_map("a.calls")->wanted_calls == "a.call");
    BOOST_TEST(merged.find_map("b.calls")->wanted_calls == "b.call");
}

BOOST_AUTO_TEST_CASE(a_single_program_can_have_the_names_that_it_has_beside_others) {
    const Program merged = merge_programs({one("drm")}, MergedNames::prefixed);
    BOOST_TEST(merged.name == "drm");
    BOOST_TEST(names_of(merged.maps) == (Names{"events", "unsent", "drm.stacks", "drm.seen"}),
               boost::test_tools::per_element());
    BOOST_TEST(names_of(merged.programs) == (Names{"drm.main"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(names_tell_the_programs_apart_and_what_both_include_is_there_once) {
    const Program merged = merge_programs({one("drm"), one("fence")});
    BOOST_TEST(merged.name == "drm, fence");
    BOOST_TEST(merged.summary == "about drm; about fence");
    BOOST_TEST(names_of(merged.parameters) == (Names{"pid", "drm.rows", "fence.rows"}),
               boost::test_tools::per_element());
    BOOST_TEST(names_of(merged.maps) == (Names{"events", "unsent", "drm.stacks", "drm.seen",
                                               "fence.stacks", "fence.seen"}),
               boost::test_tools::per_element());
    BOOST_TEST(merged.maps[3].max_parameter == "drm.rows");
    BOOST_TEST(merged.maps[5].max_parameter == "fence.rows");
    BOOST_TEST(merged.maps[5].key.members[0].type.stack_map == "fence.stacks");
    BOOST_TEST(names_of(merged.records) == (Names{"drm.hit", "fence.hit"}),
               boost::test_tools::per_element());
    BOOST_TEST(merged.records[1].actions[1].map == "fence.seen");
    BOOST_TEST(merged.reports.size() == 2u);
    BOOST_TEST(merged.reports[1].map == "fence.seen");
    BOOST_TEST(merged.cautions.size() == 2u);
    BOOST_TEST(names_of(merged.programs) == (Names{"drm.main", "fence.main"}),
               boost::test_tools::per_element());
    BOOST_TEST(names_of(merged.subprograms) == (Names{"send", "drm.helped", "fence.helped"}),
               boost::test_tools::per_element());
}

// What was linked alone and what was linked together differ in the numbers of maps and records.
BOOST_AUTO_TEST_CASE(each_program_links_to_its_own) {
    const Program merged = merge_programs({one("drm"), one("fence")});
    LinkTarget target;
    target.features = {"ringbuf", "batch"};
    int fd = 10;
    for (const MapDeclaration& map : merged.maps) target.map_fds[map.name] = fd++;
    target.record_ids = {{"drm.hit", 1}, {"fence.hit", 2}};
    target.parameters.numbers = {{"drm.rows", 100}, {"fence.rows", 200}, {"pid", 7}};
    const auto numbers = [&](const ProbeProgram& probe) {
        std::vector<int> loaded;
        for (const bpf_insn& insn : link(merged, probe, target).insns) {
            const bool is_move = insn.code == (BPF_ALU | BPF_MOV | BPF_K);
            const bool is_wide = insn.code == (BPF_LD | BPF_IMM | BPF_DW);
            if ((is_move || is_wide) && insn.imm != 0) loaded.push_back(insn.imm);
        }
        return loaded;
    };
    BOOST_TEST(numbers(merged.programs[0]) == (std::vector<int>{1, 13, 100, 7, 11}),
               boost::test_tools::per_element());
    BOOST_TEST(numbers(merged.programs[1]) == (std::vector<int>{2, 15, 200, 7, 11}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_walks_a_map_or_warns_of_a_program_finds_it_under_its_new_name) {
    const Program merged =
        merge_programs({one("drm"), program("own",
                                            ".map jobs hash key u32, value u32, max 8\n"
                                            ".caution a:b in left \"text\"\n"
                                            ".caution without left in left \"text\"\n"
                                            ".prog left each jobs\n r0 = 0\n exit\n")});
    BOOST_TEST(merged.programs[1].name == "own.left");
    BOOST_TEST(merged.programs[1].targets[0][0].name == "own.jobs");
    BOOST_TEST(merged.find_map("own.jobs") != nullptr);
    BOOST_TEST(merged.cautions.back().program == "own.left");
    BOOST_TEST(merged.cautions.back().missing == "own.left");
}

BOOST_AUTO_TEST_CASE(mistakes_are_still_shown_where_they_were_written) {
    const Program merged = merge_programs(
        {one("drm"), program("bad", ".prog p tracepoint gpu:thing\n r1 = @gone(r1)\n exit\n")});
    try {
        link(merged, merged.programs[1], test::tracepoint());
        BOOST_ERROR("linked");
    } catch (const UsageError& e) {
        BOOST_TEST(std::string(e.what()).starts_with("bad.bpf:3:7: error: gpu:thing has no field"));
    }
}

BOOST_AUTO_TEST_CASE(programs_share_one_ring_as_large_as_the_largest) {
    const auto sends = [](const std::string& name, const std::string& bytes) {
        return program(name, cat(".map out ring max ", bytes,
                                 "\n.prog p begin\n r1 = map[out]\n r0 = 0\n exit\n"));
    };
    const Program both = merge_programs({sends("a", "4096"), sends("b", "65536")});
    BOOST_TEST(names_of(both.maps) == (Names{"a.out"}), boost::test_tools::per_element());
    BOOST_TEST(both.maps[0].max_entries == 65536u);
    BOOST_TEST(both.programs[1].code[0].relocation.name == "a.out");
}

BOOST_AUTO_TEST_CASE(what_a_program_owns_with_its_includes_is_not_shared) {
    Program first = one("a"), second = one("b");
    first.owns_included = second.owns_included = true;
    const Program both = merge_programs({std::move(first), std::move(second)});
    BOOST_TEST(names_of(both.parameters) == (Names{"a.pid", "a.rows", "b.pid", "b.rows"}),
               boost::test_tools::per_element());
    BOOST_TEST(both.find_map("b.unsent") != nullptr);
}

BOOST_AUTO_TEST_CASE(a_text_named_after_a_program_is_part_of_it) {
    const std::string part = ".map faults array value count, max 1, report \"Faults\"\n";
    const auto with = [&](const std::string& name, const std::string& file) {
        return program(name,
                       cat(".include \"lib/", file, "\"\n.prog p begin\n r1 = map[faults][0]\n",
                           " r0 = 0\n exit\n"),
                       part);
    };
    const Program both = merge_programs({with("xe", "xe-memory.bpf"), with("own", "own-part.bpf")});
    BOOST_TEST(names_of(both.maps) == (std::vector<std::string>{"xe.faults", "own.faults"}),
               boost::test_tools::per_element());
    BOOST_TEST(both.reports.size() == 2u);
    BOOST_TEST(
        message_of({with("xe", "memory.bpf"), with("own", "other.bpf")}) ==
        "both lib/memory.bpf and lib/other.bpf, which 'own' includes, declare the map 'faults'");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_together_is_refused) {
    BOOST_TEST(message_of({one("drm"), one("drm")}) == "'drm' is asked for twice");
    BOOST_TEST(message_of({one("drm"), one("own", cat(kLibrary, " # mine\n"))}) ==
               "'own' includes another text as lib/send.bpf than those before");
    const std::string plain = ".prog p begin\n r0 = 0\n exit\n";
    BOOST_TEST(message_of({program("drm", plain),
                           program("own", cat(".licence \"Proprietary\"\n", plain))}) ==
               "'own' has the licence \"Proprietary\", those before \"Dual MIT/GPL\"");
    BOOST_TEST(
        merge_programs({program("drm", plain), program("own", cat(".licence \"GPL\"\n", plain))})
            .licence == "GPL");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
