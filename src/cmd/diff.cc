
#include <algorithm>

#include "base/error.h"
#include "base/scan.h"
#include "base/whole_file.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/pictures.h"
#include "cmd/shared/screen.h"
#include "cmd/shared/source_input.h"
#include "view/monitor/folded.h"
#include "view/pictures/flame_svg.h"
#include "view/pictures/stack_diff.h"

namespace gpufs {
namespace {

bool is_number(const StackFrame& frame) {
    return !frame.name.empty() && std::ranges::all_of(frame.name, is_digit);
}

// Without the ids of processes, which are others in each run.
std::vector<CountedStack> read_folded(const std::string& path) {
    std::vector<CountedStack> stacks = parse_folded(read_source(path));
    for (CountedStack& stack : stacks) std::erase_if(stack.frames, is_number);
    return stacks;
}

}  // namespace

int cmd_diff(Context& ctx, Args args) {
    PictureChoices pictures;
    std::vector<std::string> words;
    std::optional<unsigned long> top;
    bool json = false;
    Controls controls = Controls::escaped;
    Options options("diff OLD NEW [--flame FILE] [--top N]",
                    "Compares the stacks of two runs, files that --folded printed: which functions "
                    "took\na larger or a smaller share of all, by what they weigh themselves.");
    add_picture_options(options, pictures);
    options.count("top", top, "show the N largest changes (default: 20)")
        .output()
        .json(json)
        .raw(controls);
    if (!options.parse(ctx, args, words)) return kOk;
    check_pictures(pictures);
    check_words(words, 2, "diff compares two files");
    if (words.size() < 2)
        throw UsageError("diff needs two files of folded stacks",
                         "'gpufs run profile --folded -o FILE' makes one");
    if (words[0] == "-" && words[1] == "-")
        throw UsageError("standard input can be read only once: '-'");
    for (const std::string& file : words) check_written(ctx, pictures, file, "what is compared");
    std::optional<WholeFile> flame;
    if (pictures.flame) flame.emplace(*pictures.flame);
    const StackDiff diff{read_folded(words[0]), read_folded(words[1])};
    constexpr unsigned long kTop = 20;
    ctx.out.write(json ? diff_json(diff)
                       : diff_text(diff, top.value_or(kTop), controls, screen_of(ctx.out.fd())));
    ctx.out.flush();
    if (flame)
        flame->write(flame_svg(diff.panels(pictures.is_reversed),
                               {pictures.title.value_or(cat("from ", words[0], " to ", words[1])),
                                pictures.is_icicle}));
    return kOk;
}

}  // namespace gpufs
