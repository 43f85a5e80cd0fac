#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "lang/asm/assembler.h"
#include "lang/program/program.h"

namespace gpufs {

// Monitors are looked for in the user's own directory ($XDG_CONFIG_HOME/gpufs/monitors, or
// ~/.config/gpufs/monitors), then among those compiled in. By name, each once.
std::vector<std::string> list_monitors();

// Reads a file's text: read_trusted() where it is to be run.
using FileReader = std::function<SourceText(const std::string& path)>;

// The text of a monitor, by its name or, where it has a '/' or ends in ".bpf", its file. Throws
// UsageError when there is none, with a "did you mean", and what `read` throws.
SourceText read_monitor(const std::string& name_or_file, const FileReader& read);

// For assemble(): what `from` includes is a file in its own folder or in a folder below that, or
// one that is compiled in ("lib/bits.bpf"). Compiled-in texts include only each other. Throws
// Error.
SourceText read_included(std::string_view file, const SourceText& from, const FileReader& read);

// The name of a text that is compiled in ("drm", "lib/bits"); absent for all others.
std::optional<std::string> shipped_name(const SourceText& text);

// Assembles a monitor that is to be run, by its name or file, as read_monitor() finds it. The build
// has checked the texts that are compiled in: of these it makes what `shipped` says; it checks all
// others. Throws UsageError with all mistakes of the text, and Error where root is to run what
// others could have written.
Program assemble_monitor(const std::string& name_or_file, AsmScope shipped = AsmScope::unchecked);

// Assembles a text that is compiled in, by its file: "lib/stall.bpf".
Program assemble_shipped(std::string_view file);

}  // namespace gpufs
