#include "base/loss.h"

#include <algorithm>
#include <utility>

#include "base/saturate.h"

namespace gpufs {

Loss& Loss::operator+=(const Loss& other) {
    least = add_saturating(least, other.least);
    most = add_saturating(most, other.most);
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
