// Tokens with the directives followed: conditionals are decided, names of #define replaced by what
// they stand for, imported files put in their place.

#include <algorithm>
#include <array>
#include <iterator>

#include "base/path.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bt/parse/work.h"
#include "bt/syntax/constant.h"
#include "bt/syntax/literals.h"

namespace gpufs::bt {
namespace {

// Defines that stand for defines that stand for…, and uses in the arguments of uses.
constexpr std::size_t kMostNestedDefines = 64;
constexpr std::size_t kMostImports = 64;

// Headers of the kernel and of C: they are not read, so it does not matter whether they are
// installed.
bool is_known_header(std::string_view name) {
    constexpr std::string_view kFolders[] = {
        "acpi",        "arpa",   "asm",     "asm-generic", "bits",     "block",     "bpf",
        "clocksource", "crypto", "drivers", "drm",         "fs",       "generated", "hyperv",
        "keys",        "kernel", "kvm",     "linux",       "math-emu", "media",     "memory",
        "misc",        "mm",     "mtd",     "net",         "netinet",  "nvidia",    "pcmcia",
        "ras",         "rdma",   "rpc",     "scsi",        "soc",      "sound",     "sys",
        "target",      "trace",  "uapi",    "ufs",         "vdso",     "video",     "virt",
        "xen"};
    constexpr std::string_view kFiles[] = {
        "assert.h",  "ctype.h",  "dirent.h",   "elf.h",    "endian.h",  "errno.h",   "fcntl.h",
        "float.h",   "grp.h",    "inttypes.h", "limits.h", "math.h",    "netdb.h",   "poll.h",
        "pthread.h", "pwd.h",    "sched.h",    "signal.h", "stdarg.h",  "stdbool.h", "stddef.h",
        "stdint.h",  "stdio.h",  "stdlib.h",   "string.h", "syscall.h", "syslog.h",  "termios.h",
        "time.h",    "unistd.h", "vmlinux.h"};
    const std::size_t slash = name.find('/');
    if (slash == name.npos) return std::ranges::find(kFiles, name) != std::end(kFiles);
    return name.starts_with('/') || name.starts_with("../") ||
           std::ranges::find(kFolders, name.substr(0, slash)) != std::end(kFolders);
}

class Preprocessor {
public:
    Preprocessor(Work& work, std::size_t source, Lexer::Mode mode)
        : work_(work),
          source_(source),
          is_script_(mode == Lexer::Mode::script),
          lexer_(work.sources[source], {source, {0, work.sources[source].text.size()}}, mode,
                 [this](const Mistake& mistake) { work_.report(mistake); }) {}

    std::vector<Token> tokens() {
        try {
            for (Token token = lexer_.next(); !work_.mistakes.is_full(); token = take()) {
                if (token.kind == Token::Kind::directive)
                    recovering([&] { follow(token); });
                else if (token.is_in_function)
                    continue;
                else if (is_script_ && token.begins_item && token.is("import"))
                    recovering([&] { import(); });
                else if (token.kind == Token::Kind::word && find(token))
                    expand_use(token);
                else
                    add(token);
                if (token.kind == Token::Kind::end) break;
            }
        } catch (const Mistake& too_long) {
            work_.report(too_long);
        }
        for (const Open& open : open_) work_.report({open.at, "the #if has no #endif", ""});
        if (out_.empty() || out_.back().kind != Token::Kind::end) {
            const std::size_t size = work_.sources[source_].text.size();
            Token end;
            end.at = {source_, {size, size}};
            out_.push_back(end);
        }
        return std::move(out_);
    }

private:
    struct Open {
        SourceRef at;
        bool was_taken = false;
        bool has_else = false;
    };

    void add(const Token& token) {
        work_.spend(1, token.at);
        out_.push_back(token);
        out_.back().pack = work_.packs.back();
    }
    Token take() {
        if (!ahead_) return lexer_.next();
        const Token token = *ahead_;
        ahead_.reset();
        return token;
    }
    template <class Action>
    void recovering(const Action& action) {
        try {
            action();
        } catch (const Mistake& mistake) {
            if (work_.is_too_long()) throw;
            work_.report(mistake);
        }
    }

    const Define* find(const Token& token) const {
        const auto it = work_.defines.find(token.text);
        return it == work_.defines.end() ? nullptr : &it->second;
    }
    std::vector<Token> lex(SourceRef part) {
        Lexer lexer(work_.sources[source_], part, Lexer::Mode::line,
                    [this](const Mistake& mistake) { work_.report(mistake); });
        std::vector<Token> tokens;
        for (Token t = lexer.next(); t.kind != Token::Kind::end; t = lexer.next())
            tokens.push_back(t);
        return tokens;
    }

    void expand_use(const Token& token);
    void expand(std::vector<Token> tokens, std::vector<std::string_view>& active,
                std::vector<Token>& out);
    std::vector<Token> replaced(const Define& define, const Token& use,
                                const std::vector<std::vector<Token>>& arguments);

    void follow(const Token& directive);
    void define(const std::vector<Token>& words, SourceRef at);
    void include(const Token& directive);
    void pack(const std::vector<Token>& words, SourceRef at);
    void begin_if(const std::string_view word, const std::vector<Token>& words, SourceRef at);
    void go_on_if(std::string_view word, const std::vector<Token>& words, SourceRef at);
    void skip_group();
    bool holds(std::string_view word, const std::vector<Token>& words, SourceRef at);
    void import();
    void import_from(std::string folder, const std::vector<std::string>& files, SourceRef at);
    bool import_file(const std::string& file, SourceRef at);
    void skip_import();
    void parse_last(bool is_script);

    Work& work_;
    std::size_t source_;
    bool is_script_;
    Lexer lexer_;
    std::optional<Token> ahead_;
    std::vector<Open> open_;
    std::size_t nested_ = 0;  // calls of expand()
    std::vector<Token> out_;
};

void Preprocessor::expand_use(const Token& token) {
    std::vector<Token> use{token};
    if (find(token)->has_parameters) {
        ahead_ = lexer_.next();
        std::ptrdiff_t braces = 0;
        for (std::size_t depth = 0; ahead_->kind != Token::Kind::end;) {
            if (use.size() == 1 && !ahead_->is("(")) break;
            if (ahead_->begins_item || ahead_->kind == Token::Kind::directive) break;
            // A ';' is in no argument but in a block.
            braces += ahead_->is("{") ? 1 : 0;
            braces -= ahead_->is("}") ? 1 : 0;
            if (braces < 0 || (braces == 0 && ahead_->is(";"))) break;
            depth += ahead_->is("(") ? 1 : 0;
            depth -= ahead_->is(")") ? 1 : 0;
            work_.spend(1, token.at);
            use.push_back(take());
            if (depth == 0) break;
            ahead_ = lexer_.next();
        }
    }
    std::vector<Token> out;
    std::vector<std::string_view> active;
    nested_ = 0;
    try {
        expand(std::move(use), active, out);
    } catch (const Mistake& mistake) {
        if (work_.is_too_long()) throw;
        work_.report(mistake);
    }
    if (!out.empty()) out[0].begins_item = token.begins_item;
    for (Token& made : out) made.pack = work_.packs.back();
    std::ranges::move(out, std::back_inserter(out_));
}

// Appends the tokens, and for those that are names of #define what they stand for. A name does not
// stand for itself inside of its own text.
void Preprocessor::expand(std::vector<Token> tokens, std::vector<std::string_view>& active,
                          std::vector<Token>& out) {
    if (tokens.empty()) return;
    if (++nested_ > kMostNestedDefines)
        throw Mistake{tokens.front().at, "more than 64 uses of #define are nested here", ""};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        const Define* define = token.kind == Token::Kind::word ? find(token) : nullptr;
        const bool is_call = i + 1 < tokens.size() && tokens[i + 1].is("(");
        if (define == nullptr || (define->has_parameters && !is_call) ||
            std::ranges::find(active, token.text) != active.end()) {
            work_.spend(1, token.at);
            out.push_back(token);
            continue;
        }
        std::vector<std::vector<Token>> arguments;
        const std::size_t name = i;
        if (define->has_parameters) {
            arguments.emplace_back();
            std::size_t depth = 0;
            for (++i; i < tokens.size(); ++i) {
                depth += tokens[i].is("(") ? 1 : 0;
                depth -= tokens[i].is(")") ? 1 : 0;
                if (depth == 0) break;
                if (depth == 1 && tokens[i].is(","))
                    arguments.emplace_back();
                else if (depth > 1 || !tokens[i].is("(")) {
                    work_.spend(1, tokens[i].at);
                    arguments.back().push_back(tokens[i]);
                }
            }
            if (i == tokens.size())
                throw Mistake{tokens[name].at, "the ')' of its arguments is missing", ""};
            for (std::vector<Token>& argument : arguments) {
                std::vector<Token> expanded;
                expand(std::move(argument), active, expanded);
                argument = std::move(expanded);
            }
        }
        std::vector<Token> body = replaced(*define, tokens[name], arguments);
        active.push_back(tokens[name].text);
        expand(std::move(body), active, out);
        active.pop_back();
    }
    --nested_;
}

// The text of a #define with its arguments, placed where it is used.
std::vector<Token> Preprocessor::replaced(const Define& define, const Token& use,
                                          const std::vector<std::vector<Token>>& arguments) {
    if (define.is_variadic)
        throw Mistake{use.at,
                      cat("'", use.text,
                          "' takes any number of arguments (...), which is not known "
                          "here"),
                      ""};
    const bool has_none =
        define.parameters.empty() && arguments.size() == 1 && arguments[0].empty();
    if (define.has_parameters && !has_none && arguments.size() != define.parameters.size())
        throw Mistake{use.at,
                      cat("'", use.text, "' takes ", counted(define.parameters.size(), "argument"),
                          ", not ", arguments.size()),
                      ""};
    std::vector<Token> out;
    for (const Token& token : define.body) {
        if (token.is("#") || token.is("##"))
            throw Mistake{
                use.at, cat("'", use.text, "' uses ", token.text, ", which is not known here"), ""};
        if (token.kind == Token::Kind::strange)
            throw Mistake{
                use.at,
                cat("'", use.text, "' stands for ", token.text, ", which means nothing here"), ""};
        const auto parameter = std::ranges::find(define.parameters, token.text);
        if (token.kind == Token::Kind::word && parameter != define.parameters.end()) {
            const auto index = static_cast<std::size_t>(parameter - define.parameters.begin());
            out.insert(out.end(), arguments[index].begin(), arguments[index].end());
        } else {
            out.push_back(token);
            out.back().at = use.at;
        }
        work_.spend(1, use.at);
    }
    return out;
}

void Preprocessor::follow(const Token& directive) {
    const std::size_t begin = directive.at.span.begin + 1;
    std::vector<Token> words = lex({source_, {begin, directive.at.span.end}});
    if (words.empty()) return;
    const Token name = words.front();
    words.erase(words.begin());
    const SourceRef at = {source_, {directive.at.span.begin, name.at.span.end}};
    static const std::vector<std::string> kNames{"include", "define", "undef",   "if",
                                                 "ifdef",   "ifndef", "elif",    "else",
                                                 "endif",   "error",  "warning", "pragma"};
    if (name.is("if") || name.is("ifdef") || name.is("ifndef")) {
        begin_if(name.text, words, at);
    } else if (name.is("elif") || name.is("else") || name.is("endif")) {
        go_on_if(name.text, words, at);
    } else if (name.is("include")) {
        include(directive);
    } else if (name.is("define")) {
        define(words, at);
    } else if (name.is("undef")) {
        if (!words.empty())
            if (const auto it = work_.defines.find(words[0].text); it != work_.defines.end())
                work_.defines.erase(it);
    } else if (name.is("error")) {
        const std::string_view text =
            directive.text.substr(name.at.span.end - directive.at.span.begin);
        throw Mistake{directive.at, cat("#error", text), ""};
    } else if (name.is("pragma")) {
        if (!words.empty() && words[0].is("pack")) pack(words, directive.at);
    } else if (!name.is("warning") && !name.is("line")) {
        throw Mistake{at, cat("there is no directive #", name.text),
                      did_you_mean(name.text, kNames)};
    }
}

void Preprocessor::define(const std::vector<Token>& words, SourceRef at) {
    if (words.empty() || words[0].kind != Token::Kind::word)
        throw Mistake{at, "#define needs a name", "#define NAME VALUE"};
    Define define;
    std::size_t body = 1;
    if (words.size() > 1 && words[1].is("(") && !words[1].has_blank_before) {
        define.has_parameters = true;
        for (body = 2; body < words.size() && !words[body].is(")"); ++body) {
            // "..." is lexed as two signs.
            const bool is_rest =
                words[body].is("..") && body + 1 < words.size() && words[body + 1].is(".");
            define.is_variadic = define.is_variadic || is_rest;
            if (words[body].kind == Token::Kind::word)
                define.parameters.emplace_back(words[body].text);
            else if (is_rest)
                ++body;
            else if (!words[body].is(","))
                throw Mistake{words[body].at, "a parameter of #define is a name", ""};
        }
        if (body == words.size()) throw Mistake{at, "the ')' of the parameters is missing", ""};
        ++body;
    }
    define.body.assign(words.begin() + static_cast<std::ptrdiff_t>(body), words.end());
    work_.defines.insert_or_assign(std::string(words[0].text), std::move(define));
}

// #pragma pack(N), pack(push), pack(push, N), pack(pop), pack()
void Preprocessor::pack(const std::vector<Token>& words, SourceRef at) {
    std::vector<std::uint8_t>& packs = work_.packs;
    std::size_t next = 1;
    const auto take = [&](std::string_view sign) {
        const bool is_there = next < words.size() && words[next].is(sign);
        next += is_there;
        return is_there;
    };
    bool is_known = take("(");
    if (take("pop")) {
        if (packs.size() == 1) throw Mistake{at, "there is no pack(push) in front of it", ""};
        packs.pop_back();
    } else {
        const bool is_push = take("push");
        if (is_push) packs.push_back(packs.back());
        const bool has_number = !is_push || take(",");
        if (has_number && next < words.size() && words[next].kind == Token::Kind::number) {
            const std::uint64_t bytes = number_value(words[next++]);
            if (bytes > 16 || (bytes & (bytes - 1)) != 0)
                throw Mistake{at, "members are packed to 1, 2, 4, 8 or 16 bytes", ""};
            packs.back() = static_cast<std::uint8_t>(bytes);
        } else if (is_push) {
            is_known = is_known && !has_number;
        } else {
            packs.back() = 0;
        }
    }
    if (!is_known || !take(")") || next != words.size())
        throw Mistake{at, "this form of #pragma pack is not known here",
                      "pack(N), pack(push, N), pack(pop), pack()"};
}

// Remembers the name between <> or "".
void Preprocessor::include(const Token& directive) {
    const std::string_view text = directive.text;
    const std::size_t open = text.find_first_of("<\"");
    const std::size_t close =
        open == text.npos ? open : text.find(text[open] == '<' ? '>' : '"', open + 1);
    if (close == text.npos || close == open + 1)
        throw Mistake{directive.at, "#include needs the name of a header",
                      "#include <linux/sched.h>"};
    const std::string name(text.substr(open + 1, close - open - 1));
    if (work_.imported.contains(name)) return;
    if (work_.input.read && !is_known_header(name)) {
        auto own = work_.input.read(name);
        if (!own)
            throw Mistake{directive.at, cat("'", name, "' file not found"),
                          "it is looked for beside the script, and where -I says"};
        if (work_.sources.size() > kMostImports)
            throw Mistake{directive.at, "more than 64 files are included", ""};
        work_.imported.insert(name);
        work_.sources.push_back(std::move(*own));
        return parse_last(name.ends_with(".bt"));
    }
    if (!is_known_header(name)) throw Mistake{directive.at, cat("'", name, "' file not found"), ""};
    work_.script.includes.push_back(name);
}

void Preprocessor::begin_if(std::string_view word, const std::vector<Token>& words, SourceRef at) {
    open_.push_back({at, false, false});
    bool is_taken = false;
    recovering([&] { is_taken = holds(word, words, at); });
    open_.back().was_taken = is_taken;
    if (!is_taken) skip_group();
}

void Preprocessor::go_on_if(std::string_view word, const std::vector<Token>& words, SourceRef at) {
    if (open_.empty()) throw Mistake{at, cat("#", word, " without #if"), ""};
    if (word == "endif") {
        open_.pop_back();
        return;
    }
    Open& open = open_.back();
    if (open.has_else) throw Mistake{at, cat("#", word, " behind #else"), ""};
    open.has_else = word == "else";
    const bool is_taken = !open.was_taken && (word == "else" || holds("if", words, at));
    open.was_taken = open.was_taken || is_taken;
    if (!is_taken) skip_group();
}

// Up to the #elif, #else or #endif that belongs to the #if that is open: it is the next token.
void Preprocessor::skip_group() {
    for (std::size_t depth = 0;;) {
        lexer_.skip_to_directive();
        ahead_ = lexer_.next();
        if (ahead_->kind != Token::Kind::directive) return;
        Scan scan(ahead_->text);
        scan.take("#");
        scan.take_all([](char c) { return c == ' ' || c == '\t'; });
        const std::string_view word = scan.take_all(is_word_char);
        if (depth == 0 && (word == "elif" || word == "else" || word == "endif")) return;
        if (word == "if" || word == "ifdef" || word == "ifndef") ++depth;
        if (word == "endif") --depth;
    }
}

bool Preprocessor::holds(std::string_view word, const std::vector<Token>& words, SourceRef at) {
    if (words.empty()) throw Mistake{at, cat("#", word, " needs a condition"), ""};
    if (word != "if") return (find(words[0]) != nullptr) == (word == "ifdef");
    std::vector<Token> decided;
    for (std::size_t i = 0; i < words.size(); ++i) {
        Token token = words[i];
        if (token.is("defined")) {
            const bool has_parentheses = i + 1 < words.size() && words[i + 1].is("(");
            i += has_parentheses ? 2 : 1;
            if (i >= words.size() || words[i].kind != Token::Kind::word)
                throw Mistake{token.at, "defined() needs a name", ""};
            token.kind = Token::Kind::number;
            token.text = find(words[i]) ? "1" : "0";
            if (has_parentheses) ++i;
        }
        decided.push_back(token);
    }
    std::vector<Token> expanded;
    std::vector<std::string_view> active;
    nested_ = 0;
    expand(std::move(decided), active, expanded);
    // The end stands where the line ends.
    Token end;
    end.at = {source_, {words.back().at.span.end, words.back().at.span.end}};
    expanded.push_back(end);
    const ExprPtr condition = parse_one_expression(work_, std::move(expanded));
    // As in C, a name that stands for nothing is 0; and what asks a compiler, __has_attribute(x),
    // or is of headers that are not read, __GNUC_PREREQ(4, 3).
    const auto value = constant_value(*condition, [](const Expr& leaf) {
        const bool is_nothing = leaf.kind == Expr::Kind::identifier ||
                                (leaf.kind == Expr::Kind::call && leaf.text.starts_with("__"));
        return is_nothing ? std::optional<std::int64_t>(0) : std::nullopt;
    });
    if (!value) throw Mistake{condition->at, "the condition of #if is not a constant", ""};
    return *value != 0;
}

// Behind the ';' of an import.
void Preprocessor::skip_import() {
    for (Token token = take(); !token.is(";"); token = take())
        if (token.begins_item || token.kind == Token::Kind::end) {
            ahead_ = token;
            return;
        }
}

// import "NAME";
void Preprocessor::import() {
    const Token name = take();
    if (name.kind != Token::Kind::string) {
        if (!name.is(";")) skip_import();
        throw Mistake{name.at, "import needs the name of a file in quotes",
                      "import \"common.bt\";"};
    }
    if (Token semicolon = take(); !semicolon.is(";")) ahead_ = semicolon;
    const std::string file = string_value(name);
    if (file.ends_with(".c") || file.ends_with(".o"))
        throw Mistake{name.at, cat("'", file, "' needs a C compiler, which there is none of here"),
                      "import .bt and .h files"};
    if (import_file(file, name.at)) return;
    const auto files = work_.input.list ? work_.input.list(file) : std::nullopt;
    if (!files) throw Mistake{name.at, cat("there is no file '", file, "' to import"), ""};
    import_from(file, *files, name.at);
}

// The source that was added.
void Preprocessor::parse_last(bool is_script) {
    const std::size_t source = work_.sources.size() - 1;
    if (is_script) return parse_items(work_, preprocess(work_, source));
    parse_header(work_, preprocess(work_, source, Lexer::Mode::header));
}

// What is no script and no header is left out, as are folders.
void Preprocessor::import_from(std::string folder, const std::vector<std::string>& files,
                               SourceRef at) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    for (const std::string& file : files)
        if (file.ends_with(".bt") || file.ends_with(".h")) import_file(cat(folder, '/', file), at);
}

// Once, by whatever name, and not the script itself. False where there is no such file.
bool Preprocessor::import_file(const std::string& file, SourceRef at) {
    if (work_.imported.contains(file)) return true;
    auto text = work_.input.read ? work_.input.read(file) : std::nullopt;
    if (!text) return false;
    if (work_.sources.size() > kMostImports)
        throw Mistake{at, "more than 64 files are imported", ""};
    work_.imported.insert(file);
    const std::string path = normal_path(text->name);
    const auto is_it = [&](const SourceText& read) { return normal_path(read.name) == path; };
    if (std::ranges::any_of(work_.sources, is_it)) return true;
    work_.sources.push_back(std::move(*text));
    parse_last(!file.ends_with(".h"));
    return true;
}

}  // namespace

std::vector<Token> preprocess(Work& work, std::size_t source, Lexer::Mode mode) {
    return Preprocessor(work, source, mode).tokens();
}

}  // namespace gpufs::bt
