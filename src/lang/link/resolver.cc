#include <algorithm>
#include <bit>
#include <limits>

#include "base/suggest.h"
#include "base/text.h"
#include "lang/event/event_format.h"
#include "lang/insn/insn.h"
#include "lang/ir/ops.h"
#include "lang/link/unit.h"

// One code item at a time: guards, fields, maps, parameters, and what older kernels lack.
namespace gpufs::linking {
namespace {

constexpr __s16 kWordBytes = 8;
constexpr std::string_view kNeedsV4 = "this instruction needs Linux 6.6";

bool is_memory_access(const bpf_insn& op) {
    const int kind = BPF_CLASS(op.code);
    return kind == BPF_LDX || kind == BPF_ST || kind == BPF_STX;
}

bool is_load(const bpf_insn& op) {
    return BPF_CLASS(op.code) == BPF_LDX;
}

std::string_view unsigned_type(std::size_t bytes) {
    return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
}

bool is_integer_size(std::size_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

std::vector<std::string> names_of(const auto& items) {
    std::vector<std::string> names;
    names.reserve(items.size());
    for (const auto& item : items) names.push_back(item.name);
    return names;
}

// The lowest and the highest number that an instruction's immediate can stand for.
struct Range {
    std::int64_t low, high;
};
Range immediate_range(const bpf_insn& op) {
    const auto of_bits = [](int bits) {
        return Range{-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << bits) - 1};
    };
    constexpr Range kSigned32{std::numeric_limits<std::int32_t>::min(),
                              std::numeric_limits<std::int32_t>::max()};
    switch (BPF_CLASS(op.code)) {
        case BPF_ALU:
        case BPF_JMP32:
            return of_bits(32);
        case BPF_ST:
            return width_of(op) == Width::dw
                       ? kSigned32
                       : of_bits(static_cast<int>(bytes_of(width_of(op))) * 8);
        default:
            return kSigned32;  // extended to 64 bits by its sign
    }
}

bool has_immediate(const bpf_insn& op) {
    const int kind = BPF_CLASS(op.code);
    if (kind == BPF_ST) return true;
    if (kind != BPF_ALU && kind != BPF_ALU64 && kind != BPF_JMP && kind != BPF_JMP32) return false;
    const int code = BPF_OP(op.code);
    const bool is_alu = kind == BPF_ALU || kind == BPF_ALU64;
    const bool is_flow = !is_alu && (code == BPF_JA || code == BPF_CALL || code == BPF_EXIT);
    const bool is_unary = is_alu && (code == BPF_NEG || code == BPF_END);
    return BPF_SRC(op.code) == BPF_K && !is_flow && !is_unary;
}

Insn at_place(const bpf_insn& op, const SourceRef& at) {
    Insn insn;
    insn.op = op;
    insn.at = at;
    return insn;
}

}  // namespace

void LinkContext::error(const SourceRef& at, std::string_view message, std::string_view hint) {
    if (mistakes.is_full()) return;
    // Code that was generated has no text.
    const SourceText none{program.name.empty() ? probe.name : program.name, {}};
    const bool is_known = at.source < program.sources.size();
    mistakes.error(is_known ? program.sources[at.source] : none, is_known ? at.span : Span{},
                   message, hint);
}

void LinkContext::fail(const SourceRef& at, std::string_view message, std::string_view hint) {
    error(at, message, hint);
    throw Unresolved();
}

bool ItemResolver::holds(std::size_t guard) {
    for (; guard != 0; guard = job_.program.guards.at(guard - 1).outer) {
        const Guard& g = job_.program.guards.at(guard - 1);
        bool holds = false;
        switch (g.kind) {
            case Guard::Kind::has_field:
                holds = has_field(g.name);
                break;
            case Guard::Kind::has_event:
                holds = job_.target.has_event && job_.target.has_event(g.name);
                break;
            case Guard::Kind::is_event:
                holds = job_.target.attached_to == g.name;
                break;
            case Guard::Kind::has_feature:
                holds = job_.target.features.contains(g.name);
                break;
            case Guard::Kind::has_module: {
                const auto blank = g.name.find(' ');
                const std::string_view all = g.name;
                holds = job_.target.has_module &&
                        job_.target.has_module(all.substr(0, blank), blank == all.npos
                                                                         ? std::string_view()
                                                                         : all.substr(blank + 1));
                break;
            }
            case Guard::Kind::is_recorded:
                holds = job_.target.is_recorded;
                break;
            case Guard::Kind::is_raw:
                holds = job_.target.context == LinkTarget::Context::raw_arguments;
                break;
        }
        if (holds == g.negated) return false;
    }
    return true;
}

void ItemResolver::resolve(const CodeItem& item, std::vector<Insn>& into) {
    switch (item.kind) {
        case CodeItem::Kind::insn:
            return resolve_insn(item, into);
        case CodeItem::Kind::load_field:
            return load_field(item, into);
        case CodeItem::Kind::field_address:
            return field_address(item, into);
        case CodeItem::Kind::field_length:
            return field_length(item, into);
        case CodeItem::Kind::label:
            return;
    }
}

void ItemResolver::resolve_insn(const CodeItem& item, std::vector<Insn>& into) {
    Insn insn = at_place(item.insn, item.at);
    insn.wide = static_cast<std::uint64_t>(item.imm64);
    fill(item.relocation, insn);
    append(insn, into);
}

void ItemResolver::fill(const Relocation& relocation, Insn& insn) {
    using Kind = Relocation::Kind;
    const std::string& name = relocation.name;
    switch (relocation.kind) {
        case Kind::none:
        case Kind::label:
        case Kind::subprogram:
            return;
        case Kind::callback:
            return require_wide(relocation, insn, "the address of a function");
        case Kind::map:
        case Kind::map_value:
            return fill_map(relocation, insn);
        case Kind::field_offset:
            return fill_field(relocation, insn);
        case Kind::field_size:
            return set_immediate(
                relocation, cat("the size of '", name, '\''),
                static_cast<std::int64_t>(require_field(relocation).size) + relocation.addend,
                insn);
        case Kind::parameter:
            return fill_parameter(relocation, insn);
        case Kind::record_id: {
            const auto id = job_.target.record_ids.find(name);
            if (id == job_.target.record_ids.end())
                job_.fail(relocation.at, cat("no record is named '", name, "'"),
                          did_you_mean(name, names_of(job_.program.records)));
            return set_immediate(relocation, cat("the number of record '", name, '\''), id->second,
                                 insn);
        }
        case Kind::btf_offset:
            return fill_btf(relocation, insn);
        case Kind::constant:
            return fill_text(relocation, name, insn);
    }
}

bool ItemResolver::has_field(std::string_view name) const {
    const auto number = static_argument_number(name);
    if (number && job_.target.static_arguments)
        return *number < job_.target.static_arguments->size();
    if (job_.target.event && job_.target.event->find(name)) return true;
    const std::vector<NamedVariable>* all = job_.target.variables;
    if (!all) return false;
    const auto is_it = [&](const NamedVariable& one) { return one.name == name; };
    return std::ranges::any_of(*all, is_it) &&
           std::ranges::all_of(*all, [&](const NamedVariable& one) {
               return !is_it(one) || one.value.has_value();
           });
}

// Which variable of the place that is; absent for other fields.
std::optional<std::size_t> ItemResolver::variable(const Relocation& relocation,
                                                  VariableUse use) const {
    const std::vector<NamedVariable>* all = job_.target.variables;
    if (!all) return std::nullopt;
    const auto known = std::ranges::find_if(*all, [&](const NamedVariable& one) {
        return one.name == relocation.name && one.use == use;
    });
    if (known == all->end()) return std::nullopt;
    if (!known->value) job_.fail(relocation.at, known->trouble, known->hint);
    return static_cast<std::size_t>(known - all->begin());
}

std::optional<std::size_t> ItemResolver::taken_field(const Relocation& relocation) const {
    const auto number = static_argument(relocation);
    return number ? number : variable(relocation, VariableUse::number);
}

// Loads what is asked for of a variable; false for other fields.
bool ItemResolver::load_taken(const CodeItem& item, std::optional<std::size_t> taken,
                              std::vector<Insn>& into) {
    if (!taken) return false;
    const Reg to = static_cast<Reg>(item.insn.dst_reg);
    Insn insn = at_place(insn::load(Width::dw, to, Reg::fp, -kWordBytes), item.at);
    insn.taken = *taken;
    into.push_back(insn);
    return true;
}

// Which argument of a static probe that is; absent for other fields.
std::optional<std::size_t> ItemResolver::static_argument(const Relocation& relocation) const {
    const auto number = static_argument_number(relocation.name);
    const std::vector<StaticArgument>* all = job_.target.static_arguments;
    if (!number || !all) return std::nullopt;
    if (*number >= all->size())
        job_.fail(relocation.at,
                  cat("'", job_.target.attached_to, "' has ", counted(all->size(), "argument"),
                      ": there is no ", relocation.name));
    const StaticArgument& argument = (*all)[*number];
    if (argument.kind == StaticArgument::Kind::unknown)
        job_.fail(relocation.at, cat(relocation.name, " is at '", argument.text,
                                     "' in the program, where it cannot be read"));
    return number;
}

const Field& ItemResolver::require_field(const Relocation& relocation) const {
    const EventFormat* event = job_.target.event;
    const std::string& name = relocation.name;
    if (job_.target.variables &&
        std::ranges::count(*job_.target.variables, name, &NamedVariable::name) > 0)
        job_.fail(relocation.at, cat("'", name, "' is a variable, which is in no record"),
                  cat("r1 = @", name, "(r6) is what it is, r2 = &@", name,
                      "(r6) where, and r3 = "
                      "sizeof @",
                      name, "(r6) how large"));
    if (static_argument(relocation))
        job_.fail(relocation.at, cat("'", name, "' is a number, which has no fixed place"),
                  cat("read it as in r1 = @", name, "(r6)"));
    const bool is_record = job_.target.context == LinkTarget::Context::record;
    if ((!is_record && job_.target.context != LinkTarget::Context::registers) || !event) {
        const bool is_raw = event && job_.target.context == LinkTarget::Context::raw_arguments;
        job_.fail(
            relocation.at,
            cat("program '", job_.probe.name, "' has no event record to read '", name, "' from"),
            is_raw ? cat("a raw tracepoint gives the arguments of the kernel's function; "
                         "tracepoint ",
                         event->full_name(), " has the fields")
                   : "tracepoints have fields; functions have arg0 to arg5, retval, ip, sp");
    }
    const Field* field = event->find(name);
    if (!field) {
        const auto names = event->field_names();
        job_.fail(relocation.at,
                  cat(is_record ? event->full_name() : event->name, " has no field '", name, "'"),
                  did_you_mean(name, names));
    }
    if (is_record && field->offset < kHiddenBytes)
        job_.fail(
            relocation.at,
            cat("'", name, "' cannot be read: the kernel hides the first ", kHiddenBytes,
                " bytes of a record from programs"),
            name == "common_pid" ? "the low half of get_current_pid_tgid is the same number" : "");
    return *field;
}

void ItemResolver::fill_field(const Relocation& relocation, Insn& insn) {
    const Field& field = require_field(relocation);
    const std::int64_t offset = static_cast<std::int64_t>(field.offset) + relocation.addend;
    if (!is_memory_access(insn.op))
        return set_immediate(relocation, cat("the offset of '", field.name, '\''), offset, insn);
    check_access(relocation, field, insn);
    set_offset(relocation, offset, insn);
}

// Does the instruction read what the format says is there?
void ItemResolver::check_access(const Relocation& relocation, const Field& field,
                                const Insn& insn) {
    const auto fail = [&](std::string_view message, std::string_view hint = {}) {
        job_.fail(relocation.at, message, hint);
    };
    const std::string named = cat("field '", field.name, '\'');
    if (!is_load(insn.op)) fail("a program cannot write to its event's record");

    const std::size_t bytes = bytes_of(width_of(insn.op));
    const bool is_whole = relocation.addend == 0;
    const bool is_text = field.is_array && !field.is_dynamic() && field.element_size == 1;
    const std::size_t unit =
        field.is_array && !field.is_dynamic() ? field.element_size : field.size;
    if (!is_text && bytes != unit && (is_whole || field.is_array)) {
        if (field.is_dynamic())
            fail(cat(named, " is dynamic: its offset and length are a u32, this load reads ", bytes,
                     bytes == 1 ? " byte" : " bytes"),
                 cat("read it as u32, or let the linker find the address of '", field.name, '\''));
        fail(cat(named, field.is_array ? " has elements of " : " is ", unit,
                 unit == 1 ? " byte" : " bytes", ", this load reads ", bytes),
             is_integer_size(unit) ? cat("read it as ", unsigned_type(unit)) : "");
    }
    const auto end = static_cast<std::uint64_t>(relocation.addend) + bytes;
    if (relocation.addend < 0 || end > field.size)
        fail(cat(named, " has ", field.size, field.size == 1 ? " byte" : " bytes",
                 ", this load reads ", bytes, " at offset ", relocation.addend));
    if ((field.offset + static_cast<std::uint64_t>(relocation.addend)) % bytes != 0)
        fail(cat(named, " begins at offset ", field.offset, " of the record, where ", bytes,
                 " bytes cannot be read at once"),
             "read it in smaller pieces");
    const bool is_signed_load = BPF_MODE(insn.op.code) == kBpfMemsx;
    if (is_signed_load && !field.is_signed && is_whole && bytes == field.size)
        fail(cat(named, " (", field.declaration(), ") is unsigned, this load extends a sign"),
             cat("read it as ", unsigned_type(bytes)));
}

void ItemResolver::fill_map(const Relocation& relocation, Insn& insn) {
    const std::string& name = relocation.name;
    require_wide(relocation, insn, "a map");
    const MapDeclaration* map = job_.program.find_map(name);
    const auto fd = job_.target.map_fds.find(name);
    const bool is_others =
        relocation.kind == Relocation::Kind::map && fd != job_.target.map_fds.end();
    if (!map && !is_others)
        job_.fail(relocation.at, cat("no map is named '", name, "'"),
                  did_you_mean(name, names_of(job_.program.maps)));
    if (fd == job_.target.map_fds.end())
        throw Error(cat("map '", name, "' was not created before its program was linked"));

    std::int64_t offset = 0;
    insn.op.src_reg = BPF_PSEUDO_MAP_FD;
    if (relocation.kind == Relocation::Kind::map_value) {
        insn.op.src_reg = BPF_PSEUDO_MAP_VALUE;
        offset = relocation.addend;
        if (map->type != BPF_MAP_TYPE_ARRAY)
            job_.fail(relocation.at, cat("map '", name, "' has no value at a fixed address"),
                      "only arrays and .global have; look the value up with map_lookup_elem");
        if (offset < 0 || static_cast<std::uint64_t>(offset) >= map->value_bytes())
            job_.fail(relocation.at, cat("offset ", offset, " is outside the value of map '", name,
                                         "', which has ", map->value_bytes(), " bytes"));
    }
    insn.wide = static_cast<std::uint32_t>(fd->second) | static_cast<std::uint64_t>(offset) << 32;
}

void ItemResolver::fill_parameter(const Relocation& relocation, Insn& insn) {
    const std::string& name = relocation.name;
    const Parameter* parameter = job_.program.find_parameter(name);
    if (!parameter)
        job_.fail(relocation.at, cat("no parameter is named '", name, "'"),
                  did_you_mean(name, names_of(job_.program.parameters)));
    const ParameterValues& given = job_.target.parameters;
    if (parameter->type == Parameter::Type::text)
        return fill_text(relocation, given.text_of(*parameter), insn);
    set_immediate(relocation, cat("parameter '", name, '\''),
                  given.number_of(*parameter) + relocation.addend, insn);
}

void ItemResolver::fill_text(const Relocation& relocation, std::string_view text, Insn& insn) {
    require_wide(relocation, insn, "a text");
    const StringPool* pool = job_.target.string_pool;
    const auto offset = pool ? pool->offsets.find(text) : decltype(pool->offsets.end()){};
    if (!pool || offset == pool->offsets.end())
        throw Error(cat("text \"", text, "\" was not put into the string pool"));
    insn.op.src_reg = BPF_PSEUDO_MAP_VALUE;
    insn.wide = static_cast<std::uint32_t>(job_.target.string_pool_fd) |
                static_cast<std::uint64_t>(offset->second) << 32;
}

void ItemResolver::fill_btf(const Relocation& relocation, Insn& insn) {
    std::optional<std::int64_t> offset;
    if (job_.target.btf_offset) offset = job_.target.btf_offset(relocation.name);
    if (!offset) offset = relocation.fallback;
    if (!offset)
        job_.fail(relocation.at, cat("this kernel does not tell where '", relocation.name, "' is"),
                  "it needs BTF, or a fallback in the program");
    *offset += relocation.addend;
    if (is_memory_access(insn.op)) return set_offset(relocation, *offset, insn);
    set_immediate(relocation, cat("the offset of '", relocation.name, '\''), *offset, insn);
}

void ItemResolver::set_offset(const Relocation& relocation, std::int64_t value, Insn& insn) {
    if (value < std::numeric_limits<std::int16_t>::min() ||
        value > std::numeric_limits<std::int16_t>::max())
        job_.fail(relocation.at,
                  cat("'", relocation.name, "' is at offset ", value,
                      ", which is too far for a load or store"),
                  "add the offset to the address first");
    insn.op.off = static_cast<__s16>(value);
}

void ItemResolver::set_immediate(const Relocation& relocation, const std::string& what,
                                 std::int64_t value, Insn& insn) {
    if (is_wide(insn.op)) {
        insn.wide = static_cast<std::uint64_t>(value);
        return;
    }
    if (!has_immediate(insn.op))
        job_.fail(relocation.at, cat(what, " is a number, and this instruction takes none"));
    const Range range = immediate_range(insn.op);
    if (value < range.low || value > range.high)
        job_.fail(relocation.at,
                  cat(what, " is ", value, ", which does not fit: this instruction takes ",
                      range.low, " to ", range.high),
                  "load it with a 64-bit immediate ('r1 = VALUE ll') and use the register");
    if (const std::string why = refused_operand(insn.op, value); !why.empty())
        job_.fail(relocation.at, cat(what, " is ", value, ": ", why));
    insn.op.imm = static_cast<__s32>(value);
}

void ItemResolver::require_wide(const Relocation& relocation, const Insn& insn,
                                std::string_view what) {
    if (!is_wide(insn.op))
        job_.fail(relocation.at, cat(what, " can only be loaded with a 64-bit immediate"),
                  "as in 'r1 = NAME ll'");
}

void ItemResolver::load_field(const CodeItem& item, std::vector<Insn>& into) {
    const Relocation& relocation = item.relocation;
    if (load_taken(item, taken_field(relocation), into)) return;
    const Field& field = require_field(relocation);
    const bool is_text = field.is_array && field.element_size == 1;
    if (field.is_dynamic() || is_text || !is_integer_size(field.size))
        job_.fail(relocation.at, cat("'", field.name, "' (", field.declaration(), ") is no number"),
                  "take its address, and read it with probe_read_kernel");
    const Reg dst = static_cast<Reg>(item.insn.dst_reg), src = static_cast<Reg>(item.insn.src_reg);
    const Width width = ir::width_of({static_cast<std::uint8_t>(field.size), false});
    const auto offset = static_cast<__s16>(field.offset);
    const bool is_extended = field.is_signed && field.size < 8;
    Insn insn = at_place(is_extended ? insn::load_signed(width, dst, src, offset)
                                     : insn::load(width, dst, src, offset),
                         item.at);
    check_access(relocation, field, insn);
    append(insn, into);
}

void ItemResolver::field_address(const CodeItem& item, std::vector<Insn>& into) {
    const Relocation& relocation = item.relocation;
    if (load_taken(item, variable(relocation, VariableUse::address), into)) return;
    const Field& field = require_field(relocation);
    const Reg dst = static_cast<Reg>(item.insn.dst_reg), src = static_cast<Reg>(item.insn.src_reg);
    if (dst == src)
        job_.fail(item.at, "the address of a field cannot take the register of the record",
                  "another kernel may keep the field elsewhere, and then needs both");
    const auto add = [&](const bpf_insn& op) { into.push_back(at_place(op, item.at)); };
    const auto offset = static_cast<__s16>(field.offset);
    if (field.is_pointer && field.is_string) return add(insn::load(Width::dw, dst, src, offset));
    if (!field.is_dynamic()) {
        add(insn::mov(dst, src));
        add(insn::alu64(AluOp::add, dst, offset));
        return;
    }
    add(insn::load(Width::w, dst, src, offset));
    add(insn::alu64(AluOp::and_, dst, 0xffff));
    add(insn::alu64(AluOp::add, dst, src));
    if (field.place == Field::Place::rel_loc)
        add(insn::alu64(AluOp::add, dst, static_cast<__s32>(field.offset + field.size)));
}

void ItemResolver::field_length(const CodeItem& item, std::vector<Insn>& into) {
    const Relocation& relocation = item.relocation;
    if (load_taken(item, variable(relocation, VariableUse::size), into)) return;
    const Field& field = require_field(relocation);
    const Reg dst = static_cast<Reg>(item.insn.dst_reg), src = static_cast<Reg>(item.insn.src_reg);
    if (field.is_pointer && field.is_string)
        job_.fail(relocation.at,
                  cat("'", field.name, "' (", field.declaration(), ") does not tell its length"),
                  "probe_read_kernel_str finds its end");
    if (!field.is_dynamic()) {
        into.push_back(at_place(insn::mov(dst, static_cast<__s32>(field.size)), item.at));
        return;
    }
    into.push_back(
        at_place(insn::load(Width::w, dst, src, static_cast<__s16>(field.offset)), item.at));
    into.push_back(at_place(insn::alu64(AluOp::rsh, dst, 16), item.at));
}

void ItemResolver::append(Insn insn, std::vector<Insn>& into) {
    const bpf_insn op = insn.op;
    const SourceRef at = insn.at;
    const Reg dst = static_cast<Reg>(op.dst_reg);
    const int kind = BPF_CLASS(op.code), code = BPF_OP(op.code);
    const bool is_alu = kind == BPF_ALU || kind == BPF_ALU64;
    into.push_back(insn);
    if (job_.has_v4()) return;

    const auto extend = [&](int alu_class, int bits) {
        const int spare = (alu_class == BPF_ALU64 ? 64 : 32) - bits;
        into.push_back(at_place(insn::alu(alu_class, AluOp::lsh, dst, spare), at));
        into.push_back(at_place(insn::alu(alu_class, AluOp::arsh, dst, spare), at));
    };
    bpf_insn& last = into.back().op;
    if (kind == BPF_LDX && BPF_MODE(op.code) == kBpfMemsx) {
        last.code = static_cast<__u8>(BPF_LDX | BPF_MEM | BPF_SIZE(op.code));
        extend(BPF_ALU64, static_cast<int>(bytes_of(width_of(op))) * 8);
    } else if (is_alu && code == BPF_MOV && BPF_SRC(op.code) == BPF_X && op.off > 1) {
        last.off = 0;
        extend(kind, op.off);
    } else if (kind == BPF_ALU64 && code == BPF_END) {
        const bool is_little = std::endian::native == std::endian::little;
        last = is_little ? insn::to_be(dst, op.imm) : insn::to_le(dst, op.imm);
    } else if (is_alu && (code == BPF_DIV || code == BPF_MOD) && op.off == 1) {
        job_.fail(at, kNeedsV4, "without it, divide the magnitudes and set the sign after that");
    }
}

}  // namespace gpufs::linking
