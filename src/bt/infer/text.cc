#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "bt/infer/inference.h"
#include "bt/types/constants.h"

// The types of functions of texts and bytes.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::int64_t kMostCompared = 1024;  // bytes, of memcmp()

}  // namespace

TypePtr Inference::type_of_str(const Expr& expr, const FunctionRow&) {
    const auto argument = argument_text(*expr.operands[0]);
    const TypePtr of =
        argument ? string_type(align_up(argument->size() + 2, kWord)) : type_of(*expr.operands[0]);
    std::size_t bytes = in_.options.string_bytes;
    if (expr.operands.size() == 2) {
        const auto length = constant(*expr.operands[1]);
        if (length && *length >= 0)
            bytes = std::min(
                bytes, align_up(static_cast<std::size_t>(*length) + in_.options.is_old, kWord));
        else if (length)
            complain(expr.operands[1]->at, gpufs::cat("str() wants a length, not ", *length));
    }
    if (!of) return nullptr;
    if (of->is(Kind::string))
        return expr.operands.size() == 1 ? of : string_type(std::min(bytes, of->bytes));
    const bool is_chars = of->is(Kind::array) && of->element->bytes == 1;
    if (!of->is_number() && !of->is(Kind::pointer) && !is_chars)
        complain(expr.operands[0]->at,
                 gpufs::cat("str() expects an integer or a pointer type as first argument (",
                            name_of(*of), " provided)"));
    return string_type(bytes);
}

TypePtr Inference::type_of_buf(const Expr& expr, const FunctionRow&) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (!of) return nullptr;
    if (!of->is_number() && !of->is(Kind::pointer) && !of->is(Kind::array) && !of->is(Kind::string))
        complain(expr.operands[0]->at, gpufs::cat("buf() wants an address, an array or a text (",
                                                  name_of(*of), " provided)"));
    std::size_t bytes = in_.options.string_bytes;
    if (const auto text = literal_of(*expr.operands[0])) bytes = std::min(bytes, text->size());
    if (of->is(Kind::array)) bytes = std::min(bytes, of->bytes);
    if (expr.operands.size() == 2) {
        const auto length = constant(*expr.operands[1]);
        if (length && *length < 0)
            complain(expr.operands[1]->at, gpufs::cat("buf() wants a length, not ", *length));
        else if (length) {
            if (is_final_ && static_cast<std::size_t>(*length) > in_.options.string_bytes)
                in_.warn(expr.at, gpufs::cat("buf() length is too long and will be shortened to ",
                                             in_.options.string_bytes, " bytes (see max_strlen)"));
            bytes = std::min(bytes, static_cast<std::size_t>(*length));
        }
    }
    return buffer_type(align_up(bytes + sizeof(std::uint32_t), kWord) - sizeof(std::uint32_t));
}

TypePtr Inference::type_of_strncmp(const Expr& expr, const FunctionRow&) {
    const Expr& count = *expr.operands[2];
    if (const auto n = constant(count); !n || *n < 0)
        complain(count.at, "strncmp() wants a number that is known before it runs, not negative");
    return integer_type(kWord, false);
}

TypePtr Inference::type_of_strstr(const Expr&, const FunctionRow&) {
    return integer_type(kWord, true);
}

TypePtr Inference::type_of_concat(const Expr& expr, const FunctionRow&) {
    const TypePtr a = type_of(*expr.operands[0]), b = type_of(*expr.operands[1]);
    if (!a || !b) return nullptr;
    return string_type(std::min(align_up(a->bytes + b->bytes, kWord), in_.options.string_bytes));
}

TypePtr Inference::type_of_default_length(const Expr& expr, const FunctionRow&) {
    instance_->constants[&expr] = static_cast<std::int64_t>(in_.options.string_bytes);
    return integer_type(kWord, true);
}

TypePtr Inference::type_of_strcap(const Expr& expr, const FunctionRow&) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (!of) return nullptr;
    if (!of->is(Kind::string) && !(of->is(Kind::array) && of->element->bytes == 1))
        complain(expr.operands[0]->at,
                 gpufs::cat("strcap() wants a string or an array of characters here (",
                            name_of(*of), " provided)"));
    instance_->constants[&expr] = static_cast<std::int64_t>(told_size(*of));
    return integer_type(kWord, true);
}

// Of values that have so many bytes, and of what pointers point to.
TypePtr Inference::type_of_memcmp(const Expr& expr, const FunctionRow&) {
    const auto bytes = constant(*expr.operands[2]);
    if (!bytes || *bytes < 0 || *bytes > kMostCompared)
        complain(expr.operands[2]->at,
                 gpufs::cat("memcmp() wants a number of bytes that is known before it runs, at "
                            "most ",
                            kMostCompared));
    for (std::size_t i = 0; i < 2; ++i) {
        const TypePtr of = type_of(*expr.operands[i]);
        if (!of || of->is(Kind::pointer)) continue;
        const bool has_bytes =
            of->is(Kind::string) || of->is(Kind::array) || of->is(Kind::structure);
        if (!has_bytes)
            complain(expr.operands[i]->at,
                     gpufs::cat("memcmp() wants a string, an array or a pointer here (",
                                name_of(*of), " provided)"));
        else if (bytes && *bytes > static_cast<std::int64_t>(of->bytes))
            complain(expr.operands[i]->at,
                     gpufs::cat(name_of(*of), " has no ", *bytes, " bytes to compare"));
    }
    return integer_type(kWord, true);
}

}  // namespace gpufs::bt
