#include "bt/types/type.h"

#include <algorithm>
#include <array>

#include "base/align.h"
#include "base/cat.h"

namespace gpufs::bt {

namespace {

using Kind = Type::Kind;

// What is to know of a kind whose types differ in nothing else: bytes is 0 for the others.
struct KindRow {
    Kind kind;
    const char* name;  // in messages
    std::size_t bytes = 0, alignment = 8;
};
constexpr std::array kKinds = {
    KindRow{Kind::none, "none"},
    KindRow{Kind::integer, "int"},
    KindRow{Kind::boolean, "bool", 1, 1},
    KindRow{Kind::string, "string"},
    KindRow{Kind::buffer, "buffer"},
    KindRow{Kind::pointer, "void *", 8},
    KindRow{Kind::array, "array"},
    KindRow{Kind::structure, "record"},
    KindRow{Kind::tuple, "tuple"},
    KindRow{Kind::kernel_stack, "kstack", 8},
    KindRow{Kind::user_stack, "ustack", 8},
    KindRow{Kind::kernel_symbol, "ksym_t", 8},
    KindRow{Kind::user_symbol, "usym_t", 16},
    KindRow{Kind::inet, "inet", 20},
    KindRow{Kind::mac_address, "mac_address", 6},
    KindRow{Kind::user_name, "username", 8},
    KindRow{Kind::task_name, "task_name", 8},
    KindRow{Kind::timestamp, "timestamp", 16},
    KindRow{Kind::cgroup_path, "cgroup_path_t", 8},
    KindRow{Kind::error_name, "strerror", 8},
    KindRow{Kind::syscall_name, "syscall_name", 8},
    KindRow{Kind::signal_name, "signal_name", 8},
    KindRow{Kind::probe_name, "probe", 8},
    // As Aggregation lays them out.
    KindRow{Kind::count, "count_t", 8},
    KindRow{Kind::sum, "sum_t", 8},
    KindRow{Kind::min, "min_t", 16},
    KindRow{Kind::max, "max_t", 16},
    KindRow{Kind::avg, "avg_t", 16},
    KindRow{Kind::stats, "stats_t", 32},
    KindRow{Kind::hist, "hist_t", 8},
    KindRow{Kind::lhist, "lhist_t", 8},
    KindRow{Kind::tseries, "tseries_t"},
};
constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < kKinds.size(); ++i)
        if (kKinds[i].kind != static_cast<Kind>(i)) return false;
    return true;
}
static_assert(rows_are_in_order());

const KindRow& row_of(Kind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

Type make_type(Kind kind, std::size_t bytes) {
    Type type;
    type.kind = kind;
    type.bytes = bytes;
    return type;
}

std::size_t alignment_of_fields(const std::vector<Type::Field>& fields) {
    std::size_t alignment = 1;
    for (const Type::Field& field : fields)
        alignment = std::max(alignment, alignment_of(*field.type));
    return alignment;
}

std::string tuple_name(const Type& tuple) {
    std::string out = "(";
    for (const Type::Field& field : tuple.fields) {
        if (out.size() > 1) out += ',';
        if (!field.name.empty()) out += cat(field.name, "=");
        out += name_of(*field.type);
    }
    return out + ')';
}

std::string integer_name(const Type& type) {
    if (!type.name.empty()) return cat("enum ", type.name);
    return cat(type.is_signed ? "int" : "uint", told_size(type) * 8);
}

// What the language aligns a value to: texts lie where they come.
std::size_t told_alignment(const Type& type) {
    if (type.is(Kind::string)) return 1;
    if (type.is(Kind::integer)) return told_size(type);
    if (!type.is(Kind::tuple)) return alignment_of(type);
    std::size_t alignment = 1;
    for (const Type::Field& field : type.fields)
        alignment = std::max(alignment, told_alignment(*field.type));
    return alignment;
}

using StackFormName = std::pair<Type::StackForm, std::string_view>;
constexpr StackFormName kStackForms[] = {{Type::StackForm::bpftrace, "bpftrace"},
                                         {Type::StackForm::perf, "perf"},
                                         {Type::StackForm::raw, "raw"},
                                         {Type::StackForm::build_id, "build_id"}};

}  // namespace

std::uint64_t Type::slots() const {
    if (is(Kind::lhist)) return steps() + 2;
    constexpr unsigned kTopBit = 62;  // of a positive 64-bit number
    return (std::uint64_t{kTopBit - bits + 2} << bits) + 1;
}

bool Type::is_scalar() const {
    switch (kind) {
        case Kind::integer:
        case Kind::boolean:
        case Kind::pointer:
        case Kind::kernel_stack:
        case Kind::user_stack:
        case Kind::kernel_symbol:
        case Kind::user_name:
        case Kind::task_name:
        case Kind::cgroup_path:
        case Kind::error_name:
        case Kind::syscall_name:
        case Kind::signal_name:
        case Kind::probe_name:
            return true;
        default:
            return false;
    }
}

TypePtr none_type() {
    return plain_type(Kind::none);
}

TypePtr integer_type(std::size_t bytes, bool is_signed) {
    Type type = make_type(Kind::integer, bytes);
    type.is_signed = is_signed;
    return std::make_shared<const Type>(std::move(type));
}

TypePtr boolean_type() {
    return plain_type(Kind::boolean);
}

TypePtr string_type(std::size_t bytes) {
    return std::make_shared<const Type>(make_type(Kind::string, bytes));
}

TypePtr char_array_type(std::size_t count) {
    Type made = make_type(Kind::string, count);
    made.count = count;
    return std::make_shared<const Type>(std::move(made));
}

TypePtr buffer_type(std::size_t bytes) {
    return std::make_shared<const Type>(make_type(Kind::buffer, sizeof(std::uint32_t) + bytes));
}

TypePtr pointer_type(TypePtr to, Space space) {
    Type type = make_type(Kind::pointer, row_of(Kind::pointer).bytes);
    type.element = std::move(to);
    type.space = space;
    return std::make_shared<const Type>(std::move(type));
}

TypePtr array_type(TypePtr element, std::size_t count) {
    Type type = make_type(Kind::array, element->bytes * count);
    type.element = std::move(element);
    type.count = count;
    return std::make_shared<const Type>(std::move(type));
}

TypePtr bytes_type(std::size_t bytes) {
    return bytes == 0 ? none_type() : array_type(integer_type(1, false), bytes);
}

TypePtr structure_type(std::string name) {
    Type type = make_type(Kind::structure, 0);
    type.name = std::move(name);
    return std::make_shared<const Type>(std::move(type));
}

TypePtr plain_type(Type::Kind kind) {
    return std::make_shared<const Type>(make_type(kind, row_of(kind).bytes));
}

TypePtr time_series_type(TypePtr element, std::size_t intervals, std::int64_t interval_ns) {
    Type type = make_type(Kind::tseries, sizeof(std::uint64_t) + element->bytes);
    type.is_signed = element->is_signed;
    type.has_any_sign = element->has_any_sign;
    type.element = std::move(element);
    type.count = intervals;
    type.step = interval_ns;
    return std::make_shared<const Type>(std::move(type));
}

TypePtr tuple_type(std::vector<Type::Field> fields) {
    std::size_t end = 0;
    for (Type::Field& field : fields) {
        field.offset = align_up(end, alignment_of(*field.type));
        end = field.offset + field.type->bytes;
    }
    Type type = make_type(Kind::tuple, align_up(end, alignment_of_fields(fields)));
    type.fields = std::move(fields);
    return std::make_shared<const Type>(std::move(type));
}

std::size_t alignment_of(const Type& type) {
    switch (type.kind) {
        case Kind::integer:
            return type.bytes;
        case Kind::array:
            return alignment_of(*type.element);
        case Kind::structure:
            return type.structure ? alignment_of_fields(type.structure->fields) : 8;
        case Kind::tuple:
            return alignment_of_fields(type.fields);
        default:
            return row_of(type.kind).alignment;
    }
}

std::size_t told_size(const Type& type) {
    if (!type.is(Kind::tuple)) return type.told_bytes != 0 ? type.told_bytes : type.bytes;
    std::size_t end = 0;
    for (const Type::Field& field : type.fields)
        end = align_up(end, told_alignment(*field.type)) + told_size(*field.type);
    return align_up(end, told_alignment(type));
}

TypePtr told_as(const TypePtr& type, std::size_t bytes) {
    Type made = *type;
    made.told_bytes = bytes;
    return std::make_shared<const Type>(std::move(made));
}

std::string name_of(const Type& type) {
    switch (type.kind) {
        case Kind::integer:
            return integer_name(type);
        case Kind::string:
            return cat("string[", told_size(type), ']');
        case Kind::buffer:
            return cat("buffer[", type.bytes - sizeof(std::uint32_t), ']');
        case Kind::pointer:
            if (!type.element || type.element->is(Kind::none)) return row_of(type.kind).name;
            return cat(name_of(*type.element), " *");
        case Kind::array:
            return cat(name_of(*type.element), '[', type.count, ']');
        case Kind::structure:
            return cat(type.structure && type.structure->is_union ? "union " : "struct ",
                       type.name);
        case Kind::tuple:
            return tuple_name(type);
        default:
            return row_of(type.kind).name;
    }
}

bool is_alike(const Type& a, const Type& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case Kind::pointer:
            if (!a.element || !b.element) return !a.element == !b.element;
            return is_alike(*a.element, *b.element);
        case Kind::array:
            return a.count == b.count && is_alike(*a.element, *b.element);
        case Kind::structure:
            return a.name == b.name;
        case Kind::tuple:
            return std::ranges::equal(a.fields, b.fields, [](const auto& left, const auto& right) {
                return left.name == right.name && is_alike(*left.type, *right.type);
            });
        default:
            return true;
    }
}

std::optional<Type::StackForm> stack_form(std::string_view word) {
    for (const auto& [form, name] : kStackForms)
        if (name == word) return form;
    return std::nullopt;
}

std::string_view name_of(Type::StackForm form) {
    return std::ranges::find(kStackForms, form, &StackFormName::first)->second;
}

}  // namespace gpufs::bt
