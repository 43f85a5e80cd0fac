#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bt/types/world.h"
#include "engine/bt/kernel_types.h"
#include "engine/bt/program_types.h"
#include "engine/places/kernel_facts.h"

namespace gpufs::bt {

// The running kernel, or a recording, which has events and nothing else: no functions, types or
// symbols. Throws UnsupportedError where an event is asked for and there is no tracefs.
class KernelWorld : public World {
public:
    // The facts are borrowed. `processes`: those that are looked at (-p).
    explicit KernelWorld(KernelFacts& facts, std::vector<int> processes = {})
        : facts_(facts), processes_(std::move(processes)), types_(facts) {}

    bool is_recording() override { return facts_.is_recording(); }
    const EventFormat* event(const std::string& full_name) override;
    std::vector<std::string> events(const std::string& pattern) override;
    std::vector<std::string> functions(const std::string& pattern) override;
    UserFiles user_files(const std::string& file) override;
    bool has_processes() override { return !processes_.empty(); }
    std::vector<std::string> user_functions(const std::string& file,
                                            const std::string& pattern) override;
    UserLine user_line(const std::string& file, const std::string& source,
                       std::uint64_t line) override;
    UserFunction user_function(const std::string& file, const std::string& name) override;
    TypePtr find_user_type(const std::string& file, const std::string& name) override;
    std::shared_ptr<const Structure> user_structure(std::size_t number) override {
        return programs_.structure(number);
    }
    bool has_types() override;
    TypePtr find_type(const std::string& name) override;
    std::shared_ptr<const Structure> find_structure(const std::string& name) override;
    // Also of a system call's number, "__NR_read".
    std::optional<Enumerator> enumerator(const std::string& name) override;
    std::optional<std::vector<Type::Field>> parameters(const std::string& function) override;
    std::optional<std::vector<Type::Field>> raw_tracepoint(const std::string& event) override;
    // Absent, too, where the kernel hides its addresses from this user (kptr_restrict).
    std::optional<std::uint64_t> kernel_symbol(const std::string& name) override;
    std::optional<std::uint64_t> cgroup_id(const std::string& path) override;
    std::optional<UserSymbol> user_symbol(const std::string& file,
                                          const std::string& name) override;
    std::optional<UserPlace> user_function_at(const std::string& file,
                                              std::uint64_t address) override;
    std::vector<StaticProbe> static_probes(const std::string& file, const std::string& provider,
                                           const std::string& name) override;

private:
    template <class Ask>
    auto of_file(const std::string& file, Ask ask) const;

    KernelFacts& facts_;
    std::vector<int> processes_;
    KernelTypes types_;
    ProgramTypes programs_;
    std::map<std::string, std::optional<std::uint64_t>> kernel_symbols_;
};

}  // namespace gpufs::bt
