#include "gpufs/kernel/function_names.h"

#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <fstream>

#include "gpufs/base/error.h"
#include "gpufs/base/file.h"
#include "gpufs/base/text.h"
#include "support/needs.h"

namespace gpufs {
namespace {

struct TempFile {
    explicit TempFile(const std::string& content)
        : path(cat("/tmp/gpufs-function-names-", ::getpid())) {
        std::ofstream(path) << content;
    }
    ~TempFile() { ::unlink(path.c_str()); }
    std::string path;
};

std::string in_words(const std::vector<KernelFunction>& functions) {
    std::string text;
    for (const KernelFunction& f : functions)
        text += cat(f.wanted, "=", f.name, "@", f.module, " ");
    return text;
}

// The offset in this program's file of an address in it.
std::uint64_t file_offset(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const std::string maps = read_file("/proc/self/maps");
    for (const std::string_view line : lines_of(maps)) {
        // "55d0c8a0d000-55d0c8b3c000 r-xp 0002f000 fe:00 1234 /path"
        const auto words = split(line, ' ');
        const auto dash = words.at(0).find('-');
        const std::uint64_t begin = std::stoull(words[0].substr(0, dash), nullptr, 16);
        const std::uint64_t end = std::stoull(words[0].substr(dash + 1), nullptr, 16);
        if (at >= begin && at < end) return at - begin + std::stoull(words.at(2), nullptr, 16);
    }
    return 0;
}

BOOST_AUTO_TEST_SUITE(function_names)

BOOST_AUTO_TEST_CASE(finds_functions_of_the_kernel_and_of_modules) {
    const TempFile kallsyms(
        "0000000000000000 T vfs_open\n"
        "0000000000000000 D vfs_open_data\n"
        "0000000000000000 d jiffies\n"
        "0000000000000000 t copied.isra.0\n"
        "0000000000000000 t copied.isra.0.cold\n"
        "0000000000000000 t whole\n"
        "0000000000000000 t whole.constprop.0\n"
        "0000000000000000 t cut.part.0\n"
        "0000000000000000 t drm_sched_job_timedout\t[gpu_sched]\n"
        "cut");
    BOOST_TEST(in_words(find_kernel_functions({"vfs_open", "jiffies", "cut"}, kallsyms.path)) ==
               "vfs_open=vfs_open@ ");
    BOOST_TEST(in_words(find_kernel_functions({"drm_sched_job_timedout"}, kallsyms.path)) ==
               "drm_sched_job_timedout=drm_sched_job_timedout@gpu_sched ");
    BOOST_TEST(in_words(find_kernel_functions({"copied", "whole"}, kallsyms.path)) ==
               "whole=whole@ copied=copied.isra.0@ ");
}

BOOST_AUTO_TEST_CASE(finds_where_a_function_is_in_its_file) {
    bool found = false;
    for (const ElfFunction& f : read_elf_functions("/proc/self/exe")) {
        if (f.name != "gpufs_test_measured") continue;
        found = true;
        BOOST_TEST(f.offset ==
                   file_offset(reinterpret_cast<const void*>(&test::gpufs_test_measured)));
    }
    BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(damaged_programs_are_refused_not_read_beyond_their_end) {
    const std::string whole = read_file("/proc/self/exe");
    for (const std::size_t bytes : {0ul, 3ul, 64ul, 4096ul, whole.size() / 2, whole.size() - 1}) {
        const TempFile cut(whole.substr(0, bytes));
        BOOST_CHECK_THROW(read_elf_functions(cut.path), Error);
    }
    // Bytes of the headers, one after the other.
    for (std::size_t at = 0; at < 64; ++at) {
        std::string text = whole.substr(0, 1 << 16);
        text[at] = static_cast<char>(text[at] ^ 0xff);
        const TempFile garbled(text);
        BOOST_CHECK_THROW(read_elf_functions(garbled.path), Error);
    }
    BOOST_CHECK_EXCEPTION(read_elf_functions("tests/main.cc"), Error, [](const Error& e) {
        BOOST_TEST(e.what() == "'tests/main.cc' is no 64-bit ELF file");
        return true;
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
