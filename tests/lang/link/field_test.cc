#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "lang/link/maker.h"
#include "lang/program/function_fields.h"

namespace gpufs {
namespace {

using test::event;
using test::field_load;
using test::item_of;
using test::kFieldAddress;
using test::kFieldLength;
using test::kLoadField;
using test::macro;
using test::Maker;
using test::same_code;
using test::tracepoint;
using test::with;
using Kind = Relocation::Kind;

BOOST_AUTO_TEST_SUITE(link_field)

BOOST_AUTO_TEST_CASE(a_named_field_gets_its_offset) {
    Maker m;
    m.line("r6 = *(u64 *)(r1 + @seqno)",
           field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "seqno"));
    m.line("r7 = *(u8 *)(r1 + @comm + 3)",
           field_load(insn::load(Width::b, Reg::r7, Reg::r1, 0), "comm", 3));
    m.line("r8 = *(u32 *)(r1 + @words + 8)",
           field_load(insn::load(Width::w, Reg::r8, Reg::r1, 0), "words", 8));
    m.line("w9 = *(u32 *)(r1 + @ring)",
           field_load(insn::load(Width::w, Reg::r9, Reg::r1, 0), "ring"));
    m.line("r2 = @comm", with(item_of(insn::mov(Reg::r2, 0)), Kind::field_offset, "comm"));
    m.line("r3 = sizeof(comm)", with(item_of(insn::mov(Reg::r3, 0)), Kind::field_size, "comm"));
    m.line("r3 = sizeof(ring)", with(item_of(insn::mov(Reg::r3, 0)), Kind::field_size, "ring"));
    m.zero_and_exit();
    const auto insns = m.link().insns;
    BOOST_TEST(insns[0].off == 8);
    BOOST_TEST(insns[1].off == 27);
    BOOST_TEST(insns[2].off == 64);
    BOOST_TEST(insns[3].off == 40);
    BOOST_TEST(insns[4].imm == 24);
    BOOST_TEST(insns[5].imm == 16);
    BOOST_TEST(insns[6].imm == 4);
}

BOOST_AUTO_TEST_CASE(an_unknown_field_is_shown_in_the_users_text) {
    Maker m;
    m.line("r6 = *(u64 *)(r1 + @seqn)",
           field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "seqn"), "@seqn");
    m.zero_and_exit();
    BOOST_TEST(m.refusal() ==
               "watch.bpf:1:20: error: gpu:thing has no field 'seqn'\n"
               "r6 = *(u64 *)(r1 + @seqn)\n"
               "                   ^~~~~\n"
               "hint: did you mean 'seqno'?");
}

struct BadAccess {
    const char* text;
    CodeItem item;
    const char* message;  // with the hint
};
const BadAccess kBadAccesses[] = {
    {"r6 = *(u32 *)(r1 + @seqno)", field_load(insn::load(Width::w, Reg::r6, Reg::r1, 0), "seqno"),
     "field 'seqno' is 8 bytes, this load reads 4; read it as u64"},
    {"r6 = *(u32 *)(r1 + @flags)", field_load(insn::load(Width::w, Reg::r6, Reg::r1, 0), "flags"),
     "field 'flags' is 1 byte, this load reads 4; read it as u8"},
    {"r6 = *(u64 *)(r1 + @words)", field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "words"),
     "field 'words' has elements of 4 bytes, this load reads 8; read it as u32"},
    {"r6 = *(u64 *)(r1 + @ring)", field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "ring"),
     "field 'ring' is dynamic: its offset and length are a u32, this load reads 8 bytes; "
     "read it as u32, or let the linker find the address of 'ring'"},
    {"r6 = *(u64 *)(r1 + @comm + 12)",
     field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "comm", 12),
     "field 'comm' has 16 bytes, this load reads 8 at offset 12"},
    {"r6 = *(u64 *)(r1 + @odd)", field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "odd"),
     "field 'odd' begins at offset 74 of the record, where 8 bytes cannot be read at once; read it "
     "in smaller pieces"},
    {"r6 = *(s8 *)(r1 + @flags)",
     field_load(insn::load_signed(Width::b, Reg::r6, Reg::r1, 0), "flags"),
     "field 'flags' (u8 flags) is unsigned, this load extends a sign; read it as u8"},
    {"*(u32 *)(r1 + @count) = 1", field_load(insn::store(Width::w, Reg::r1, 0, 1), "count"),
     "a program cannot write to its event's record"},
    {"r6 = *(u32 *)(r1 + @common_pid)",
     field_load(insn::load(Width::w, Reg::r6, Reg::r1, 0), "common_pid"),
     "'common_pid' cannot be read: the kernel hides the first 8 bytes of a record from programs; "
     "the low half of get_current_pid_tgid is the same number"},
    {"r6 = @ring(r1)", macro(kLoadField, Reg::r6, Reg::r1, "ring"),
     "'ring' (__data_loc char[] ring) is no number; take its address, and read it with "
     "probe_read_kernel"},
    {"r6 = @comm(r1)", macro(kLoadField, Reg::r6, Reg::r1, "comm"),
     "'comm' (char comm[16]) is no number; take its address, and read it with probe_read_kernel"},
    {"r6 = len @name(r1)", macro(kFieldLength, Reg::r6, Reg::r1, "name"),
     "'name' (const char *name) does not tell its length; probe_read_kernel_str finds its end"},
    {"r1 = &@ring(r1)", macro(kFieldAddress, Reg::r1, Reg::r1, "ring"),
     "the address of a field cannot take the register of the record; another kernel may keep the "
     "field elsewhere, and then needs both"},
};
BOOST_AUTO_TEST_CASE(what_does_not_suit_a_field_is_refused) {
    for (const BadAccess& c : kBadAccesses) {
        Maker m;
        m.line(c.text, c.item).zero_and_exit();
        std::string message = c.message;
        const auto hint = message.find("; ");
        if (hint != message.npos) message.replace(hint, 2, "|");
        const std::string said = message.substr(0, hint);
        const std::string below =
            hint == message.npos ? "" : cat("\nhint: ", message.substr(hint + 1));
        BOOST_TEST(m.refusal() == cat("watch.bpf:1:1: error: ", said, '\n', c.text, "\n^",
                                      std::string(std::strlen(c.text) - 1, '~'), below));
    }
}

BOOST_AUTO_TEST_CASE(fields_need_a_record) {
    Maker m;
    m.line("r6 = @count(r1)", macro(kLoadField, Reg::r6, Reg::r1, "count"), "@count");
    m.zero_and_exit();
    LinkTarget raw = tracepoint();
    raw.context = LinkTarget::Context::raw_arguments;
    BOOST_TEST(m.refusal(raw) ==
               "watch.bpf:1:6: error: program 'probe' has no event record to read 'count' from\n"
               "r6 = @count(r1)\n"
               "     ^~~~~~\n"
               "hint: a raw tracepoint gives the arguments of the kernel's function; tracepoint "
               "gpu:thing has the fields");
    BOOST_TEST(m.refusal({}) ==
               "watch.bpf:1:6: error: program 'probe' has no event record to read 'count' from\n"
               "r6 = @count(r1)\n"
               "     ^~~~~~\n"
               "hint: tracepoints have fields; functions have arg0 to arg5, retval, ip, sp");
}

BOOST_AUTO_TEST_CASE(registers_of_a_function_are_fields) {
    LinkTarget probe;
    probe.context = LinkTarget::Context::registers;
    probe.event = &function_registers(ProbeTarget::Kind::uprobe);
    for (const Field& field : probe.event->fields) {
        Maker m;
        m.line("load", macro(kLoadField, Reg::r6, Reg::r1, field.name)).zero_and_exit();
        const bpf_insn load = m.link(probe).insns.front();
        BOOST_TEST(same_code(
            {load}, {insn::load(Width::dw, Reg::r6, Reg::r1, static_cast<__s16>(field.offset))}));
    }
    Maker m;
    m.line("r6 = @retval(r1)", macro(kLoadField, Reg::r6, Reg::r1, "retval"), "@retval");
    m.zero_and_exit();
    BOOST_TEST(m.refusal(probe) ==
               "watch.bpf:1:6: error: uprobe has no field 'retval'\n"
               "r6 = @retval(r1)\n"
               "     ^~~~~~~");
}

BOOST_AUTO_TEST_CASE(a_field_is_loaded_with_its_size_and_sign) {
    const auto linked = [](const char* field, bool has_v4) {
        Maker m;
        m.line("load", macro(kLoadField, Reg::r6, Reg::r1, field)).zero_and_exit();
        LinkTarget target = tracepoint();
        if (has_v4) target.features.insert("isa_v4");
        auto insns = m.link(target).insns;
        insns.resize(insns.size() - 2);
        return insns;
    };
    BOOST_TEST(same_code(linked("seqno", false), {insn::load(Width::dw, Reg::r6, Reg::r1, 8)}));
    BOOST_TEST(same_code(linked("flags", true), {insn::load(Width::b, Reg::r6, Reg::r1, 22)}));
    BOOST_TEST(
        same_code(linked("count", true), {insn::load_signed(Width::w, Reg::r6, Reg::r1, 16)}));
    BOOST_TEST(same_code(linked("count", false), {insn::load(Width::w, Reg::r6, Reg::r1, 16),
                                                  insn::alu64(AluOp::lsh, Reg::r6, 32),
                                                  insn::alu64(AluOp::arsh, Reg::r6, 32)}));
    BOOST_TEST(same_code(linked("delta", false), {insn::load(Width::h, Reg::r6, Reg::r1, 20),
                                                  insn::alu64(AluOp::lsh, Reg::r6, 48),
                                                  insn::alu64(AluOp::arsh, Reg::r6, 48)}));
}

BOOST_AUTO_TEST_CASE(the_address_of_a_field_follows_where_the_kernel_keeps_it) {
    const auto linked = [](const char* field) {
        Maker m;
        m.line("address", macro(kFieldAddress, Reg::r3, Reg::r6, field));
        m.line("length", macro(kFieldLength, Reg::r2, Reg::r6, field)).zero_and_exit();
        if (std::string_view(field) == "name") m.code->erase(m.code->begin() + 1);
        m.code->insert(m.code->begin(), item_of(insn::mov(Reg::r6, Reg::r1)));
        auto insns = m.link().insns;
        insns.erase(insns.begin());
        insns.resize(insns.size() - 2);
        return insns;
    };
    BOOST_TEST(
        same_code(linked("comm"), {insn::mov(Reg::r3, Reg::r6),
                                   insn::alu64(AluOp::add, Reg::r3, 24), insn::mov(Reg::r2, 16)}));
    BOOST_TEST(same_code(
        linked("ring"),
        {insn::load(Width::w, Reg::r3, Reg::r6, 40), insn::alu64(AluOp::and_, Reg::r3, 0xffff),
         insn::alu64(AluOp::add, Reg::r3, Reg::r6), insn::load(Width::w, Reg::r2, Reg::r6, 40),
         insn::alu64(AluOp::rsh, Reg::r2, 16)}));
    BOOST_TEST(same_code(
        linked("rel"),
        {insn::load(Width::w, Reg::r3, Reg::r6, 44), insn::alu64(AluOp::and_, Reg::r3, 0xffff),
         insn::alu64(AluOp::add, Reg::r3, Reg::r6), insn::alu64(AluOp::add, Reg::r3, 48),
         insn::load(Width::w, Reg::r2, Reg::r6, 44), insn::alu64(AluOp::rsh, Reg::r2, 16)}));
    BOOST_TEST(same_code(linked("name"), {insn::load(Width::dw, Reg::r3, Reg::r6, 48)}));
}

EventFormat captured(const std::string& kernel, const std::string& event) {
    std::string path = event;
    path[path.find(':')] = '/';
    const std::string text =
        read_file(cat("tests/data/formats/", kernel, "/events/", path, "/format"));
    return parse_event_format(event.substr(0, event.find(':')), text);
}

// virtio_gpu's `name` is a `const char *` in 6.1 and a __string() in 6.12.
BOOST_AUTO_TEST_CASE(one_program_links_to_the_formats_of_several_kernels) {
    Maker m;
    m.line("r3 = &@name(r1)", macro(kFieldAddress, Reg::r3, Reg::r1, "name"));
    m.line("r4 = @type(r1)", macro(kLoadField, Reg::r4, Reg::r1, "type")).zero_and_exit();
    LinkTarget target = tracepoint();
    const EventFormat old_event = captured("6.1", "virtio_gpu:virtio_gpu_cmd_queue");
    const EventFormat new_event = captured("6.12", "virtio_gpu:virtio_gpu_cmd_queue");
    target.event = &old_event;
    const auto old_code = m.link(target).insns;
    target.event = &new_event;
    const auto new_code = m.link(target).insns;
    BOOST_TEST(old_code.size() == 4u);
    BOOST_TEST(new_code.size() == 6u);
    BOOST_TEST(old_code[0].off == static_cast<int>(old_event.find("name")->offset));
    BOOST_TEST(old_code[1].off == static_cast<int>(old_event.find("type")->offset));
    BOOST_TEST(new_code[3].off == static_cast<int>(new_event.find("type")->offset));
    BOOST_TEST(old_code[1].off != new_code[3].off);
}

// Linux 6.18 keeps the name of a task outside of most records.
BOOST_AUTO_TEST_CASE(a_field_that_moved_is_read_where_each_kernel_keeps_it) {
    Maker m;
    m.line("r6 = *(u64 *)(r1 + @runtime)",
           field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "runtime"))
        .zero_and_exit();
    LinkTarget target = tracepoint();
    std::vector<int> offsets;
    for (const char* kernel : {"6.1", "6.12", "6.18"}) {
        const EventFormat event = captured(kernel, "sched:sched_stat_runtime");
        target.event = &event;
        offsets.push_back(m.link(target).insns[0].off);
    }
    BOOST_TEST(offsets == (std::vector{32, 32, 16}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(common_events_link_on_every_kernel) {
    struct Load {
        const char *event, *field;
    };
    constexpr Load kLoads[] = {
        {"sched:sched_switch", "prev_state"},      {"sched:sched_wakeup", "pid"},
        {"irq:irq_handler_entry", "irq"},          {"syscalls:sys_enter_openat", "dfd"},
        {"dma_fence:dma_fence_signaled", "seqno"}, {"block:block_rq_issue", "sector"}};
    for (const char* kernel : {"6.1", "6.12", "6.18"})
        for (const Load& load : kLoads) {
            const EventFormat format = captured(kernel, load.event);
            Maker m;
            m.line("load", macro(kLoadField, Reg::r6, Reg::r1, load.field)).zero_and_exit();
            LinkTarget target = tracepoint();
            target.event = &format;
            const auto insns = m.link(target).insns;
            const Field& field = *format.find(load.field);
            BOOST_TEST(insns[0].off == static_cast<int>(field.offset));
            BOOST_TEST(gpufs::bytes_of(width_of(insns[0])) == field.size);
        }
}

BOOST_AUTO_TEST_CASE(kernel_members_come_from_btf_or_a_fallback) {
    Maker m;
    CodeItem item = with(item_of(insn::load(Width::w, Reg::r2, Reg::r6, 0)), Kind::btf_offset,
                         "task_struct.pid");
    m.line("r6 = 0", item_of(insn::mov(Reg::r6, 0)));
    m.line("w2 = *(u32 *)(r6 + task_struct.pid)", item, "task_struct.pid").zero_and_exit();
    LinkTarget target = tracepoint();
    BOOST_TEST(m.refusal(target) ==
               "watch.bpf:2:20: error: this kernel does not tell where 'task_struct.pid' is\n"
               "w2 = *(u32 *)(r6 + task_struct.pid)\n"
               "                   ^~~~~~~~~~~~~~~\n"
               "hint: it needs BTF, or a fallback in the program");
    m.probe.code[1].relocation.fallback = 1200;
    BOOST_TEST(m.link(target).insns[1].off == 1200);
    target.btf_offset = [](std::string_view) { return std::int64_t{2464}; };
    BOOST_TEST(m.link(target).insns[1].off == 2464);
    target.btf_offset = [](std::string_view) { return std::int64_t{40000}; };
    BOOST_TEST(
        m.refusal(target) ==
        "watch.bpf:2:20: error: 'task_struct.pid' is at offset 40000, which is too far for a "
        "load or store\n"
        "w2 = *(u32 *)(r6 + task_struct.pid)\n"
        "                   ^~~~~~~~~~~~~~~\n"
        "hint: add the offset to the address first");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
