#include "lang/expr/glob.h"

#include <map>

#include "base/glob.h"

namespace gpufs {
namespace {

unsigned to_byte(char c) {
    return static_cast<unsigned char>(c);
}

struct Class {
    GlobPattern::Char set;
    std::size_t end;  // after the ]
};

std::optional<Class> parse_class(std::string_view pattern, std::size_t at) {
    Class result;
    const auto found =
        parse_glob_set(pattern, at, GlobRules::kernel, [&](unsigned low, unsigned high) {
            for (unsigned c = low; c <= high; ++c) result.set.set(c);
        });
    if (!found) return std::nullopt;
    if (found->is_inverted) result.set.flip();
    result.set.reset(0);
    result.end = found->end;
    return result;
}

// Generates the code for one pattern: for every run and every index at which it may begin, a block
// that compares the run there. On a match, control goes to the next run after it; on a mismatch, to
// the same run one byte later. Greedy matching is correct: the first match of a run between stars
// never excludes a later match of the rest.
class GlobWriter {
public:
    GlobWriter(ir::Code& code, const GlobPattern& pattern, std::size_t bytes,
               const std::function<ir::Temp(std::size_t)>& load, ir::Label yes, ir::Label no)
        : code_(code), runs_(pattern.runs), bytes_(bytes), load_(load), yes_(yes), no_(no) {}

    void write() {
        if (runs_.size() == 1) return write_whole();
        // The first run can begin only at index 0.
        write_rest(runs_[0], 0, 0, no_, false);
        code_.jump(after(0, 0));
        for (std::size_t run = 1; run < runs_.size(); ++run) {
            // The earlier runs, and earlier blocks of this run, have requested the blocks of this
            // run.
            for (std::size_t at = 0; at <= bytes_; ++at)
                if (const auto wanted = blocks_.find({run, at}); wanted != blocks_.end()) {
                    code_.bind(wanted->second);
                    write_block(run, at);
                }
        }
    }

private:
    bool is_last(std::size_t run) const { return run + 1 == runs_.size(); }

    void write_whole() {
        write_rest(runs_[0], 0, 0, no_, true);
        code_.jump(yes_);
    }

    // Where to continue after `run` matched at `at`.
    ir::Label after(std::size_t run, std::size_t at) {
        const std::size_t end = at + runs_[run].size();
        const std::size_t next = run + 1;
        if (next == runs_.size() || (is_last(next) && runs_[next].empty())) return yes_;
        return block(next, end);
    }

    ir::Label block(std::size_t run, std::size_t at) {
        if (at + runs_[run].size() > bytes_) return no_;
        const auto [it, is_new] = blocks_.try_emplace({run, at}, ir::Label{});
        if (is_new) it->second = code_.new_label();
        return it->second;
    }

    void write_block(std::size_t run, std::size_t at) {
        const ir::Temp first = load_(at);
        // At the end of the text no run can match.
        code_.branch(ir::Cmp::eq, ir::kU8, first, 0, no_);
        const ir::Label next = block(run, at + 1);
        write_char(runs_[run][0], first, next);
        write_rest(runs_[run], 1, at, next, is_last(run));
        code_.jump(after(run, at));
    }

    // Compares the run at `at` from its character `i` on. Falls through on a match, otherwise jumps
    // to `otherwise`.
    void write_rest(const GlobPattern::Run& run, std::size_t i, std::size_t at, ir::Label otherwise,
                    bool must_end) {
        const std::size_t end = at + run.size();
        if (end > bytes_) return code_.jump(otherwise);
        for (; i < run.size(); ++i) write_char(run[i], load_(at + i), otherwise);
        if (must_end && end < bytes_) code_.branch(ir::Cmp::ne, ir::kU8, load_(end), 0, otherwise);
    }

    // Compares with each range of matching bytes, in ascending order.
    void write_char(const GlobPattern::Char& set, ir::Temp c, ir::Label otherwise) {
        if (set.none()) return code_.jump(otherwise);
        const ir::Label matches = code_.new_label();
        unsigned low = 0;
        while (low < set.size()) {
            while (low < set.size() && !set[low]) ++low;
            if (low == set.size()) break;
            unsigned high = low;
            while (high + 1 < set.size() && set[high + 1]) ++high;
            const bool is_last = (set >> high).count() == 1;
            if (low == high && is_last) {
                code_.branch(ir::Cmp::ne, ir::kU8, c, low, otherwise);
            } else if (low == high) {
                code_.branch(ir::Cmp::eq, ir::kU8, c, low, matches);
            } else {
                code_.branch(ir::Cmp::lt, ir::kU8, c, low, otherwise);
                if (!is_last) code_.branch(ir::Cmp::le, ir::kU8, c, high, matches);
                if (is_last && high + 1 < set.size())
                    code_.branch(ir::Cmp::gt, ir::kU8, c, high, otherwise);
            }
            low = high + 1;
        }
        code_.bind(matches);
    }

    ir::Code& code_;
    const std::vector<GlobPattern::Run>& runs_;
    const std::size_t bytes_;
    const std::function<ir::Temp(std::size_t)>& load_;
    const ir::Label yes_, no_;
    std::map<std::pair<std::size_t, std::size_t>, ir::Label> blocks_;  // by run and index
};

}  // namespace

std::size_t GlobPattern::bytes_needed() const {
    if (!has_star()) return runs[0].size() + 1;
    return runs.size() == 2 && runs[1].empty() ? runs[0].size() : 0;
}

std::optional<std::string> GlobPattern::literal_prefix() const {
    if (runs.size() != 2 || !runs[1].empty()) return std::nullopt;
    std::string prefix;
    for (const Char& set : runs[0]) {
        if (set.count() != 1) return std::nullopt;
        std::size_t c = 0;
        while (!set[c]) ++c;
        prefix += static_cast<char>(c);
    }
    return prefix;
}

GlobPattern parse_glob(std::string_view pattern) {
    GlobPattern result;
    result.runs.emplace_back();
    for (std::size_t at = 0; at < pattern.size();) {
        const char c = pattern[at++];
        auto& run = result.runs.back();
        if (c == '*') {
            // Consecutive stars are one.
            if (!run.empty() || result.runs.size() == 1) result.runs.emplace_back();
            continue;
        }
        GlobPattern::Char set;
        if (const auto in = c == '[' ? parse_class(pattern, at) : std::optional<Class>()) {
            set = in->set;
            at = in->end;
        } else if (c == '?') {
            set.set();
            set.reset(0);
        } else if (c != '\\') {
            set.set(to_byte(c));
        } else if (at < pattern.size()) {
            set.set(to_byte(pattern[at++]));
        } else {
            break;  // a lone \ at the end is ignored
        }
        run.push_back(set);
    }
    return result;
}

void append_glob(ir::Code& code, const GlobPattern& pattern, std::size_t bytes,
                 const std::function<ir::Temp(std::size_t)>& load, ir::Label yes, ir::Label no) {
    GlobWriter(code, pattern, bytes, load, yes, no).write();
}

}  // namespace gpufs
