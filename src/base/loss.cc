#include "base/loss.h"

#include <algorithm>
#include <utility>

namespace gpufs {

Loss& Loss::operator+=(const Loss& other) {
    const auto sum = [](std::uint64_t a, std::uint64_t b) {
        return a > kUnbounded - b ? kUnbounded : a + b;
    };
    least = sum(least, other.least);
    most = sum(most, other.most);
    return *this;
}

void LossLedger::add(std::string what, Loss loss) {
    const auto known = std::ranges::find(kinds_, what, &KindOfLoss::what);
    if (known == kinds_.end())
        kinds_.push_back({std::move(what), loss});
    else
        known->loss += loss;
}

void LossLedger::add_same(std::string what, Loss loss) {
    const auto known = std::ranges::find(kinds_, what, &KindOfLoss::what);
    if (known == kinds_.end()) return add(std::move(what), loss);
    known->loss.least = std::max(known->loss.least, loss.least);
    known->loss.most = std::max(known->loss.most, loss.most);
}

void LossLedger::add(const LossLedger& other) {
    for (const auto& [what, loss] : other.kinds_) add(what, loss);
}

Loss LossLedger::total() const {
    Loss all;
    for (const KindOfLoss& kind : kinds_) all += kind.loss;
    return all;
}

}  // namespace gpufs
