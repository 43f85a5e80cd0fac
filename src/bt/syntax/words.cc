#include "bt/syntax/words.h"

#include <algorithm>
#include <array>
#include <vector>

#include "lang/program/static_argument.h"

namespace gpufs::bt {
namespace {

constexpr auto kBuiltins = std::to_array<std::string_view>({
    "args",   "cgroup", "comm",     "cpid",     "cpu",      "ctx",         "curtask",    "elapsed",
    "func",   "gid",    "has_cpid", "jiffies",  "kstack",   "leader_comm", "leader_tid", "ncpus",
    "nsecs",  "numaid", "pcomm",    "pid",      "ppid",     "probe",       "probetype",  "rand",
    "retval", "tid",    "uid",      "usermode", "username", "ustack",
});

constexpr auto kFunctions = std::to_array<std::string_view>({
    "assert",     "assert_str",    "avg",           "bswap",         "default_str_length",
    "buf",        "cat",           "cgroup_path",   "cgroupid",      "clear",
    "config",     "container_of",  "count",         "debugf",        "delete",
    "dw_ustack",  "errorf",        "exit",          "fail",          "find",
    "getopt",     "has_key",       "hist",          "is_array",      "is_err",
    "is_integer", "is_literal",    "is_ptr",        "is_str",        "is_unsigned_integer",
    "join",       "kaddr",         "kfunc_allowed", "kfunc_exist",   "kptr",
    "ksym",       "len",           "lhist",         "macaddr",       "max",
    "memcmp",     "min",           "ntop",          "offsetof",      "override",
    "path",       "percpu_kaddr",  "print",         "printf",        "pton",
    "reg",        "signal",        "signal_name",   "signal_thread", "sizeof",
    "skboutput",  "socket_cookie", "static_assert", "stats",         "str",
    "str_concat", "strcap",        "strcontains",   "strerror",      "strftime",
    "strlen",     "strncmp",       "strstr",        "sum",           "syscall_name",
    "system",     "time",          "tseries",       "typeinfo",      "uaddr",
    "unwatch",    "uptr",          "usym",          "warnf",         "write_user",
    "zero",
});

constexpr auto kTypeWords = std::to_array<std::string_view>({
    "bool",      "int8",     "int16",   "int32",   "int64",   "uint8",    "uint16",   "uint32",
    "uint64",    "void",     "string",  "buffer",  "inet",    "s8",       "s16",      "s32",
    "s64",       "u8",       "u16",     "u32",     "u64",     "__s8",     "__s16",    "__s32",
    "__s64",     "__u8",     "__u16",   "__u32",   "__u64",   "__be16",   "__be32",   "__be64",
    "__le16",    "__le32",   "__le64",  "size_t",  "ssize_t", "pid_t",    "uid_t",    "gid_t",
    "int8_t",    "int16_t",  "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    "uintptr_t", "intptr_t", "loff_t",  "off_t",   "dev_t",   "umode_t",
});
constexpr auto kTypeParts = std::to_array<std::string_view>(
    {"char", "short", "int", "long", "signed", "unsigned", "__int128", "float", "double"});

constexpr auto kReserved = std::to_array<std::string_view>({
    "break",  "continue", "else",   "for",      "if",       "import", "let",
    "macro",  "return",   "sizeof", "offsetof", "typeof",   "unroll", "while",
    "struct", "union",    "enum",   "comptime", "typeinfo",
});

bool contains(auto& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

// "arg0", "arg11", "sarg0".
bool is_numbered_argument(std::string_view name) {
    if (name.starts_with('s')) name.remove_prefix(1);
    return static_argument_number(name).has_value();
}

struct ProviderRow {
    Provider provider;
    const char* name;
    std::array<std::string_view, 3> others;  // short ones and former ones
};
constexpr auto kProviders = std::to_array<ProviderRow>({
    {Provider::begin, "BEGIN", {}},
    {Provider::end, "END", {}},
    {Provider::self, "self", {}},
    {Provider::kprobe, "kprobe", {"k"}},
    {Provider::kretprobe, "kretprobe", {"kr"}},
    {Provider::fentry, "fentry", {"f", "kfunc"}},
    {Provider::fexit, "fexit", {"fr", "kretfunc"}},
    {Provider::uprobe, "uprobe", {"u"}},
    {Provider::uretprobe, "uretprobe", {"ur"}},
    {Provider::usdt, "usdt", {"U"}},
    {Provider::tracepoint, "tracepoint", {"t"}},
    {Provider::rawtracepoint, "rawtracepoint", {"rt", "raw_tracepoint"}},
    {Provider::profile, "profile", {"p"}},
    {Provider::interval, "interval", {"i"}},
    {Provider::software, "software", {"s"}},
    {Provider::hardware, "hardware", {"h"}},
    {Provider::watchpoint, "watchpoint", {"w"}},
    {Provider::asyncwatchpoint, "asyncwatchpoint", {"aw"}},
    {Provider::iter, "iter", {"it"}},
});

bool is_same_in_any_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) {
        return x == y || (is_letter(x) && is_letter(y) && (x ^ y) == ('a' ^ 'A'));
    });
}

}  // namespace

bool is_builtin(std::string_view name) {
    return contains(kBuiltins, name) || is_numbered_argument(name);
}
std::vector<std::string> builtin_names() {
    return {kBuiltins.begin(), kBuiltins.end()};
}
bool is_function(std::string_view name) {
    return contains(kFunctions, name);
}
bool is_type_word(std::string_view name) {
    return contains(kTypeWords, name);
}
bool is_c_type_part(std::string_view name) {
    return contains(kTypeParts, name);
}
bool is_reserved(std::string_view name) {
    return contains(kReserved, name);
}

const char* name_of(Provider provider) {
    return std::ranges::find(kProviders, provider, &ProviderRow::provider)->name;
}

const Provider* find_provider(std::string_view word) {
    // Trailing blanks are those in front of a ':'.
    while (!word.empty() && is_space(word.back())) word.remove_suffix(1);
    if (word.empty()) return nullptr;
    for (const ProviderRow& row : kProviders)
        if (word == row.name || contains(row.others, word)) return &row.provider;
    for (const ProviderRow& row : kProviders) {
        const bool is_long_name = is_same_in_any_case(word, row.name) ||
                                  std::ranges::any_of(row.others, [&](std::string_view other) {
                                      return other.size() > 2 && is_same_in_any_case(word, other);
                                  });
        if (is_long_name) return &row.provider;
    }
    return nullptr;
}

std::span<const std::string> provider_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        all.reserve(std::size(kProviders) + 4);
        for (const ProviderRow& row : kProviders) all.emplace_back(row.name);
        all.insert(all.end(), {"begin", "end", "kfunc", "kretfunc"});
        return all;
    }();
    return names;
}

bool may_have_path(Provider provider, std::size_t colons) {
    switch (provider) {
        case Provider::uprobe:
        case Provider::uretprobe:
        case Provider::usdt:
            return colons == 1;
        case Provider::iter:
            return colons == 2;
        default:
            return false;
    }
}

bool is_at_function(Provider provider) {
    return provider == Provider::kprobe || provider == Provider::kretprobe ||
           provider == Provider::uprobe || provider == Provider::uretprobe ||
           provider == Provider::usdt;
}

bool is_in_file(Provider provider) {
    return provider == Provider::uprobe || provider == Provider::uretprobe ||
           provider == Provider::usdt;
}

}  // namespace gpufs::bt
