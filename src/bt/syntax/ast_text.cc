#include "bt/syntax/ast_text.h"

#include "base/cat.h"
#include "base/hex.h"
#include "base/text.h"
#include "bt/syntax/tree.h"

namespace gpufs::bt {
namespace {

constexpr std::size_t kIndent = 2;

// A text in quotes; bytes that are no plain ASCII as \xhh.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n')
            out += "\\n";
        else if (c == '"' || c == '\\')
            out += cat('\\', c);
        else if (byte >= ' ' && byte < 0x7f)
            out += c;
        else
            append_hex_byte(out += "\\x", byte);
    }
    return out + '"';
}

std::string type_text(const TypeName& type) {
    std::string out;
    switch (type.kind) {
        case TypeName::Kind::plain:
            break;
        case TypeName::Kind::structure:
            out = "struct ";
            break;
        case TypeName::Kind::union_:
            out = "union ";
            break;
        case TypeName::Kind::enumeration:
            out = "enum ";
            break;
    }
    out += type.of ? "typeof" : type.name.empty() ? "(anonymous)" : type.name;
    if (type.pointers > 0) out += cat(' ', std::string(type.pointers, '*'));
    for (const std::uint64_t dimension : type.dimensions) out += cat('[', dimension, ']');
    return out;
}

std::string alignment_text(std::uint64_t bytes) {
    return bytes == 0 ? std::string() : cat(" aligned ", bytes);
}

class Text {
public:
    std::string of(const Script& script);

private:
    class Deeper {
    public:
        explicit Deeper(Text& text) : text_(text) { ++text_.depth_; }
        ~Deeper() { --text_.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;

    private:
        Text& text_;
    };

    template <class... Ts>
    void line(const Ts&... parts) {
        out_ += cat(std::string(depth_ * kIndent, ' '), parts..., '\n');
    }
    void declarations(const Script& script);
    void record(const CRecord& record);
    void point(const AttachPoint& point);
    void expr(const Expr& expr);
    void expr(const ExprPtr& expr) {
        if (expr)
            this->expr(*expr);
        else
            line("-");
    }
    std::string head(const Expr& expr);
    void statement(const Stmt& statement);
    std::string head(const Stmt& statement);
    void block(std::string_view name, const Block& block);

    std::string out_;
    std::size_t depth_ = 0;
};

std::string Text::of(const Script& script) {
    declarations(script);
    for (const Function& function : script.functions) {
        line("fn ", function.name, function.result ? " : " + type_text(*function.result) : "");
        const Deeper deeper(*this);
        for (const auto& [name, type] : function.parameters)
            line("parameter $", name, " : ", type_text(type));
        for (const StmtPtr& one : function.body) statement(*one);
    }
    for (const Probe& probe : script.probes) {
        line("probe");
        const Deeper deeper(*this);
        for (const AttachPoint& one : probe.points) point(one);
        if (probe.predicate) {
            line("predicate");
            const Deeper inner(*this);
            expr(probe.predicate);
        }
        for (const StmtPtr& one : probe.body) statement(*one);
    }
    return std::move(out_);
}

void Text::declarations(const Script& script) {
    for (const std::string& name : script.includes) line("include ", name);
    for (const CEnum& definition : script.enums) {
        line("enum ", definition.name.empty() ? "(anonymous)" : definition.name);
        const Deeper deeper(*this);
        for (const auto& [name, value] : definition.values) line(name, " = ", value);
    }
    for (std::size_t i = 0; i < script.records.size(); ++i) {
        const CRecord& one = script.records[i];
        line(one.is_union ? "union " : "struct ", one.name.empty() ? "(anonymous)" : one.name,
             one.is_packed ? " packed" : "", alignment_text(one.alignment), " #", i + 1);
        record(one);
    }
    for (const CTypedef& one : script.typedefs)
        line("typedef ", one.name, " = ", type_text(one.type));
    for (const ConfigEntry& entry : script.config)
        line("config ", entry.name, " = ", quoted(entry.value));
    for (const ScriptOption& option : script.options)
        line("option ", option.name, " = ", quoted(option.fallback), " ", quoted(option.help));
    for (const MapDeclarationNode& map : script.maps)
        line("map @", map.name, " ", map.kind, " ", map.entries);
}

void Text::record(const CRecord& record) {
    const Deeper deeper(*this);
    for (const CMember& member : record.members)
        line(type_text(member.type), member.inner ? cat(" #", member.inner) : "",
             member.name.empty() ? "" : " ", member.name,
             member.bits ? cat(" : ", *member.bits) : "", alignment_text(member.alignment));
}

void Text::point(const AttachPoint& point) {
    std::string more;
    const auto add = [&](std::string_view name, std::string_view value) {
        if (!value.empty()) more += cat(' ', name, '=', value);
    };
    add("target", point.target);
    add("space", point.space);
    add("name", point.name);
    if (point.is_cpp) more += " c++";
    if (point.offset) add("offset", cat(point.offset));
    if (point.address) add("address", hex(*point.address));
    if (point.line) add("line", cat(point.source, ':', point.line));
    if (point.argument) add("argument", cat(*point.argument));
    if (point.number) add(point.is_frequency ? "hz" : "number", cat(point.number));
    add("mode", point.mode);
    add("pin", point.pin);
    line(name_of(point.provider), more, " '", point.text, "'");
}

void Text::block(std::string_view name, const Block& block) {
    line(name);
    const Deeper deeper(*this);
    for (const StmtPtr& one : block) statement(*one);
}

std::string Text::head(const Stmt& statement) {
    switch (statement.kind) {
        case Stmt::Kind::expression:
            return "";
        case Stmt::Kind::assign:
            return cat(statement.operation ? sign_of(*statement.operation) : "", "=");
        case Stmt::Kind::declare:
            return cat("let $", statement.name,
                       statement.type_name ? " : " + type_text(*statement.type_name) : "");
        case Stmt::Kind::if_:
            return "if";
        case Stmt::Kind::while_:
            return "while";
        case Stmt::Kind::unroll:
            return "unroll";
        case Stmt::Kind::for_map:
        case Stmt::Kind::for_range:
            return cat("for $", statement.name);
        case Stmt::Kind::break_:
            return "break";
        case Stmt::Kind::continue_:
            return "continue";
        case Stmt::Kind::return_:
            return "return";
        case Stmt::Kind::block:
            return "{}";
    }
    return "";
}

void Text::statement(const Stmt& statement) {
    if (statement.kind == Stmt::Kind::expression) return expr(statement.value);
    line(head(statement));
    const Deeper deeper(*this);
    if (statement.type_name && statement.type_name->of) expr(statement.type_name->of);
    if (statement.kind == Stmt::Kind::assign || statement.target) expr(statement.target);
    if (statement.value) expr(statement.value);
    if (statement.limit) expr(statement.limit);
    const bool has_body =
        statement.kind >= Stmt::Kind::if_ && statement.kind <= Stmt::Kind::for_range;
    if (has_body) block(statement.kind == Stmt::Kind::if_ ? "then" : "do", statement.body);
    if (!statement.otherwise.empty()) block("else", statement.otherwise);
    if (statement.kind == Stmt::Kind::block)
        for (const StmtPtr& one : statement.body) this->statement(*one);
}

std::string Text::head(const Expr& expr) {
    using Kind = Expr::Kind;
    switch (expr.kind) {
        case Kind::integer:
            return cat("integer ", expr.number);
        case Kind::boolean:
            return expr.number ? "true" : "false";
        case Kind::string:
            return cat("string ", quoted(expr.text));
        case Kind::positional:
            return cat("$", expr.number, " ", quoted(expr.text));
        case Kind::positional_count:
            return cat("$# ", expr.number);
        case Kind::identifier:
            return cat(expr.text, expr.has_call_parentheses ? "()" : "");
        case Kind::variable:
            return cat("$", expr.text);
        case Kind::map:
            return cat("@", expr.text);
        case Kind::call:
            return cat("call ", expr.text);
        case Kind::member:
            return cat(expr.is_arrow ? "->" : ".", expr.text);
        case Kind::tuple_index:
            return cat(".", expr.number);
        case Kind::index:
            return "[]";
        case Kind::unary:
            return cat("unary ", sign_of(expr.unary));
        case Kind::binary:
            return sign_of(expr.binary);
        case Kind::increment:
            return cat(expr.is_postfix ? "postfix " : "prefix ", expr.is_decrement ? "--" : "++");
        case Kind::ternary:
            return "?:";
        case Kind::cast:
            return cat("cast ", type_text(expr.type_name));
        case Kind::size_of:
            return cat("sizeof", expr.operands.empty() ? " " + type_text(expr.type_name) : "");
        case Kind::offset_of:
            return cat("offsetof ", expr.operands.empty() ? type_text(expr.type_name) + ' ' : "",
                       join(expr.path, "."));
        case Kind::tuple:
            return "tuple";
        case Kind::record:
            return cat("record ", join(expr.names, " "));
        case Kind::block:
            return "block";
        case Kind::type:
            return cat("type ", type_text(expr.type_name));
    }
    return "";
}

void Text::expr(const Expr& expr) {
    line(expr.is_comptime ? "comptime " : "", head(expr));
    const Deeper deeper(*this);
    if (expr.type_name.of) this->expr(expr.type_name.of);
    for (const StmtPtr& one : expr.body) statement(*one);
    for (const ExprPtr& operand : expr.operands) this->expr(operand);
}

}  // namespace

std::string ast_text(const Script& script) {
    return Text().of(script);
}

}  // namespace gpufs::bt
