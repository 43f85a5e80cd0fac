#include "view/monitor/recorded_symbols.h"

#include "base/cat.h"
#include "engine/symbols/symbols.h"
#include "view/trace/frame_text.h"

namespace gpufs {
namespace {

// In stacks, calls from different places of one function are merged: the offset is dropped.
std::string symbol_text(const AddressNames& names, std::uint64_t address, ValueNames::Place place,
                        bool is_user = false) {
    const auto symbol = names.frame(address, frame_place(place));
    if (!symbol) return {};
    Frame frame;
    frame.name = symbol->name;
    if (!symbol->module.empty())
        frame.module = is_user ? std::string(symbol->module) : cat('[', symbol->module, ']');
    if (place == ValueNames::Place::address) frame.offset = symbol->offset;
    return to_text(frame);
}

// Where no function is known, the address stands for itself.
std::string user_text(const AddressNames& names, std::uint32_t process, std::uint64_t address,
                      ValueNames::Place place) {
    return symbol_text(names.of_process(static_cast<int>(process)), address, place, true);
}

}  // namespace

ValueNames recorded_names(TraceContext& context) {
    ValueNames names;
    names.kernel = [&context](std::uint64_t address, ValueNames::Place place) {
        return symbol_text(context.addresses, address, place);
    };
    if (context.addresses.user)
        names.user = [&context](std::uint32_t process, std::uint64_t address,
                                ValueNames::Place place) {
            return user_text(context.addresses, process, address, place);
        };
    names.time = [](std::uint64_t ns) { return seconds_text(ns); };
    return names;
}

}  // namespace gpufs
