#include "engine/doctor.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "cmd/run/gpu_section.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "engine/gpu/clients.h"
#include "engine/gpu/names.h"
#include "view/gpu/gpu_text.h"
#include "view/json.h"

namespace gpufs {
namespace {

std::string_view to_text(Finding::Answer answer) {
    switch (answer) {
        case Finding::Answer::yes:
            return "yes";
        case Finding::Answer::no:
            return "no";
        case Finding::Answer::could_not_tell:
            break;
    }
    return "could not tell";
}

// All GPUs, and who has them open.
std::vector<Finding> examine_gpus(Context& ctx) {
    const std::vector<Gpu> gpus = find_named_gpus();
    if (gpus.empty())
        return {{Finding::Answer::no, "GPU", "none on the PCI bus, and no driver has one", {}}};
    const GpuClients clients = read_gpu_clients(gpus);
    if (const std::string note = unreadable_text(clients.unreadable); !note.empty())
        ctx.err.line(note);
    std::vector<Finding> findings;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        std::string text = gpu_text(gpus[i], clients.holders[i]);
        if (gpus[i].driver.empty())
            findings.push_back({Finding::Answer::no, "GPU", std::move(text),
                                "load its driver: 'lspci -k' names modules that know it"});
        else
            findings.push_back({Finding::Answer::yes, "GPU", std::move(text), {}});
    }
    return findings;
}

}  // namespace

int cmd_doctor(Context& ctx, Args args) {
    std::vector<std::string> words;
    bool json = false;
    Options options(
        "doctor [--json]",
        "Says what this kernel and this user can do, a line each, and the one fix where\n"
        "something is missing. Changes nothing, needs no root.");
    options.output().json(json);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0);
    std::vector<Finding> findings = examine_machine();
    std::ranges::move(examine_gpus(ctx), std::back_inserter(findings));
    std::size_t width = 0;
    for (const Finding& finding : findings) width = std::max(width, finding.what.size());
    for (const Finding& finding : findings) {
        if (json) {
            JsonObject line;
            line.text("what", finding.what).text("answer", to_text(finding.answer));
            line.text("detail", finding.detail);
            line.text_or_null("fix", finding.fix);
            ctx.out.line(line.done());
            continue;
        }
        const std::string_view answer =
            finding.answer == Finding::Answer::could_not_tell ? "?" : to_text(finding.answer);
        ctx.out.line(cat(answer, std::string(5 - answer.size(), ' '), finding.what,
                         std::string(width - finding.what.size() + 2, ' '), finding.detail));
        if (!finding.fix.empty())
            ctx.out.line(cat("     ", std::string(width + 2, ' '), "fix: ", finding.fix));
    }
    return kOk;
}

}  // namespace gpufs
