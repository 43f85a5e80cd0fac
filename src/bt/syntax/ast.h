#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "bt/syntax/expr.h"
#include "lang/program/code.h"
#include "lang/program/function_pattern.h"

// The syntax tree of a script in the bpftrace language, as the parser makes it: names are not
// resolved and nothing has a type, but macros are expanded, constants of #define are in their
// places, and attach points are split into their parts.
namespace gpufs::bt {

enum class Provider {
    begin,
    end,
    self,
    kprobe,
    kretprobe,
    fentry,
    fexit,
    uprobe,
    uretprobe,
    usdt,
    tracepoint,
    rawtracepoint,
    profile,
    interval,
    software,
    hardware,
    watchpoint,
    asyncwatchpoint,
    iter,
};
// "kprobe": the name that `probe` prints, whichever way the script wrote it.
const char* name_of(Provider provider);

struct AttachPoint {
    Provider provider = Provider::begin;
    std::string text;  // as written, with arguments put in: "kprobe:vfs_*"
    // kprobe, fentry…: the module, may be empty. tracepoint: the category. uprobe, usdt: the path,
    // the program's or library's name. software, hardware, profile, interval: the event or unit.
    std::string target;
    std::string space;                     // usdt: the provider within the file, may be empty
    std::string name;                      // the function, the event, the probe; self: the signal
    std::uint64_t offset = 0;              // of name, in bytes
    std::optional<std::uint64_t> address;  // instead of a name
    std::string source;                    // uprobe: instead of a name, the source file of `line`
    std::uint64_t line = 0;
    // profile, interval: the period in ns; profile: Hz where `is_frequency`. software, hardware:
    // every so many events, 0: the default. watchpoint: the length in bytes.
    std::uint64_t number = 0;
    bool is_frequency = false;
    std::string mode;                  // watchpoint: out of r, w, x
    std::optional<unsigned> argument;  // watchpoint: of function `name`, the one with the address
    std::string pin;                   // iter: where it is pinned, may be empty
    bool is_cpp = false;               // uprobe: `name` is the readable form of a C++ function
    bool has_glob() const {
        constexpr std::string_view kSigns = "*?[";
        return (target + space).find_first_of(kSigns) != std::string::npos ||
               (name.find_first_of(kSigns) != std::string::npos && !is_readable_name(name));
    }
    SourceRef at;
};

struct Probe {
    std::vector<AttachPoint> points;
    ExprPtr predicate;  // null: none
    Block body;
    SourceRef at;
};

// struct, union or enum of the script's C part.
struct CMember {
    std::string name;  // empty: an anonymous structure, whose members are members of this one
    TypeName type;
    std::size_t inner = 0;  // index into Script::records plus 1 of a structure defined in place
    std::optional<unsigned> bits;
    std::uint64_t alignment = 0;  // in bytes, of __attribute__((aligned)); 0: the type's
    bool is_packed = false;
    SourceRef at;
};
struct CRecord {
    std::string name;  // empty: anonymous
    bool is_union = false, is_packed = false;
    std::uint64_t alignment = 0;  // at least so many bytes, of __attribute__((aligned)); 0: none
    std::uint64_t pack = 0;       // of #pragma pack: members are aligned to so many at most; 0: any
    std::vector<CMember> members;
    SourceRef at;
};
struct CEnum {
    std::string name;
    std::vector<std::pair<std::string, std::int64_t>> values;
    SourceRef at;
};

// typedef TYPE NAME;
struct CTypedef {
    std::string name;
    TypeName type;
    std::uint64_t alignment = 0;  // as of a member
};

struct ConfigEntry {
    std::string name, value;  // the name in lower case, without "bpftrace_"
    SourceRef at;
};

// let @NAME = hash(N);
struct MapDeclarationNode {
    std::string name, kind;
    std::uint64_t entries = 0;
    SourceRef at;
};

// fn NAME($a : T, …) : R { … }
struct Function {
    std::string name;
    std::vector<std::pair<std::string, TypeName>> parameters;
    std::optional<TypeName> result;
    Block body;
    SourceRef at;
};

// What getopt() asks for, in order of appearance: for --help.
struct ScriptOption {
    std::string name, fallback, help;
};

struct Script {
    std::vector<SourceText> sources;  // the script, what is predefined, what it imports
    std::vector<CRecord> records;
    std::vector<CEnum> enums;
    std::vector<CTypedef> typedefs;
    std::vector<std::string> includes;  // names of headers that were asked for: "linux/sched.h"
    std::vector<ConfigEntry> config;
    std::vector<ScriptOption> options;
    std::vector<MapDeclarationNode> maps;
    std::vector<Function> functions;
    std::vector<Probe> probes;
};

}  // namespace gpufs::bt
