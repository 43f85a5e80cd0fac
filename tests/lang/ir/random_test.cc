#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "lang/insn/run.h"
#include "lang/ir/gen.h"
#include "lang/ir/ir.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(ir_random)

// The map of RandomProgram, for the interpreter.
class ValuesMap {
public:
    using Values = test::RandomProgram::MapValues;

    ValuesMap(VmState& world, const Values& values) : map_(world.map(added(world))) {
        for (std::uint32_t i = 0; i < values.size(); ++i) map_.update(key(i), value(values[i]));
    }
    Values values() const {
        Values values{};
        for (std::uint32_t i = 0; i < values.size(); ++i)
            map_.lookup(key(i), std::as_writable_bytes(std::span(&values[i], 1)));
        return values;
    }

private:
    static int added(VmState& world) {
        BpfMapSpec spec;
        spec.type = BPF_MAP_TYPE_ARRAY;
        spec.key_bytes = 4;
        spec.value_bytes = 8;
        spec.max_entries = static_cast<std::uint32_t>(Values().size());
        return world.add_map(spec);
    }
    static std::span<const std::byte> key(const std::uint32_t& index) {
        return std::as_bytes(std::span(&index, 1));
    }
    static std::span<const std::byte> value(const std::uint64_t& word) {
        return std::as_bytes(std::span(&word, 1));
    }

    InterpretedMap& map_;
};

std::vector<bpf_insn> linked(const test::RandomProgram& program) {
    Program maps;
    MapDeclaration values;
    values.name = "values";
    values.type = BPF_MAP_TYPE_ARRAY;
    maps.maps.push_back(values);
    LinkTarget target;
    target.map_fds["values"] = 0;
    return test::link_items(program.compile().assemble(), target, maps);
}

BOOST_AUTO_TEST_CASE(programs_compute_what_the_model_computes) {
    std::size_t instructions = 0;
    for (std::uint64_t seed = test::rounds(3000); seed > 0; --seed) {
        test::RandomProgram program(seed, 1 + seed % 15, 4 + seed % 37);
        const auto insns = linked(program);
        instructions += insns.size();
        for (int run = 0; run < 3; ++run) {
            const auto context = program.random_context();
            test::RandomProgram::MapValues modelled{1, 2, 3, 4};
            VmState world;
            add_common_helpers(world);
            const ValuesMap map(world, modelled);
            const std::uint64_t expected = program.evaluate(context, modelled);
            BOOST_TEST_CONTEXT(cat("seed ", seed)) {
                BOOST_REQUIRE(test::run_bpf(insns, context, world) == expected);
                BOOST_REQUIRE((map.values() == modelled));
            }
        }
    }
    BOOST_TEST_MESSAGE(instructions);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
