#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bt/types/type.h"
#include "lang/event/event_format.h"
#include "lang/program/static_argument.h"

namespace gpufs::bt {

// What a script's compiler asks of the machine, or of a recording.
class World {
public:
    virtual ~World() = default;

    // The script is compiled for a recording, else for this kernel.
    virtual bool is_recording() = 0;

    // A tracepoint's format by its full name, "sched:sched_switch"; null where there is none.
    virtual const EventFormat* event(const std::string& full_name) = 0;
    // Full names of tracepoints that match a shell pattern, sorted.
    virtual std::vector<std::string> events(const std::string& pattern) = 0;
    // The kernel's functions that match a shell pattern and can be probed, sorted.
    virtual std::vector<std::string> functions(const std::string& pattern) = 0;

    // The files that the FILE of a probe of programs stands for: those of a shell pattern, or one.
    // Of the processes that are looked at (-p), where there are any: the files that they see at the
    // path, or have mapped by that name; "" and "*" are all that they have mapped.
    struct UserFiles {
        std::vector<std::string> paths;
        std::string trouble, hint;  // why there are none
    };
    virtual UserFiles user_files(const std::string& file) = 0;
    virtual bool has_processes() = 0;
    // The functions of a program or library, by its path or name, likewise. Throws Error where the
    // file is neither, as static_probes() does. By a shell pattern of their symbols, or of C++ and
    // Rust by the readable name or a pattern of it, as find_readable_functions().
    virtual std::vector<std::string> user_functions(const std::string& file,
                                                    const std::string& pattern) = 0;
    // What a function of a program or library is given, by its debug information.
    struct UserParameter {
        std::string name;
        TypePtr type;
        std::string c_type;    // "struct Foo *"
        StaticArgument place;  // where its function begins; unknown: where no program can read it
        bool is_alike(const UserParameter& other) const {
            return name == other.name && c_type == other.c_type && place == other.place;
        }
    };
    struct UserFunction {
        std::vector<UserParameter> parameters;
        std::string trouble, hint;  // why they are not known; empty if they are
    };
    // Where the code of a line begins; `source` is the end of its file's path. As in UserSymbol.
    struct UserLine {
        std::vector<std::uint64_t> addresses;
        std::string trouble, hint;  // why there are none
    };
    virtual UserLine user_line(const std::string& file, const std::string& source,
                               std::uint64_t line) = 0;
    virtual UserFunction user_function(const std::string& file, const std::string& name) = 0;
    // Likewise a type of the file, as find_type(). Pointers in it point into the process. What is
    // in a structure of it, by Type::number.
    virtual TypePtr find_user_type(const std::string& file, const std::string& name) = 0;
    virtual std::shared_ptr<const Structure> user_structure(std::size_t number) = 0;

    // The kernel's types (BTF). Without them the answers below are null.
    virtual bool has_types() = 0;
    // By the name in C, without a keyword: a structure or union ("task_struct"), an enum, a typedef
    // ("pid_t": the type behind it). Pointers in it point into the kernel.
    virtual TypePtr find_type(const std::string& name) = 0;
    // What is in it. Null for a name of no structure.
    virtual std::shared_ptr<const Structure> find_structure(const std::string& name) = 0;
    // What an enumerator stands for, "TCP_ESTABLISHED".
    struct Enumerator {
        std::int64_t number = 0;
        TypePtr type = nullptr;  // its enum; null where it is of none
    };
    virtual std::optional<Enumerator> enumerator(const std::string& name) = 0;
    // The parameters of a kernel function (fentry), and what it returns as the last field, named
    // "retval", absent for void. "module:function" looks there only.
    virtual std::optional<std::vector<Type::Field>> parameters(const std::string& function) = 0;
    // The arguments of a raw tracepoint, without the context.
    virtual std::optional<std::vector<Type::Field>> raw_tracepoint(const std::string& event) = 0;

    // The address of a symbol of the kernel, of the file of a program or library.
    virtual std::optional<std::uint64_t> kernel_symbol(const std::string& name) = 0;
    // The id of a cgroup (version 2) by its path below the mount, or from the root.
    virtual std::optional<std::uint64_t> cgroup_id(const std::string& path) = 0;
    struct UserSymbol {
        std::uint64_t address = 0;  // as the file has it
        std::size_t bytes = 0;
        bool is_moved = false;  // the file is loaded to any address: it is a library, or as one
    };
    virtual std::optional<UserSymbol> user_symbol(const std::string& file,
                                                  const std::string& name) = 0;
    // The function whose code has the address (as in UserSymbol), and how far behind its begin; of
    // code that no symbol is for, an empty name, and where in the file it is.
    struct UserPlace {
        std::string function;
        std::uint64_t offset = 0;
    };
    virtual std::optional<UserPlace> user_function_at(const std::string& file,
                                                      std::uint64_t address) = 0;
    // The places of the static probes of a file whose provider and name match these shell patterns,
    // in the order in which a target's places are, with where they have their arguments.
    struct StaticProbe {
        std::string provider, name;
        std::vector<StaticArgument> arguments;
        std::uint64_t address = 0;  // as in UserSymbol
    };
    virtual std::vector<StaticProbe> static_probes(const std::string& file,
                                                   const std::string& provider,
                                                   const std::string& name) = 0;
};

}  // namespace gpufs::bt
