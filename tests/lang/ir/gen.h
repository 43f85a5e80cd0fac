#pragma once

// Random programs in the intermediate code, beside a model of what they compute that knows nothing
// of it. The same ones in every run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "lang/ir/ir.h"

namespace gpufs::test {

// Typed variables, stack buffers, arithmetic, conditions, loops, helper calls in between. The
// result is a hash of all that was computed, folded to 32 bits.
class RandomProgram {
public:
    static constexpr std::size_t kContextBytes = 96;  // what a raw tracepoint program can read
    static constexpr std::size_t kMapEntries = 4;     // of "values", an array of u64

    using Context = std::array<std::byte, kContextBytes>;
    using MapValues = std::array<std::uint64_t, kMapEntries>;

    // Without `atomics`, of the atomic operations only the addition that returns nothing is used.
    RandomProgram(std::uint64_t seed, std::size_t variables, std::size_t statements,
                  bool atomics = true);

    // What r1 points at, another one at every call.
    Context random_context();

    ir::Code compile() const;
    std::uint32_t evaluate(const Context& context, MapValues& map) const;

private:
    static constexpr std::size_t kBufferBytes = 24;

    struct Statement {
        enum class Kind {
            compute,
            negate,
            swap,
            from_context,
            from_buffer,
            to_buffer,
            add_atomic,
            fetch,
            exchange,
            copy,
            map_get,
            map_set,
            comm,
            condition,
            loop,
            scope,
        };
        Kind kind = Kind::compute;
        ir::Type type;
        ir::Op op = ir::Op::add;
        ir::Cmp cmp = ir::Cmp::eq;
        AtomicOp atomic = AtomicOp::add;
        std::size_t target = 0;           // a variable
        std::optional<std::size_t> a, b;  // variables; absent: the numbers
        std::uint64_t a_number = 0, b_number = 0;
        std::size_t buffer = 0, other_buffer = 0, offset = 0, count = 0;
        std::vector<Statement> then, otherwise;
    };
    using Kind = Statement::Kind;

    class Compiler;
    struct Model;

    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
    std::uint64_t constant();
    ir::Type any_type();
    std::vector<Statement> block(std::size_t statements, int depth);
    Statement statement(int depth);

    bool has_atomics_;
    std::mt19937_64 random_;
    std::vector<ir::Type> types_;  // of the variables
    std::size_t buffers_ = 1;      // that statements can use
    std::vector<Statement> body_;
};

}  // namespace gpufs::test
