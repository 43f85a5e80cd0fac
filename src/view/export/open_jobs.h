#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "view/export/jobs.h"

namespace gpufs {

// What its steps have told of a job so far. Times are 0 where the step is not recorded.
struct JobFacts {
    std::uint32_t pid = 0;
    std::string comm;
    std::string_view processor;
    std::string device, ring;  // as JobStep has them
    std::string on;            // the ring of a job that it waited for
    std::uint64_t queued = 0, ran = 0, done = 0;
    bool is_dropped = false;

    void take(const JobStep& step, std::uint64_t time);
};

// What is known of each job, or fence, under way, by its key; kMostOpenJobs of them, because ends
// may be lost.
template <class Job, class Key = JobStep::Key>
class OpenJobs {
public:
    // Null where none has the key.
    Job* find(const Key& key) {
        const auto it = jobs_.find(key);
        return it == jobs_.end() ? nullptr : &it->second.job;
    }

    // A new job with this key. One that had it before never ended, and where there are too many,
    // neither did the oldest: `forget(key, job)` is called before it is removed.
    template <class Forget>
    Job& add(const Key& key, Forget forget) {
        const auto let_go = [&](typename Jobs::iterator it) {
            forget(it->first, it->second.job);
            remove(it);
        };
        if (const auto old = jobs_.find(key); old != jobs_.end()) let_go(old);
        if (jobs_.size() == kMostOpenJobs) let_go(jobs_.find(by_age_.front()));
        return jobs_.emplace(key, Entry{{}, by_age_.insert(by_age_.end(), key)}).first->second.job;
    }

    void remove(const Key& key) {
        if (const auto it = jobs_.find(key); it != jobs_.end()) remove(it);
    }

    bool empty() const { return jobs_.empty(); }

    // The oldest first.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Key& key : by_age_) visit(key, jobs_.find(key)->second.job);
    }

private:
    struct Entry {
        Job job;
        typename std::list<Key>::iterator age;
    };
    using Jobs = std::map<Key, Entry>;

    void remove(typename Jobs::iterator it) {
        by_age_.erase(it->second.age);
        jobs_.erase(it);
    }

    Jobs jobs_;
    std::list<Key> by_age_;
};

}  // namespace gpufs
