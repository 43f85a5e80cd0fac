#include "lang/ir/stack_map.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <unordered_map>

#include "lang/insn/map_world.h"
#include "lang/ir/ir.h"

namespace gpufs {
namespace {

using Frames = std::vector<std::uint64_t>;

constexpr std::size_t kFrames = 16;
constexpr std::uint32_t kAtOnce = 8;

// A program that returns the id of its kernel stack, or if the first word of its context is 1, of
// its user stack. The second word is where the function returns to.
Program asker(std::uint64_t entries, bool keeps_stacks, bool has_callers = true) {
    Program program;
    program.name = "asker";
    MapDeclaration map;
    map.name = "stacks";
    map.type = BPF_MAP_TYPE_STACK_TRACE;
    map.keeps_stacks = keeps_stacks;
    map.has_callers = has_callers;
    ValueType index, frames;
    index.bytes = 4;
    frames.kind = ValueType::Kind::raw_bytes;
    frames.bytes = kFrames * 8;
    map.key.add("key", index);
    map.value.add("value", frames);
    map.max_entries = entries;
    program.maps.push_back(map);
    define_stack_function(program, map);
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Temp is_user = code.load({context, 0}, ir::kU64);
    const ir::Temp back = code.load({context, 8}, ir::kU64);
    code.leave(code.call(stack_function(map),
                         {context, code.compute(ir::Op::shl, ir::kU64, is_user, 8), back}));
    ProbeProgram probe;
    probe.name = "ask";
    probe.code = code.assemble();
    program.programs.push_back(std::move(probe));
    return program;
}

class Asker {
public:
    explicit Asker(std::uint64_t entries, bool keeps_stacks = true)
        : world_(asker(entries, keeps_stacks)) {
        if (keeps_stacks) world_.features.insert("bounded_loops");
    }

    std::int64_t id_of(const Frames& stack, bool is_user = false, std::uint64_t back = 0) {
        (is_user ? world_.world.now.user_stack : world_.world.now.kernel_stack) = stack;
        const std::uint64_t context[] = {is_user ? 1u : 0u, back};
        return static_cast<std::int64_t>(world_.run(0, {}, std::as_bytes(std::span(context))));
    }
    // The map's value: the hash in front of the frames.
    Frames kept(std::int64_t id) { return world_.words("stacks", static_cast<std::uint32_t>(id)); }
    std::uint64_t refused() { return world_.words("stacks.refused").at(0); }
    std::uint64_t is_used(std::uint32_t place) {
        return world_.words("stacks.scratch", place).at(0);
    }
    // As if the programs that these places belong to were interrupted.
    void use(std::uint32_t places) {
        for (std::uint32_t i = 0; i < places; ++i) world_.set_word("stacks.scratch", i, 1);
    }
    Asker& without_atomics() {
        world_.features.erase("atomics");
        return *this;
    }

private:
    test::MapWorld world_;
};

// The hash that the code computes.
std::uint64_t hash_of(const Frames& stack) {
    std::uint64_t hash = stack.size() * 8;
    for (const std::uint64_t frame : stack) {
        hash = (hash ^ frame) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    }
    return hash;
}

// Two stacks of one frame whose ids would be the same.
std::pair<Frames, Frames> same_id() {
    std::unordered_map<std::uint64_t, std::uint64_t> known;
    for (std::uint64_t frame = 0xffffffff81000000;; ++frame) {
        const auto [it, is_new] = known.try_emplace(hash_of({frame}) & 0x7fffffff, frame);
        if (!is_new) return {{it->second}, {frame}};
    }
}

BOOST_AUTO_TEST_SUITE(stack_map_code)

BOOST_AUTO_TEST_CASE(a_stack_has_one_id_and_another_stack_another) {
    for (const bool has_atomics : {true, false}) {
        Asker asker(8);
        if (!has_atomics) asker.without_atomics();
        const Frames first{0xffffffff81000010, 0xffffffff81000200}, longer{first[0], first[1], 7};
        const std::int64_t id = asker.id_of(first);
        BOOST_TEST(id >= 0);
        BOOST_TEST(asker.id_of(first) == id);
        BOOST_TEST(asker.id_of(longer) != id);
        BOOST_TEST(asker.id_of({first[1], first[0]}) != id);
        BOOST_TEST(asker.id_of(first, true) == id);
        Frames value = asker.kept(id);
        BOOST_TEST_REQUIRE(value.size() == kFrames + 1);
        BOOST_TEST(value[0] == hash_of(first));
        BOOST_TEST(Frames(value.begin() + 1, value.begin() + 4) == (Frames{first[0], first[1], 0}));
        BOOST_TEST(asker.refused() == 0u);
        BOOST_TEST(asker.is_used(0) == 0u);
    }
}

BOOST_AUTO_TEST_CASE(two_stacks_whose_id_would_be_the_same_are_told_apart) {
    const auto [first, second] = same_id();
    Asker asker(8);
    const std::int64_t id = asker.id_of(first);
    BOOST_TEST(id == static_cast<std::int64_t>(hash_of(second) & 0x7fffffff));
    BOOST_TEST(asker.id_of(second) == ((id + 1) & 0x7fffffff));
    BOOST_TEST(asker.id_of(second) == ((id + 1) & 0x7fffffff));
    BOOST_TEST(asker.id_of(first) == id);
    BOOST_TEST(asker.kept(id).at(1) == first[0]);
    BOOST_TEST(asker.kept((id + 1) & 0x7fffffff).at(1) == second[0]);
}

BOOST_AUTO_TEST_CASE(a_map_is_full_when_it_has_as_many_stacks_as_it_has_entries) {
    Asker asker(64);
    for (std::uint64_t i = 0; i < 64; ++i) BOOST_TEST(asker.id_of({0x1000 + i}) >= 0);
    BOOST_TEST(asker.id_of({0x2000}) == -E2BIG);
    BOOST_TEST(asker.id_of({0x2001}) == -E2BIG);
    BOOST_TEST(asker.refused() == 2u);
    BOOST_TEST(asker.id_of({0x1001}) >= 0);
    BOOST_TEST(asker.refused() == 2u);
}

BOOST_AUTO_TEST_CASE(the_caller_of_a_function_that_begins_is_put_behind_it_where_it_is_missing) {
    Asker asker(8);
    constexpr std::uint64_t kCaller = 0x401234;
    const auto frames_of = [&](const Frames& stack) {
        const Frames value = asker.kept(asker.id_of(stack, true, kCaller));
        return Frames(value.begin() + 1, std::ranges::find(value.begin() + 1, value.end(), 0u));
    };
    const Frames whole{0x7f0010, kCaller, 0x401500, 0x401600};
    const auto check = [&](const Frames& got, const Frames& wanted) {
        BOOST_TEST(got == wanted, boost::test_tools::per_element());
    };
    check(frames_of({0x7f0010, 0x401500, 0x401600}), whole);
    check(frames_of(whole), whole);
    BOOST_TEST(asker.id_of(whole, true) ==
               asker.id_of({0x7f0010, 0x401500, 0x401600}, true, kCaller));
    check(frames_of({0x7f0010}), {0x7f0010, kCaller});
    // A stack without room for one more loses its outermost frame.
    Frames deep, wanted;
    for (std::uint64_t i = 0; i < kFrames; ++i) deep.push_back(0x500000 + i);
    wanted = deep;
    wanted.insert(wanted.begin() + 1, kCaller);
    wanted.pop_back();
    check(frames_of(deep), wanted);
}

BOOST_AUTO_TEST_CASE(code_for_callers_is_there_where_a_map_has_them) {
    const auto size = [](bool has_callers) {
        return asker(8, true, has_callers).subprograms.front().code.size();
    };
    BOOST_TEST(size(false) + 30 < size(true));
}

BOOST_AUTO_TEST_CASE(what_is_computed_of_a_frame_stays_in_its_register) {
    const Program program = asker(8, true);
    const std::vector<CodeItem>& code = program.subprograms.front().code;
    const auto is_mixed = [](const CodeItem& item) {
        return item.insn.code == (BPF_ALU64 | BPF_XOR | BPF_X);
    };
    const auto first = std::ranges::find_if(code, is_mixed);
    const auto second = std::find_if(first + 1, code.end(), is_mixed);
    const auto copies = std::count_if(first, second, [](const CodeItem& item) {
        return item.insn.code == (BPF_ALU64 | BPF_MOV | BPF_X);
    });
    // The half of it that is shifted.
    BOOST_TEST(copies == 1);
    BOOST_TEST(first->insn.dst_reg == second->insn.dst_reg);
}

BOOST_AUTO_TEST_CASE(a_task_without_a_stack_has_no_id) {
    Asker asker(8);
    BOOST_TEST(asker.id_of({}) == -EFAULT);
    BOOST_TEST(asker.refused() == 0u);
    BOOST_TEST(asker.is_used(0) == 0u);
}

BOOST_AUTO_TEST_CASE(a_program_that_interrupts_another_takes_memory_of_its_own) {
    Asker asker(8);
    asker.use(kAtOnce - 1);
    const std::int64_t id = asker.id_of({0x1000});
    BOOST_TEST(asker.kept(id).at(1) == 0x1000u);
    BOOST_TEST(asker.is_used(0) == 1u);
    BOOST_TEST(asker.is_used(kAtOnce - 1) == 0u);
    asker.use(kAtOnce);
    BOOST_TEST(asker.id_of({0x1000}) == -EBUSY);
    BOOST_TEST(asker.refused() == 1u);
}

BOOST_AUTO_TEST_CASE(a_kernel_without_loops_keeps_stacks_in_its_own_map) {
    Asker asker(8, false);
    const std::int64_t id = asker.id_of({0x1000, 0x2000});
    BOOST_TEST(asker.kept(id).at(0) == 0x1000u);
    BOOST_TEST(asker.id_of({0x1000, 0x2000}) == id);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
