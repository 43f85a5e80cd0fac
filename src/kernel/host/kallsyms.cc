#include "kernel/host/kallsyms.h"

namespace gpufs {
namespace {

constexpr const char* kPath = "/proc/kallsyms";

}  // namespace

TextPieces kallsyms_text() {
    return pieces_of_file(kPath);
}

TextPieces kallsyms_if_readable() {
    return pieces_if_readable(kPath);
}

}  // namespace gpufs
