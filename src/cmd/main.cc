#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/embedded.h"
#include "base/error.h"
#include "base/path.h"
#include "base/signals.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/error_text.h"

namespace gpufs {
namespace {

std::string overview() {
    std::string text =
        "gpufs - what the GPU driver is doing, and what a process is waiting for\n\n"
        "usage: gpufs COMMAND [WHAT…] [options]\n\n";
    for (const Command& command : kCommands)
        text += cat("  ", command.name, std::string(10 - command.name.size(), ' '), command.summary,
                    "\n");
    return text +
           "\n'gpufs COMMAND --help' shows a command's options, 'man gpufs' the manual.\n"
           "'gpufs --version' shows the version.\n";
}

int dispatch(Context& ctx, Args args) {
    if (args.empty()) throw UsageError("no command given", "'gpufs --help' lists them");
    const std::string& word = args[0];
    if (word == "--help" || word == "-h" || (word == "help" && args.size() == 1)) {
        ctx.out.write(overview());
        return kOk;
    }
    if (word == "--version") {
        ctx.out.line(cat("gpufs ", version()));
        return kOk;
    }
    std::vector<std::string> rest(args.begin() + 1, args.end());
    std::string name = word;
    if (word == "help") {  // "gpufs help filter" is "gpufs filter --help"
        name = rest[0];
        rest = {"--help"};
        if (name == "help" || name == "--help") return dispatch(ctx, rest);
    }
    const auto it = std::ranges::find(kCommands, name, &Command::name);
    if (it == std::end(kCommands)) {
        std::vector<std::string> names;
        for (const Command& command : kCommands) names.emplace_back(command.name);
        std::string hint = did_you_mean(name, names);
        if (std::ranges::find(embedded_monitors(), cat(name, ".bpf"), &EmbeddedFile::name) !=
            embedded_monitors().end())
            hint = cat("'gpufs run ", name, "' runs the monitor of that name");
        throw UsageError(cat("unknown command '", name, "'"),
                         hint.empty() ? "'gpufs --help' lists them" : hint);
    }
    return it->run(ctx, rest);
}

// All errors that end a command are printed here.
void complain(const Context& ctx, const Error& e) {
    ctx.err.line(complaint(e, ctx.voice));
}

// Whether the permission that was lacking is the kernel's: on a file of the user's own, neither
// root nor tracefs is the matter.
bool is_about_kernel(std::string_view message) {
    return message.find('\'') == message.npos || message.find("'/sys/") != message.npos ||
           message.find("'/proc/") != message.npos;
}

// Returns the exit status, also of an error.
int run(Context& ctx, Args args) try {
    const int status = dispatch(ctx, args);
    ctx.out.flush();
    return status;
} catch (const UsageError& e) {
    complain(ctx, e);
    return kUsage;
} catch (const UnsupportedError& e) {
    complain(ctx, e);
    return kUnsupported;
} catch (const SysError& e) {
    if (e.code() == EPIPE) throw;  // nobody reads the output: print nothing
    complain(ctx, e);
    const bool lacks_permission =
        (e.code() == EPERM || e.code() == EACCES) && ::geteuid() != 0 && is_about_kernel(e.what());
    if (lacks_permission && e.hint().empty())
        ctx.err.line("hint: this needs root, or write permission on tracefs");
    const bool has_too_many_files = is_out_of_files(e.code());
    if (has_too_many_files && e.hint().empty())
        ctx.err.line("hint: 'ulimit -n' shows and raises how many files a process may open");
    return lacks_permission || has_too_many_files ? kUnsupported : kFailed;
} catch (const Error& e) {
    complain(ctx, e);
    return kFailed;
} catch (const std::bad_alloc&) {
    ctx.err.line("gpufs: out of memory");
    return kFailed;
} catch (const std::exception& e) {  // a mistake of gpufs itself: what it set up is undone first
    ctx.err.line(cat("gpufs: ", e.what()));
    return kFailed;
}

// Opens the standard descriptors that are closed, on /dev/null. Otherwise files of tracefs and maps
// would get their numbers, and messages would be written into them. Data for a closed stdout cannot
// be written, which must not look like success; a closed stderr is for who wants no messages.
void open_standard_descriptors() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        const int mode = fd == STDERR_FILENO ? O_WRONLY : O_RDONLY;
        // open(2) returns the lowest number that is free: this one.
        if (::fcntl(fd, F_GETFD) == -1 && ::open("/dev/null", mode) == -1) return;
    }
}

// Called as bpftrace, by a link, it takes bpftrace's command line.
bool is_named_bpftrace(const char* path) {
    const std::string_view name = path ? path : "";
    return file_name(name) == "bpftrace";
}

int main_with(Args args) {
    open_standard_descriptors();
    // A closed pipe and a file that may not grow must end gpufs by an error from write(2), after
    // everything is undone.
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
    Output out(STDOUT_FILENO, "stdout"), err(STDERR_FILENO, "stderr", Controls::escaped);
    Context ctx{out, err, Voice::gpufs};
    int status = kFailed;
    bool pipe_closed = false;
    try {
        status = run(ctx, args);
        err.flush();
    } catch (const SysError& e) {
        pipe_closed = e.code() == EPIPE;
    }
    if (pipe_closed) die_of(SIGPIPE);
    if (status < 0) die_of(-status);
    return status;
}

}  // namespace

std::string version() {
    return GPUFS_VERSION;
}

}  // namespace gpufs

int main(int argc, char** argv) {
    std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
    if (gpufs::is_named_bpftrace(argv[0])) args.insert(args.begin(), "bt");
    return gpufs::main_with(args);
}
