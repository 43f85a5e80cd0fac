#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/whole_file.h"
#include "view/export/record_timeline.h"
#include "view/page/page_writer.h"

namespace gpufs {

// A page with a timeline, written to a file that is there when it is whole.
class PageFile {
public:
    // Throws SysError if the file cannot be written.
    PageFile(const std::string& path, const std::string& title)
        : file_(path), writer_([this](std::string_view text) { add(text); }, title) {}

    PageWriter& writer() { return writer_; }
    // Notes what is not in the timeline, and commits. Throws SysError.
    void finish(const RecordTimeline& timeline);
    void finish();

private:
    void add(std::string_view text);

    WholeFile file_;
    std::string piece_;
    PageWriter writer_;
};

// Throws UsageError where the option's file, a picture or a timeline, is named "-": it is written
// beside what goes to standard output.
void check_is_file(std::string_view option, const std::optional<std::string>& path);

// The file that an option names.
struct OptionFile {
    const char* option;
    std::string path;
};
// Throws UsageError where two of them write to one.
void check_are_apart(std::span<const OptionFile> files);

// The name of a recording's file, without its folders.
std::string recording_name(const std::string& path);

}  // namespace gpufs
