#include "cmd/shared/page_file.h"

#include "base/error.h"
#include "base/file.h"
#include "base/path.h"

namespace gpufs {

void PageFile::add(std::string_view text) {
    constexpr std::size_t kFull = 256 << 10;
    piece_ += text;
    if (piece_.size() < kFull) return;
    file_.add(piece_);
    piece_.clear();
}

void PageFile::finish(const RecordTimeline& timeline) {
    for (const std::string& note : timeline.notes()) writer_.add_note(note);
    finish();
}

void PageFile::finish() {
    writer_.finish();
    file_.add(piece_);
    file_.commit();
}

void check_are_apart(std::span<const OptionFile> files) {
    for (std::size_t i = 0; i < files.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (are_one_file(files[k].path, files[i].path))
                throw UsageError(
                    cat(files[k].option, " and ", files[i].option, " write to one file"));
}

void check_is_file(std::string_view option, const std::optional<std::string>& path) {
    if (path == "-")
        throw UsageError(cat(option, " writes a file, nothing to standard output"),
                         "name one; './-' is the one of this name");
}

std::string recording_name(const std::string& path) {
    return std::string(file_name(path));
}

}  // namespace gpufs
