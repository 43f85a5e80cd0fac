#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pieces.h"
#include "base/symbol.h"

namespace gpufs {

// The kernel's functions by address. Kept small: 8 bytes and the name for each function, data
// symbols dropped, so 120,000 symbols take 3 MB.
class Kallsyms {
public:
    // From the text of a /proc/kallsyms, which is read at the first question: the kernel takes tens
    // of milliseconds to write it.
    explicit Kallsyms(TextPieces text) : text_(std::move(text)) {}

    // The function an address lies in, named as the kernel names it: the first of several names for
    // one address; its size reaches to the next symbol. Where a module's freed functions were, it
    // is the function that lies there now. Borrowed until the next reload. Throws what reading the
    // text throws.
    std::optional<Symbol> find(std::uint64_t address);
    // The kernel hides the addresses from this user (kptr_restrict): every address reads 0.
    bool is_hidden();
    std::size_t size();
    // Forgets everything: modules came or went.
    void reload() { is_loaded_ = false; }

private:
    // The low half of an address. `name` is an offset into names_, or kNoName where a symbol we do
    // not keep starts: it ends the one before.
    struct Entry {
        std::uint32_t low;
        std::uint32_t name;
    };
    // The symbols whose addresses share their high half, by address.
    struct Region {
        std::uint32_t high;
        std::vector<Entry> entries;
    };
    // Names from `first_name` on belong to the module.
    struct Module {
        std::uint32_t first_name;
        std::string name;
    };
    struct Loader;

    static constexpr std::uint32_t kNoName = ~std::uint32_t{0};

    void load();
    const Region* find_region(std::uint64_t address) const;
    std::string_view module_of(std::uint32_t name) const;

    TextPieces text_;
    bool is_loaded_ = false;
    bool is_hidden_ = false;
    std::vector<Region> regions_;
    std::string names_;  // each ends with a NUL
    std::vector<Module> modules_;
};

}  // namespace gpufs
