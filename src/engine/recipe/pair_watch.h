#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/recipe/check.h"
#include "engine/session/scratch_instance.h"
#include "engine/trace/pairs.h"
#include "engine/trace/raw_buffer.h"

namespace gpufs {

// What a recipe's pairs are for RecordPairs, with probes by their events in the session's group.
// `most`: how many of them to keep.
RecordPairs::Wanted pairs_wanted(const RecipePairs& pairs, const Session& session,
                                 std::size_t most);

// Looks out for pairs of records that lie too far apart, which no trigger sees: records the events
// of a recipe's limits a second time, in an instance of its own, and reads them as they come. The
// session's buffer stays whole.
class PairWatch {
public:
    // Both are borrowed. The recipe is at work in `session`, whose settings and filters are taken
    // over. Throws what Changes::apply() throws.
    PairWatch(const Recipe& recipe, const RecipeOnKernel& on_kernel, const Session& session);

    // The pair's events, and how long it was.
    struct Over {
        std::string begin, end;
        std::uint64_t took_ns = 0;
    };
    // Reads what has come since the last call, and answers with the first pair over its limit. A
    // pair counts when its end has come, and none does that lost records may lie in. A record that
    // another CPU's may still precede is kept for the next call.
    std::optional<Over> look();
    // What was lost so far: a pair over its limit may have been among it.
    LossLedger losses() const { return buffer_->losses(); }

private:
    struct Watched {
        std::uint64_t over_ns;
        RecordPairs pairs;
    };

    ScratchInstance instance_;
    Events events_;
    std::vector<Watched> watched_;
    std::optional<RawBuffer> buffer_;
};

}  // namespace gpufs
