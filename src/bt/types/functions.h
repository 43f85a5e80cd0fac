#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bt/syntax/expr.h"
#include "bt/types/type.h"

namespace gpufs::bt {

// The functions of the language.
enum class Fn {
    // What the reader does when it comes to the record.
    printf,
    errorf,
    warnf,
    debugf,
    system,
    cat,
    print,
    clear,
    zero,
    exit,
    time,
    join,
    // Maps.
    delete_,
    has_key,
    len,
    // Texts and bytes.
    str,
    buf,
    strncmp,
    strcontains,
    strlen,
    strcap,
    strstr,
    str_concat,
    memcmp,
    default_str_length,
    strftime,
    strerror,
    syscall_name,
    signal_name,
    // Addresses and numbers.
    ksym,
    usym,
    kaddr,
    uaddr,
    percpu_kaddr,
    reg,
    bswap,
    kptr,
    uptr,
    nsecs,
    ntop,
    pton,
    macaddr,
    // The task.
    kstack,
    ustack,
    cgroupid,
    cgroup_path,
    comm,
    signal,
    signal_thread,
    write_user,
    // What the kernel does or tells for some probes only.
    path,
    socket_cookie,
    override_,
    kfunc_exist,
    kfunc_allowed,
    // What the compiler decides.
    fail,
    static_assert_,
    is_str,
    is_ptr,
    is_array,
    is_integer,
    is_unsigned_integer,
    is_literal,
    // Values of maps.
    count,
    sum,
    avg,
    min,
    max,
    stats,
    hist,
    lhist,
    tseries,
};

struct FunctionRow {
    Fn function;
    std::string_view name;
    unsigned least, most;  // arguments
    // What each of them is: 'n' a number, 's' a string, 'q' a text in quotes; '.', and what is
    // behind the end: the function's own rule looks at it.
    std::string_view arguments = {};
    // The type of its value, where no rule of its own says more; an integer is a uint64.
    Type::Kind value = Type::Kind::none;
    bool is_unsafe = false;     // changes the machine
    bool is_statement = false;  // has no value
    bool is_aggregation = false;
};

// Null for a name that is no function.
const FunctionRow* find_function(std::string_view name);
// Why a function of bpftrace is not here, and what is in its place; empty for all others.
std::string_view why_absent(std::string_view function);
std::vector<std::string> function_names();

// The maps that a call of delete(), clear() or zero() names; none of another expression.
std::vector<const Expr*> maps_emptied_by(const Expr& expr);

// The call of count() and the like that a map is assigned, also as the value of a block that goes
// before it. Null: none.
const Expr* aggregation_in(const Expr& value);

}  // namespace gpufs::bt
