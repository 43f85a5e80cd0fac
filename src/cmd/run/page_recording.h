#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/fd.h"
#include "engine/recorder/recorder.h"
#include "engine/recorder/recording_file.h"
#include "engine/recorder/session.h"

namespace gpufs {

// What a page's timeline shows of a live run: all that GPU drivers tell, and which task ran, from
// the constructor to finish(), recorded into a file without a name.
class PageRecording {
public:
    // Throws the errors of RecordSession and Recorder.
    PageRecording();

    // Moves what there is into the file. Call it some times each second.
    void take();
    // The file, readable under path() as long as what is returned is open.
    Fd finish();
    const std::string& path() const { return path_; }
    // The disk of temporary files is full: what came later is not in the file.
    bool is_cut() const { return is_cut_; }

private:
    // Notes where the step is false, for want of room, or finds the disk full.
    void write(const std::function<bool()>& step);

    explicit PageRecording(Fd file);

    Fd kept_;
    std::string path_;
    RecordSession session_;
    Recorder recorder_;
    RecordingFile file_;
    std::uint64_t taken_ns_ = 0;
    bool is_cut_ = false;
};

}  // namespace gpufs
