#include <algorithm>

#include "base/align.h"
#include "base/bytes.h"
#include "base/cat.h"
#include "bt/code/calls.h"
#include "bt/types/constants.h"
#include "lang/ir/read_memory.h"

// Functions of texts and bytes: finding, joining, comparing.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::size_t kMostTrials = 8192;  // of one byte with another, in a search

}  // namespace

ir::Temp ProbeCode::Calls::place_in(const Value& text, const Value& part) {
    const Local within = in_.in_memory(text, text.type);
    if (part.literal) return place_in(text, within, up_to_nul(*part.literal));
    const Local searched = in_.in_memory(part, part.type);
    const std::size_t most = text.type->bytes, length = part.type->bytes;
    if (most * length > kMostTrials)
        in_.fail(call_.at,
                 gpufs::cat("searching texts of ", most, " bytes for ", length,
                            " takes more instructions than the kernel has time for"),
                 "str(x, n) makes texts shorter");
    const ir::Temp found = code_.new_temp(ir::kS64);
    const ir::Label done = code_.new_label();
    for (std::size_t from = 0; from < most; ++from) {
        const ir::Label next = code_.new_label();
        code_.assign(found, from);
        for (std::size_t i = 0; i < length; ++i) {
            const ir::Temp wanted =
                code_.load(searched.place(static_cast<std::int64_t>(i)), ir::kU8);
            code_.branch(ir::Cmp::eq, ir::kU64, wanted, 0, done);
            if (from + i >= most) {
                code_.jump(next);
                break;
            }
            code_.branch(ir::Cmp::ne, ir::kU64, wanted,
                         code_.load(within.place(static_cast<std::int64_t>(from + i)), ir::kU8),
                         next);
        }
        if (from + length <= most) code_.jump(done);
        code_.bind(next);
    }
    code_.assign(found, -1);
    code_.bind(done);
    return found;
}

// A trial at each place; texts are short.
ir::Temp ProbeCode::Calls::place_in(const Value& text, const Local& at, std::string_view part) {
    const ir::Temp found = code_.new_temp(ir::kS64);
    const ir::Label done = code_.new_label();
    for (std::size_t from = 0; from + part.size() <= text.type->bytes; ++from) {
        const ir::Label next = code_.new_label();
        code_.assign(found, from);
        for (std::size_t i = 0; i < part.size(); ++i)
            code_.branch(ir::Cmp::ne, ir::kU64,
                         code_.load(at.place(static_cast<std::int64_t>(from + i)), ir::kU8),
                         static_cast<unsigned char>(part[i]), next);
        code_.jump(done);
        code_.bind(next);
    }
    code_.assign(found, -1);
    code_.bind(done);
    return found;
}

Value ProbeCode::Calls::strncmp() {
    // Only whether they are equal can be said without a loop over bytes; 0 is equal.
    const Value a = in_.eval(argument(0)), b = in_.eval(argument(1));
    const ir::Temp differs = code_.new_temp(ir::kU8);
    const ir::Label is_different = code_.new_label();
    code_.assign(differs, 1);
    in_.unless_equal(a, b, is_different, static_cast<std::size_t>(*in_.constant(argument(2))));
    code_.assign(differs, 0);
    code_.bind(is_different);
    return number_value(differs, type_);
}

Value ProbeCode::Calls::strcontains() {
    const ir::Temp place = place_in(in_.eval(argument(0)), in_.eval(argument(1)));
    return truth([&](ir::Label no) { code_.branch(ir::Cmp::lt, ir::kS64, place, 0, no); });
}

ir::Temp ProbeCode::Calls::text_length(const Value& text) {
    const Local at = in_.in_memory(text, text.type);
    const ir::Temp length = code_.new_temp(ir::kU64);
    const ir::Label done = code_.new_label();
    for (std::size_t i = 0; i < text.type->bytes; ++i) {
        code_.assign(length, i);
        code_.branch(ir::Cmp::eq, ir::kU64,
                     code_.load(at.place(static_cast<std::int64_t>(i)), ir::kU8), 0, done);
    }
    code_.assign(length, text.type->bytes);
    code_.bind(done);
    return length;
}

Value ProbeCode::Calls::strlen() {
    const Value text = in_.eval(argument(0));
    if (text.literal) return number_value(up_to_nul(*text.literal).size(), type_);
    return number_value(text_length(text), type_);
}

Value ProbeCode::Calls::strstr() {
    return number_value(place_in(in_.eval(argument(0)), in_.eval(argument(1))), type_);
}

Value ProbeCode::Calls::str() {
    const Expr& from = *call_.operands[0];
    Value value;
    if (!argument_text(from)) value = in_.eval(from);
    const bool has_limit = call_.operands.size() == 2;
    const auto known = has_limit ? in_.constant(*call_.operands[1]) : std::nullopt;
    value.literal = value.literal ? value.literal : argument_text(from);
    const bool is_text = value.literal || value.type->is(Kind::string);
    // As str(p, N) was in bpftrace up to 0.22, N characters; since then the NUL counts.
    const std::uint64_t behind = in_.shared_.options().types.is_old ? 1 : 0;
    const std::uint64_t known_bytes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(known.value_or(0), 0)) + behind;
    const std::uint64_t known_characters = known_bytes == 0 ? 0 : known_bytes - 1;
    if (is_text && (!has_limit || (value.literal && known))) {
        if (known)
            value.literal->resize(std::min<std::size_t>(value.literal->size(), known_characters));
        value.type = type_;
        return value;
    }
    if (is_text && !value.type) value.type = type_;
    const Space space = is_text ? Space::kernel : in_.space_of(value);
    const ir::Temp address =
        is_text ? in_.address_of(in_.in_memory(value, value.type)) : in_.address_of(value);
    if (!has_limit) {
        value = {};
        value.type = type_;
        value.remote = address;
        value.space = space;
        return value;
    }
    // The text that was asked for is whole, however it goes on.
    const Local made = in_.allocate(type_->bytes);
    in_.zero(made, type_->bytes);
    if (known) {
        in_.told_read(
            space, true,
            append_read_text(code_, space, in_.address_of(made),
                             std::min<std::uint64_t>(known_bytes, type_->bytes), address));
    } else {
        // In a form whose bounds the verifier sees.
        ir::Temp limit = code_.new_temp(ir::kU64);
        const ir::Label is_small = code_.new_label();
        code_.assign(limit, in_.number(*call_.operands[1]));
        code_.branch(ir::Cmp::le, ir::kU64, limit, type_->bytes - behind, is_small);
        code_.assign(limit, type_->bytes - behind);
        code_.bind(is_small);
        if (behind != 0) limit = code_.compute(ir::Op::add, ir::kU64, limit, behind);
        in_.told_read(space, true,
                      append_read_text(code_, space, in_.address_of(made), limit, address));
    }
    return in_.load(made, type_);
}

Value ProbeCode::Calls::buf() {
    const std::size_t most = type_->bytes - sizeof(std::uint32_t);
    Value from = in_.eval(*call_.operands[0]);
    if (from.literal) {
        // All of it: a NUL is a byte like the others.
        const Local whole = in_.allocate(from.type->bytes);
        in_.put_literal(*from.literal, from.type->bytes, whole);
        from = in_.load(whole, from.type);
    } else if (from.is_task_name) {
        from = in_.load(in_.in_memory(from, from.type), from.type);
    }
    const Local made = in_.allocate(type_->bytes);
    const Local contents = made.at(sizeof(std::uint32_t));
    in_.zero(made, type_->bytes);
    std::size_t whole = most;
    if (from.type->is(Kind::array) || from.type->is(Kind::string))
        whole = std::min(most, from.most_bytes != 0 ? from.most_bytes : from.type->bytes);
    const auto known = call_.operands.size() == 2 ? in_.constant(*call_.operands[1])
                                                  : std::optional<std::int64_t>(whole);
    ir::Operand length = static_cast<std::uint64_t>(
        std::min<std::int64_t>(known.value_or(0), static_cast<std::int64_t>(most)));
    if (!known) {
        const ir::Temp asked = code_.new_temp(ir::kU64);
        const ir::Label is_small = code_.new_label();
        code_.assign(asked, in_.number(*call_.operands[1]));
        code_.branch(ir::Cmp::le, ir::kU64, asked, most, is_small);
        code_.assign(asked, most);
        code_.bind(is_small);
        length = asked;
    }
    code_.store(made.place(), length, ir::kU32);
    if (from.bytes) {
        in_.copy(*from.bytes, contents, std::min(most, from.type->bytes));
    } else {
        in_.read(contents, length, in_.address_of(from), in_.space_of(from));
    }
    Value value;
    value.type = type_;
    value.bytes = made;
    return value;
}

// The second text goes to where the first one ends.
Value ProbeCode::Calls::str_concat() {
    const Value a = in_.eval(*call_.operands[0]), b = in_.eval(*call_.operands[1]);
    if (a.literal && b.literal) {
        Value value;
        value.type = type_;
        value.literal = cat(up_to_nul(*a.literal), up_to_nul(*b.literal));
        return value;
    }
    const Local first = in_.in_memory(a, a.type), second = in_.in_memory(b, b.type);
    const std::size_t room = a.type->bytes, more = b.type->bytes;
    const Local made = in_.allocate_in_frame(align_up(room + more, kWord));
    in_.zero(made, align_up(room + more, kWord));
    const ir::Temp length =
        append_read_text(code_, Space::kernel, in_.address_of(made), room, in_.address_of(first));
    const ir::Temp past = code_.new_temp(ir::kU64);
    const ir::Label done = code_.new_label(), is_short = code_.new_label();
    code_.branch(ir::Cmp::le, ir::kS64, length, 0, done);
    code_.assign(past, code_.compute(ir::Op::sub, ir::kU64, length, 1));
    // What the verifier knows of a length is lost where it goes through memory.
    code_.branch(ir::Cmp::lt, ir::kU64, past, room, is_short);
    code_.assign(past, room - 1);
    code_.bind(is_short);
    append_read_text(code_, Space::kernel,
                     code_.compute(ir::Op::add, ir::kU64, in_.address_of(made), past), more,
                     in_.address_of(second));
    code_.bind(done);
    Value value = in_.load(made, string_type(align_up(room + more, kWord)));
    value.type = type_;
    return value;
}

// As memory has them: the first byte that differs decides.
Value ProbeCode::Calls::memcmp() {
    const auto bytes = static_cast<std::size_t>(*in_.constant(*call_.operands[2]));
    const auto operand = [&](const Expr& of) {
        const Value value = in_.eval(of);
        if (!value.type->is(Kind::pointer)) return in_.in_memory(value, value.type);
        const Local made = in_.allocate(align_up(bytes, kWord));
        in_.zero(made, align_up(bytes, kWord));
        in_.read(made, bytes, in_.address_of(value), in_.space_of(value));
        return made;
    };
    const Local a = operand(*call_.operands[0]), b = operand(*call_.operands[1]);
    const ir::Temp result = code_.new_temp(ir::kS64), x = code_.new_temp(ir::kU64),
                   y = code_.new_temp(ir::kU64);
    const ir::Label done = code_.new_label(), differs = code_.new_label();
    code_.assign(result, 0);
    for (std::size_t i = 0; i < bytes;) {
        const auto at = static_cast<std::int64_t>(i);
        const std::size_t width = widest_access(bytes - i, a.offset + at, b.offset + at);
        const ir::Type type{static_cast<std::uint8_t>(width), false};
        // The first byte is the one that counts most.
        const auto word = [&](const Local& of) {
            const ir::Temp loaded = code_.load(of.place(at), type);
            return width == 1 ? loaded : code_.swap_bytes(loaded, type);
        };
        code_.assign(x, word(a));
        code_.assign(y, word(b));
        code_.branch(ir::Cmp::ne, ir::kU64, x, y, differs);
        i += width;
    }
    code_.jump(done);
    code_.bind(differs);
    code_.assign(result, 1);
    code_.branch(ir::Cmp::gt, ir::kU64, x, y, done);
    code_.assign(result, -1);
    code_.bind(done);
    return number_value(result, type_);
}

}  // namespace gpufs::bt
