#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace gpufs {

// open(2) with O_CLOEXEC. Throws SysError with the path.
Fd open_file(const std::string& path, int flags);

// The whole content, read to the end of file because kernel files report no size. Throws SysError.
std::string read_file(const std::string& path);
// The same, but at most `most` bytes.
std::string read_all(int fd, std::string_view name, std::size_t most = std::string::npos);

// The same; absent if it does not exist or may not be read. Throws if too many files are open.
std::optional<std::string> read_file_if_readable(const std::string& path,
                                                 std::size_t most = std::string::npos);

// The names in a directory, sorted, without "." and "..". Throws SysError.
std::vector<std::string> list_directory(const std::string& path);

// The same; none if it does not exist or may not be read. Throws if too many files are open.
std::vector<std::string> list_directory_if_readable(const std::string& path);

bool file_exists(const std::string& path);
bool is_regular_file(const std::string& path);
// Are both names the same, those of one regular file, or what would be one once it is made?
bool are_one_file(const std::string& a, const std::string& b);

// Writes everything, handling short writes and EINTR. Throws SysError with `name`.
void write_all(int fd, std::string_view text, std::string_view name);
// The same at offset `at` of the file.
void write_all_at(int fd, std::string_view text, std::uint64_t at, std::string_view name);

}  // namespace gpufs
