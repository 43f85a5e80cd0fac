#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "bt/infer/inference.h"

// The types of functions of texts and bytes.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::int64_t kMostCompared = 1024;  // bytes, of memcmp()

}  // namespace

TypePtr Inference::type_of_str(const Expr& expr) {
    const auto argument = argument_text(*expr.operands[0]);
    const TypePtr of =
        argument ? string_type(align_up(argument->size() + 2, kWord)) : type_of(*expr.operands[0]);
    std::size_t bytes = in_.options.string_bytes;
    if (expr.operands.size() == 2) {
        number_argument(expr, 1);
        const auto length = constant(*expr.operands[1]);
        if (length && *length >= 0)
            bytes = std::min(bytes, align_up(static_cast<std::size_t>(*length) + 1, kWord));
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

TypePtr Inference::type_of_buf(const Expr& expr) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (!of) return nullptr;
    if (!of->is_number() && !of->is(Kind::pointer) && !of->is(Kind::array) && !of->is(Kind::string))
        complain(expr.operands[0]->at, gpufs::cat("buf() wants an address, an array or a text (",
                                                  name_of(*of), " provided)"));
    std::size_t bytes = in_.options.string_bytes;
    if (const auto text = literal_of(*expr.operands[0])) bytes = std::min(bytes, text->size());
    if (of->is(Kind::array)) bytes = std::min(bytes, of->bytes);
    if (expr.operands.size() == 2) {
        number_argument(expr, 1);
        if (const auto length = constant(*expr.operands[1]); length && *length >= 0)
            bytes = std::min(bytes, static_cast<std::size_t>(*length));
    }
    return buffer_type(align_up(bytes + sizeof(std::uint32_t), kWord) - sizeof(std::uint32_t));
}

TypePtr Inference::type_of_text_call(const Expr& expr, Fn function) {
    const auto text = [&](std::size_t i) {
        TypePtr type = type_of(*expr.operands[i]);
        if (type && !type->is(Kind::string))
            complain(expr.operands[i]->at, gpufs::cat(expr.text, "() wants a string here (",
                                                      name_of(*type), " provided)"));
        return type;
    };
    TypePtr uint64 = integer_type(kWord, false), int64 = integer_type(kWord, true);
    switch (function) {
        case Fn::strncmp:
            text(0), text(1), number_argument(expr, 2);
            if (const auto n = constant(*expr.operands[2]); !n || *n < 0)
                complain(expr.operands[2]->at,
                         "strncmp() wants a number that is known before it runs, not negative");
            return uint64;
        case Fn::strcontains:
            text(0), text(1);
            return boolean_type();
        case Fn::strstr:
            text(0), text(1);
            return int64;
        case Fn::strlen:
            text(0);
            return uint64;
        case Fn::str_concat: {
            const TypePtr a = text(0), b = text(1);
            if (!a || !b) return nullptr;
            return string_type(
                std::min(align_up(a->bytes + b->bytes, kWord), in_.options.string_bytes));
        }
        case Fn::memcmp:
            return type_of_memcmp(expr);
        case Fn::default_str_length:
            instance_->constants[&expr] = static_cast<std::int64_t>(in_.options.string_bytes);
            return int64;
        default: {  // strcap()
            const TypePtr of = type_of(*expr.operands[0]);
            if (!of) return nullptr;
            if (!of->is(Kind::string) && !(of->is(Kind::array) && of->element->bytes == 1))
                complain(expr.operands[0]->at,
                         gpufs::cat("strcap() wants a string or an array of characters here (",
                                    name_of(*of), " provided)"));
            instance_->constants[&expr] = static_cast<std::int64_t>(told_size(*of));
            return int64;
        }
    }
}

// Of values that have so many bytes, and of what pointers point to.
TypePtr Inference::type_of_memcmp(const Expr& expr) {
    number_argument(expr, 2);
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
