#pragma once

#include <cerrno>
#include <concepts>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/cat.h"

namespace gpufs {

// Base of all errors. `what()` is the message, `hint()` suggests what to do, `evidence()` quotes
// the kernel's own words (error_log, verifier log), which are shown indented below.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& what, std::string hint = {}, std::string evidence = {})
        : std::runtime_error(what), hint_(std::move(hint)), evidence_(std::move(evidence)) {}
    const std::string& hint() const noexcept { return hint_; }
    const std::string& evidence() const noexcept { return evidence_; }

private:
    std::string hint_;
    std::string evidence_;
};

// The user's input is wrong: a word on the command line, an expression, a file's text. Thrown
// before anything on the machine changes. Exit status 2.
class UsageError : public Error {
    using Error::Error;
};

// This kernel, machine or user cannot do what was requested. Exit status 3.
class UnsupportedError : public Error {
    using Error::Error;
};

// A system call failed with errno `code()`.
class SysError : public Error {
public:
    // `doing` completes the sentence "cannot ...", for example "open '/x'".
    SysError(int code, const std::string& doing, std::string hint = {}, std::string evidence = {});
    int code() const noexcept { return code_; }

private:
    int code_;
};

// Returns `result`, or throws SysError if it is -1. The description is built only on failure, and
// only after errno is saved: building a string may set errno.
template <std::signed_integral T, std::invocable Describe>
T check(T result, Describe&& describe) {
    if (result == -1) {
        const int code = errno;
        throw SysError(code, std::forward<Describe>(describe)());
    }
    return result;
}

}  // namespace gpufs
