#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gpufs {

// Base of all errors. `what()` is the message, `hint()` suggests what to do, `evidence()` quotes
// the kernel's own words (error_log, verifier log), which are shown indented below.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& what, std::string_view hint = {},
                   std::string_view evidence = {});
    const std::string& hint() const noexcept { return hint_; }
    const std::string& evidence() const noexcept { return evidence_; }

private:
    std::string hint_;
    std::string evidence_;
};

// The user's input is wrong: a word on the command line, an expression, a file's text. Thrown
// before anything on the machine changes. The command exits with 2.
class UsageError : public Error {
    using Error::Error;
};

// This kernel, machine or user cannot do what was requested. The command exits with 3.
class UnsupportedError : public Error {
    using Error::Error;
};

// A system call failed with errno `code()`.
class SysError : public Error {
public:
    // `doing` completes the sentence "cannot ...", for example "open '/x'".
    SysError(int code, const std::string& doing, std::string_view hint = {},
             std::string_view evidence = {});
    int code() const noexcept { return code_; }

private:
    int code_;
};

}  // namespace gpufs
