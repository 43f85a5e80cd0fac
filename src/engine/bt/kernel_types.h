#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bt/types/world.h"
#include "engine/places/kernel_facts.h"
#include "kernel/bpf/btf.h"

namespace gpufs::bt {

// The types of the running kernel and its modules (BTF), as types of scripts. What is asked for is
// looked up in the kernel first, then in each module, and remembered.
class KernelTypes {
public:
    // Borrowed.
    explicit KernelTypes(KernelFacts& facts) : facts_(facts) {}

    bool are_there() { return facts_.btf() != nullptr; }
    // See World for these. All are absent where the kernel tells no types.
    TypePtr find_type(const std::string& name);
    std::shared_ptr<const Structure> find_structure(const std::string& name);
    std::optional<World::Enumerator> enumerator(const std::string& name);
    std::optional<std::vector<Type::Field>> parameters(const std::string& function);
    std::optional<std::vector<Type::Field>> raw_tracepoint(const std::string& event);
    // The same as C writes it. Of a raw tracepoint without the tracer's own argument, and arguments
    // that have no name are "arg0"...
    std::optional<BtfFunction> prototype(const std::string& function);
    std::optional<BtfFunction> raw_prototype(const std::string& event);
    // The members of a structure as C declares them.
    std::optional<std::vector<std::string>> members(const std::string& structure);
    // Definitions of structures, unions and enums whose names match a shell pattern, by where they
    // are: "vmlinux" or a module, whose own are those that the kernel has not. `keyword`: "struct".
    struct Definition {
        std::string module, name;  // "struct task_struct"
        std::string text;          // empty where it was not asked for
    };
    std::vector<Definition> definitions(std::string_view keyword, const std::string& pattern,
                                        bool has_text);
    // The names of all functions of the kernel ("vmlinux") and of modules, by module.
    std::map<std::string, std::vector<std::string>> functions();

private:
    struct Source {
        const Btf* btf = nullptr;
        std::string module;      // empty: the kernel
        std::optional<Btf> own;  // a module's
        std::map<std::uint32_t, TypePtr> types;
    };
    struct Place {
        Source* source = nullptr;
        std::uint32_t id = 0;
    };

    // What `ask` says of the first source that knows; of this module only, where one is given.
    template <class Ask>
    auto first_of(std::string_view module, Ask ask) -> decltype(ask(std::declval<Source&>()));
    std::optional<Place> find(const std::string& name);
    TypePtr type_of(Source& source, std::uint32_t id);
    TypePtr make_type(Source& source, std::uint32_t id);
    // What a pointer points to: of a structure, the name only.
    TypePtr target_of(Source& source, std::uint32_t id);
    std::shared_ptr<const Structure> structure_of(Source& source, const BtfType& type);
    // A prototype, and whose numbers its types are.
    struct Prototype {
        Source* source = nullptr;
        BtfFunction function;
    };
    std::optional<Prototype> find_prototype(const std::string& function);
    std::optional<Prototype> find_raw_prototype(const std::string& event);
    // With the result, named "retval".
    std::vector<Type::Field> fields_of(const Prototype& prototype);

    KernelFacts& facts_;
    std::deque<Source> sources_;  // the kernel, and modules where something was found
    std::map<std::string, std::optional<Place>> places_;  // by name
    std::map<std::pair<const Source*, std::uint32_t>, std::shared_ptr<const Structure>> structures_;
};

}  // namespace gpufs::bt
