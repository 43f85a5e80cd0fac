#include "lang/unwind/table.h"

#include <cstring>

namespace gpufs {
namespace {

constexpr std::uint32_t kLow = kUnwindPageBytes - 1;

class TableMaker {
public:
    explicit TableMaker(UnwindRules& rules) : rules_(rules) {}

    void add(std::uint64_t address, const UnwindRule& rule) {
        const std::uint64_t page = address >> kUnwindPageBits;
        if (table_.rows_of.empty()) {
            if (rule.kind == UnwindRule::Kind::none) return;
            table_.first_page = page_ = page;
            begin_page();
        }
        const std::uint64_t most = table_.first_page + kMostUnwindPages;
        if (page < page_ || page >= most) {
            ++table_.refused;
            return;
        }
        while (page_ < page) {
            ++page_;
            begin_page();
        }
        auto number = rules_.number_of(rule);
        if (!number) ++table_.refused;
        rule_ = number.value_or(0);
        const std::uint32_t row = rule_ << kUnwindPageBits | (address & kLow);
        // A row for the same byte takes the place of the last one.
        if ((table_.rows.back() & kLow) == (row & kLow))
            table_.rows.back() = row;
        else
            table_.rows.push_back(row);
    }

    UnwindTable take() {
        if (!table_.rows_of.empty()) end_page();
        return std::move(table_);
    }

private:
    void end_page() {
        const auto size = static_cast<std::uint32_t>(table_.rows.size());
        const std::uint32_t first = table_.rows_of.back();
        if (size - first >= kRowBlock) {
            table_.refused += size - first;
            table_.rows.resize(first + 1);
            table_.rows.back() = 0;
        }
        table_.rows_of.push_back(static_cast<std::uint32_t>(table_.rows.size()));
    }
    void begin_page() {
        if (table_.rows_of.empty())
            table_.rows_of.push_back(0);
        else
            end_page();
        table_.rows.push_back(rule_ << kUnwindPageBits);
    }

    UnwindRules& rules_;
    UnwindTable table_;
    std::uint64_t page_ = 0;
    std::uint32_t rule_ = 0;
};

}  // namespace

std::size_t UnwindRules::Hash::operator()(const UnwindRule& rule) const noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, &rule, sizeof halves);
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    const std::uint64_t mixed = (halves[0] ^ halves[1] * kOdd) * kOdd;
    return mixed ^ mixed >> 32;
}

std::optional<std::uint32_t> UnwindRules::number_of(const UnwindRule& rule) {
    if (rules_.empty()) {
        rules_.emplace_back();  // number 0: none
        numbers_.emplace(UnwindRule{}, 0);
    }
    if (rules_[recent_] == rule) return recent_;
    const auto known = numbers_.find(rule);
    if (known != numbers_.end()) return recent_ = known->second;
    if (rules_.size() == kMostUnwindRules) return std::nullopt;
    recent_ = static_cast<std::uint32_t>(rules_.size());
    rules_.push_back(rule);
    numbers_.emplace(rule, recent_);
    return recent_;
}

UnwindTable make_unwind_table(EhFrame& frames, UnwindRules& rules) {
    TableMaker maker(rules);
    frames.for_each(
        [&](std::uint64_t address, const UnwindRule& rule) { maker.add(address, rule); });
    return maker.take();
}

}  // namespace gpufs
