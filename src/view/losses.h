#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/loss.h"
#include "engine/results/lost_counters.h"
#include "view/json.h"

namespace gpufs {

// Losses in words and in JSON, the same in every command.

// "1 key refused", "2 keys refused", from words in the plural: the first that ends like one loses
// its s.
std::string counted_of(std::uint64_t n, std::string_view plural);

// "5"; "5 or more", "up to 5" or "3 to 5" where the number is not known.
std::string loss_text(const Loss& loss);
// "0 lost", "5 lost: 3 keys refused; 2 texts cut".
std::string losses_text(const LossLedger& losses);

// The same at the end of a run, with what is counted that is no loss, if there is any of it: "0
// lost; 2 starts without an end".
std::string end_text(const LossLedger& losses, std::span<const Tally> tallies);

// Adds the member `key` with the number, or the least of it. Where the number is not known, also
// KEY_most with the most that it can be: null if that is unknown, too.
JsonObject& add_loss(JsonObject& to, std::string_view key, const Loss& loss);
// All kinds as an array: [{"what":"keys refused","count":3}].
std::string losses_json(const LossLedger& losses);

}  // namespace gpufs
