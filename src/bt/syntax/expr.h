#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/program/code.h"

// Expressions and statements of the syntax tree (bt/syntax/ast.h).
namespace gpufs::bt {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;

// A type as the script writes it: "struct sock *", "uint8[8]", "string[16]", "unsigned int".
struct TypeName {
    enum class Kind { plain, structure, union_, enumeration };
    Kind kind = Kind::plain;  // the keyword in front of `name`
    std::string name;         // "uint64", "unsigned int", "sock"; empty where `of` is set
    unsigned pointers = 0;    // how many '*'
    std::vector<std::uint64_t> dimensions;  // of arrays, outermost first; string[N], buffer[N]
    ExprPtr of;                             // typeof(EXPR): this expression's type
    SourceRef at;
};

enum class UnaryOp { negate, bit_not, logical_not, dereference, address_of };
enum class BinaryOp {
    add,
    sub,
    mul,
    div,
    mod,
    shl,
    shr,
    bit_and,
    bit_or,
    bit_xor,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    logical_and,
    logical_or,
};

struct Expr {
    enum class Kind {
        integer,           // `number`; `text` as written
        boolean,           // `number` is 0 or 1
        string,            // `text`, escapes resolved
        positional,        // $N: `number` is N, `text` the argument ("" where there is none)
        positional_count,  // $#: `number`
        identifier,        // `text`: a builtin, a constant, an enumerator
        variable,          // $NAME: `text` without the $
        map,               // @NAME or @NAME[KEYS…]: `text` without the @; operands: the keys
        call,              // NAME(ARGS…): `text`; operands: the arguments
        member,            // operands[0].NAME or ->NAME: `text`; `is_arrow`
        tuple_index,       // operands[0].N: `number`
        index,             // operands[0][operands[1]]
        unary,             // `unary`
        binary,            // `binary`
        increment,         // ++ and -- of a variable or map element: `is_decrement`, `is_postfix`
        ternary,           // operands: condition, yes, no; yes is null in `a ?: b`
        cast,              // (TYPE)operands[0]: `type_name`
        size_of,           // sizeof(TYPE) or sizeof(EXPR): `type_name` or operands[0]
        offset_of,         // offsetof(TYPE or EXPR, a.b): `path`
        tuple,             // (A, B), (A,), (): operands
        record,            // (x=A, y=B): operands, and `names` of them
        block,             // { STMTS; EXPR }: `body`, and operands[0], the value (null: none);
                           // `is_function`: return leaves it, not the program
        type,              // a type where a macro or a function takes one: `type_name`
    };
    Kind kind = Kind::integer;
    SourceRef at;  // of the whole expression
    std::string text;
    std::uint64_t number = 0;
    bool is_arrow = false, is_decrement = false, is_postfix = false;
    bool has_call_parentheses = false;  // a builtin written as NAME()
    bool is_negative = false;           // integer: of getopt(), `number` is negative
    bool is_function = false;           // block: what stands for the call of a function
    bool is_comptime = false;           // `comptime EXPR`: to be known to the compiler
    std::uint32_t height = 1;           // levels of the tree from here down, at most 600
    UnaryOp unary = UnaryOp::negate;
    BinaryOp binary = BinaryOp::add;
    std::vector<ExprPtr> operands;
    std::vector<std::string> names;  // record
    std::vector<std::string> path;   // offset_of
    TypeName type_name;
    Block body;                            // block
    std::vector<SourceRef> expanded_from;  // call in a macro: the uses of it, the innermost first
};

struct Stmt {
    enum class Kind {
        expression,  // `value`
        assign,     // `target` = `value`, or with `operation`: target op= value. A null target: _ =
        declare,    // let $NAME [: TYPE] [= value]: `name`, `type_name`
        if_,        // `value`, `body`, `otherwise`
        while_,     // `value`, `body`
        unroll,     // unroll (value) body
        for_map,    // for ($NAME : @map): `name`, `target` is the map
        for_range,  // for ($NAME : value..limit)
        break_,
        continue_,
        return_,  // `value` may be null
        block,    // { body }
    };
    Kind kind = Kind::expression;
    SourceRef at;
    std::string name;
    SourceRef name_at;  // for_map, for_range: of $NAME
    ExprPtr target, value, limit;
    std::optional<BinaryOp> operation;
    std::optional<TypeName> type_name;
    Block body, otherwise;
    bool has_value = false;  // if_: each branch ends with an expression without ';'
};

}  // namespace gpufs::bt
