// The C part of a script, and headers: struct, union, enum, typedef. What else there is is skipped.

#include <algorithm>
#include <bit>

#include "base/c_integer.h"
#include "base/cat.h"
#include "bt/parse/parser.h"
#include "bt/syntax/constant.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/words.h"
#include "bt/types/c_types.h"
#include "bt/types/uapi_constants.h"
#include "lang/ir/ir.h"

namespace gpufs::bt {
namespace {

constexpr std::int64_t kLargestArray = 1 << 24;
constexpr std::uint64_t kWidestBitField = 64;
// What "aligned" without a number means.
constexpr std::uint64_t kLargestAlignment = 16;
constexpr int kMostTypedefs = 32;  // behind each other
constexpr std::pair<std::string_view, std::int64_t> kFloating[] = {
    {"float", sizeof(float)}, {"double", sizeof(double)}, {"long double", sizeof(long double)}};
// Attributes that change how values lie, and are not followed here.
constexpr std::string_view kUnknownLayouts[] = {"mode", "vector_size", "ms_struct",
                                                "scalar_storage_order"};
constexpr std::string_view kTypeof[] = {"typeof", "__typeof__", "__typeof"};
constexpr std::string_view kAssertions[] = {"_Static_assert", "static_assert", "asm", "__asm__"};
// So many definitions are looked through for a size as one word is read.
constexpr std::size_t kDefinitionsPerWord = 64;

bool is_one_of(const Token& token, auto& words) {
    return token.kind == Token::Kind::word &&
           std::ranges::find(words, token.text) != std::end(words);
}

}  // namespace

// A definition or a declaration, up to its ';', which may lack behind a '}'.
void Parser::c_definition() {
    const Token first = peek();
    if (take_if(";")) return;
    if (take_if("typedef")) return typedef_();
    if (is_one_of(first, kAssertions)) {
        take();
        return skip_declaration(false);
    }
    qualifiers();
    if (take_if(";")) return;
    if (!is("struct") && !is("union") && !is("enum")) return c_declaration(first);
    const std::size_t begin = next_;
    specifier();
    // Variables and functions of the type mean nothing here.
    skip_declaration(next_ > begin + 2);
}

// Of a variable or a function, which mean nothing here: only that it is one is looked at.
void Parser::c_declaration(const Token& first) {
    const std::size_t begin = next_;
    if (is_one_of(peek(), kTypeof)) {
        take();
        skip_parentheses();
    } else {
        while (peek().kind == Token::Kind::word && is_c_type_part(peek().text)) {
            take();
            qualifiers();
        }
        if (next_ == begin && peek().kind == Token::Kind::word) take();  // a typedef's name
    }
    qualifiers();
    const bool has_name = peek().kind == Token::Kind::word && !peek().begins_item;
    const bool is_function_pointer = is("(") && is("*", 1);
    // The word in front may be a macro of a header that is not read: EXPORT(int) f(void);
    if (is("struct") || is("union") || is("enum")) return c_definition();
    if (is_header_ && next_ != begin && is("(") && !is_function_pointer) return macro_use();
    if (next_ == begin || (!has_name && !is("*") && !is(";") && !is_function_pointer))
        fail_definition(first);
    skip_declaration(false);
}

// NAME(…), a macro of a header that is not read. What is a declaration with it goes to its end;
// what begins one, if only it may, is left.
void Parser::macro_use() {
    while (is("(")) skip_parentheses();
    const std::size_t name = peek().kind == Token::Kind::word ? 1 : 0;
    constexpr std::string_view kSigns[] = {"{", ",", "=", "[", "*"};
    const bool is_sign = std::ranges::find(kSigns, peek(name).text) != std::end(kSigns);
    if (is_sign || (name != 0 && is(";", 1))) skip_declaration(true);
}

void Parser::fail_definition(const Token& first) const {
    if (is_header_)
        fail(first, "begins no definition",
             "a header is in C: probes and macros stand in the script");
    fail(first, "begins no definition",
         "the C part of a script has struct, union, enum and typedef");
}

// Behind the ';' of a declaration, or the '}' of a function.
void Parser::skip_declaration(bool may_lack_semicolon) {
    bool is_value = false, is_function = false;
    std::size_t braces = 0;
    SourceRef open;
    while (!at_end() && !peek().begins_item) {
        const bool is_behind_parentheses = next_ > 0 && tokens_[next_ - 1].is(")");
        const Token token = take();
        is_value = is_value || token.is("=");
        if (token.is("{") && braces++ == 0) {
            is_function = is_behind_parentheses && !is_value;
            open = token.at;
        }
        if (token.is("}") && braces > 0 && --braces == 0 && is_function) return;
        if (token.is(";") && braces == 0) return;
    }
    if (braces > 0) throw Mistake{open, "the '}' that closes this is missing", ""};
    if (!may_lack_semicolon) fail_missing("a ';'");
}

// "(…)", with those in them.
void Parser::skip_parentheses() {
    std::size_t depth = 0;
    do {
        if (at_end() || peek().begins_item) fail_missing(depth == 0 ? "the '('" : "the ')'");
        depth += is("(") ? 1 : 0;
        depth -= is(")") ? 1 : 0;
        take();
    } while (depth > 0);
}

// typedef TYPE NAME, *NAME;
void Parser::typedef_() {
    Specifier base = specifier();
    do {
        Declarator declared = declarator(base.type);
        if (declared.name.empty()) fail_missing("the name of the type", "typedef TYPE NAME;");
        if (is("(")) {  // a function, to which there are only pointers
            skip_parentheses();
            declared.type = {};
            declared.type.name = "void";
            declared.type.at = declared.at;
        }
        // What has no name of its own is called as the first typedef calls it.
        if (!base.has_name) {
            base.has_name = true;
            base.type.name = declared.name;
            declared.type.name = declared.name;
            if (base.record != 0) work_.script.records[base.record - 1].name = declared.name;
            if (base.is_enum) work_.script.enums.back().name = declared.name;
        }
        work_.typedefs.insert(declared.name);
        const std::uint64_t alignment =
            std::max(declared.attributes.alignment, base.attributes.alignment);
        work_.script.typedefs.push_back(
            {std::move(declared.name), std::move(declared.type), alignment});
    } while (take_if(","));
    if (is(";") || !peek().begins_item) expect(";", "behind the typedef");
}

Parser::Specifier Parser::specifier() {
    const Deeper deeper(*this);
    attributes_ = {};
    qualifiers();
    if (is("struct") || is("union") || is("enum")) {
        const Attributes own = attributes_;
        Specifier made = is("enum") ? enum_specifier(take()) : record_specifier(take());
        made.attributes = own;
        return made;
    }
    Specifier plain;
    const Token first = peek();
    if (is_one_of(first, kTypeof)) {
        take();
        typeof_(plain.type);
        qualifiers();
        plain.type.at = from(first);
        plain.attributes = attributes_;
        return plain;
    }
    while (peek().kind == Token::Kind::word && is_c_type_part(peek().text)) {
        plain.type.name += cat(plain.type.name.empty() ? "" : " ", take().text);
        qualifiers();
    }
    if (plain.type.name.empty()) {
        if (peek().kind != Token::Kind::word || is_reserved(peek().text)) fail_missing("a type");
        plain.type.name = take().text;
        qualifiers();
    }
    plain.type.at = from(first);
    plain.attributes = attributes_;
    return plain;
}

// __attribute__((packed, aligned(8))); true if one was taken. Others change nothing here.
bool Parser::attribute() {
    if (!is("__attribute__")) return false;
    take();
    expect("(", "behind __attribute__");
    for (std::size_t depth = 1; depth > 0;) {
        if (at_end() || is(";")) fail_missing("the ')' of __attribute__");
        const Token word = take();
        for (const std::string_view name : kUnknownLayouts)
            if (word.is(name) || word.is(cat("__", name, "__")))
                throw Mistake{word.at, cat("the attribute '", name, "' is not known here"),
                              "it changes where values lie"};
        if (word.is("(")) ++depth;
        if (word.is(")")) --depth;
        if (word.is("packed") || word.is("__packed__")) attributes_.is_packed = true;
        if (word.is("aligned") || word.is("__aligned__")) {
            attributes_.alignment = kLargestAlignment;
            if (!take_if("(")) continue;
            const SourceRef place = peek().at;
            attributes_.alignment = length("the alignment");
            if (!std::has_single_bit(attributes_.alignment))
                throw Mistake{from(place), "an alignment is a power of 2", ""};
            expect(")", "behind the alignment");
        }
    }
    return true;
}

// _Alignas(16), _Alignas(TYPE), as __attribute__((aligned)).
bool Parser::alignas_() {
    if (!take_if("_Alignas")) return false;
    expect("(", "behind _Alignas");
    const SourceRef place = peek().at;
    attributes_.alignment = length("the alignment");
    if (!std::has_single_bit(attributes_.alignment))
        throw Mistake{from(place), "an alignment is a power of 2", ""};
    expect(")", "behind the alignment");
    return true;
}

// (TYPE), behind typeof.
void Parser::typeof_(TypeName& type) {
    expect("(", "behind typeof");
    type = type_name();
    if (type.of) throw Mistake{type.at, "typeof() of a value is not known in C here", ""};
    expect(")", "of typeof");
}

// struct NAME, struct NAME { MEMBERS }, struct { MEMBERS }
Parser::Specifier Parser::record_specifier(const Token& keyword) {
    Specifier made;
    made.type.kind = keyword.is("union") ? TypeName::Kind::union_ : TypeName::Kind::structure;
    attributes_ = {};
    while (attribute()) continue;
    const Attributes in_front = attributes_;
    if (peek().kind == Token::Kind::word) made.type.name = take().text;
    made.has_name = !made.type.name.empty();
    made.type.at = from(keyword);
    if (!is("{")) {
        if (!made.has_name) fail_missing(cat("the name of the ", keyword.text));
        qualifiers();
        return made;
    }
    CRecord record;
    record.name = made.type.name;
    record.is_union = keyword.is("union");
    record.at = made.type.at;
    members(record);
    record.pack = tokens_[next_ - 1].pack;
    attributes_ = {};
    qualifiers();
    record.is_packed = in_front.is_packed || attributes_.is_packed;
    record.alignment = std::max(in_front.alignment, attributes_.alignment);
    if (made.has_name && !work_.records.insert(record.name).second)
        throw Mistake{record.at, cat("'", keyword.text, " ", record.name, "' is defined already"),
                      ""};
    work_.script.records.push_back(std::move(record));
    made.record = work_.script.records.size();
    return made;
}

void Parser::members(CRecord& record) {
    const Token open = take();
    while (!take_if("}")) {
        if (at_end() || peek().begins_item)
            throw Mistake{open.at, "the '}' that closes this is missing", ""};
        const std::size_t begin = next_;
        try {
            member(record);
        } catch (const Mistake& mistake) {
            work_.report(mistake);
            if (work_.mistakes.is_full()) throw;
            if (next_ == begin) take();
            skip_statement();
        }
    }
}

// TYPE NAME, *NAME[4], NAME : 3;
void Parser::member(CRecord& record) {
    if (take_if(";")) return;
    Specifier base = specifier();
    if (base.is_enum && !base.has_name)
        base.type.name = work_.script.enums.back().name =
            cat("unnamed ", work_.script.enums.size());
    if (is(";")) {
        // An anonymous structure's members are members of this one; a named one is only defined.
        const bool is_anonymous = base.record != 0 && !base.has_name;
        if (!is_anonymous && base.record == 0 && !base.is_enum)
            fail_missing("the name of the member", "TYPE NAME;");
        if (is_anonymous) {
            CMember member;
            member.at = base.type.at;
            member.type = std::move(base.type);
            member.inner = base.record;
            record.members.push_back(std::move(member));
        }
    } else {
        do {
            Declarator declared = declarator(base.type);
            if (declared.name.empty() && !declared.bits)
                fail_missing("the name of the member", "TYPE NAME;");
            CMember member;
            member.name = std::move(declared.name);
            member.at = declared.at;
            member.type = std::move(declared.type);
            member.bits = declared.bits;
            member.alignment = std::max(declared.attributes.alignment, base.attributes.alignment);
            member.is_packed = declared.attributes.is_packed || base.attributes.is_packed;
            member.inner = base.record;
            record.members.push_back(std::move(member));
        } while (take_if(","));
    }
    if (!is("}")) expect(";", "behind the member");
}

Parser::Declarator Parser::declarator(const TypeName& base) {
    const Deeper deeper(*this);
    Declarator declared;
    const Token first = peek();
    declared.type.kind = base.kind;
    declared.type.name = base.name;
    declared.type.at = base.at;
    declared.type.pointers = base.pointers;
    type_suffix(declared.type, false);
    if (!base.dimensions.empty() && declared.type.pointers != base.pointers)
        fail(peek(), "cannot point to an array");
    if (is("(")) {
        function_declarator(declared);
    } else if (peek().kind == Token::Kind::word) {
        declared.name = take().text;
    }
    while (take_if("[")) {
        declared.type.dimensions.push_back(is("]") ? 0 : length("the length of the array"));
        expect("]", "behind the length of the array");
    }
    declared.type.dimensions.insert(declared.type.dimensions.end(), base.dimensions.begin(),
                                    base.dimensions.end());  // of typeof()
    if (take_if(":")) {
        const SourceRef place = peek().at;
        const std::uint64_t bits = length("the width of the bit field");
        if (bits > kWidestBitField) throw Mistake{place, "a bit field has at most 64 bits", ""};
        declared.bits = static_cast<unsigned>(bits);
    }
    attributes_ = {};
    qualifiers();
    declared.attributes = attributes_;
    declared.at = from(first);
    return declared;
}

// (*NAME)(PARAMETERS), (*NAME)[4], (*(*NAME)(PARAMETERS))(PARAMETERS): a pointer to something that
// scripts do not look into.
void Parser::function_declarator(Declarator& declared) {
    take();
    if (!is("*")) fail(peek(), "does not belong here");
    declared.type = {};
    declared.type.name = "void";
    type_suffix(declared.type, false);
    if (is("("))
        function_declarator(declared);
    else if (peek().kind == Token::Kind::word)
        declared.name = take().text;
    while (take_if("[")) {
        declared.type.dimensions.push_back(length("the length of the array"));
        expect("]", "behind the length of the array");
    }
    expect(")", "behind the name");
    const std::string_view close = is("[") ? "]" : ")";
    if (!is("[") && !is("(")) fail_missing("the '(' of the function's parameters");
    const std::string_view open = is("[") ? "[" : "(";
    std::size_t depth = 0;
    do {
        if (at_end() || is(";")) fail_missing(cat("the '", close, "'"));
        depth += is(open) ? 1 : 0;
        depth -= is(close) ? 1 : 0;
        take();
    } while (depth > 0);
}

// enum NAME, enum NAME { A, B = 4 }
Parser::Specifier Parser::enum_specifier(const Token& keyword) {
    Specifier made;
    made.type.kind = TypeName::Kind::enumeration;
    qualifiers();
    if (peek().kind == Token::Kind::word) made.type.name = take().text;
    made.has_name = !made.type.name.empty();
    made.type.at = from(keyword);
    if (!is("{")) {
        if (!made.has_name) fail_missing("the name of the enum");
        qualifiers();
        return made;
    }
    made.is_enum = true;
    CEnum definition{made.type.name, {}, made.type.at};
    enumerators(definition);
    work_.script.enums.push_back(std::move(definition));
    attributes_ = {};
    qualifiers();
    if (attributes_.is_packed)
        throw Mistake{made.type.at, "a packed enum is not known here", "a member of type char"};
    return made;
}

void Parser::enumerators(CEnum& definition) {
    take();
    std::int64_t next = 0;
    while (!take_if("}")) {
        const Token name = expect_word("the name of a constant");
        if (take_if("=")) next = constant("the value of the constant");
        definition.values.emplace_back(name.text, next);
        work_.enumerators.insert_or_assign(std::string(name.text), next);
        next = static_cast<std::int64_t>(static_cast<std::uint64_t>(next) + 1);
        if (!is("}") && !take_if(",")) fail_missing("a ',' or the '}'");
    }
}

// Of numbers, pointers, and typedefs and arrays of these; structures are laid out later.
std::optional<std::int64_t> Parser::bytes_of(const TypeName& type, int depth) const {
    std::optional<std::int64_t> bytes;
    if (depth > kMostTypedefs) return bytes;
    if (type.pointers != 0) {
        bytes = sizeof(std::uint64_t);
    } else if (type.kind == TypeName::Kind::plain) {
        for (const CTypedef& one : work_.script.typedefs)
            if (one.name == type.name) bytes = bytes_of(one.type, depth + 1);
        for (const auto& [name, size] : kFloating)
            if (name == type.name) bytes = size;
        if (const auto integer = find_c_integer(type.name); integer && !bytes)
            bytes = integer->bytes;
    }
    for (const std::uint64_t count : type.dimensions)
        if (bytes && __builtin_mul_overflow(*bytes, count, &*bytes)) bytes.reset();
    return bytes;
}

// Of whatever is defined until here, or in the World.
std::optional<std::int64_t> Parser::size_of_type(const TypeName& type) {
    if (const auto bytes = bytes_of(type, 0); bytes || !work_.input.world) return bytes;
    const Script& script = work_.script;
    work_.spend((script.records.size() + script.typedefs.size() + script.enums.size()) /
                    kDefinitionsPerWord,
                type.at);
    const TypeTable table(script, *work_.input.world);
    const TypePtr known = table.resolve(type);
    if (!known || known->is(Type::Kind::none)) return std::nullopt;
    const auto structure = table.structure(*known);
    if (known->is(Type::Kind::structure) && !structure) return std::nullopt;
    return static_cast<std::int64_t>(structure ? structure->bytes : known->bytes);
}

// What is neither a number nor an operator: an enumerator, a size, a number of another type.
std::optional<std::int64_t> Parser::c_value(const Expr& leaf) {
    switch (leaf.kind) {
        case Expr::Kind::size_of:
            return leaf.operands.empty() ? size_of_type(leaf.type_name) : std::nullopt;
        case Expr::Kind::identifier:
            return c_constant(leaf.text);
        case Expr::Kind::cast: {
            const auto integer = find_c_integer(leaf.type_name.name);
            if (!integer || leaf.type_name.pointers != 0) return std::nullopt;
            const auto value = constant_value(*leaf.operands[0],
                                              [&](const Expr& inner) { return c_value(inner); });
            if (!value || integer->bytes >= sizeof *value) return value;
            if (integer->is_bool) return *value != 0;
            const ir::Type type{static_cast<std::uint8_t>(integer->bytes), integer->is_signed};
            return static_cast<std::int64_t>(
                ir::converted(static_cast<std::uint64_t>(*value), type));
        }
        default:
            return std::nullopt;
    }
}

// The script's own, or of headers that are not read.
std::optional<std::int64_t> Parser::c_constant(const std::string& name) const {
    if (const auto own = work_.enumerators.find(name); own != work_.enumerators.end())
        return own->second;
    if (const auto number = uapi_constant(name); number || !work_.input.world) return number;
    const auto found = work_.input.world->enumerator(name);
    return found ? std::optional(found->number) : std::nullopt;
}

// A constant expression, in which the script's own enumerators are known.
std::int64_t Parser::constant(std::string_view what) {
    if (peek().kind == Token::Kind::positional) {
        const ExprPtr argument = operand();
        if (!argument->text.empty())
            return static_cast<std::int64_t>(number_value(argument->text, argument->at));
        throw Mistake{argument->at, cat(what, " is not given"), ""};
    }
    const bool is_inner = std::exchange(is_in_constant_, true);
    const ExprPtr expr = expression();
    is_in_constant_ = is_inner;
    const auto value = constant_value(*expr, [&](const Expr& leaf) { return c_value(leaf); });
    if (!value)
        throw Mistake{
            expr->at, cat(what, " is not a constant"),
            expr->kind == Expr::Kind::size_of ? "sizeof() is of a type that is known already" : ""};
    return *value;
}

// The same, where it says how many there are of something.
std::uint64_t Parser::length(std::string_view what) {
    const SourceRef begin = peek().at;
    const std::int64_t value = constant(what);
    if (value < 0 || value > kLargestArray)
        throw Mistake{from(begin), cat(what, " cannot be ", value), ""};
    return static_cast<std::uint64_t>(value);
}

}  // namespace gpufs::bt
