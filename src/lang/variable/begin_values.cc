#include "lang/variable/begin_values.h"

#include <algorithm>

#include "base/cat.h"
#include "base/hex.h"
#include "lang/ir/aggregate.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

constexpr const char* kMap = "begin_values";
constexpr const char* kUnseen = "begins_unseen";
constexpr std::size_t kEntries = 65536;
// The frame, the process and the register.
constexpr std::size_t kKeyBytes = 16, kProcessAt = 8, kRegisterAt = 12;

#if defined __x86_64__
// The call has pushed the return address.
constexpr int kPushed = 8;
#else
constexpr int kPushed = 0;
#endif

ir::Temp key_address(ir::Code& code, const ir::Operand& frame, unsigned reg) {
    const ir::Slot key = code.new_slot(kKeyBytes);
    code.store(key, frame, ir::kU64);
    const ir::Temp both = code.call(BPF_FUNC_get_current_pid_tgid, {});
    code.store({key, kProcessAt}, code.compute(ir::Op::shr, ir::kU64, both, 32), ir::kU32);
    code.store({key, kRegisterAt}, reg, ir::kU32);
    return code.address(key);
}

ir::Temp map_of_values(ir::Code& code) {
    return code.symbol(Relocation::to(Relocation::Kind::map, kMap));
}

ir::Temp load_register(ir::Code& code, ir::Temp context, std::string_view name) {
    return code.load({context, static_cast<std::int64_t>(register_offset(name).value())}, ir::kU64);
}

std::vector<CodeItem> code_at_begin(unsigned reg, const SourceRef& at) {
    ir::Code code;
    code.set_source(at);
    const ir::Temp context = code.argument(1);
    const ir::Temp frame =
        code.compute(ir::Op::add, ir::kU64, load_register(code, context, "sp"), kPushed);
    const ir::Slot value = code.new_slot(sizeof(std::uint64_t));
    code.store(value, load_register(code, context, register_of_dwarf(reg).value()), ir::kU64);
    const ir::Temp key = key_address(code, frame, reg);
    code.call(BPF_FUNC_map_update_elem, {map_of_values(code), key, code.address(value), 0});
    code.leave(0);
    return code.assemble();
}

}  // namespace

void declare_begin_values(Program& program) {
    if (program.find_map(kMap)) return;
    MapDeclaration map;
    map.name = kMap;
    // Of calls that have ended the oldest are forgotten.
    map.type = BPF_MAP_TYPE_LRU_HASH;
    map.key = Layout::of("key", raw_bytes_value(kKeyBytes));
    map.value = Layout::of("value", integer_value(sizeof(std::uint64_t)));
    map.max_entries = kEntries;
    program.maps.push_back(std::move(map));
    declare_loss(program, kUnseen, "hits in functions whose begin was not seen");
}

ir::Temp append_begin_value(ir::Code& code, const ir::Operand& frame, unsigned reg,
                            ir::Label unknown) {
    const ir::Temp key = key_address(code, frame, reg);
    const ir::Temp found = code.call(BPF_FUNC_map_lookup_elem, {map_of_values(code), key});
    code.branch(ir::Cmp::eq, ir::kU64, found, 0, unknown);
    return code.load(found, ir::kU64);
}

void append_unseen_begin(ir::Code& code) {
    append_loss(code, kUnseen);
}

std::vector<ProbeProgram> begin_programs(const VariableValue& value, const std::string& path,
                                         const SourceRef& at) {
    std::vector<ProbeProgram> made;
    for (const unsigned reg : value.begin_registers()) {
        ProbeTarget target;
        target.kind = ProbeTarget::Kind::uprobe;
        target.name = cat(path, ':', hex(value.function->offset));
        target.at = at;
        ProbeProgram program;
        program.name = cat(register_text(reg), " at the begin of ", value.function->name);
        program.targets = {{std::move(target)}};
        program.code = code_at_begin(reg, at);
        program.at = at;
        made.push_back(std::move(program));
    }
    return made;
}

void add_begin_programs(Program& program, const VariableValue& value, const std::string& path,
                        const SourceRef& at) {
    for (ProbeProgram& one : begin_programs(value, path, at)) {
        declare_begin_values(program);
        const bool is_known = std::ranges::any_of(program.programs, [&](const ProbeProgram& other) {
            return other.name == one.name &&
                   other.targets.front().front().name == one.targets.front().front().name;
        });
        if (!is_known) program.programs.push_back(std::move(one));
    }
}

}  // namespace gpufs
