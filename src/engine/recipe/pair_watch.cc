#include "engine/recipe/pair_watch.h"

#include <set>

#include "engine/trace/kernel_events.h"

namespace gpufs {
RecordPairs::Wanted pairs_wanted(const RecipePairs& pairs, const Session& session,
                                 std::size_t most) {
    RecordPairs::Wanted wanted{
        event_in(session, pairs.begin.text), event_in(session, pairs.end.text), {}, most};
    for (const RecipeWord& key : pairs.keys) wanted.keys.push_back(key.text);
    return wanted;
}

PairWatch::PairWatch(const Recipe& recipe, const RecipeOnKernel& on_kernel, const Session& session)
    : instance_(session.top(), "pairs"), events_(kernel_events(session.top())) {
    std::set<std::string> names;
    for (const RecipeLimit& limit : recipe.limits) {
        watched_.push_back({static_cast<std::uint64_t>(limit.over_ns),
                            {events_, pairs_wanted(limit.pairs, session, 1)}});
        names.insert({limit.pairs.begin.text, limit.pairs.end.text});
    }
    RecipeOnKernel part;
    for (const RecipeOnKernel::Event& event : on_kernel.events)
        if (names.contains(event.name))
            part.events.push_back({event_in(session, event.name), event.filter, {}});
    // Its buffer is emptied all the time, whatever size the session's has.
    for (const Setting& setting : on_kernel.settings)
        if (setting.name != "buffer") part.settings.push_back(setting);
    plan_recipe(part, Session::of(instance_)).changes.apply();
    buffer_.emplace(instance_.tracefs());
}

std::optional<PairWatch::Over> PairWatch::look() {
    std::optional<Over> over;
    buffer_->drain();
    while (const TraceRecord* record = buffer_->next()) {
        for (Watched& watched : watched_) {
            if (!record->lost_before.is_zero()) watched.pairs.forget_open();
            watched.pairs.add(*record);
            if (over || watched.pairs.longest_ns() <= watched.over_ns) continue;
            const RecordPairs::Wanted& wanted = watched.pairs.wanted();
            over = Over{wanted.begin, wanted.end, watched.pairs.longest_ns()};
        }
    }
    return over;
}

}  // namespace gpufs
