#include "lang/asm/assembler.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "lang/insn/disasm.h"
#include "lang/insn/insn.h"
#include "lang/insn/listing.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(assembler)

BOOST_AUTO_TEST_CASE(every_shipped_monitor_assembles) {
    std::size_t monitors = 0;
    for (const auto& file : std::filesystem::directory_iterator(kBpfFolder)) {
        if (file.path().extension() != ".bpf") continue;
        ++monitors;
        BOOST_TEST_CONTEXT(file.path()) {
            try {
                const Program program = assemble_file(file.path().string());
                BOOST_TEST(program.name == file.path().stem());
                BOOST_TEST(!program.summary.empty());
                BOOST_TEST(!program.programs.empty());
            } catch (const Error& e) {
                BOOST_ERROR(e.what());
            }
        }
    }
    BOOST_TEST(monitors >= 6u);
}

BOOST_AUTO_TEST_CASE(an_outline_has_the_parameters_and_targets_of_the_whole) {
    const auto text_of = [](const Program& program) {
        std::string text = cat(program.name, ": ", program.summary, '\n');
        for (const Parameter& one : program.parameters)
            text += cat(one.name, " = ", one.value, one.text, ' ', one.unit, ' ', one.help, '\n');
        for (const ProbeProgram& one : program.programs) {
            text += cat(one.name, ' ', one.wanted_by, one.is_optional ? " optional" : "");
            for (const auto& alternatives : one.targets)
                for (const ProbeTarget& target : alternatives) text += cat(' ', target.name);
            text += '\n';
        }
        return text;
    };
    for (const auto& file : std::filesystem::directory_iterator(kBpfFolder)) {
        if (file.path().extension() != ".bpf") continue;
        const Program outline = assemble_file(file.path().string(), AsmScope::outline);
        BOOST_TEST(text_of(outline) == text_of(assemble_file(file.path().string())));
        BOOST_TEST(outline.maps.empty());
        BOOST_TEST(outline.subprograms.empty());
    }
}

BOOST_AUTO_TEST_CASE(a_monitor_has_a_name_a_summary_a_licence_and_needs) {
    const Program program = assemble_text(R"(
.monitor sched-wait "run queue latency"
.licence "GPL"
.needs ringbuf, batch
.prog p begin
        exit
)");
    BOOST_TEST(program.name == "sched-wait");
    BOOST_TEST(program.summary == "run queue latency");
    BOOST_TEST(program.licence == "GPL");
    BOOST_TEST(program.needed_features == (std::vector<std::string>{"ringbuf", "batch"}),
               boost::test_tools::per_element());
    BOOST_TEST(program.sources.size() == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_name_it_is_its_files) {
    const Program program = assemble({"/usr/share/gpufs/watch.bpf", ".prog p begin\nexit\n"});
    BOOST_TEST(program.name == "watch");
}

BOOST_AUTO_TEST_CASE(programs_have_targets_with_alternatives) {
    const Program program = assemble_text(R"(
.prog a optional tracepoint sched:sched_waking, sched:sched_wakeup | kprobe try_to_wake_up   # x
        exit
.prog b kprobe "vfs_*,x", mod:fun+0x10
        exit
.prog c usdt /usr/lib/libc.so.6:libc:setjmp | uprobe "/opt/a b/x:main"
        exit
.prog d profile 99hz, profile 10ms, cycles 1000000, cycles 4000hz
        exit
.prog e interval 1s, begin, end
        exit
.prog f optional ends kprobe x
        exit
.prog g each m
        exit
.map m hash key u64, value u64
.prog h optional recorded a:b
        exit
.caution a:b in h "text"
.param often = 0
.prog i optional with often kprobe x
        exit
)");
    BOOST_TEST(program.programs[8].wanted_by == "often");
    BOOST_TEST(program.programs[7].wanted_by.empty());
    BOOST_TEST((program.programs[7].targets[0][0].kind == ProbeTarget::Kind::recorded));
    BOOST_TEST(program.cautions[0].program == "h");
    BOOST_TEST((program.programs[6].targets[0][0].kind == ProbeTarget::Kind::each));
    BOOST_TEST(program.programs[6].targets[0][0].name == "m");
    BOOST_TEST(program.programs[5].is_end);
    BOOST_TEST(program.programs[5].is_optional);
    BOOST_TEST(!program.programs[0].is_end);
    const auto& a = program.programs[0];
    BOOST_TEST(a.is_optional);
    BOOST_TEST(a.targets.size() == 2u);
    BOOST_TEST(a.targets[0][0].name == "sched:sched_waking");
    BOOST_TEST(a.targets[1][1].name == "try_to_wake_up");
    BOOST_TEST((a.targets[1][1].kind == ProbeTarget::Kind::kprobe));
    const auto& b = program.programs[1];
    BOOST_TEST(b.targets[0][0].name == "vfs_*,x");
    BOOST_TEST(b.targets[0][0].has_glob);
    BOOST_TEST(b.targets[1][0].name == "mod:fun+0x10");
    const auto& c = program.programs[2];
    BOOST_TEST(c.targets[0][1].name == "/opt/a b/x:main");
    const auto& d = program.programs[3];
    BOOST_TEST(d.targets[0][0].is_frequency);
    BOOST_TEST(d.targets[0][0].period == 99u);
    BOOST_TEST(d.targets[1][0].period == 10'000'000u);
    BOOST_TEST(d.targets[2][0].name == "cycles");
    BOOST_TEST(d.targets[2][0].period == 1'000'000u);
    BOOST_TEST(d.targets[3][0].is_frequency);
    const auto& e = program.programs[4];
    BOOST_TEST(e.targets[0][0].period == 1'000'000'000u);
    BOOST_TEST((e.targets[2][0].kind == ProbeTarget::Kind::end));
}

BOOST_AUTO_TEST_CASE(fields_stay_symbolic) {
    const Program program = assemble_text(R"(
.prog p tracepoint sched:sched_switch
        r6 = r1
        w1 = *(u32 *)(r6 + @next_pid)
        r2 = *(u64 *)(r6 + @next_comm + 8)
        r3 = @prev_state(r6)
        r4 = &@name(r6)
        r5 = sizeof @name(r6)
        r0 = sizeof(@next_comm)
        exit
)");
    const auto& code = program.programs[0].code;
    using Kind = CodeItem::Kind;
    BOOST_TEST(code[1].relocation.name == "next_pid");
    BOOST_TEST(code[2].relocation.addend == 8);
    BOOST_TEST((code[3].kind == Kind::load_field));
    BOOST_TEST(code[3].insn.dst_reg == 3);
    BOOST_TEST(code[3].insn.src_reg == 6);
    BOOST_TEST((code[4].kind == Kind::field_address));
    BOOST_TEST((code[5].kind == Kind::field_length));
    BOOST_TEST((code[6].relocation.kind == Relocation::Kind::field_size));
}

BOOST_AUTO_TEST_CASE(what_is_known_later_is_noted) {
    const auto code = assembled_code(R"(
        r1 = min
        r2 = min ll
        r3 = word ll
        r4 = "kworker"
        r5 = *(u64 *)(r1 + btf(task_struct.pid ? 2468) + 4)
        r1 = subprog[f]
        call f
        r1 = seen ll)",
                                     ".param min = 5 us\n.param word = \"x\"\n"
                                     ".map seen hash key u32, value u64\n.func f\nr0 = 0\nexit\n");
    using Kind = Relocation::Kind;
    const Kind kinds[] = {Kind::parameter,  Kind::parameter, Kind::parameter,  Kind::constant,
                          Kind::btf_offset, Kind::callback,  Kind::subprogram, Kind::map};
    for (std::size_t i = 0; i < std::size(kinds); ++i)
        BOOST_TEST((code[i].relocation.kind == kinds[i]), "at " << i);
    BOOST_TEST(code[3].relocation.name == "kworker");
    BOOST_TEST(code[4].relocation.fallback.value() == 2468);
    BOOST_TEST(code[4].relocation.addend == 4);
}

BOOST_AUTO_TEST_CASE(a_comparison_with_a_parameter_keeps_the_name_of_its_label) {
    const auto code = assembled_code(R"(
back:   r3 = 0
        if r1 == min goto back)",
                                     ".param min = 5\n");
    BOOST_TEST((code[2].relocation.kind == Relocation::Kind::parameter));
    BOOST_TEST(code[2].relocation.name == "min");
    BOOST_TEST(code[2].name == "back");
}

BOOST_AUTO_TEST_CASE(conditions_guard_lines_and_nest) {
    const Program program = assemble_text(R"(
.prog p tracepoint a:b | a:c
        .if @pid
        r0 = 1
        .if ! event a:c
        r0 = 2
        .else
        r0 = 3
        .endif
        .else
        .if exists x:y
        r0 = 4
        .endif
        .if feature ringbuf
        r0 = 5
        .endif
        .endif
        .if raw
        r0 = 6
        .endif
        .if module nvidia
        r0 = 7
        .endif
        .if module nvidia "575.51.02"
        r0 = 8
        .endif
        exit
)");
    const auto& code = program.programs[0].code;
    const auto guard = [&](std::size_t i) { return program.guards.at(code[i].guard - 1); };
    BOOST_TEST((guard(0).kind == Guard::Kind::has_field));
    BOOST_TEST(guard(0).name == "pid");
    BOOST_TEST((guard(1).kind == Guard::Kind::is_event));
    BOOST_TEST(guard(1).name == "a:c");
    BOOST_TEST(guard(1).negated);
    BOOST_TEST(guard(1).outer == code[0].guard);
    BOOST_TEST(!guard(2).negated);
    BOOST_TEST((guard(3).kind == Guard::Kind::has_event));
    BOOST_TEST(program.guards[guard(3).outer - 1].negated);
    BOOST_TEST((guard(4).kind == Guard::Kind::has_feature));
    BOOST_TEST((guard(5).kind == Guard::Kind::is_raw));
    BOOST_TEST((guard(6).kind == Guard::Kind::has_module));
    BOOST_TEST(guard(6).name == "nvidia");
    BOOST_TEST((guard(7).kind == Guard::Kind::has_module));
    BOOST_TEST(guard(7).name == "nvidia 575.51.02");
    BOOST_TEST(code[8].guard == 0u);
}

BOOST_AUTO_TEST_CASE(labels_may_be_the_same_where_conditions_exclude_each_other) {
    const Program program = assemble_text(R"(
.prog p begin
        r0 = 0
        if r0 == 0 goto out
        .if feature ringbuf
out:    r0 = 1
        exit
        .else
out:    r0 = 2
        exit
        .endif
)");
    BOOST_TEST(program.programs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_pasted_log_is_code) {
    const Program program = assemble_text(R"(
.map counts hash key u32, value u64
.prog p kprobe vfs_read
func#0 @0
0: R1=ctx() R10=fp0
0: (b7) r0 = 0                        ; R0_w=0
1: (18) r1 = 0xffff888104b2f400       ; R1_w=map_ptr(map=counts,ks=4,vs=8)
3: (15) if r0 == 0x0 goto pc+1
4: (b7) r0 = 1
5: (95) exit
processed 5 insns (limit 1000000) max_states_per_insn 0
)");
    const auto& code = program.programs[0].code;
    BOOST_TEST(code.size() == 5u);
    BOOST_TEST(code[1].relocation.name == "counts");
    BOOST_TEST(code[2].insn.off == 1);
}

BOOST_AUTO_TEST_CASE(files_are_included_once) {
    std::size_t asked = 0;
    const auto read = [&](std::string_view file, const SourceText&) {
        ++asked;
        if (file == "none.bpf") throw Error("cannot open 'none.bpf'");
        return SourceText{std::string(file),
                          ".include \"a.bpf\"\n.const A = 7\n.func f\nr0 = A\nexit\n"};
    };
    const std::string use = ".prog p begin\ncall f\nr0 = A\nexit\n";
    const Program program =
        assemble({"t.bpf", ".include \"a.bpf\"\n.include \"a.bpf\"\n" + use}, read);
    BOOST_TEST(asked == 3u);
    BOOST_TEST(program.sources.size() == 2u);
    BOOST_TEST(program.sources[program.subprograms[0].code[0].at.source].name == "a.bpf");
    BOOST_TEST(try_assemble(".include \"none.bpf\"\n.prog p begin\nexit\n", read).mistakes ==
               "t.bpf:1:10: error: cannot open 'none.bpf'\n"
               ".include \"none.bpf\"\n"
               "         ^~~~~~~~~~");
}

BOOST_AUTO_TEST_CASE(mistakes_of_an_included_file_are_shown_there) {
    const auto read = [](std::string_view, const SourceText&) {
        return SourceText{"lib.bpf", ".func f\n  r0 = r12\n  exit\n"};
    };
    BOOST_TEST(try_assemble(".include \"lib\"\n.prog p begin\nexit\n", read).mistakes ==
               "lib.bpf:2:8: error: no register is named 'r12'\n"
               "  r0 = r12\n"
               "       ^~~\n"
               "hint: registers are r0 to r10, and w0 to w10 for their low 32 bits");
}

BOOST_AUTO_TEST_CASE(bare_instructions_are_told_from_programs) {
    BOOST_TEST(has_directives({"t", "# x\n  .prog p begin\n"}));
    BOOST_TEST(!has_directives({"t", "r0 = 0\n.L1: exit\n.quad 5\n"}));
}

BOOST_AUTO_TEST_CASE(places_point_into_the_text) {
    const std::string text = ".prog p begin\n  r0 = 5 # five\n  exit\n";
    const Program program = assemble_text(text);
    const Span at = program.programs[0].code[0].at.span;
    BOOST_TEST(text.substr(at.begin, at.end - at.begin) == "r0 = 5");
}

BOOST_AUTO_TEST_CASE(a_loss_may_count_what_programs_miss) {
    const auto text = [](const char* programs) {
        return cat(".lost unseen \"ends, not seen\" misses ", programs,
                   "\n.prog a begin\n  r0 = 0\n  exit\n.prog b begin\n  r0 = 0\n  exit\n");
    };
    const Program program = assemble({"t.bpf", text("a b")}, {});
    BOOST_TEST(program.find_map("unseen")->loss == "ends, not seen");
    BOOST_TEST((program.find_map("unseen")->misses_of == std::vector<std::string>{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(a_map_has_the_signatures_of_the_calls_that_a_parameter_names) {
    const std::string code = ".prog p begin\n  r0 = 0\n  exit\n";
    const Program program = assemble_text(
        cat(".param call = \"*\"\n.map all syscalls\n.map some syscalls only call\n", code));
    for (const char* name : {"all", "some"}) {
        const MapDeclaration& map = *program.find_map(name);
        BOOST_TEST(map.has_signatures);
        BOOST_TEST(map.type == BPF_MAP_TYPE_ARRAY);
        BOOST_TEST(map.value.bytes == 8u);
        BOOST_TEST(map.max_entries == 1024u);
    }
    BOOST_TEST(program.find_map("all")->wanted_calls == "");
    BOOST_TEST(program.find_map("some")->wanted_calls == "call");
    BOOST_TEST(!assemble_text(cat(".map n array value u64, max 8\n", code)).maps[0].has_signatures);
    BOOST_TEST(try_assemble(cat(".param n = 1\n.map some syscalls only n\n", code)).mistakes ==
               "t.bpf:2:25: error: 'n' is no parameter that is a text\n"
               ".map some syscalls only n\n"
               "                        ^\n"
               "hint: it names system calls");
}

BOOST_AUTO_TEST_CASE(a_declaration_that_names_no_program_is_a_mistake) {
    const auto mistake_in = [](const std::string& line) -> std::string {
        try {
            assemble({"t.bpf", cat(line, "\n.prog waits begin\n  r0 = 0\n  exit\n")}, {});
        } catch (const Error& e) {
            return e.what();
        }
        return "none";
    };
    for (const char* line :
         {".lost unseen \"ends\" misses waits", ".caution without waits \"no events of fences\"",
          ".caution sched:sched_switch in waits \"many\""})
        BOOST_TEST(mistake_in(line) == "none");
    BOOST_TEST(mistake_in(".lost unseen \"ends\" misses waits wait") ==
               "t.bpf:1:34: error: no program is named 'wait'\n"
               ".lost unseen \"ends\" misses waits wait\n"
               "                                 ^~~~\n"
               "hint: did you mean 'waits'?");
    BOOST_TEST(mistake_in(".caution without wait \"no events of fences\"") ==
               "t.bpf:1:18: error: no program is named 'wait'\n"
               ".caution without wait \"no events of fences\"\n"
               "                 ^~~~\n"
               "hint: did you mean 'waits'?");
    BOOST_TEST(mistake_in(".caution sched:sched_switch in wait \"many\"") ==
               "t.bpf:1:32: error: no program is named 'wait'\n"
               ".caution sched:sched_switch in wait \"many\"\n"
               "                               ^~~~\n"
               "hint: did you mean 'waits'?");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
