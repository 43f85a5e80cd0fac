#include "engine/symbols/kernel_symbols.h"

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "lang/symbols/symbol_text.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostKnownAddresses = 16384;

std::string read_modules() {
    return read_file_if_readable("/proc/modules").value_or("");
}

}  // namespace

const KernelNamer* KernelSymbols::namer() {
    if (!is_namer_tried_ && way_ == Way::best) namer_ = KernelNamer::load();
    is_namer_tried_ = true;
    return namer_ ? &*namer_ : nullptr;
}

std::optional<Symbol> KernelSymbols::find(std::uint64_t address) {
    const KernelNamer* asked = namer();
    if (!asked) return find_in_kallsyms(address);
    if (const auto it = known_.find(address); it != known_.end())
        return parse_symbol_text(it->second);
    std::string text = asked->text(address);
    // A module that is loaded later may have a function there.
    if (!parse_symbol_text(text)) return std::nullopt;
    if (known_.size() >= kMostKnownAddresses) known_.clear();
    return parse_symbol_text(known_.emplace(address, std::move(text)).first->second);
}

std::optional<Symbol> KernelSymbols::find_in_kallsyms(std::uint64_t address) {
    if (!modules_) modules_ = read_modules();
    auto symbol = kallsyms_.find(address);
    if (symbol) return symbol;
    std::string now = read_modules();
    if (now == *modules_) return symbol;
    kallsyms_.reload();
    modules_ = std::move(now);
    return kallsyms_.find(address);
}

std::string KernelSymbols::why_no_names() {
    if (namer()) return {};
    try {
        if (!kallsyms_.is_hidden()) return {};
    } catch (const SysError& e) {
        return cat(e.what(), ": it takes a kernel with CONFIG_KALLSYMS=y");
    }
    const std::string level(
        trim(read_file_if_readable("/proc/sys/kernel/kptr_restrict").value_or("")));
    return cat("the kernel hides its addresses from this user (kernel.kptr_restrict is ", level,
               "): ",
               level == "2" ? "as root, 'sysctl kernel.kptr_restrict=1'"
                            : "run as root, or with CAP_SYSLOG");
}

}  // namespace gpufs
