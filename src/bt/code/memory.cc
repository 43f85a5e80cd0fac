#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/bytes.h"
#include "base/scoped_value.h"
#include "bt/code/probe_code.h"
#include "bt/types/common_type.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/read_memory.h"

// Bytes: where values lie, and how they get from one place to another.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// What is kept of a stack of 512 bytes, where registers and the functions that are called take
// some.
constexpr std::size_t kStackBytes = 256, kLargestOnStack = 128;
// From so many bytes on, one call of the kernel is shorter than stores.
constexpr std::size_t kManyBytes = 128;

ir::Type piece_type(std::size_t bytes) {
    return {static_cast<std::uint8_t>(bytes), false};
}

}  // namespace

std::size_t widest_access(std::size_t left, std::int64_t at, std::int64_t other) {
    std::size_t width = kWord;
    while (width > left || at % static_cast<std::int64_t>(width) != 0 ||
           other % static_cast<std::int64_t>(width) != 0)
        width /= 2;
    return width;
}

// What TextEnd::roomy and ::sent want.
std::size_t room_behind(const Type& type) {
    if (type.is(Kind::tuple) && !type.fields.empty()) return room_behind(*type.fields.back().type);
    return type.is(Kind::string) ? kWord : 0;
}

Local ProbeCode::allocate(std::size_t bytes) {
    bytes = align_up(std::max<std::size_t>(bytes, 1), kWord);
    // Where all that there is may be used, slots that are in use at different times share bytes:
    // compile_once() sees whether it suffices.
    const bool fits = bytes <= kLargestOnStack && stack_bytes_ + bytes <= kStackBytes;
    if (fits || (has_whole_stack_ && bytes <= kWholeStackBytes)) {
        stack_bytes_ += bytes;
        return {code_.new_slot(bytes), 0};
    }
    return allocate_in_frame(bytes);
}

Local ProbeCode::allocate_in_frame(std::size_t bytes) {
    bytes = align_up(bytes, kWord);
    if (!has_frame_) {
        // The code is made again, with a frame; of this one only the mistakes count.
        wants_frame_ = true;
        return {*context_, 0};
    }
    const std::size_t at = frame_bytes_;
    frame_bytes_ += bytes;
    shared_.need_frame(frame_bytes_);
    return {*frame_, static_cast<std::int64_t>(at)};
}

ir::Temp ProbeCode::address_of(const Local& local) {
    if (const auto* slot = std::get_if<ir::Slot>(&local.base))
        return code_.address(*slot, local.offset);
    const ir::Temp base = std::get<ir::Temp>(local.base);
    return local.offset == 0 ? base : code_.compute(ir::Op::add, ir::kU64, base, local.offset);
}

ir::Temp ProbeCode::address_of(const Value& value) {
    if (value.number) return code_.convert(*value.number, ir::kU64);
    if (value.remote) return *value.remote;
    if (!value.field) return address_of(in_memory(value, value.type));
    return code_.field_address(*context_,
                               Relocation::to(Relocation::Kind::field_offset, value.field->name));
}

Space ProbeCode::space_of(const Value& value) const {
    if (value.type->is(Kind::pointer)) return value.type->space;
    return value.number ? Space::none : value.space;
}

void ProbeCode::zero(const Local& at, std::size_t bytes) {
    if (bytes >= kManyBytes) {
        append_read(
            code_, Space::kernel, address_of(at), bytes,
            code_.symbol(Relocation::to(Relocation::Kind::map_value, shared_.zeros(bytes))));
        return;
    }
    for (std::size_t i = 0; i < bytes;) {
        const auto offset = static_cast<std::int64_t>(i);
        const std::size_t width = widest_access(bytes - i, at.offset + offset);
        code_.store(at.place(offset), 0, piece_type(width));
        i += width;
    }
}

void ProbeCode::copy(const Local& from, const Local& to, std::size_t bytes) {
    if (bytes >= kManyBytes) {
        append_read(code_, Space::kernel, address_of(to), bytes, address_of(from));
        return;
    }
    for (std::size_t i = 0; i < bytes;) {
        const auto at = static_cast<std::int64_t>(i);
        const std::size_t width = widest_access(bytes - i, from.offset + at, to.offset + at);
        code_.store(to.place(at), code_.load(from.place(at), piece_type(width)), piece_type(width));
        i += width;
    }
}

ir::Temp ProbeCode::read(const Local& to, ir::Operand bytes, ir::Temp from, Space space) {
    return told_read(space, false, append_read(code_, space, address_of(to), bytes, from));
}

// A text without a NUL in its bytes is cut.
void ProbeCode::read_text(const Local& to, std::size_t bytes, const Value& text, TextEnd end) {
    const ir::Temp from = address_of(text);
    const Space space = space_of(text);
    if (const std::size_t most = text.most_bytes; most != 0 && most < bytes) {
        zero(end == TextEnd::sent ? to.at(most) : to, end == TextEnd::sent ? bytes - most : bytes);
        told_read(space, true, append_read_text(code_, space, address_of(to), most + 1, from));
        return;
    }
    if (end != TextEnd::sent) zero(to, bytes);
    if (end != TextEnd::exact) {
        told_read(space, true, append_read_text(code_, space, address_of(to), bytes + 1, from));
        return;
    }
    const ir::Label done = code_.new_label();
    const ir::Temp length =
        told_read(space, true, append_read_text(code_, space, address_of(to), bytes, from));
    // Where the text goes on, its next byte replaces the NUL.
    code_.branch(ir::Cmp::lt, ir::kS32, length, bytes, done);
    read(to.at(bytes - 1), 1, code_.compute(ir::Op::add, ir::kU64, from, bytes - 1), space);
    code_.bind(done);
}

void ProbeCode::put_literal(std::string_view text, std::size_t bytes, const Local& to) {
    for (std::size_t i = 0; i < bytes;) {
        const std::size_t width =
            widest_access(bytes - i, to.offset + static_cast<std::int64_t>(i));
        std::uint64_t word = 0;
        if (i < text.size()) std::memcpy(&word, text.data() + i, std::min(width, text.size() - i));
        code_.store(to.place(static_cast<std::int64_t>(i)), word, piece_type(width));
        i += width;
    }
}

void ProbeCode::put_text(const Value& value, std::size_t bytes, const Local& to, TextEnd end) {
    if (value.literal) return put_literal(up_to_nul(*value.literal).substr(0, bytes), bytes, to);
    if (value.is_task_name) return put_task_name(bytes, to, end);
    const ScopedValue asking(asked_, value.reader ? value.reader : asked_);
    if (!value.bytes) return read_text(to, bytes, value, end);
    const std::size_t have = std::min(bytes, value.type->bytes);
    copy(*value.bytes, to, have);
    zero(to.at(have), bytes - have);
}

// Linux 6.0 to 6.3 leave the bytes behind the NUL as they were.
void ProbeCode::put_task_name(std::size_t bytes, const Local& to, TextEnd end) {
    const bool fits = bytes >= kCommBytes;
    const Local whole = fits ? to : allocate(kCommBytes);
    if (end != TextEnd::sent) zero(whole, kCommBytes);
    code_.call(BPF_FUNC_get_current_comm, {address_of(whole), kCommBytes});
    if (!fits) return copy(whole, to, bytes);
    zero(to.at(kCommBytes), bytes - kCommBytes);
}

void ProbeCode::put(const Value& value, const TypePtr& as, const Local& to, TextEnd end) {
    if (as->is(Kind::string)) return put_text(value, as->bytes, to, end);
    if (as->is_scalar() || (as->is_aggregation() && value.number)) {
        const std::size_t bytes = as->is_aggregation() ? kWord : as->bytes;
        return code_.store(to.place(), number(value), piece_type(bytes));
    }
    if (as->is(Kind::tuple) && value.type->is(Kind::tuple) && value.type != as) {
        const Value from = load(in_memory(value, value.type), value.type);
        zero(to, as->bytes);
        for (std::size_t i = 0; i < as->fields.size(); ++i)
            put(field_at(from, *same_field(*from.type, as->fields[i], i)), as->fields[i].type,
                to.at(as->fields[i].offset));
        return;
    }
    if (value.number) {
        if (as->bytes != 0 && as->bytes == widest_access(as->bytes, 0))
            return code_.store(to.place(), number(value), piece_type(as->bytes));
        const Local word = allocate(kWord);
        code_.store(word.place(), number(value), ir::kU64);
        copy(word, to, std::min(as->bytes, kWord));
        return zero(to.at(std::min(as->bytes, kWord)), as->bytes - std::min(as->bytes, kWord));
    }
    if (value.literal) return put_literal(value.literal->substr(0, as->bytes), as->bytes, to);
    if (value.bytes) {
        const std::size_t have = std::min(as->bytes, value.type->bytes);
        copy(*value.bytes, to, have);
        return zero(to.at(have), as->bytes - have);
    }
    if (as->bytes == 0) return;
    const ScopedValue asking(asked_, value.reader ? value.reader : asked_);
    read(to, as->bytes, address_of(value), space_of(value));
}

Local ProbeCode::in_memory(const Value& value, const TypePtr& as) {
    const bool is_alike =
        value.type == as || (!as->is(Kind::tuple) && value.type->bytes == as->bytes);
    if (value.bytes && is_alike) return *value.bytes;
    const Local made = allocate(as->bytes + room_behind(*as));
    put(value, as, made, TextEnd::roomy);
    return made;
}

ir::Temp ProbeCode::bytes_of(const Local& from, std::size_t count) {
    ir::Temp all = code_.load(from.place(), ir::kU8);
    for (std::size_t i = 1; i < count; ++i) {
        const ir::Temp one = code_.load(from.at(i).place(), ir::kU8);
        all = code_.compute(ir::Op::bit_or, ir::kU64, all,
                            code_.compute(ir::Op::shl, ir::kU64, one, 8 * i));
    }
    return all;
}

Value ProbeCode::load(const Local& from, const TypePtr& type) {
    Value value;
    value.type = type;
    if (!type->is_scalar()) {
        value.bytes = from;
        return value;
    }
    const ir::Type as = ir_type(*type);
    // Of a packed structure.
    const bool is_askew = from.offset % as.bytes != 0;
    value.number =
        is_askew ? code_.convert(bytes_of(from, as.bytes), as) : code_.load(from.place(), as);
    return value;
}

ir::Type ir_type(const Type& type) {
    if (type.is(Kind::integer)) return {static_cast<std::uint8_t>(type.bytes), type.is_signed};
    if (type.is(Kind::boolean)) return ir::kU8;
    return ir::kU64;
}

}  // namespace gpufs::bt
