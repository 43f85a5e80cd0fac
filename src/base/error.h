#pragma once

#include <cerrno>
#include <concepts>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/cat.h"

namespace gpufs {

// Every failure gpufs can name. `what()` says what went wrong, `hint()` what to try, and
// `evidence()` quotes the kernel's own words (error_log, verifier log), shown indented below.
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

// What the user wrote is wrong: a word on the command line, an expression, a file's text.
// Found before anything on the machine changes. Exit status 2.
class UsageError : public Error {
    using Error::Error;
};

// This kernel, this machine or this user cannot do what was asked. Exit status 3.
class UnsupportedError : public Error {
    using Error::Error;
};

// A system call failed. `code()` is the errno it failed with.
class SysError : public Error {
public:
    // `doing` completes the sentence "cannot ...", for example "open '/x'".
    SysError(int code, const std::string& doing, std::string hint = {}, std::string evidence = {});
    int code() const noexcept { return code_; }

private:
    int code_;
};

// Turns "-1 and errno" into a value or a SysError. The description is built only on failure, and
// only after errno is saved: building a string may itself set errno.
template <std::signed_integral T, std::invocable Describe>
T check(T result, Describe&& describe) {
    if (result == -1) {
        const int code = errno;
        throw SysError(code, std::forward<Describe>(describe)());
    }
    return result;
}

}  // namespace gpufs
