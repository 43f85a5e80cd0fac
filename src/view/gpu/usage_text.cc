#include "view/gpu/usage_text.h"

#include <algorithm>
#include <cmath>

#include "base/cat.h"
#include "base/find_by_name.h"
#include "base/printable.h"
#include "base/text.h"
#include "view/json.h"
#include "view/size.h"
#include "view/table.h"

namespace gpufs {
namespace {

using Region = DrmClient::Region;

// Tenths of a percent: "62.5".
std::string percent(double share) {
    constexpr double kTenths = 1000, kMost = 1e15;
    const auto tenths = static_cast<std::uint64_t>(std::llround(std::min(share * kTenths, kMost)));
    return cat(tenths / 10, '.', tenths % 10);
}

// Names in the order in which they first appear.
template <class Part>
std::vector<std::string> names_of(const std::vector<ProcessUse>& processes,
                                  std::vector<Part> ProcessUse::*parts) {
    std::vector<std::string> names;
    for (const ProcessUse& process : processes)
        for (const Part& part : process.*parts)
            if (std::ranges::find(names, part.name) == names.end()) names.push_back(part.name);
    return names;
}

std::optional<double> share_of(const ProcessUse& process, std::string_view engine) {
    const EngineUse* use = find_by_name(process.engines, engine);
    return use ? use->share : std::nullopt;
}
std::optional<std::uint64_t> memory_of(const ProcessUse& process, std::string_view name) {
    const Region* region = find_by_name(process.regions, name);
    return region ? region->bytes() : std::nullopt;
}

std::string cell(const std::optional<double>& share) {
    return share ? percent(*share) + '%' : "-";
}
std::string cell(const std::optional<std::uint64_t>& bytes) {
    return bytes ? size_text(*bytes) : "-";
}

std::string engine_json(const EngineUse& use) {
    JsonObject engine;
    engine.text("engine", use.name).number("capacity", use.capacity);
    engine.number_or_null("busy_ns", use.busy_ns);
    if (use.share) return engine.raw("busy_percent", percent(*use.share)).done();
    return engine.null("busy_percent").done();
}

std::string region_json(const Region& region) {
    JsonObject json;
    json.text("region", region.name);
    json.number_or_null("total_bytes", region.total);
    json.number_or_null("shared_bytes", region.shared);
    json.number_or_null("resident_bytes", region.resident);
    json.number_or_null("active_bytes", region.active);
    return json.number_or_null("purgeable_bytes", region.purgeable).done();
}

}  // namespace

std::string usage_text(const Gpu& gpu, const GpuUse& use, const Screen& screen) {
    if (use.processes.empty()) return {};
    const auto engines = names_of(use.processes, &ProcessUse::engines);
    const auto regions = names_of(use.processes, &ProcessUse::regions);
    std::vector<Table::Column> columns = {{"COMM", Table::Align::left}, {"PID"}};
    for (const auto* names : {&engines, &regions})
        for (const std::string& name : *names) columns.push_back({printable(upper_case(name))});
    Table table(std::move(columns));
    std::vector<std::optional<double>> shares(engines.size());
    std::vector<std::optional<std::uint64_t>> sizes(regions.size());
    const auto add_row = [&](std::vector<std::string> row, const auto& each_share,
                             const auto& each_size) {
        for (std::size_t i = 0; i < engines.size(); ++i) row.push_back(cell(each_share(i)));
        for (std::size_t i = 0; i < regions.size(); ++i) row.push_back(cell(each_size(i)));
        table.add(row);
    };
    for (const ProcessUse& process : use.processes) {
        const auto share = [&](std::size_t i) { return share_of(process, engines[i]); };
        const auto size = [&](std::size_t i) { return memory_of(process, regions[i]); };
        add_row({printable(process.comm), cat(process.pid)}, share, size);
        for (std::size_t i = 0; i < engines.size(); ++i) add_known(shares[i], share(i));
        for (std::size_t i = 0; i < regions.size(); ++i) add_known(sizes[i], size(i));
    }
    const bool has_numbers = !engines.empty() || !regions.empty();
    if (use.processes.size() > 1 && has_numbers)
        add_row(
            {"all", "-"}, [&](std::size_t i) { return shares[i]; },
            [&](std::size_t i) { return sizes[i]; });
    const std::string driver = gpu.driver.empty() ? "" : cat(" (", gpu.driver, ")");
    return cat(printable(cat(gpu.name, driver)), " by process\n", table.to_text(screen));
}

std::string usage_json(const Gpu& gpu, const GpuUse& use) {
    JsonArray processes;
    for (const ProcessUse& process : use.processes) {
        JsonArray engines, memory;
        for (const EngineUse& engine : process.engines) engines.add(engine_json(engine));
        for (const Region& region : process.regions) memory.add(region_json(region));
        JsonObject one;
        one.text("comm", process.comm).number("pid", process.pid);
        one.number("clients", process.clients).raw("engines", engines.done());
        processes.add(one.raw("memory", memory.done()).done());
    }
    return JsonObject().text("gpu_use", gpu.name).raw("processes", processes.done()).done();
}

}  // namespace gpufs
