#include "lang/dwarf/frame.h"

#include <vector>

namespace gpufs {
namespace {

// Runs the code of a function up to the rules of an address.
class FrameMachine {
public:
    FrameMachine(const CommonFrames& common, std::uint64_t begin, std::uint64_t address)
        : common_(common), at_(begin), address_(address) {}

    // False: an instruction is damaged or unknown.
    bool run(std::string_view code) {
        ByteReader from(code);
        FrameStep step;
        while (!from.at_end() && at_ <= address_)
            if (!read_frame_step(from, common_, step) || !take(step)) return false;
        return true;
    }
    const std::optional<FrameAddress>& frame() const { return now_; }

private:
    using Kind = FrameStep::Kind;

    bool take(const FrameStep& step) {
        const auto reg = static_cast<unsigned>(step.reg);
        switch (step.kind) {
            case Kind::advance:
                at_ += static_cast<std::uint64_t>(step.number);
                return true;
            case Kind::cfa:
                now_ = FrameAddress{reg, step.number, {}};
                return true;
            case Kind::cfa_register:
                now_ = FrameAddress{reg, now_ ? now_->offset : 0, {}};
                return true;
            case Kind::cfa_offset:
                now_ = FrameAddress{now_ ? now_->reg : 0, step.number, {}};
                return true;
            case Kind::cfa_expression:
                now_ = FrameAddress{0, 0, step.expression};
                return true;
            case Kind::remember:
                remembered_.push_back(now_);
                return true;
            case Kind::recall:
                if (remembered_.empty()) return false;
                now_ = remembered_.back();
                remembered_.pop_back();
                return true;
            default:
                return true;  // of registers, which are not asked for
        }
    }

    const CommonFrames& common_;
    std::uint64_t at_, address_;
    std::optional<FrameAddress> now_;
    std::vector<std::optional<FrameAddress>> remembered_;
};

}  // namespace

std::optional<FrameAddress> frame_address_at(const FrameSection& section, std::uint64_t address) {
    CallFrameReader functions(section);
    while (const auto function = functions.next()) {
        if (address < function->begin || address >= function->end) continue;
        const CommonFrames& common = functions.common(function->common);
        FrameMachine machine(common, function->begin, address);
        if (!machine.run(common.code) || !machine.run(function->code)) return std::nullopt;
        return machine.frame();
    }
    return std::nullopt;
}

}  // namespace gpufs
