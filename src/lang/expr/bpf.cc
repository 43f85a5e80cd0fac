#include "lang/expr/bpf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "base/align.h"
#include "base/cat.h"
#include "base/kernel_abi.h"
#include "lang/expr/glob.h"

namespace gpufs {
namespace {

// Bytes of a text that a pattern is matched against, including the NUL.
constexpr std::size_t kTextBytes = 256;
// Bytes of a CPU mask that are compared: 2048 CPUs.
constexpr std::size_t kMaskBytes = 256;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

ir::Type type_of(const Field& field) {
    return {static_cast<std::uint8_t>(field.size), field.is_signed};
}

ir::Cmp to_cmp(CompareOp op) {
    switch (op) {
        case CompareOp::eq:
            return ir::Cmp::eq;
        case CompareOp::ne:
            return ir::Cmp::ne;
        case CompareOp::lt:
            return ir::Cmp::lt;
        case CompareOp::le:
            return ir::Cmp::le;
        case CompareOp::gt:
            return ir::Cmp::gt;
        case CompareOp::ge:
            return ir::Cmp::ge;
        case CompareOp::bit_and:
        case CompareOp::glob:
            break;
    }
    return ir::Cmp::any_bits;
}

// A number that is known of the task that runs. The names in capitals stand for it also where the
// event has a field of that name.
struct TaskNumber {
    enum class What { process, thread, user, cgroup };
    std::string_view name;
    What what;

    const char* type() const {
        return what == What::cgroup ? "u64" : what == What::user ? "unsigned int" : "int";
    }
};
constexpr TaskNumber kTaskNumbers[] = {
    {"common_pid", TaskNumber::What::thread}, {"pid", TaskNumber::What::process},
    {"tid", TaskNumber::What::thread},        {"uid", TaskNumber::What::user},
    {"cgroup", TaskNumber::What::cgroup},     {"PID", TaskNumber::What::process},
    {"TID", TaskNumber::What::thread},        {"UID", TaskNumber::What::user},
    {"CGROUP", TaskNumber::What::cgroup},
};
const TaskNumber* find_task_number(std::string_view name) {
    const auto* found = std::ranges::find(kTaskNumbers, name, &TaskNumber::name);
    return found == std::end(kTaskNumbers) ? nullptr : found;
}

// Adds them as fields, so that the checks know them. Their offsets are not used.
EventFormat with_task_fields(EventFormat event) {
    for (const TaskNumber& number : kTaskNumbers) {
        if (event.find(number.name)) continue;
        Field field;
        field.name = number.name;
        field.type = number.type();
        field.size = field.element_size = number.what == TaskNumber::What::cgroup ? 8 : 4;
        field.is_signed = field.type == "int";
        field.is_common = true;
        event.fields.push_back(std::move(field));
    }
    return event;
}

// A set of CPUs as the 64-bit words of a kernel cpumask.
std::vector<std::uint64_t> words_of(const std::vector<bool>& cpus) {
    std::vector<std::uint64_t> words((cpus.size() + 63) / 64);
    for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu)
        if (cpus[cpu]) words[cpu / 64] |= std::uint64_t{1} << cpu % 64;
    return words;
}

class ConditionWriter {
public:
    ConditionWriter(ir::Code& code, ir::Temp context, const Expression& expression,
                    const EventFormat& event, const ConditionCode& how)
        : code_(code),
          context_(context),
          source_(expression.source),
          own_(event),
          event_(with_task_fields(event)),
          how_(how) {
        check_expression(expression, event_);
    }

    // Emits a jump to one of the labels; the caller binds one of them right behind.
    void write(const ExprNode& node, ir::Label yes, ir::Label no) {
        switch (node.kind) {
            case ExprNode::Kind::negation:
                return write(node.terms.at(0), no, yes);
            case ExprNode::Kind::all_of:
            case ExprNode::Kind::any_of:
                break;
            case ExprNode::Kind::predicate:
                code_.set_source({how_.source, span_of(node.predicate)});
                return write(node.predicate, yes, no);
        }
        const bool is_all = node.kind == ExprNode::Kind::all_of;
        for (std::size_t i = 0; i + 1 < node.terms.size(); ++i) {
            const ir::Label next = code_.new_label();
            write(node.terms[i], is_all ? next : yes, is_all ? no : next);
            code_.bind(next);
        }
        write(node.terms.back(), yes, no);
    }

private:
    static Span span_of(const Predicate& p) {
        return {p.field_span.begin, std::max(p.field_span.end, p.value.span.end)};
    }

    void write(const Predicate& p, ir::Label yes, ir::Label no) {
        const Subject subject = find_subject(event_, p.field).value();
        if (p.suffix == "function") return write_extent(p, *subject.field, yes, no);
        switch (subject.kind) {
            case Subject::Kind::integer:
                return write_integer(p, *subject.field, yes, no);
            case Subject::Kind::cpu:
                return write_cpu(p, yes, no);
            case Subject::Kind::cpumask:
                return write_cpumask(p, *subject.field, yes, no);
            case Subject::Kind::text:
                if (subject.field->is_dynamic())
                    return write_dynamic_text(p, *subject.field, yes, no);
                return write_array(p, *subject.field, yes, no);
            case Subject::Kind::text_pointer:
                return write_pointed_text(p, *subject.field, yes, no);
            case Subject::Kind::comm:
                return write_comm(p, yes, no);
            case Subject::Kind::opaque:
                return;  // refused by check_expression
        }
    }

    void decide(ir::Cmp cmp, ir::Type type, ir::Operand a, ir::Operand b, ir::Label yes,
                ir::Label no) {
        code_.branch(cmp, type, a, b, yes);
        code_.jump(no);
    }

    // ---- numbers

    // Loads from the record; splits a load that is not aligned.
    ir::Temp load(std::size_t offset, ir::Type type) {
        if (offset % type.bytes == 0)
            return code_.load({context_, static_cast<std::int64_t>(offset)}, type);
        const ir::Type half{static_cast<std::uint8_t>(type.bytes / 2), false};
        ir::Temp low = load(offset, half), high = load(offset + half.bytes, half);
        if (std::endian::native == std::endian::big) std::swap(low, high);
        high = code_.compute(ir::Op::shl, ir::kU64, high, half.bytes * 8);
        return code_.convert(code_.compute(ir::Op::bit_or, ir::kU64, low, high), type);
    }

    ir::Temp task_number(TaskNumber::What what, ir::Type type) {
        switch (what) {
            case TaskNumber::What::user:
                return code_.convert(code_.call(BPF_FUNC_get_current_uid_gid, {}), type);
            case TaskNumber::What::cgroup:
                return code_.convert(code_.call(BPF_FUNC_get_current_cgroup_id, {}), type);
            case TaskNumber::What::process:
            case TaskNumber::What::thread:
                break;
        }
        const ir::Temp both = code_.call(BPF_FUNC_get_current_pid_tgid, {});
        if (what == TaskNumber::What::thread) return code_.convert(both, type);
        return code_.convert(code_.compute(ir::Op::shr, ir::kU64, both, 32), type);
    }

    ir::Operand number_of(const Predicate& p, const Field& field, ir::Type type) {
        const bool is_own = own_.find(field.name) != nullptr;
        if (field.name == "common_pid" || !is_own)
            return task_number(find_task_number(field.name)->what, type);
        if (field.name == "common_type") return event_.id;
        if (field.is_common && field.offset < kHiddenBytes)
            throw SourceError(source_, p.field_span,
                              cat("'", field.name,
                                  "' cannot be known in a program: the kernel hides "
                                  "the first ",
                                  kHiddenBytes, " bytes of a record from it"));
        return load(field.offset, type);
    }

    void write_integer(const Predicate& p, const Field& field, ir::Label yes, ir::Label no) {
        ir::Type type = type_of(field);
        if (p.value.kind == Literal::Kind::cpu_list) {
            type.is_signed = false;
            return write_number_in_cpus(p, number_of(p, field, type), type, yes, no);
        }
        const bool is_ordered = p.op == CompareOp::lt || p.op == CompareOp::le ||
                                p.op == CompareOp::gt || p.op == CompareOp::ge;
        // == and & do not depend on the sign, and a sign extension costs two instructions.
        if (!is_ordered) type.is_signed = false;
        decide(to_cmp(p.op), type, number_of(p, field, type), p.value.bits(), yes, no);
    }

    // Tests whether the number is a CPU of the list. A list of one is compared as a number.
    void write_number_in_cpus(const Predicate& p, ir::Operand number, ir::Type type, ir::Label yes,
                              ir::Label no) {
        const std::vector<bool> cpus = parse_kernel_cpu_list(p.value.text).value();
        if (std::ranges::count(cpus, true) > 1)
            return write_in_list(cpus, code_.convert(number, ir::kU32), yes, no);
        const auto only = std::ranges::find(cpus, true) - cpus.begin();
        const ir::Cmp cmp = p.op == CompareOp::ne ? ir::Cmp::ne : ir::Cmp::eq;
        decide(cmp, type, number, only, yes, no);
    }

    // Compares with each run of consecutive CPUs, lowest first.
    void write_in_list(const std::vector<bool>& cpus, ir::Temp cpu, ir::Label yes, ir::Label no) {
        for (std::size_t low = 0; low < cpus.size(); ++low) {
            if (!cpus[low]) continue;
            std::size_t high = low;
            while (high + 1 < cpus.size() && cpus[high + 1]) ++high;
            if (low > 0) code_.branch(ir::Cmp::lt, ir::kU32, cpu, low, no);
            code_.branch(ir::Cmp::le, ir::kU32, cpu, high, yes);
            low = high;
        }
        code_.jump(no);
    }

    void write_cpu(const Predicate& p, ir::Label yes, ir::Label no) {
        const ir::Temp cpu = code_.convert(code_.call(BPF_FUNC_get_smp_processor_id, {}), ir::kS32);
        if (p.value.kind != Literal::Kind::cpu_list)
            return decide(to_cmp(p.op), ir::kS32, cpu, p.value.bits(), yes, no);
        write_number_in_cpus(p, cpu, ir::kU32, yes, no);
    }

    void write_extent(const Predicate& p, const Field& field, ir::Label yes, ir::Label no) {
        const SymbolLookup::Extent extent = require_extent(how_.symbols, source_, p.value);
        if (p.op == CompareOp::ne) std::swap(yes, no);
        const ir::Operand address = number_of(p, field, ir::kU64);
        code_.branch(ir::Cmp::lt, ir::kU64, address, extent.begin, no);
        decide(ir::Cmp::lt, ir::kU64, address, extent.end, yes, no);
    }

    // ---- sets of CPUs

    // The data of a __data_loc or __rel_loc field.
    struct Elsewhere {
        ir::Temp address, bytes;
    };
    Elsewhere locate(const Field& field) {
        const ir::Temp word = load(field.offset, ir::kU32);
        const ir::Temp bytes = code_.compute(ir::Op::shr, ir::kU32, word, 16);
        ir::Temp offset = code_.compute(ir::Op::bit_and, ir::kU32, word, 0xffff);
        if (field.place == Field::Place::rel_loc)
            offset = code_.compute(ir::Op::add, ir::kU64, offset, field.offset + field.size);
        return {code_.compute(ir::Op::add, ir::kU64, context_, offset), bytes};
    }

    void write_cpumask(const Predicate& p, const Field& field, ir::Label yes, ir::Label no) {
        std::vector<std::uint64_t> list = words_of(parse_kernel_cpu_list(p.value.text).value());
        const bool is_shared = p.op == CompareOp::bit_and;
        if (p.op == CompareOp::ne) std::swap(yes, no);
        // == needs all words of the mask; & needs only as many as the list has.
        if (!is_shared) list.resize(kMaskBytes / kWordBytes);
        if (list.size() * kWordBytes > kMaskBytes)
            throw SourceError(source_, p.value.span,
                              cat("a program compares sets up to CPU ", kMaskBytes * 8 - 1));
        const Elsewhere mask = locate(field);
        const std::size_t bytes = list.size() * kWordBytes;
        const ir::Slot copy = code_.new_slot(bytes);
        for (std::size_t at = 0; at < bytes; at += kWordBytes)
            code_.store({copy, static_cast<std::int64_t>(at)}, 0, ir::kU64);
        const ir::Temp count = code_.new_temp(ir::kU64);
        const ir::Label fits = code_.new_label();
        code_.assign(count, mask.bytes);
        code_.branch(ir::Cmp::le, ir::kU64, count, bytes, fits);
        if (!is_shared) code_.jump(no);
        if (is_shared) code_.assign(count, bytes);
        code_.bind(fits);
        code_.call(BPF_FUNC_probe_read_kernel, {code_.address(copy), count, mask.address});
        for (std::size_t i = 0; i < list.size(); ++i) {
            const ir::Temp word =
                code_.load({copy, static_cast<std::int64_t>(i * kWordBytes)}, ir::kU64);
            if (!is_shared)
                code_.branch(ir::Cmp::ne, ir::kU64, word, list[i], no);
            else if (list[i] != 0)
                code_.branch(ir::Cmp::any_bits, ir::kU64, word, list[i], yes);
        }
        code_.jump(is_shared ? no : yes);
    }

    // ---- texts

    // Characters at a constant offset: in the record, or in a copy on the stack.
    struct Text {
        std::optional<ir::Slot> copy;
        std::size_t offset = 0;  // in the record
        std::size_t bytes = 0;
    };
    ir::Temp load(const Text& text, std::size_t at, ir::Type type) {
        if (text.copy) return code_.load({*text.copy, static_cast<std::int64_t>(at)}, type);
        return code_.load({context_, static_cast<std::int64_t>(text.offset + at)}, type);
    }

    // The right side of a text comparison: a pattern or a text.
    struct Comparison {
        std::string text;
        std::optional<GlobPattern> pattern;
        bool is_denied = false;

        // Bytes of the field to read. The one byte beyond the text tells a longer field apart.
        std::size_t bytes_needed() const {
            if (!pattern) return text.size() + 1;
            return pattern->bytes_needed() == 0 ? kTextBytes : pattern->bytes_needed();
        }
    };
    static Comparison comparison_of(const Predicate& p) {
        Comparison c;
        c.text = p.value.text;
        c.is_denied = p.op == CompareOp::ne;
        if (p.op != CompareOp::glob) return c;
        c.is_denied = c.text.starts_with('!');
        if (c.is_denied) c.text.erase(0, 1);
        if (c.text.find_first_of("*?[\\") != c.text.npos) c.pattern = parse_glob(c.text);
        return c;
    }

    void compare(const Text& text, const Comparison& c, ir::Label yes, ir::Label no) {
        if (!c.pattern) return compare_equal(text, c.text, yes, no);
        // "kworker*": compare the bytes in front of the star; they contain no NUL.
        if (const auto prefix = c.pattern->literal_prefix(); prefix && prefix->size() <= text.bytes)
            return compare_bytes(text, *prefix, yes, no);
        const auto byte_at = [&](std::size_t at) { return load(text, at, ir::kU8); };
        append_glob(code_, *c.pattern, std::min(text.bytes, kTextBytes), byte_at, yes, no);
    }

    // Compares like strncmp(): includes the NUL behind the text, if the field has room for it.
    void compare_equal(const Text& text, const std::string& other, ir::Label yes, ir::Label no) {
        std::string wanted = other;
        wanted.resize(std::min(other.size() + 1, text.bytes));
        compare_bytes(text, wanted, yes, no);
    }

    void compare_bytes(const Text& text, std::string_view wanted, ir::Label yes, ir::Label no) {
        for (std::size_t at = 0; at < wanted.size();) {
            std::size_t width = kWordBytes;
            while (width > wanted.size() - at || (text.offset + at) % width != 0) width /= 2;
            std::uint64_t value = 0;
            for (std::size_t i = 0; i < width; ++i) {
                const bool is_little = std::endian::native == std::endian::little;
                const std::size_t place = is_little ? i : width - 1 - i;
                value |= std::uint64_t{static_cast<unsigned char>(wanted[at + i])} << place * 8;
            }
            const ir::Type type{static_cast<std::uint8_t>(width), false};
            code_.branch(ir::Cmp::ne, type, load(text, at, type), value, no);
            at += width;
        }
        code_.jump(yes);
    }

    void write_array(const Predicate& p, const Field& field, ir::Label yes, ir::Label no) {
        if (field.size == 0)
            throw SourceError(source_, p.field_span,
                              cat("'", p.field,
                                  "' reaches to the end of the record, which a program "
                                  "does not know"));
        const Comparison c = comparison_of(p);
        if (c.is_denied) std::swap(yes, no);
        compare({std::nullopt, field.offset, field.size}, c, yes, no);
    }

    // Copies a text to the stack. `status` is the helper's result, negative when the text cannot be
    // read.
    struct Copied {
        Text text;
        ir::Temp status;
    };
    Copied copy_text(int helper, ir::Temp address, std::size_t bytes) {
        // One byte more than needed: the helper ends a truncated text with a NUL.
        const std::size_t room = align_up(bytes + 1, kWordBytes);
        const ir::Slot copy = code_.new_slot(room);
        const ir::Temp status = code_.call(helper, {code_.address(copy), bytes + 1, address});
        return {{copy, 0, bytes}, status};
    }

    void write_dynamic_text(const Predicate& p, const Field& field, ir::Label yes, ir::Label no) {
        const Comparison c = comparison_of(p);
        if (c.is_denied) std::swap(yes, no);
        const Elsewhere place = locate(field);
        const Text text =
            copy_text(BPF_FUNC_probe_read_kernel_str, place.address, c.bytes_needed()).text;
        const ir::Label is_whole = code_.new_label();
        if (c.pattern) {
            // The field's bytes end here, with or without a NUL.
            code_.branch(ir::Cmp::ge, ir::kU64, place.bytes, text.bytes, is_whole);
            const ir::Temp end =
                code_.compute(ir::Op::add, ir::kU64, code_.address(*text.copy), place.bytes);
            code_.store(end, 0, ir::kU8);
        } else {
            code_.branch(ir::Cmp::gt, ir::kU64, place.bytes, c.text.size(), is_whole);
            compare_short(text, c.text, place.bytes, yes, no);
        }
        code_.bind(is_whole);
        compare(text, c, yes, no);
    }

    // Compares like strncmp() over at most `bytes` bytes.
    void compare_short(const Text& text, const std::string& other, ir::Temp bytes, ir::Label yes,
                       ir::Label no) {
        if (!other.empty()) code_.branch(ir::Cmp::eq, ir::kU64, bytes, 0, no);
        for (std::size_t i = 0; i < other.size(); ++i) {
            if (i > 0) code_.branch(ir::Cmp::eq, ir::kU64, bytes, i, yes);
            const unsigned wanted = static_cast<unsigned char>(other[i]);
            code_.branch(ir::Cmp::ne, ir::kU8, load(text, i, ir::kU8), wanted, no);
        }
        code_.jump(yes);
    }

    void write_pointed_text(const Predicate& p, const Field& field, ir::Label yes, ir::Label no) {
        const Comparison c = comparison_of(p);
        const int helper =
            p.suffix == "ustring" ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str;
        const auto [text, status] =
            copy_text(helper, load(field.offset, ir::kU64), c.bytes_needed());
        code_.branch(ir::Cmp::lt, ir::kS64, status, 0, no);
        if (c.is_denied) std::swap(yes, no);
        compare(text, c, yes, no);
    }

    void write_comm(const Predicate& p, ir::Label yes, ir::Label no) {
        const Comparison c = comparison_of(p);
        if (c.is_denied) std::swap(yes, no);
        const ir::Slot copy = code_.new_slot(kCommBytes);
        code_.call(BPF_FUNC_get_current_comm, {code_.address(copy), kCommBytes});
        compare({copy, 0, kCommBytes}, c, yes, no);
    }

    ir::Code& code_;
    ir::Temp context_;
    const SourceText& source_;
    const EventFormat& own_;
    const EventFormat event_;
    const ConditionCode& how_;
};

}  // namespace

bool is_task_field(std::string_view name) {
    return find_task_number(name) != nullptr;
}

void append_condition(ir::Code& code, ir::Temp context, ir::Label otherwise,
                      const Expression& expression, const EventFormat& event,
                      const ConditionCode& how) {
    const ir::Label yes = code.new_label();
    ConditionWriter(code, context, expression, event, how).write(expression.root, yes, otherwise);
    code.bind(yes);
}

std::vector<CodeItem> compile_condition(const Expression& expression, const EventFormat& event,
                                        const ConditionCode& how) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Label no = code.new_label(), yes = code.new_label();
    append_condition(code, context, no, expression, event, how);
    code.jump(yes);
    code.bind(no);
    code.leave(0);
    code.bind(yes);
    code.fall_through(context);
    return code.assemble(".if");
}

}  // namespace gpufs
