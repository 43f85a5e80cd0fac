#include "cli/adhoc/adhoc_support.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

#include "base/cat.h"
#include "support/workloads.h"

namespace gpufs::test {

using namespace std::chrono_literals;

Ended trace(std::vector<std::string> args, const std::function<void()>& work) {
    const std::string flag = cat("/tmp/gpufs-adhoc-test-", ::getpid());
    Child::Setup setup;
    setup.argv = {test::gpufs_binary()};
    setup.argv.insert(setup.argv.end(), args.begin(), args.end());
    ::close(::open(flag.c_str(), O_CREAT | O_WRONLY, 0600));
    const std::string wait = cat("echo ready >&2; while [ -e ", flag, " ]; do sleep 0.02; done");
    for (const std::string& word :
         {std::string("--all"), std::string("--"), std::string("sh"), std::string("-c"), wait})
        setup.argv.push_back(word);
    Child child(setup);
    if (child.wait_for_error("ready\n", 60s)) work();
    std::filesystem::remove(flag);
    return child.wait();
}

std::jthread in_thread(const std::string& name, const std::function<void()>& work, int cpu) {
    return std::jthread([=] {
        ::pthread_setname_np(::pthread_self(), name.c_str());
        if (cpu >= 0) test::pin_to_cpu(cpu);
        work();
    });
}

long count_behind(const std::string& text, const std::string& piece) {
    const auto at = text.find(piece);
    if (at == std::string::npos) return -1;
    std::smatch match;
    const std::string rest = text.substr(at + piece.size());
    return std::regex_search(rest, match, std::regex("\"count\":(\\d+)")) ? std::stol(match[1])
                                                                          : -1;
}

std::string slot(std::uint64_t from, std::uint64_t to, int count) {
    return cat("{\"from\":", from, ",\"to\":", to, ",\"count\":", count, '}');
}

}  // namespace gpufs::test
