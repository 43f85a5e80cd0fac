#include "bt/parse/parse.h"

#include <iterator>

#include "base/error.h"
#include "bt/parse/library.h"
#include "bt/parse/parser.h"
#include "bt/parse/work.h"

namespace gpufs::bt {
namespace {

// What every script finds defined, as in the C part's own language.
constexpr std::string_view kPredefined =
    "#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))\n"
    "#define __linux__ 1\n"
    "#define __BEGIN_DECLS\n"
    "#define __END_DECLS\n"
#ifdef __x86_64__
    "#define __x86_64__ 1\n"
#endif
#ifdef __aarch64__
    "#define __aarch64__ 1\n"
#endif
    ;

void predefine(Work& work) {
    std::string text(kPredefined);
    if (work.input.has_btf) text += "#define BPFTRACE_HAVE_BTF 1\n";
    for (const auto& [name, value] : work.input.defines)
        text += cat("#define ", name, ' ', value, '\n');
    work.sources.push_back({"", std::move(text)});
    preprocess(work, work.sources.size() - 1);
    if (work.input.includes.empty()) return;
    std::string headers;
    for (const std::string& name : work.input.includes) headers += cat("#include \"", name, "\"\n");
    work.sources.push_back({"--include", std::move(headers)});
    preprocess(work, work.sources.size() - 1);
}

// The script's arguments: those that getopt() asks for, where it is used, and the others.
void sort_arguments(Work& work) {
    const std::string& text = work.input.source.text;
    const bool has_options = text.find("getopt") != text.npos || text.find("import") != text.npos;
    for (const std::string& argument : work.input.arguments) {
        if (!has_options || !argument.starts_with("--") || argument.size() == 2) {
            work.positional.push_back(argument);
            continue;
        }
        const std::size_t sign = argument.find('=');
        const std::size_t name_end = sign == argument.npos ? argument.size() : sign;
        work.options[argument.substr(2, name_end - 2)] =
            sign == argument.npos ? "" : argument.substr(sign + 1);
    }
}

}  // namespace

void parse_items(Work& work, std::vector<Token> tokens) {
    // What is cut off makes no sense.
    if (!work.is_too_long()) Parser(work, std::move(tokens)).items();
}

void parse_header(Work& work, std::vector<Token> tokens) {
    if (!work.is_too_long()) Parser(work, std::move(tokens)).header();
}

ExprPtr parse_one_expression(Work& work, std::vector<Token> tokens) {
    return Parser(work, std::move(tokens)).only_expression();
}

Script parse(const ParseInput& input) {
    Work work(input);
    work.sources.push_back(input.source);
    sort_arguments(work);
    predefine(work);
    parse_items(work, preprocess(work, 0));
    if (work.mistakes.empty()) {
        work.sources.push_back({kLibraryName, std::string(kLibrary)});
        parse_items(work, preprocess(work, work.sources.size() - 1));
    }
    const auto finish = [&](const auto& pass) {
        if (!work.mistakes.empty()) return;
        try {
            pass(work);
        } catch (const Mistake& mistake) {
            work.report(mistake);
        }
    };
    finish(expand_macros);
    finish(resolve_options);
    if (work.mistakes.empty() && work.script.probes.empty())
        work.report(
            {{0, {0, 0}}, "the script has no probe", "a probe is PROVIDER:TARGET { STATEMENTS }"});
    work.mistakes.throw_if_any();
    work.script.sources.assign(std::make_move_iterator(work.sources.begin()),
                               std::make_move_iterator(work.sources.end()));
    return std::move(work.script);
}

}  // namespace gpufs::bt
