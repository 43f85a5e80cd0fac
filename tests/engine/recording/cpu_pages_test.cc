#include "engine/recording/cpu_pages.h"

#define BOOST_TEST_DYN_LINK
#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <initializer_list>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "support/temp_file.h"

namespace gpufs {
namespace {

// What is told of compressed pages that begin with these numbers.
std::string note_on(std::initializer_list<std::uint32_t> numbers) {
    std::string text;
    for (const std::uint32_t one : numbers) text += chars_of(std::as_bytes(std::span(&one, 1)));
    const test::TempFile file(text);
    const Fd in = open_file(file.path(), O_RDONLY);
    CpuPages pages(in.get(), {"CPU 3", 0, text.size(), text.size()}, PageLayout(),
                   Compression::zstd);
    BOOST_TEST(pages.next().empty());
    return cat(pages.notes().size(), ' ', pages.notes().back());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_pages)

// A few bytes that claim to be many take no memory for these.
BOOST_AUTO_TEST_CASE(a_block_that_the_file_cannot_hold_is_left_out) {
    BOOST_TEST(note_on({1, 64 << 20, 64 << 20, 0}) ==
               "1 CPU 3: the file ends at byte 12, inside compressed pages");
    BOOST_TEST(note_on({1, 4, 64 << 20, 0}) ==
               "1 CPU 3: byte 4: a compressed block of 4 bytes for 67108864 is damage; the rest is "
               "left out");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
