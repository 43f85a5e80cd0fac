#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "bt/code/probe_code.h"
#include "lang/ir/read_memory.h"

// Functions of texts and bytes: finding, joining, comparing.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::size_t kMostTrials = 8192;  // of one byte with another, in a search

}  // namespace

ir::Temp ProbeCode::place_in(const Value& text, const Value& part, const SourceRef& at) {
    const Local within = in_memory(text, text.type);
    if (part.literal) return place_in(text, within, up_to_nul(*part.literal));
    const Local searched = in_memory(part, part.type);
    const std::size_t most = text.type->bytes, length = part.type->bytes;
    if (most * length > kMostTrials)
        fail(at,
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
ir::Temp ProbeCode::place_in(const Value& text, const Local& at, const std::string& part) {
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

// The second text goes to where the first one ends.
Value ProbeCode::eval_concat(const Expr& expr) {
    const Value a = eval(*expr.operands[0]), b = eval(*expr.operands[1]);
    if (a.literal && b.literal) {
        Value value;
        value.type = type_of(expr);
        value.literal = up_to_nul(*a.literal) + up_to_nul(*b.literal);
        return value;
    }
    const Local first = in_memory(a, a.type), second = in_memory(b, b.type);
    const std::size_t room = a.type->bytes, more = b.type->bytes;
    const Local made = allocate_in_frame(align_up(room + more, kWord));
    zero(made, align_up(room + more, kWord));
    const ir::Temp length =
        append_read_text(code_, Space::kernel, address_of(made), room, address_of(first));
    const ir::Temp past = code_.new_temp(ir::kU64);
    const ir::Label done = code_.new_label(), is_short = code_.new_label();
    code_.branch(ir::Cmp::le, ir::kS64, length, 0, done);
    code_.assign(past, code_.compute(ir::Op::sub, ir::kU64, length, 1));
    // What the verifier knows of a length is lost where it goes through memory.
    code_.branch(ir::Cmp::lt, ir::kU64, past, room, is_short);
    code_.assign(past, room - 1);
    code_.bind(is_short);
    append_read_text(code_, Space::kernel,
                     code_.compute(ir::Op::add, ir::kU64, address_of(made), past), more,
                     address_of(second));
    code_.bind(done);
    Value value = load(made, string_type(align_up(room + more, kWord)));
    value.type = type_of(expr);
    return value;
}

// As memory has them: the first byte that differs decides.
Value ProbeCode::eval_memcmp(const Expr& expr) {
    const auto bytes = static_cast<std::size_t>(*constant(*expr.operands[2]));
    const auto operand = [&](const Expr& of) {
        const Value value = eval(of);
        if (!value.type->is(Kind::pointer)) return in_memory(value, value.type);
        const Local made = allocate(align_up(bytes, kWord));
        zero(made, align_up(bytes, kWord));
        read(made, bytes, address_of(value), space_of(value));
        return made;
    };
    const Local a = operand(*expr.operands[0]), b = operand(*expr.operands[1]);
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
    return number_value(result, type_of(expr));
}

}  // namespace gpufs::bt
