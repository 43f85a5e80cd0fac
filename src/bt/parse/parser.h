#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bt/parse/work.h"

namespace gpufs::bt {

// Makes a tree of tokens, by recursive descent. What it finds goes to Work::script and
// Work::macros. A mistake is thrown up to the statement, attach point or item it is in, which is
// left out; so one run finds several.
class Parser {
public:
    // The last of the tokens is of kind `end`.
    Parser(Work& work, std::vector<Token> tokens) : work_(work), tokens_(std::move(tokens)) {}

    // All of a script's items.
    void items();
    // All of a header's definitions in C.
    void header();
    // The one expression that there is.
    ExprPtr only_expression();

private:
    // Tokens.
    const Token& peek(std::size_t ahead = 0) const;
    bool is(std::string_view word_or_sign, std::size_t ahead = 0) const;
    Token take();
    bool take_if(std::string_view word_or_sign);
    void expect(std::string_view sign, std::string_view where);
    Token expect_word(std::string_view what);
    bool at_end() const;
    SourceRef behind() const;
    SourceRef from(SourceRef first) const;
    SourceRef from(const Token& first) const { return from(first.at); }
    [[noreturn]] void fail(const Token& token, std::string_view message,
                           std::string_view hint = {}) const;
    [[noreturn]] void fail_missing(std::string_view what, std::string_view hint = {}) const;

    // Nesting, which is bounded: a script is no reason to run out of stack.
    class Deeper {
    public:
        explicit Deeper(Parser& parser);
        ~Deeper() { --parser_.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;

    private:
        Parser& parser_;
    };
    void check_height(std::uint32_t height) const;

    // Items: items.cc
    void recovering(void (Parser::*read)());
    void item();
    void skip_to_item();
    void probe();
    void config();
    void config_entry();
    void map_declaration();
    void macro();
    void function();

    // C definitions: c_definitions.cc
    void c_definition();
    void c_declaration(const Token& first);
    void macro_use();
    [[noreturn]] void fail_definition(const Token& first) const;
    void skip_declaration(bool may_lack_semicolon);
    void skip_parentheses();
    struct Attributes {
        bool is_packed = false;
        std::uint64_t alignment = 0;
    };
    struct Declarator {
        std::string name;
        TypeName type;
        std::optional<unsigned> bits;
        Attributes attributes;  // its own
        SourceRef at;
    };
    // The type in front of declarators, and what it defines in its place.
    struct Specifier {
        TypeName type;
        std::size_t record = 0;  // index into Script::records plus 1 of what is defined here
        bool is_enum = false;    // an enum is defined here
        bool has_name = true;
        Attributes attributes;  // for what is declared with it
    };
    Specifier specifier();
    void qualifiers();
    bool attribute();
    bool alignas_();
    void typeof_(TypeName& type);
    Specifier record_specifier(const Token& keyword);
    Specifier enum_specifier(const Token& keyword);
    void members(CRecord& record);
    void member(CRecord& record);
    void enumerators(CEnum& definition);
    Declarator declarator(const TypeName& base);
    void function_declarator(Declarator& declared);
    void typedef_();
    std::optional<std::int64_t> bytes_of(const TypeName& type, int depth) const;
    std::optional<std::int64_t> size_of_type(const TypeName& type);
    std::optional<std::int64_t> c_value(const Expr& leaf);
    std::optional<std::int64_t> c_constant(const std::string& name) const;
    std::int64_t constant(std::string_view what);
    std::uint64_t length(std::string_view what);

    // Statements: statements.cc
    Block braced_block();
    Block statements(const Token& open);
    void skip_statement();
    StmtPtr statement();
    StmtPtr if_statement(const Token& keyword);
    StmtPtr loop_statement(const Token& keyword, Stmt::Kind kind);
    StmtPtr for_statement(const Token& keyword);
    StmtPtr let_statement(const Token& keyword);
    StmtPtr expression_statement();
    ExprPtr condition();
    static bool needs_semicolon(const Stmt& statement);
    // Takes the last statement out of the block if it is an expression without ';'.
    ExprPtr value_of(Block& block) const;
    // Whether there is one: also an 'if' whose branches end so.
    bool has_value(const Block& block) const;
    ExprPtr take_value(Block& block) const;

    // Expressions: expressions.cc, operands.cc
    ExprPtr expression();
    ExprPtr binary(int lowest);
    ExprPtr unary();
    ExprPtr postfix();
    ExprPtr member_access(ExprPtr object, bool is_arrow);
    ExprPtr operand();
    ExprPtr word_operand();
    ExprPtr number_operand();
    ExprPtr character_operand();
    ExprPtr positional_operand();
    ExprPtr map_operand();
    ExprPtr parenthesized();
    ExprPtr record(const Token& open);
    ExprPtr call(const Token& name);
    ExprPtr size_of(const Token& keyword);
    ExprPtr offset_of(const Token& keyword);
    ExprPtr type_operand();
    ExprPtr if_operand();
    ExprPtr block_operand();
    void expressions_until(std::string_view close, Expr& parent);
    ExprPtr make(Expr::Kind kind, SourceRef at) const;
    void adopt(Expr& parent, ExprPtr child) const;

    // Types as the script writes them: type_names.cc
    TypeName type_name();
    void type_suffix(TypeName& type, bool may_have_dimensions);
    bool is_type_ahead(std::size_t ahead) const;
    bool is_cast_ahead() const;
    std::size_t behind_type(std::size_t ahead) const;

    Work& work_;
    std::vector<Token> tokens_;
    std::size_t next_ = 0;
    std::size_t depth_ = 0;
    bool is_header_ = false;
    bool is_in_constant_ = false;  // of C, where characters are numbers
    Attributes attributes_;        // the last ones that were taken
};

}  // namespace gpufs::bt
