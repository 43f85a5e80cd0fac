#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/source.h"
#include "lang/program/code.h"

// The syntax tree of a script in the bpftrace language, as the parser makes it: names are not
// resolved and nothing has a type, but macros are expanded, constants of #define are in their
// places, and attach points are split into their parts.
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
        block,             // { STMTS; EXPR }: `body`, and operands[0], the value (null: none)
        type,              // a type where a macro or a function takes one: `type_name`
    };
    Kind kind = Kind::integer;
    SourceRef at;  // of the whole expression
    std::string text;
    std::uint64_t number = 0;
    bool is_arrow = false, is_decrement = false, is_postfix = false;
    bool has_call_parentheses = false;  // a builtin written as NAME()
    bool is_comptime = false;           // `comptime EXPR`: to be known to the compiler
    std::uint32_t height = 1;           // levels of the tree from here down, at most 600
    UnaryOp unary = UnaryOp::negate;
    BinaryOp binary = BinaryOp::add;
    std::vector<ExprPtr> operands;
    std::vector<std::string> names;  // record
    std::vector<std::string> path;   // offset_of
    TypeName type_name;
    Block body;  // block
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
    ExprPtr target, value, limit;
    std::optional<BinaryOp> operation;
    std::optional<TypeName> type_name;
    Block body, otherwise;
    bool has_value = false;  // if_: each branch ends with an expression without ';'
};

enum class Provider {
    begin,
    end,
    self,
    kprobe,
    kretprobe,
    fentry,
    fexit,
    uprobe,
    uretprobe,
    usdt,
    tracepoint,
    rawtracepoint,
    profile,
    interval,
    software,
    hardware,
    watchpoint,
    asyncwatchpoint,
    iter,
};
// "kprobe": the name that `probe` prints, whichever way the script wrote it.
const char* name_of(Provider provider);

struct AttachPoint {
    Provider provider = Provider::begin;
    std::string text;  // as written, with arguments put in: "kprobe:vfs_*"
    // kprobe, fentry…: the module, may be empty. tracepoint: the category. uprobe, usdt: the path,
    // the program's or library's name. software, hardware, profile, interval: the event or unit.
    std::string target;
    std::string space;                     // usdt: the provider within the file, may be empty
    std::string name;                      // the function, the event, the probe; self: the signal
    std::uint64_t offset = 0;              // of name, in bytes
    std::optional<std::uint64_t> address;  // instead of a name
    // profile, interval: the period in ns, or Hz where `is_frequency`. software, hardware: every
    // so many events, 0: the default. watchpoint: the length in bytes.
    std::uint64_t number = 0;
    bool is_frequency = false;
    std::string mode;                  // watchpoint: out of r, w, x
    std::optional<unsigned> argument;  // watchpoint: of function `name`, the one with the address
    std::string pin;                   // iter: where it is pinned, may be empty
    bool is_cpp = false;               // uprobe: `name` is the readable form of a C++ function
    bool has_glob() const {
        return (target + space + name).find_first_of("*?[") != std::string::npos;
    }
    SourceRef at;
};

struct Probe {
    std::vector<AttachPoint> points;
    ExprPtr predicate;  // null: none
    Block body;
    SourceRef at;
};

// struct, union or enum of the script's C part.
struct CMember {
    std::string name;  // empty: an anonymous structure, whose members are members of this one
    TypeName type;
    std::size_t inner = 0;  // index into Script::records plus 1 of a structure defined in place
    std::optional<unsigned> bits;
    std::uint64_t alignment = 0;  // in bytes, of __attribute__((aligned)); 0: the type's
    SourceRef at;
};
struct CRecord {
    std::string name;  // empty: anonymous
    bool is_union = false, is_packed = false;
    std::uint64_t alignment = 0;  // at least so many bytes, of __attribute__((aligned)); 0: none
    std::vector<CMember> members;
    SourceRef at;
};
struct CEnum {
    std::string name;
    std::vector<std::pair<std::string, std::int64_t>> values;
    SourceRef at;
};

// typedef TYPE NAME;
struct CTypedef {
    std::string name;
    TypeName type;
};

struct ConfigEntry {
    std::string name, value;  // the name in lower case, without "bpftrace_"
    SourceRef at;
};

// let @NAME = hash(N);
struct MapDeclarationNode {
    std::string name, kind;
    std::uint64_t entries = 0;
    SourceRef at;
};

// fn NAME($a : T, …) : R { … }
struct Function {
    std::string name;
    std::vector<std::pair<std::string, TypeName>> parameters;
    std::optional<TypeName> result;
    Block body;
    SourceRef at;
};

// What getopt() asks for, in order of appearance: for --help.
struct ScriptOption {
    std::string name, fallback, help;
};

struct Script {
    std::vector<SourceText> sources;  // the script, what is predefined, what it imports
    std::vector<CRecord> records;
    std::vector<CEnum> enums;
    std::vector<CTypedef> typedefs;
    std::vector<std::string> includes;  // names of headers that were asked for: "linux/sched.h"
    std::vector<ConfigEntry> config;
    std::vector<ScriptOption> options;
    std::vector<MapDeclarationNode> maps;
    std::vector<Function> functions;
    std::vector<Probe> probes;
};

}  // namespace gpufs::bt
