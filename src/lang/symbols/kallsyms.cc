#include "lang/symbols/kallsyms.h"

#include <algorithm>

#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

// Memory is reserved for a large kernel at once: what is never touched costs nothing, and growing
// would hold two copies for a moment.
constexpr std::size_t kReservedSymbols = 256 << 10;
constexpr std::size_t kReservedNames = 8 << 20;

// Compilers put a symbol of its own in front of each function, for padding they may patch.
constexpr std::string_view kPadding = "__pfx_";

// A module's memory is whole pages, of this size or a multiple of it.
constexpr std::uint32_t kSmallestPage = 4096;

}  // namespace

struct Kallsyms::Loader {
    struct Freed {
        std::uint64_t address;
        std::uint32_t name;
    };

    Kallsyms& to;
    Region* region = nullptr;  // of the last line
    bool all_zero = true;
    std::string current{};  // the module of the last line
    bool is_freed = false;  // what its lines tell of now
    std::vector<Freed> freed{};

    void line(std::string_view text) {
        const auto symbol = parse_kallsyms_line(text);
        if (!symbol || symbol->address == 0) return;
        all_zero = false;
        if (symbol->module != current) enter(symbol->module);
        if (is_freed) {
            freed.push_back({symbol->address, keep(symbol->name, symbol->module, nullptr)});
            return;
        }
        std::vector<Entry>& entries = entries_for(symbol->address);
        const auto low = static_cast<std::uint32_t>(symbol->address);
        const Entry* const last = entries.empty() ? nullptr : &entries.back();
        const bool same_place = last && last->low == low;
        if (symbol->is_code()) {
            // The kernel answers with the first of several names.
            if (!same_place || last->name == kNoName)
                entries.push_back({low, keep(symbol->name, symbol->module, last)});
        } else if (last && !same_place && last->name != kNoName) {
            // A data symbol matters only where it ends a function.
            entries.push_back({low, kNoName});
        }
    }

    // A module that comes a second time, behind all modules: of those loaded while functions are
    // traced, the kernel keeps the names of the functions that it freed after their start.
    void enter(std::string_view module) {
        current = module;
        is_freed = std::ranges::find(to.modules_, current, &Module::name) != to.modules_.end();
    }

    std::vector<Entry>& entries_for(std::uint64_t address) {
        const auto high = static_cast<std::uint32_t>(address >> 32);
        if (!region || region->high != high) {
            const auto it = std::ranges::find(to.regions_, high, &Region::high);
            region = it == to.regions_.end() ? &to.regions_.emplace_back(Region{high, {}}) : &*it;
            if (region == to.regions_.data()) region->entries.reserve(kReservedSymbols);
        }
        return region->entries;
    }

    std::uint32_t keep(std::string_view name, std::string_view module, const Entry* before) {
        std::string& names = to.names_;
        if (to.modules_.empty() || to.modules_.back().name != module)
            to.modules_.push_back({static_cast<std::uint32_t>(names.size()), std::string(module)});
        // "__pfx_f" is followed by "f": one text serves both.
        if (before && before->name != kNoName) {
            const std::string_view last = std::string_view(names).substr(before->name);
            if (last.size() == kPadding.size() + name.size() + 1 && last.starts_with(kPadding) &&
                last.substr(kPadding.size(), name.size()) == name)
                return before->name + static_cast<std::uint32_t>(kPadding.size());
        }
        const auto at = static_cast<std::uint32_t>(names.size());
        names += name;
        names += '\0';
        return at;
    }

    void finish() {
        to.is_hidden_ = all_zero;
        sort();
        // Those whose place another module has not taken are added together, so that each is held
        // against what is there now.
        std::erase_if(freed, [&](const Freed& f) { return is_taken(f.address); });
        for (const Freed& f : freed)
            entries_for(f.address).push_back({static_cast<std::uint32_t>(f.address), f.name});
        if (!freed.empty()) sort();
    }

    void sort() {
        // Of one address the symbol that came first wins; names count upwards as they come.
        const auto before = [](const Entry& a, const Entry& b) {
            return a.low != b.low ? a.low < b.low : a.name < b.name;
        };
        for (Region& r : to.regions_)
            if (!std::ranges::is_sorted(r.entries, before)) std::ranges::sort(r.entries, before);
    }

    // Whether the address lies in a module's memory: on a page with one of its symbols, or between
    // two of its functions.
    bool is_taken(std::uint64_t address) {
        const std::vector<Entry>& entries = entries_for(address);
        const auto low = static_cast<std::uint32_t>(address);
        const auto after = std::ranges::lower_bound(entries, low, {}, &Entry::low);
        const Entry* const next = after == entries.end() ? nullptr : &*after;
        const Entry* const last = after == entries.begin() ? nullptr : &*std::prev(after);
        const auto is_near = [&](const Entry* entry) {
            return entry && entry->low / kSmallestPage == low / kSmallestPage;
        };
        if (is_near(last) || is_near(next)) return true;
        return last && next && last->name != kNoName && next->name != kNoName &&
               to.module_of(last->name) == to.module_of(next->name);
    }
};

void Kallsyms::load() {
    regions_.clear();
    names_.clear();
    modules_.clear();
    names_.reserve(kReservedNames);
    Loader loader{*this};
    for_each_line(text_, [&](std::string_view line) { loader.line(line); });
    loader.finish();
    is_loaded_ = true;
}

std::string_view Kallsyms::module_of(std::uint32_t name) const {
    const auto it = std::ranges::upper_bound(modules_, name, {}, &Module::first_name);
    return it == modules_.begin() ? std::string_view() : std::string_view(std::prev(it)->name);
}

const Kallsyms::Region* Kallsyms::find_region(std::uint64_t address) const {
    const auto it = std::ranges::find(regions_, address >> 32, &Region::high);
    return it == regions_.end() ? nullptr : &*it;
}

std::optional<Symbol> Kallsyms::find(std::uint64_t address) {
    if (!is_loaded_) load();
    const Region* const region = find_region(address);
    if (!region) return std::nullopt;
    const auto low = static_cast<std::uint32_t>(address);
    const auto& entries = region->entries;
    const auto after = std::ranges::upper_bound(entries, low, {}, &Entry::low);
    if (after == entries.begin()) return std::nullopt;
    auto at = std::prev(after);
    while (at != entries.begin() && std::prev(at)->low == at->low) --at;
    if (at->name == kNoName) return std::nullopt;
    Symbol symbol;
    symbol.name = names_.c_str() + at->name;
    symbol.module = module_of(at->name);
    symbol.offset = low - at->low;
    symbol.size = after == entries.end() ? 0 : after->low - at->low;
    return symbol;
}

bool Kallsyms::is_hidden() {
    if (!is_loaded_) load();
    return is_hidden_;
}

std::size_t Kallsyms::size() {
    if (!is_loaded_) load();
    std::size_t count = 0;
    for (const Region& r : regions_) count += r.entries.size();
    return count;
}

}  // namespace gpufs
