#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bt/types/typed.h"

// What is known of an expression before the program runs.
namespace gpufs::bt {

// The most turns of a loop over a range: BPF_MAX_LOOPS of include/linux/bpf.h.
inline constexpr std::int64_t kMostTurns = 1 << 23;

// The number that an expression is, where it is known before the program runs: literals,
// enumerators, sizeof, and what is computed of such. `instance` has the types.
std::optional<std::int64_t> constant_of(const Expr& expr, const Instance& instance,
                                        const TypeTable& table);
// Whether such an operator's result has no room in 64 bits.
bool overflows(const Expr& expr, const Instance& instance, const TypeTable& table);
// The text of a string literal, or of an argument ($1).
std::optional<std::string> literal_of(const Expr& expr);

// An argument's text: of $N, and of $N + n, which is the text from its n-th byte on.
std::optional<std::string> argument_text(const Expr& expr);
// "profile:hz:99", however its provider was written.
std::string probe_name(const AttachPoint& point);
// That of `probe`, and of `func` where the instance has one function.
std::optional<std::string> known_probe_text(const Expr& expr, const Instance& instance);

}  // namespace gpufs::bt
