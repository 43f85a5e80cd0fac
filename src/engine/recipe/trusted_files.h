#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace gpufs {

// Files that determine what root does.

// Why root must not trust the file: others can write it or its directory, or its owner is neither
// root nor the user who called sudo. Empty if root may trust it. Throws SysError.
std::string why_not_trusted(const std::string& path);

// The text of a file. Throws Error if root runs gpufs and must not trust it; SysError if it cannot
// be read.
SourceText read_trusted(const std::string& path);

// The user's own files of one kind, in $XDG_CONFIG_HOME/gpufs/FOLDER or ~/.config/gpufs/FOLDER.
class OwnFiles {
public:
    OwnFiles(std::string_view folder, std::string_view suffix);

    // The names without suffix, sorted. Empty if there is no such directory or no home.
    std::vector<std::string> names() const;
    bool has(std::string_view name) const;
    std::string path(std::string_view name) const;

private:
    std::string directory_, suffix_;
};

}  // namespace gpufs
