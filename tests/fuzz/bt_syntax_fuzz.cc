// Scripts: any bytes make a tree, or mistakes at places of the text; the same each time.

#include "base/error.h"
#include "bt/parse/parse.h"
#include "bt/syntax/ast_text.h"
#include "fuzz/fuzz.h"

namespace gpufs::fuzz {
namespace {

std::string tree_or_mistakes(const bt::ParseInput& input) {
    try {
        return bt::ast_text(bt::parse(input));
    } catch (const UsageError& e) {
        expect(!std::string_view(e.what()).empty());
        return e.what();
    }
}

}  // namespace

void one(std::span<const std::uint8_t> bytes) {
    bt::ParseInput input;
    input.source = {"fuzz", text_of(bytes)};
    input.arguments = {"7", "kprobe:f", "--verbose", "--count=3"};
    input.has_btf = bytes.size() % 2 == 0;
    input.read = [](const std::string& name) -> std::optional<SourceText> {
        if (name != "lib.bt") return std::nullopt;
        return SourceText{"lib.bt",
                          "#define FOUR 4\nmacro twice(x) { x; x }\nstruct s { int a; };\n"};
    };
    expect(tree_or_mistakes(input) == tree_or_mistakes(input));
}

}  // namespace gpufs::fuzz
