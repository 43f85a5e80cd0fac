#define BOOST_TEST_DYN_LINK
#include "kernel/host/process_text.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>

namespace gpufs {
namespace {

// Two pages, of which the second one cannot be read.
class TwoPages {
public:
    TwoPages() {
        bytes_ = static_cast<char*>(::mmap(nullptr, 2 * page_bytes(), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ::munmap(bytes_ + page_bytes(), page_bytes());
    }
    ~TwoPages() { ::munmap(bytes_, page_bytes()); }
    TwoPages(const TwoPages&) = delete;
    TwoPages& operator=(const TwoPages&) = delete;

    static std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
    // The last bytes that can be read.
    char* last(std::size_t count) const { return bytes_ + page_bytes() - count; }

private:
    char* bytes_;
};

std::optional<ProcessText> read(const char* text, std::size_t most) {
    return read_process_text(::getpid(), std::bit_cast<std::uintptr_t>(text), most);
}

BOOST_AUTO_TEST_SUITE(process_text)

BOOST_AUTO_TEST_CASE(a_text_ends_with_its_nul_also_at_the_end_of_what_is_mapped) {
    const TwoPages pages;
    std::memcpy(pages.last(4), "abc", 4);
    const auto text = read(pages.last(4), 256);
    BOOST_REQUIRE(text);
    BOOST_TEST(text->text == "abc");
    BOOST_TEST(!text->is_cut);
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut) {
    const TwoPages pages;
    std::memcpy(pages.last(7), "abcdef", 7);
    const auto text = read(pages.last(7), 3);
    BOOST_REQUIRE(text);
    BOOST_TEST(text->text == "abc");
    BOOST_TEST(text->is_cut);
}

BOOST_AUTO_TEST_CASE(what_is_not_in_memory_is_no_text) {
    const TwoPages pages;
    BOOST_TEST(!read(pages.last(4), 256));  // no page was made for it yet
    std::memcpy(pages.last(3), "abc", 3);
    BOOST_TEST(!read(pages.last(3), 256));
    BOOST_TEST(!read(nullptr, 256));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
