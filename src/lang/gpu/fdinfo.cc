#include "lang/gpu/fdinfo.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/find_by_name.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

using Engine = DrmClient::Engine;
using Region = DrmClient::Region;
using Number = std::optional<std::uint64_t>;

// "1260 KiB", "799999987 Hz", "14": in bytes, Hz, or as it is. Absent if it is no number of a known
// unit.
Number parse_amount(std::string_view text) {
    static const std::map<std::string_view, std::uint64_t, std::less<>> kUnits = {
        {"", 1},   {"ns", 1},      {"KiB", 1 << 10}, {"MiB", 1 << 20},   {"GiB", 1 << 30},
        {"Hz", 1}, {"KHz", 1'000}, {"kHz", 1'000},   {"MHz", 1'000'000}, {"GHz", 1'000'000'000}};
    Scan scan(text);
    const Number number = scan.take_number<std::uint64_t>();
    if (!number) return std::nullopt;
    const auto unit = kUnits.find(trim(scan.rest()));
    if (unit == kUnits.end()) return std::nullopt;
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return *number > kMost / unit->second ? kMost : *number * unit->second;
}

void set_capacity(Engine& engine, std::uint64_t number) {
    engine.capacity = std::max<std::uint64_t>(number, 1);
}
template <auto member>
void set(auto& part, std::uint64_t number) {
    part.*member = number;
}
// The old key of resident, which some drivers print beside the new one.
void set_memory(Region& region, std::uint64_t number) {
    if (!region.resident) region.resident = number;
}

template <class Part>
struct KeyOf {
    std::string_view prefix;
    void (*set)(Part&, std::uint64_t);
};
// A prefix of another one stands behind it.
constexpr KeyOf<Engine> kEngineKeys[] = {{"engine-capacity-", set_capacity},
                                         {"engine-", set<&Engine::busy_ns>},
                                         {"total-cycles-", set<&Engine::all_cycles>},
                                         {"cycles-", set<&Engine::cycles>},
                                         {"maxfreq-", set<&Engine::max_hz>}};
constexpr KeyOf<Region> kRegionKeys[] = {
    {"memory-", set_memory},           {"total-", set<&Region::total>},
    {"shared-", set<&Region::shared>}, {"resident-", set<&Region::resident>},
    {"active-", set<&Region::active>}, {"purgeable-", set<&Region::purgeable>}};

template <class Part, std::size_t size>
bool take_amount(const KeyOf<Part> (&keys)[size], std::vector<Part>& parts, std::string_view key,
                 std::uint64_t number) {
    for (const KeyOf<Part>& one : keys) {
        if (!key.starts_with(one.prefix)) continue;
        one.set(find_or_add_by_name(parts, key.substr(one.prefix.size())), number);
        return true;
    }
    return false;
}

}  // namespace

std::optional<DrmClient> parse_drm_client(std::string_view fdinfo) {
    DrmClient client;
    for (const std::string_view line : lines_of(fdinfo)) {
        Scan scan(line);
        if (!scan.take("drm-")) continue;
        const auto key = scan.take_until(':');
        if (!key) continue;
        const std::string_view value = trim(scan.rest());
        if (*key == "driver") {
            client.driver = value;
        } else if (*key == "pdev") {
            client.device = value;
        } else if (const Number number = parse_amount(value)) {
            if (*key == "client-id")
                client.id = number;
            else if (!take_amount(kEngineKeys, client.engines, *key, *number))
                take_amount(kRegionKeys, client.regions, *key, *number);
        }
    }
    if (client.driver.empty()) return std::nullopt;
    return client;
}

}  // namespace gpufs
