#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"
#include "view/trace/trace_cmd_text.h"

namespace gpufs {

// The text of TraceCmdText, made by several threads: records are copied into batches, which any
// thread turns into text, and which are written in order by the thread that adds them. That one
// makes text, too, where the others do not keep up.
class ParallelText {
public:
    using Write = std::function<void(std::string_view text)>;
    // `threads`: how many besides the caller's. Changes the context so that names of addresses can
    // be asked for by all; else it must stay as it is while this object lives, but for the names of
    // tasks. `prefixes` are borrowed.
    ParallelText(TraceContext& context, const std::vector<std::string>& prefixes,
                 std::size_t threads, Write write);
    ~ParallelText();
    ParallelText(const ParallelText&) = delete;
    ParallelText& operator=(const ParallelText&) = delete;

    // `prefix`: its number. Throws what writing throws, and what making text threw, when the text
    // of the batches before is written.
    void add(const TraceRecord& record, std::size_t prefix);
    // Writes the rest.
    void finish();

private:
    struct Line {
        TraceRecord record;               // without its bytes
        std::size_t begin = 0, size = 0;  // of these
        std::size_t prefix = 0;
        TraceCmdText::Prepared prepared;
    };
    struct Batch {
        std::string bytes, text;
        std::vector<Line> lines;
        std::exception_ptr failure;  // thrown when all before it is written
        bool is_done = false;
    };

    void make_text(Batch& batch) const;
    void work();
    Batch* claim();
    void hand_over();
    void write_done(std::size_t most_left);

    TraceCmdText text_;
    const std::vector<std::string>& prefixes_;
    Write write_;
    std::unique_ptr<Batch> filled_;
    std::vector<std::unique_ptr<Batch>> spare_;

    std::mutex mutex_;
    std::condition_variable claimable_, done_;
    std::deque<std::unique_ptr<Batch>> batches_;  // in order
    std::size_t claimed_ = 0;                     // of batches_, from the front
    bool is_over_ = false;
    std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

}  // namespace gpufs
