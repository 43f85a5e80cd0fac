#include "engine/monitor/code_files.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "lang/symbols/loader_cache.h"

namespace gpufs {
namespace {

// Of musl and of loaders without a cache, too.
#if defined __aarch64__
constexpr const char* kDirectories[] = {"/lib/aarch64-linux-gnu",
                                        "/usr/lib/aarch64-linux-gnu",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib",
                                        "/usr/lib",
                                        "/usr/local/lib"};
#else
constexpr const char* kDirectories[] = {"/lib/x86_64-linux-gnu",
                                        "/usr/lib/x86_64-linux-gnu",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib",
                                        "/usr/lib",
                                        "/usr/local/lib"};
#endif

// "libc.so.6" is asked for by this name and by "libc".
bool is_named(std::string_view library, std::string_view asked) {
    if (!library.starts_with(asked)) return false;
    const std::string_view rest = library.substr(asked.size());
    return rest.empty() || rest == ".so" || rest.starts_with(".so.");
}

std::optional<std::string> find_library(const std::string& name,
                                        const std::vector<CachedLibrary>& cached) {
    for (const CachedLibrary& one : cached)
        if (is_named(one.name, name) && file_exists(one.path)) return one.path;
    for (const std::string directory : kDirectories) {
        if (!file_exists(directory)) continue;
        for (const std::string& file : list_directory(directory))
            if (is_named(file, name)) return cat(directory, '/', file);
    }
    return std::nullopt;
}

}  // namespace

std::variant<std::string, Absent> find_code_file(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (!file_exists(name)) return Absent{cat("there is no file '", name, "'"), ""};
        return name;
    }
    const char* path = std::getenv("PATH");
    for (const std::string& directory : split(path ? path : "/usr/sbin:/usr/bin", ':')) {
        std::string whole = cat(directory, '/', name);
        if (::access(whole.c_str(), X_OK) == 0) return whole;
    }
    const std::vector<CachedLibrary> cached =
        parse_loader_cache(read_file_if_readable("/etc/ld.so.cache").value_or(""));
    if (auto library = find_library(name, cached)) return *library;
    std::vector<std::string> names;
    for (const CachedLibrary& one : cached) names.push_back(one.name);
    const std::string near = did_you_mean(name, names);
    return Absent{cat("no program '", name,
                      "' is in $PATH, and no such library where the dynamic "
                      "loader looks"),
                  near.empty() ? "write the whole path" : near};
}

}  // namespace gpufs
