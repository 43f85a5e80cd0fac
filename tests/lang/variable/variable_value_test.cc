#include "lang/variable/variable_value.h"

#include <algorithm>
#include <array>
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <span>

#include "base/byte_reader.h"
#include "base/cat.h"
#include "lang/dwarf/location.h"
#include "lang/dwarf/operations.h"
#include "lang/insn/run.h"
#include "lang/program/registers.h"
#include "lang/variable/begin_values.h"

namespace gpufs {
namespace {

#if defined __x86_64__

using Bytes = std::vector<int>;
using Part = VariableValue::Part;
using Kind = ValueStep::Kind;

constexpr std::uint64_t kCode = 0x1000;  // the place, as linked

VariablePlace place_of_bytes(std::string_view expression) {
    static const DwarfInfo info{DwarfSections{}};
    static const DwarfUnit unit{.info = &info, .version = 5};
    const LocationContext context{kCode, &unit, {}, [](std::uint64_t) {
                                      return FrameAddress{7, 16, {}};
                                  }};
    return evaluate_location(expression, context);
}

VariableValue value_of(std::string_view expression, ir::Type type) {
    const VariablePlace place = place_of_bytes(expression);
    BOOST_TEST_REQUIRE(place.reason == "");
    VariableValue value;
    value.type = type;
    value.code_address = kCode;
    value.parts = {
        {place.number.to_steps(), place.kind == VariablePlace::Kind::memory, 0, 8u * type.bytes}};
    return value;
}

// A process at the place: its registers, and what is at kMemory.
class Process {
public:
    Process() {
        add_common_helpers(world_);
        for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = 0x0102030405060708 * (i + 1);
        at_ = world_.memory.add_read_only(VmMemory::Kind::user, std::as_bytes(std::span(memory_)));
    }
    std::uint64_t memory() const { return at_; }
    std::uint64_t word(std::size_t index) const { return memory_[index]; }
    void set(unsigned reg, std::uint64_t value) {
        const std::size_t at = *register_offset(*register_of_dwarf(reg));
        std::memcpy(registers_.data() + at, &value, sizeof value);
    }
    std::uint64_t read(const VariableValue& value) {
        BOOST_TEST_REQUIRE(trouble_with(value) == "");
        return run(variable_function(value, {}), {}, {});
    }
    std::uint64_t read(const Bytes& expression, ir::Type type = ir::kU64) {
        return read(value_of(std::string(expression.begin(), expression.end()), type));
    }
    std::uint64_t run(std::vector<CodeItem> code, const LinkTarget& target,
                      const Program& program) {
        return test::run_bpf(test::link_items(std::move(code), target, program), registers_,
                             world_);
    }
    VmState& world() { return world_; }

private:
    VmState world_;
    std::array<std::byte, 512> registers_{};
    std::array<std::uint64_t, 16> memory_{};
    std::uint64_t at_ = 0;
};

constexpr unsigned kAx = 0, kDx = 1, kCx = 2, kDi = 5, kSp = 7, kIp = 16;

std::uint64_t minus(std::uint64_t number) {
    return 0 - number;
}

BOOST_AUTO_TEST_SUITE(variable_value)

BOOST_AUTO_TEST_CASE(a_program_computes_what_the_expression_says) {
    Process process;
    process.set(kAx, 5);
    process.set(kDx, minus(7));
    BOOST_TEST(process.read({0x70, 0, 0x31, 0x24, 0x9f}) == 10u);          // ax << 1
    BOOST_TEST(process.read({0x71, 0, 0x32, 0x1b, 0x9f}) == minus(3));     // dx / 2
    BOOST_TEST(process.read({0x71, 0, 0x19, 0x9f}) == 7u);                 // abs dx
    BOOST_TEST(process.read({0x71, 0, 0x1f, 0x9f}) == 7u);                 // -dx
    BOOST_TEST(process.read({0x70, 0, 0x20, 0x9f}) == ~std::uint64_t{5});  // ~ax
    BOOST_TEST(process.read({0x71, 0, 0x70, 0, 0x2d, 0x9f}) == 1u);        // dx < ax
    BOOST_TEST(process.read({0x71, 0, 0x08, 60, 0x25, 0x9f}) == 15u);      // dx >> 60
    BOOST_TEST(process.read({0x71, 0, 0x08, 60, 0x26, 0x9f}) == minus(1));
    BOOST_TEST(process.read({0x70, 0, 0x12, 0x1e, 0x9f}) == 25u);  // dup, *
    // What a count of 64 and more leaves.
    BOOST_TEST(process.read({0x70, 0, 0x08, 64, 0x24, 0x9f}) == 0u);
    process.set(kCx, 64);
    BOOST_TEST(process.read({0x70, 0, 0x72, 0, 0x24, 0x9f}) == 0u);
    BOOST_TEST(process.read({0x71, 0, 0x72, 0, 0x26, 0x9f}) == minus(1));
    process.set(kCx, 3);
    BOOST_TEST(process.read({0x70, 0, 0x72, 0, 0x24, 0x9f}) == 40u);
}

BOOST_AUTO_TEST_CASE(memory_is_read_at_addresses_that_are_computed) {
    Process process;
    process.set(kDi, process.memory());
    process.set(kAx, 3);
    // table[ax], of 8 bytes: di + (ax << 3)
    BOOST_TEST(process.read({0x75, 0, 0x70, 0, 0x33, 0x24, 0x22}) == process.word(3));
    BOOST_TEST(process.read({0x75, 0, 0x70, 0, 0x22}, ir::kU8) == 5u);
    // 2 bytes there, of which 1 is added.
    BOOST_TEST(process.read({0x75, 8, 0x94, 2, 0x31, 0x22, 0x9f}) ==
               (process.word(1) & 0xffff) + 1);
    // No memory there.
    BOOST_TEST(process.read({0x38, 0x06, 0x9f}) == 0u);
}

BOOST_AUTO_TEST_CASE(a_variable_of_the_file_is_as_far_from_the_code_as_when_it_was_linked) {
    Process process;
    process.set(kIp, process.memory() + 8);
    BOOST_TEST(process.read({0x03, 0, 0x10, 0, 0, 0, 0, 0, 0}) == process.word(1));
    BOOST_TEST(process.read({0x03, 0x08, 0x10, 0, 0, 0, 0, 0, 0, 0x9f}) == process.memory() + 16);
    process.set(kSp, process.memory() - 8);
    BOOST_TEST(process.read({0x9c}) == process.word(1));  // the frame is at sp+16
}

BOOST_AUTO_TEST_CASE(which_of_two_values_it_is_is_found_out_when_it_runs) {
    Process process;
    process.set(kDx, 30);
    // ax == 0 ? dx : 4
    const Bytes expression = {0x70, 0, 0x28, 5, 0, 0x71, 0, 0x2f, 1, 0, 0x34, 0x9f};
    process.set(kAx, 0);
    BOOST_TEST(process.read(expression) == 30u);
    process.set(kAx, 1);
    BOOST_TEST(process.read(expression) == 4u);
}

BOOST_AUTO_TEST_CASE(a_number_has_the_sign_and_the_size_of_its_type) {
    Process process;
    process.set(kAx, 0xabcdef80);
    const Bytes value = {0x70, 0, 0x9f};
    BOOST_TEST(process.read(value, ir::kS8) == minus(0x80));
    BOOST_TEST(process.read(value, ir::kU8) == 0x80u);
    BOOST_TEST(process.read(value, ir::kS32) == 0xffffffff'abcdef80u);
    BOOST_TEST(process.read(value, ir::kU16) == 0xef80u);
}

BOOST_AUTO_TEST_CASE(bits_are_taken_from_wherever_they_lie) {
    Process process;
    process.set(kDi, process.memory());
    process.set(kAx, 0xfedcba98'76543210);
    VariableValue value;
    value.type = ir::kU32;
    const ValueSteps ax{{Kind::in_register, kAx}}, di{{Kind::in_register, kDi}};
    value.parts = {{ax, false, 4, 12}};
    BOOST_TEST(process.read(value) == 0x321u);
    BOOST_TEST(value.to_text() == "12 bits from bit 4 of %ax");
    value.parts = {{di, true, 3, 7}};
    BOOST_TEST(process.read(value) == (process.word(0) >> 3 & 127));
    value.parts = {{di, true, 61, 3}};
    BOOST_TEST(process.read(value) == process.word(0) >> 61);
    // With the sign of a bit field.
    value.type = ir::kS32;
    value.parts = {{ax, false, 60, 4}};
    BOOST_TEST(process.read(value) == minus(1));
    value.parts = {{ax, false, 16, 4}};
    BOOST_TEST(process.read(value) == 4u);
}

BOOST_AUTO_TEST_CASE(a_variable_is_put_together_from_its_parts) {
    Process process;
    process.set(kDi, process.memory());
    process.set(kAx, 0xfedcba98'76543210);
    VariableValue value;
    value.type = ir::kU64;
    const ValueSteps ax{{Kind::in_register, kAx}}, di{{Kind::in_register, kDi}};
    value.parts = {
        {ax, false, 0, 32}, {di, true, 0, 16}, {{{Kind::constant, 0xbeef}}, false, 0, 16}};
    BOOST_TEST(process.read(value) == (0xbeef'0000'7654'3210 | (process.word(0) & 0xffff) << 32));
    BOOST_TEST(
        value.to_text() ==
        "32 bits from bit 0 of %ax, 16 bits from bit 0 of [%di], 16 bits from bit 0 of 48879");
}

BOOST_AUTO_TEST_CASE(what_no_program_can_read_says_why) {
    VariableValue value;
    value.parts = {{{{Kind::in_register, 17}}}};
    BOOST_TEST(trouble_with(value) ==
               "it is in a register that probes do not see (DWARF's number 17)");
    value.parts = {{{{Kind::in_register, kAx}}, true, 8, 64}};
    BOOST_TEST(trouble_with(value) == "it is in more than 64 bits");
    value.parts = {{{{Kind::in_register, kAx}, {Kind::at_begin}}}};
    BOOST_TEST(trouble_with(value) ==
               "only what it was when the function began is known: (%ax at the function's begin)");
    value.function = VariableValue::Function{"f", 0x500, {{Kind::in_register, kSp}}};
    BOOST_TEST(trouble_with(value) == "");
    // Memory, as it was then.
    value.parts = {{{{Kind::in_register, kAx}, {Kind::read}, {Kind::at_begin}}}};
    BOOST_TEST(
        trouble_with(value) ==
        "only what it was when the function began is known: ([%ax] at the function's begin)");
}

// At the begin the frame is 8 above the stack pointer; at the place it is where the rules say.
BOOST_AUTO_TEST_CASE(a_register_is_what_it_was_when_this_call_of_the_function_began) {
    Process process;
    VariableValue value;
    value.parts = {
        {{{Kind::in_register, kDi}, {Kind::at_begin}, {Kind::constant, 1}, {Kind::add}}}};
    value.function = VariableValue::Function{
        "f", 0x500, {{Kind::in_register, kSp}, {Kind::constant, 48}, {Kind::add}}};
    Program program;
    add_begin_programs(program, value, "/bin/prog", {});
    add_begin_programs(program, value, "/bin/prog", {});
    BOOST_TEST_REQUIRE(program.programs.size() == 1u);
    BOOST_TEST(program.programs[0].targets[0][0].name == "/bin/prog:0x500");
    LinkTarget target;
    for (const MapDeclaration& map : program.maps) {
        const MapShape shape = map.shape(map.max_entries, 1);
        BpfMapSpec spec;
        spec.type = shape.type;
        spec.key_bytes = static_cast<std::uint32_t>(shape.key_bytes);
        spec.value_bytes = static_cast<std::uint32_t>(shape.value_bytes);
        spec.max_entries = static_cast<std::uint32_t>(shape.max_entries);
        target.map_fds[map.name] = process.world().add_map(spec);
    }
    const auto begins = [&](std::uint64_t stack, std::uint64_t di) {
        process.set(kSp, stack);
        process.set(kDi, di);
        process.run(program.programs[0].code, target, program);
    };
    const auto read = [&](std::uint64_t stack) {
        process.set(kSp, stack);
        process.set(kDi, 999);
        return process.run(variable_function(value, {}), target, program);
    };
    begins(0x8000, 11);
    begins(0x7000, 22);  // it calls itself
    BOOST_TEST(read(0x7000 - 40) == 23u);
    BOOST_TEST(read(0x8000 - 40) == 12u);
    begins(0x7000, 33);  // again, after it returned
    BOOST_TEST(read(0x7000 - 40) == 34u);
    BOOST_TEST(read(0x6000) == 0u);  // it had begun before
    process.world().now.pid = 4;
    BOOST_TEST(read(0x7000 - 40) == 0u);
    std::uint64_t unseen = 0;
    const std::uint32_t first = 0;
    process.world()
        .map(target.map_fds["begins_unseen"])
        .lookup(std::as_bytes(std::span(&first, 1)), std::as_writable_bytes(std::span(&unseen, 1)));
    BOOST_TEST(unseen == 2u);
}

// A machine for expressions that knows nothing of steps.
std::uint64_t evaluated(std::string_view expression,
                        const std::array<std::uint64_t, 6>& registers) {
    std::vector<std::uint64_t> stack;
    const auto pop = [&] {
        const std::uint64_t last = stack.back();
        stack.pop_back();
        return last;
    };
    ByteReader in(expression);
    while (!in.at_end()) {
        const unsigned op = in.byte();
        if (op >= dw::OP_lit0 && op < dw::OP_reg0) {
            stack.push_back(op - dw::OP_lit0);
        } else if (op >= dw::OP_breg0 && op < dw::OP_regx) {
            stack.push_back(registers[op - dw::OP_breg0] + static_cast<std::uint64_t>(in.sleb()));
        } else if (op == dw::OP_const1s) {
            stack.push_back(static_cast<std::uint64_t>(static_cast<std::int8_t>(in.byte())));
        } else if (op == dw::OP_neg) {
            stack.push_back(0 - pop());
        } else if (op == dw::OP_not) {
            stack.push_back(~pop());
        } else if (op == dw::OP_swap) {
            std::swap(stack.back(), stack[stack.size() - 2]);
        } else if (op != dw::OP_stack_value) {
            const std::uint64_t b = pop(), a = pop();
            const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
            stack.push_back(op == dw::OP_plus    ? a + b
                            : op == dw::OP_minus ? a - b
                            : op == dw::OP_mul   ? a * b
                            : op == dw::OP_and   ? a & b
                            : op == dw::OP_or    ? a | b
                            : op == dw::OP_xor   ? a ^ b
                            : op == dw::OP_shl   ? (b < 64 ? a << b : 0)
                            : op == dw::OP_shr   ? (b < 64 ? a >> b : 0)
                            : op == dw::OP_shra
                                ? static_cast<std::uint64_t>(x >> std::min<std::uint64_t>(b, 63))
                            : op == dw::OP_lt ? x < y
                            : op == dw::OP_ge ? x >= y
                                              : a == b);
        }
    }
    return stack.back();
}

BOOST_AUTO_TEST_CASE(random_expressions_come_to_what_a_plain_machine_makes_of_them) {
    constexpr unsigned kBinary[] = {dw::OP_plus, dw::OP_minus, dw::OP_mul, dw::OP_and,
                                    dw::OP_or,   dw::OP_xor,   dw::OP_shl, dw::OP_shr,
                                    dw::OP_shra, dw::OP_lt,    dw::OP_ge,  dw::OP_eq};
    std::mt19937_64 random(1);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    Process process;
    for (int round = 0; round < 500; ++round) {
        std::array<std::uint64_t, 6> registers{};
        for (unsigned reg = 0; reg < registers.size(); ++reg) {
            registers[reg] = below(2) ? random() : below(70);
            process.set(reg, registers[reg]);
        }
        std::string expression;
        std::size_t depth = 0;
        const auto put = [&](std::size_t byte) { expression += static_cast<char>(byte); };
        for (std::size_t left = 3 + below(12); left > 0 || depth > 1;) {
            if (depth >= 2 && (left == 0 || below(2))) {
                if (below(8) == 0) put(dw::OP_swap);
                put(kBinary[below(std::size(kBinary))]);
                --depth;
            } else if (depth >= 1 && below(6) == 0) {
                put(below(2) ? dw::OP_neg : dw::OP_not);
            } else if (left > 0) {
                --left;
                ++depth;
                const std::size_t what = below(3);
                if (what == 0) {
                    put(dw::OP_lit0 + below(32));
                } else if (what == 1) {
                    put(dw::OP_const1s);
                    put(below(256));
                } else {
                    put(dw::OP_breg0 + below(registers.size()));
                    put(below(128));
                }
            }
        }
        put(dw::OP_stack_value);
        const VariableValue value = value_of(expression, ir::kU64);
        BOOST_TEST(process.read(value) == evaluated(expression, registers), value.to_text());
    }
}

BOOST_AUTO_TEST_SUITE_END()

#endif

}  // namespace
}  // namespace gpufs
