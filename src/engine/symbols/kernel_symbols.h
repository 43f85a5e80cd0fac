#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/symbol.h"
#include "kernel/bpf/kernel_namer.h"
#include "kernel/host/kallsyms.h"
#include "lang/symbols/kallsyms.h"

namespace gpufs {

// The functions of the running kernel and its modules by address. The kernel is asked for each
// address where it can be; elsewhere /proc/kallsyms is read at the first question, and again when
// modules came or went and an address has no name.
class KernelSymbols {
public:
    enum class Way { best, kallsyms };
    explicit KernelSymbols(Way way = Way::best) : way_(way) {}

    // Borrowed until the next question. Throws SysError if /proc/kallsyms is needed and cannot be
    // read.
    std::optional<Symbol> find(std::uint64_t address);
    // Why addresses have no names, with what helps behind the colon; empty where they have.
    std::string why_no_names();

private:
    const KernelNamer* namer();
    std::optional<Symbol> find_in_kallsyms(std::uint64_t address);

    Way way_;
    bool is_namer_tried_ = false;
    std::optional<KernelNamer> namer_;
    std::unordered_map<std::uint64_t, std::string> known_;  // what the namer said
    Kallsyms kallsyms_{kallsyms_text()};
    std::optional<std::string> modules_;  // /proc/modules when kallsyms_ was read
};

}  // namespace gpufs
