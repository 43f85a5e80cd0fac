#include "base/pieces.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace gpufs {
namespace {

void read(int file, const std::string& path, const std::function<void(std::string_view)>& take) {
    std::string chunk(64 << 10, '\0');
    for (;;) {
        const ssize_t n = ::read(file, chunk.data(), chunk.size());
        if (n == -1 && errno == EINTR) continue;
        check(n, [&] { return cat("read '", path, "'"); });
        if (n == 0) return;
        take({chunk.data(), static_cast<std::size_t>(n)});
    }
}

}  // namespace

TextPieces pieces_of_file(std::string path) {
    return [path = std::move(path)](const std::function<void(std::string_view)>& take) {
        read(open_file(path, O_RDONLY).get(), path, take);
    };
}

TextPieces pieces_if_readable(std::string path) {
    return [path = std::move(path)](const std::function<void(std::string_view)>& take) {
        if (const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}) read(file.get(), path, take);
    };
}

void for_each_line(const TextPieces& text, const std::function<void(std::string_view)>& visit) {
    std::string begun;  // a line whose end is in the next piece
    text([&](std::string_view piece) {
        for (auto end = piece.find('\n'); end != piece.npos; end = piece.find('\n')) {
            if (begun.empty()) {
                visit(piece.substr(0, end));
            } else {
                visit(begun += piece.substr(0, end));
                begun.clear();
            }
            piece.remove_prefix(end + 1);
        }
        begun += piece;
    });
    if (!begun.empty()) visit(begun);
}

}  // namespace gpufs
