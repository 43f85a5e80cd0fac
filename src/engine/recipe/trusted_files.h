#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace gpufs {

// Files that decide what root does.

// Why root must not trust the file: it or its directory can be written by others, or belongs to
// somebody else than root and the user who called sudo. Empty when root may. Throws SysError.
std::string why_not_trusted(const std::string& path);

// The text of a file. Throws Error when root runs gpufs and must not trust it; SysError when it
// cannot be read.
SourceText read_trusted(const std::string& path);

// The user's own files of one kind, in $XDG_CONFIG_HOME/gpufs/FOLDER or ~/.config/gpufs/FOLDER.
class OwnFiles {
public:
    OwnFiles(std::string_view folder, std::string_view suffix);

    // Without their suffix, sorted. Empty where there is no such directory, or no home.
    std::vector<std::string> names() const;
    bool has(std::string_view name) const;
    std::string path(std::string_view name) const;

private:
    std::string directory_, suffix_;
};

}  // namespace gpufs
