#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "lang/insn/image.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

constexpr std::size_t kTextColumn = 42;  // of an instruction of a form, in a listing

const std::string kDeclarations =
    ".map waiting hash key u32, value u64\n"
    ".struct owner { pid u32, comm str16 }\n"
    ".struct job { step u32, owner, queued time, next owner }\n"
    ".stack v { tid u32, now u64, new job, out owner, odd { a u32, b str16, c u16 } }\n"
    ".func keep(map, key, value)\n"
    "r4 = 0\ncall map_update_elem\nexit\n"
    ".prog p tracepoint sched:sched_process_fork\n";

// The instructions that a line of code becomes, as a listing tells them, one a line.
std::string expanded(const std::string& line) {
    const Tried tried = try_assemble(cat(kDeclarations, line, "\nat: exit\n"));
    if (!tried.mistakes.empty()) return tried.mistakes;
    std::string said;
    const std::string listing = to_listing(tried.program);
    const std::string code = listing.substr(0, listing.find("\n\n"));
    for (const std::string_view row : lines_of(code))
        if (row.size() > kTextColumn && row.substr(kTextColumn - 4).starts_with("    "))
            said += cat(row.substr(kTextColumn), '\n');
    return said;
}

// The bytes of all instructions of program p, of fields their registers.
std::string code_of(const std::string& lines) {
    const Tried tried = try_assemble(cat(kDeclarations, lines, "\nat: exit\n"));
    BOOST_TEST(tried.mistakes == "", lines);
    std::string text;
    if (tried.program.programs.empty()) return text;
    for (const CodeItem& item : tried.program.programs[0].code)
        text += cat(to_hex({&item.insn, 1}), static_cast<int>(item.kind), ' ', item.imm64, ' ',
                    item.relocation.name, '\n');
    return text;
}

struct Form {
    const char* line;
    const char* instructions;
};
const Form kForms[] = {
    {"r2 = &v.now", "r2 = r10\nr2 += v.now\n"},
    {"r2 = &v.new.owner.comm", "r2 = r10\nr2 += v.new.owner.comm\n"},
    {"r2 = &v.new.comm", "r2 = r10\nr2 += v.new.comm\n"},
    {"r8 = &job.next.comm(r7)", "r8 = r7\nr8 += job.next.comm\n"},
    {"r7 = &job.next.comm(r7)", "r7 += job.next.comm\n"},
    {"r8 = &job.step(r7)", "r8 = r7\n"},
    {"r8 = &job(r7)", "r8 = r7\n"},
    {"zero v.tid", "*(u32 *)(r10 + v.tid) = 0\n"},
    {"zero v.out",
     "*(u64 *)(r10 + v.out) = 0\n*(u64 *)(r10 + v.out + 8) = 0\n*(u32 *)(r10 + v.out + 16) = 0\n"},
    {"zero v.odd.b",
     "*(u32 *)(r10 + v.odd.b) = 0\n*(u64 *)(r10 + v.odd.b + 4) = 0\n"
     "*(u32 *)(r10 + v.odd.b + 12) = 0\n"},
    {"zero v.odd.c", "*(u16 *)(r10 + v.odd.c) = 0\n"},
    {"zero owner(r0)", "*(u64 *)(r0 + 0) = 0\n*(u64 *)(r0 + 8) = 0\n*(u32 *)(r0 + 16) = 0\n"},
    {"copy v.now, job.queued(r7)", "r5 = *(u64 *)(r7 + job.queued)\n*(u64 *)(r10 + v.now) = r5\n"},
    // As wide as is aligned in both.
    {"copy v.out.comm, v.odd.b",
     "r5 = *(u32 *)(r10 + v.odd.b)\n*(u32 *)(r10 + v.out.comm) = r5\n"
     "r5 = *(u64 *)(r10 + v.odd.b + 4)\n*(u64 *)(r10 + v.out.comm + 4) = r5\n"
     "r5 = *(u32 *)(r10 + v.odd.b + 12)\n*(u32 *)(r10 + v.out.comm + 12) = r5\n"},
    {"copy v.now, @parent_pid(r6)", "r5 = @parent_pid(r6)\n*(u64 *)(r10 + v.now) = r5\n"},
    {"copy job.step(r7), @parent_pid(r6)", "r5 = @parent_pid(r6)\n*(u32 *)(r7 + job.step) = r5\n"},
    {"exit 0", "r0 = 0\nexit\n"},
    {"exit 0x1122334455 ll", "r0 = 0x1122334455 ll\nexit\n"},
    {"r7 = call map_lookup_elem(map[waiting], r2) else at",
     "r1 = map[waiting]\ncall map_lookup_elem\nif r0 == 0 goto at\nr7 = r0\n"},
    {"r0 = call ktime_get_ns()", "call ktime_get_ns\n"},
    {"call map_lookup_elem(map[waiting], &v.tid) else at",
     "r1 = map[waiting]\nr2 = r10\nr2 += v.tid\ncall map_lookup_elem\nif r0 == 0 goto at\n"},
    {"copy v.out.comm, @parent_comm(r6)",
     "r5 = *(u32 *)(r6 + @parent_comm)\n*(u32 *)(r10 + v.out.comm) = r5\n"
     "r5 = *(u32 *)(r6 + @parent_comm + 4)\n*(u32 *)(r10 + v.out.comm + 4) = r5\n"
     "r5 = *(u32 *)(r6 + @parent_comm + 8)\n*(u32 *)(r10 + v.out.comm + 8) = r5\n"
     "r5 = *(u32 *)(r6 + @parent_comm + 12)\n*(u32 *)(r10 + v.out.comm + 12) = r5\n"},
    {"copy v.out.comm, job.comm(r7)",
     "r5 = *(u32 *)(r7 + job.comm)\n*(u32 *)(r10 + v.out.comm) = r5\n"
     "r5 = *(u32 *)(r7 + job.comm + 4)\n*(u32 *)(r10 + v.out.comm + 4) = r5\n"
     "r5 = *(u32 *)(r7 + job.comm + 8)\n*(u32 *)(r10 + v.out.comm + 8) = r5\n"
     "r5 = *(u32 *)(r7 + job.comm + 12)\n*(u32 *)(r10 + v.out.comm + 12) = r5\n"},
    {"call keep(map[waiting], &v.tid, &v.now)",
     "r1 = map[waiting]\nr2 = r10\nr2 += v.tid\nr3 = r10\nr3 += v.now\ncall keep\n"},
    {"call ktime_get_ns()", "call ktime_get_ns\n"},
    {"call probe_read_kernel(&v.out, sizeof(v.out), &@parent_comm(r6))",
     "r1 = r10\nr1 += v.out\nr2 = sizeof(v.out)\nr3 = &@parent_comm(r6)\n"
     "call probe_read_kernel\n"},
    {"call probe_read_kernel(&job.next(r7), 20, \"text\")",
     "r1 = r7\nr1 += job.next\nr2 = 20\nr3 = \"text\"\ncall probe_read_kernel\n"},
    {"call keep(map[waiting], w7, *(u64 *)(r7 + job.queued))",
     "r1 = map[waiting]\nw2 = w7\nr3 = *(u64 *)(r7 + job.queued)\ncall keep\n"},
    // What is there already stays; what others read is overwritten last.
    {"call keep(r1, r2, r3)", "call keep\n"},
    {"call keep(map[waiting], r1, r2)", "r3 = r2\nr2 = r1\nr1 = map[waiting]\ncall keep\n"},
    {"call keep(map[waiting], *(u64 *)(r3 + 8), &v.now)",
     "r1 = map[waiting]\nr2 = *(u64 *)(r3 + 8)\nr3 = r10\nr3 += v.now\ncall keep\n"},
    {"call keep(map[waiting], 5, @parent_pid(r2))",
     "r1 = map[waiting]\nr3 = @parent_pid(r2)\nr2 = 5\ncall keep\n"},
};

BOOST_AUTO_TEST_SUITE(assembler_forms)

BOOST_AUTO_TEST_CASE(a_form_is_listed_as_the_instructions_it_stands_for) {
    for (const Form& form : kForms) BOOST_TEST_CONTEXT(form.line) {
            BOOST_TEST(expanded(form.line) == form.instructions);
        }
}

BOOST_AUTO_TEST_CASE(what_is_listed_assembles_to_the_same_code) {
    for (const Form& form : kForms) BOOST_TEST_CONTEXT(form.line) {
            BOOST_TEST(code_of(form.line) == code_of(form.instructions));
        }
}

BOOST_AUTO_TEST_CASE(a_listing_has_the_line_above_what_it_stands_for) {
    const Tried tried = try_assemble(
        ".stack v { now u64 }\n.prog p begin\nr1 = 7\nr2 = &v.now\nr2 = &v.now\nexit\n");
    BOOST_TEST(to_listing(tried.program) ==
               "program p  # t.bpf\n"
               "    3     0  b7 01 00 00 07 00 00 00  r1 = 7\n"
               "    4                                 r2 = &v.now\n"
               "    4     1  bf a2 00 00 00 00 00 00      r2 = r10\n"
               "    4     2  07 02 00 00 f8 ff ff ff      r2 += v.now\n"
               "    5                                 r2 = &v.now\n"
               "    5     3  bf a2 00 00 00 00 00 00      r2 = r10\n"
               "    5     4  07 02 00 00 f8 ff ff ff      r2 += v.now\n"
               "    6     5  95 00 00 00 00 00 00 00  exit\n");
}

BOOST_AUTO_TEST_CASE(an_embedded_structure_lies_as_in_c_and_its_members_have_two_names) {
    const Tried tried = try_assemble(
        ".struct pair { a u64, b u8 }\n"
        ".struct whole { x u8, pair, y u8, next pair }\n"
        ".struct outer { z u64, whole }\n"
        ".map m hash key whole, value u64\n"
        ".prog p begin\n"
        "r1 = whole.pair\nr1 = whole.pair.b\nr1 = whole.b\nr1 = whole.y\nr1 = whole.next.b\n"
        "r1 = sizeof(whole)\nr1 = sizeof(whole.pair)\nr1 = m.key.pair.b\n"
        "r1 = outer.pair\nr1 = outer.whole.pair.b\nr0 = 0\nexit\n");
    BOOST_TEST(tried.mistakes == "");
    std::string numbers;
    for (const CodeItem& item : tried.program.programs.at(0).code)
        numbers += cat(item.insn.imm, ' ');
    BOOST_TEST(numbers == "8 16 16 24 40 48 16 16 16 24 0 0 ");
    std::string members;
    for (const Member& member : tried.program.maps.at(0).key.members) members += member.name + ' ';
    BOOST_TEST(members == "x a b y next.a next.b ");
}

BOOST_AUTO_TEST_CASE(a_types_name_is_the_type_though_a_structure_has_it_too) {
    const Tried tried = try_assemble(
        ".record signal { signal signal, pid pid }\n.stack v { key { signal signal } }\n"
        ".prog p begin\nr0 = sizeof(v.key)\nexit\n");
    BOOST_TEST(tried.mistakes == "");
    BOOST_TEST(tried.program.programs.at(0).code.at(0).insn.imm == 4);
}

BOOST_AUTO_TEST_CASE(the_words_of_an_enum_are_constants_and_may_be_shown_as_a_text) {
    const Tried tried = try_assemble(
        ".enum state { 0 queued, 1 waits \"waits for a job\", -1 \"no job\" }\n"
        ".map m hash key { state s32 state }, value u64\n"
        ".prog p begin\nr1 = state.queued\nr1 = state.waits\nr0 = 0\nexit\n");
    BOOST_TEST(tried.mistakes == "");
    const std::vector<CodeItem>& code = tried.program.programs.at(0).code;
    BOOST_TEST(code.at(0).insn.imm == 0);
    BOOST_TEST(code.at(1).insn.imm == 1);
    const EnumWords words = {{0, "queued"}, {1, "waits for a job"}, {-1, "no job"}};
    BOOST_TEST((tried.program.maps.at(0).key.members.at(0).type.words == words));
}

BOOST_AUTO_TEST_CASE(a_named_condition_is_the_condition_where_it_is_asked_for) {
    const std::string code =
        " r0 = 1\n .else\n r0 = 2\n .endif\n .if ! {}\n r0 = 3\n .endif\n exit\n";
    const auto guards = [&](const std::string& declared, const std::string& name) {
        std::string text = cat(declared, ".prog p begin\n .if ", name, '\n', code);
        text.replace(text.find("{}"), 2, name);
        const Tried tried = try_assemble(text);
        BOOST_TEST(tried.mistakes == "");
        std::string said;
        for (const Guard& guard : tried.program.guards)
            said += cat(static_cast<int>(guard.kind), guard.name, guard.negated ? " not " : " ");
        return said;
    };
    for (const char* condition : {"@pid", "feature ringbuf", "event sched:sched_switch", "raw"})
        BOOST_TEST(guards(cat(".when newer = ", condition, '\n'), "newer") ==
                   guards("", condition));
    BOOST_TEST(guards(".when newer = ! @pid\n.when other = ! newer\n", "other") ==
               guards("", "@pid"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
