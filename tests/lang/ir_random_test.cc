#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "gpufs/base/cat.h"
#include "gpufs/lang/ir.h"
#include "lang/bpf_run.h"
#include "lang/ir_gen.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(ir_random)

constexpr int kMapFd = 7;

// The map of RandomProgram, for the interpreter.
class ValuesMap {
public:
    ValuesMap(BpfWorld& world, test::RandomProgram::MapValues& values) {
        const std::uint64_t base =
            world.memory.add(BpfMemory::Kind::data, std::as_writable_bytes(std::span(values)));
        const auto index_of = [](std::span<const std::byte> key) {
            std::uint32_t index;
            std::memcpy(&index, key.data(), sizeof index);
            return index;
        };
        BpfWorld::Map map;
        map.key_bytes = 4;
        map.value_bytes = 8;
        map.lookup = [=, &values](std::span<const std::byte> key) {
            const std::uint32_t index = index_of(key);
            return index < values.size() ? base + index * 8 : 0;
        };
        map.update = [=, &values](std::span<const std::byte> key, std::span<const std::byte> value,
                                  std::uint64_t) {
            const std::uint32_t index = index_of(key);
            if (index >= values.size()) return -E2BIG;
            std::memcpy(&values[index], value.data(), value.size());
            return 0;
        };
        world.maps[kMapFd] = std::move(map);
    }
};

std::vector<bpf_insn> linked(const test::RandomProgram& program) {
    Program maps;
    MapDeclaration values;
    values.name = "values";
    values.type = BPF_MAP_TYPE_ARRAY;
    maps.maps.push_back(values);
    LinkTarget target;
    target.map_fds["values"] = kMapFd;
    return test::link_items(program.compile().assemble(), target, maps);
}

BOOST_AUTO_TEST_CASE(programs_compute_what_the_model_computes) {
    std::size_t instructions = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        test::RandomProgram program(seed, 1 + seed % 15, 4 + seed % 37);
        const auto insns = linked(program);
        instructions += insns.size();
        for (int run = 0; run < 3; ++run) {
            const auto context = program.random_context();
            test::RandomProgram::MapValues modelled{1, 2, 3, 4}, values = modelled;
            BpfWorld world;
            add_common_helpers(world);
            const ValuesMap map(world, values);
            const std::uint64_t expected = program.evaluate(context, modelled);
            BOOST_TEST_CONTEXT(cat("seed ", seed)) {
                BOOST_REQUIRE(test::run_bpf(insns, context, world) == expected);
                BOOST_REQUIRE((values == modelled));
            }
        }
    }
    BOOST_TEST_MESSAGE(instructions);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
