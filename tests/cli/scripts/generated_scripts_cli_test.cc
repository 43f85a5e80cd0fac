#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/cat.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

// Programs in the bpftrace language that are made at random, with what each prints: the generator
// runs a program's statements itself. The kernel and the interpreter must print the same.
namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using Number = std::int64_t;

constexpr int kVariables = 4, kKeys = 8;
constexpr const char* kTexts[] = {"", "a", "ab", "abc", "abd", "a longer text, of many bytes"};
constexpr int kTextCount = std::size(kTexts);

// Where a program is.
struct State {
    Number variables[kVariables] = {};
    int texts[2] = {};  // of kTexts
    std::map<Number, Number> map, counts, sums, least, most;
    std::map<std::pair<Number, int>, Number> by_tuple;
    Number loops[4] = {};
    std::string printed;
    bool breaks = false, continues = false;
};

struct Formula {
    std::string text;
    std::function<Number(const State&)> value;
};

struct Statement {
    std::string text;
    std::function<void(State&)> run;
};

Number wrapped(std::uint64_t bits) {
    return static_cast<Number>(bits);
}
std::uint64_t bits(Number number) {
    return static_cast<std::uint64_t>(number);
}

Number element(const std::map<Number, Number>& map, Number key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
}

class Generator {
public:
    explicit Generator(unsigned seed) : random_(seed) {}

    Statement program() {
        Statement made = block(0);
        for (int i = 0; i < 12; ++i) made = then(std::move(made), statement(0));
        return then(std::move(made), everything());
    }

private:
    Number pick(Number end) { return std::uniform_int_distribution<Number>(0, end - 1)(random_); }

    static Statement then(Statement first, Statement second) {
        return {cat(first.text, second.text),
                [first = std::move(first.run), second = std::move(second.run)](State& state) {
                    first(state);
                    if (!state.breaks && !state.continues) second(state);
                }};
    }

    Formula literal() {
        constexpr Number kNumbers[] = {0,       1,         2,    7,     8,          100,
                                       255,     256,       4096, 65535, 0x7fffffff, 0x80000000,
                                       1 << 20, 123456789, 31,   63};
        const Number number = kNumbers[pick(std::size(kNumbers))];
        return {std::to_string(number), [number](const State&) { return number; }};
    }

    Formula leaf() {
        switch (pick(loops_ > 0 ? 4 : 3)) {
            case 0:
                return literal();
            case 1: {
                const auto which = pick(kVariables);
                return {cat("$v", which),
                        [which](const State& state) { return state.variables[which]; }};
            }
            case 2: {
                const Number key = pick(kKeys);
                return {cat("@map[", key, "]"),
                        [key](const State& state) { return element(state.map, key); }};
            }
            default: {
                const auto which = pick(loops_);
                return {cat("$i", which),
                        [which](const State& state) { return state.loops[which]; }};
            }
        }
    }

    Formula binary(int depth) {
        struct Operator {
            const char* text;
            Number (*apply)(Number, Number);
        };
        static constexpr Operator kOperators[] = {
            {"+", [](Number a, Number b) { return wrapped(bits(a) + bits(b)); }},
            {"-", [](Number a, Number b) { return wrapped(bits(a) - bits(b)); }},
            {"*", [](Number a, Number b) { return wrapped(bits(a) * bits(b)); }},
            {"&", [](Number a, Number b) { return a & b; }},
            {"|", [](Number a, Number b) { return a | b; }},
            {"^", [](Number a, Number b) { return a ^ b; }},
            {"<", [](Number a, Number b) { return Number{a < b}; }},
            {"<=", [](Number a, Number b) { return Number{a <= b}; }},
            {">", [](Number a, Number b) { return Number{a > b}; }},
            {">=", [](Number a, Number b) { return Number{a >= b}; }},
            {"==", [](Number a, Number b) { return Number{a == b}; }},
            {"!=", [](Number a, Number b) { return Number{a != b}; }},
            {"&&", [](Number a, Number b) { return Number{a && b}; }},
            {"||", [](Number a, Number b) { return Number{a || b}; }},
        };
        const Operator& op = kOperators[pick(std::size(kOperators))];
        const Formula a = number(depth - 1), b = number(depth - 1);
        // Of a comparison, a number: what a boolean is to arithmetic.
        return {cat("(int64)(", a.text, ' ', op.text, ' ', b.text, ')'),
                [a, b, apply = op.apply](const State& state) {
                    return apply(a.value(state), b.value(state));
                }};
    }

    // With a right side that is no zero, and no count of 64 or more.
    Formula division_or_shift(int depth) {
        const Formula a = number(depth - 1), b = number(depth - 1);
        const auto text = [&](const char* op, const char* right) {
            return cat("((", a.text, ") ", op, " ((", b.text, ") ", right, "))");
        };
        switch (pick(4)) {
            case 0:
                return {text("/", "& 15 | 1"), [a, b](const State& state) {
                            return a.value(state) / ((b.value(state) & 15) | 1);
                        }};
            case 1:
                return {text("%", "& 15 | 1"), [a, b](const State& state) {
                            return a.value(state) % ((b.value(state) & 15) | 1);
                        }};
            case 2:
                return {text("<<", "& 63"), [a, b](const State& state) {
                            return wrapped(bits(a.value(state)) << (b.value(state) & 63));
                        }};
            default:
                return {text(">>", "& 63"), [a, b](const State& state) {
                            return a.value(state) >> (b.value(state) & 63);
                        }};
        }
    }

    Formula unary(int depth) {
        const Formula of = number(depth - 1);
        switch (pick(6)) {
            case 0:
                return {cat("(-(", of.text, "))"),
                        [of](const State& state) { return wrapped(-bits(of.value(state))); }};
            case 1:
                return {cat("(~(", of.text, "))"),
                        [of](const State& state) { return ~of.value(state); }};
            case 2:
                return {cat("(int64)(!(", of.text, "))"),
                        [of](const State& state) { return Number{!of.value(state)}; }};
            case 3:
                return {cat("(int64)(uint8)(", of.text, ")"), [of](const State& state) {
                            return Number{static_cast<std::uint8_t>(of.value(state))};
                        }};
            case 4:
                return {cat("(int64)(int16)(", of.text, ")"), [of](const State& state) {
                            return Number{static_cast<std::int16_t>(of.value(state))};
                        }};
            default:
                return {cat("(int64)(int32)(", of.text, ")"), [of](const State& state) {
                            return Number{static_cast<std::int32_t>(of.value(state))};
                        }};
        }
    }

    Formula number(int depth) {
        if (depth == 0) return leaf();
        switch (pick(9)) {
            case 0:
                return unary(depth);
            case 1:
            case 2:
                return division_or_shift(depth);
            case 3: {
                const Formula condition = this->condition(depth - 1), a = number(depth - 1),
                              b = number(depth - 1);
                return {cat('(', condition.text, " ? ", a.text, " : ", b.text, ')'),
                        [condition, a, b](const State& state) {
                            return condition.value(state) ? a.value(state) : b.value(state);
                        }};
            }
            case 4:
                return leaf();
            default:
                return binary(depth);
        }
    }

    Formula condition(int depth) {
        if (pick(3) != 0) return number(depth);
        const auto which = pick(2), other = pick(kTextCount);
        const bool is_equal = pick(2) != 0;
        return {cat("($t", which, is_equal ? " == \"" : " != \"", kTexts[other], "\")"),
                [which, other, is_equal](const State& state) {
                    return Number{(state.texts[which] == other) == is_equal};
                }};
    }

    // A key that map has, or may have.
    Formula key() {
        const Formula of = number(1);
        return {cat("((", of.text, ") & ", kKeys - 1, ')'),
                [of](const State& state) { return of.value(state) & (kKeys - 1); }};
    }

    Statement assignment() {
        const auto which = pick(kVariables);
        const Formula to = number(3);
        switch (pick(4)) {
            case 0:
                return {cat("$v", which, " += ", to.text, ";\n"), [which, to](State& state) {
                            const Number add = to.value(state);
                            state.variables[which] =
                                wrapped(bits(state.variables[which]) + bits(add));
                        }};
            case 1:
                return {cat("$v", which, "++;\n"), [which](State& state) {
                            state.variables[which] = wrapped(bits(state.variables[which]) + 1);
                        }};
            default:
                return {cat("$v", which, " = ", to.text, ";\n"),
                        [which, to](State& state) { state.variables[which] = to.value(state); }};
        }
    }

    Statement text_assignment() {
        const auto which = pick(2), text = pick(kTextCount);
        return {cat("$t", which, " = \"", kTexts[text], "\";\n"),
                [which, text](State& state) { state.texts[which] = static_cast<int>(text); }};
    }

    Statement to_map() {
        const Formula at = key(), value = number(2);
        switch (pick(4)) {
            case 0:
                return {cat("@map[", at.text, "] += ", value.text, ";\n"), [=](State& state) {
                            const Number key = at.value(state), add = value.value(state);
                            state.map[key] = wrapped(bits(element(state.map, key)) + bits(add));
                        }};
            case 1:
                return {cat("@map[", at.text, "]--;\n"), [=](State& state) {
                            const Number key = at.value(state);
                            state.map[key] = wrapped(bits(element(state.map, key)) - 1);
                        }};
            case 2:
                return {cat("delete(@map, ", at.text, ");\n"),
                        [=](State& state) { state.map.erase(at.value(state)); }};
            default:
                return {cat("@map[", at.text, "] = ", value.text, ";\n"), [=](State& state) {
                            const Number key = at.value(state);
                            state.map[key] = value.value(state);
                        }};
        }
    }

    Statement aggregation() {
        const Formula at = key(), value = number(2);
        switch (pick(4)) {
            case 0:
                return {cat("@counts[", at.text, "] = count();\n"),
                        [=](State& state) { ++state.counts[at.value(state)]; }};
            case 1:
                return {cat("@sums[", at.text, "] = sum(", value.text, ");\n"), [=](State& state) {
                            Number& sum = state.sums[at.value(state)];
                            sum = wrapped(bits(sum) + bits(value.value(state)));
                        }};
            case 2:
                return {cat("@least[", at.text, "] = min(", value.text, ");\n"), [=](State& state) {
                            const Number one = value.value(state);
                            Number& least =
                                state.least.try_emplace(at.value(state), one).first->second;
                            least = std::min(least, one);
                        }};
            default:
                return {cat("@most[", at.text, "] = max(", value.text, ");\n"), [=](State& state) {
                            const Number one = value.value(state);
                            Number& most =
                                state.most.try_emplace(at.value(state), one).first->second;
                            most = std::max(most, one);
                        }};
        }
    }

    Statement to_tuple() {
        const Formula at = key(), value = number(2);
        const auto which = pick(2);
        return {cat("@tuple[", at.text, ", $t", which, "] = ", value.text, ";\n"),
                [=](State& state) {
                    state.by_tuple[{at.value(state), state.texts[which]}] = value.value(state);
                }};
    }

    Statement output() {
        const Formula value = number(3);
        const auto which = pick(2);
        return {cat("printf(\"%ld %s %lx\\n\", ", value.text, ", $t", which, ", $v0);\n"),
                [=](State& state) {
                    char line[128];
                    std::snprintf(line, sizeof line, "%lld %s %llx\n",
                                  static_cast<long long>(value.value(state)),
                                  kTexts[state.texts[which]],
                                  static_cast<unsigned long long>(state.variables[0]));
                    state.printed += line;
                }};
    }

    Statement choice(int depth) {
        const Formula condition = this->condition(2);
        const Statement yes = block(depth + 1), no = block(depth + 1);
        return {cat("if (", condition.text, ") {\n", yes.text, "} else {\n", no.text, "}\n"),
                [=](State& state) { (condition.value(state) ? yes : no).run(state); }};
    }

    Statement leave_loop() {
        const Formula condition = this->condition(1);
        const bool breaks = pick(2) != 0;
        return {cat("if (", condition.text, ") { ", breaks ? "break" : "continue", "; }\n"),
                [=](State& state) {
                    if (condition.value(state)) (breaks ? state.breaks : state.continues) = true;
                }};
    }

    // Counted up to a number that the program knows, in one of the three forms.
    Statement loop(int depth) {
        const Number times = pick(4) + 1, form = pick(2);
        const auto variable = loops_;
        ++loops_;
        Statement body = block(depth + 1);
        if (pick(2) != 0) body = then(then(leave_loop(), std::move(body)), block(depth + 1));
        --loops_;
        const auto run = [=](State& state) {
            for (Number i = 0; i < times && !state.breaks; ++i) {
                state.loops[variable] = i;
                body.run(state);
                state.continues = false;
            }
            state.breaks = false;
        };
        if (form == 0)
            return {cat("for ($i", variable, " : 0..", times, ") {\n", body.text, "}\n"), run};
        return {cat("$n", variable, " = 0;\nwhile ($n", variable, " < ", times, ") {\n$i", variable,
                    " = $n", variable, ";\n$n", variable, "++;\n", body.text, "}\n"),
                run};
    }

    Statement statement(int depth) {
        switch (pick(depth < 2 ? 9 : 7)) {
            case 0:
                return to_map();
            case 1:
                return aggregation();
            case 2:
                return output();
            case 3:
                return text_assignment();
            case 4:
                return to_tuple();
            case 5:
            case 6:
                return assignment();
            case 7:
                return choice(depth);
            default:
                return loop(depth);
        }
    }

    Statement block(int depth) {
        Statement made = statement(depth);
        if (pick(2) != 0) made = then(std::move(made), statement(depth));
        return made;
    }

    // What the program holds at the end.
    static Statement everything() {
        std::string text;
        for (int key = 0; key < kKeys; ++key)
            text += cat("printf(\"%ld %ld %ld %ld %ld\\n\", @map[", key, "], @counts[", key,
                        "], @sums[", key, "], @least[", key, "], @most[", key, "]);\n");
        for (const char* which : kTexts)
            for (const int key : {0, 1, 3})
                text += cat("printf(\"%ld\\n\", @tuple[", key, ", \"", which, "\"]);\n");
        return {text, [](State& state) {
                    for (int key = 0; key < kKeys; ++key)
                        state.printed +=
                            cat(element(state.map, key), ' ', element(state.counts, key), ' ',
                                element(state.sums, key), ' ', element(state.least, key), ' ',
                                element(state.most, key), '\n');
                    for (int which = 0; which < kTextCount; ++which)
                        for (const int key : {0, 1, 3})
                            state.printed += cat(state.by_tuple[{key, which}], '\n');
                }};
    }

    std::mt19937 random_;
    int loops_ = 0;
};

constexpr const char* kBegin =
    "begin {\n$v0 = (int64)1; $v1 = (int64)-2; $v2 = (int64)3; $v3 = (int64)0;\n"
    "$t0 = \"a longer text, of many bytes\"; $t0 = \"a\"; "
    "$t1 = \"a longer text, of many bytes\"; $t1 = \"\";\n"
    "@map[8] = (int64)0; @counts[8] = count(); @sums[8] = sum((int64)0);\n"
    "@least[8] = min((int64)0); @most[8] = max((int64)0);\n"
    "@tuple[(int64)8, \"a longer text, of many bytes\"] = (int64)0;\n";
constexpr const char* kEnd =
    "clear(@map); clear(@counts); clear(@sums); clear(@least); clear(@most); clear(@tuple);\n"
    "exit();\n}\ntracepoint:sched:sched_switch { }\n";

unsigned number_of(const char* variable, unsigned otherwise) {
    const char* const text = std::getenv(variable);
    return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

// The lines, without the empty ones that are between them and the maps, of which none has elements.
std::string lines_printed(const Ended& ended) {
    std::string out = ended.out;
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(generated_scripts)

// GPUFS_SEEDS and GPUFS_SEED try more programs, and others.
BOOST_AUTO_TEST_CASE(print_in_the_kernel_and_over_a_recording_what_they_say) {
    const unsigned first = number_of("GPUFS_SEED", 1), count = number_of("GPUFS_SEEDS", 12);
    const std::string recording = "tests/data/trace_dat/sched-6.18.dat";
    for (unsigned seed = first; seed < first + count; ++seed) {
        const Statement made = Generator(seed).program();
        State state;
        state.variables[0] = 1;
        state.variables[1] = -2;
        state.variables[2] = 3;
        state.texts[0] = 1;
        made.run(state);
        const std::string script = cat(kBegin, made.text, kEnd);
        const Ended live = test::gpufs({"bt", "-q", "-e", script}),
                    replayed = test::gpufs({"run", "-e", script, "-i", recording});
        BOOST_TEST_CONTEXT("seed " << seed << '\n' << script) {
            BOOST_TEST(live.err == "");
            BOOST_TEST(lines_printed(live) == state.printed);
            BOOST_TEST(replayed.err == "");
            BOOST_TEST(lines_printed(replayed) == state.printed);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
