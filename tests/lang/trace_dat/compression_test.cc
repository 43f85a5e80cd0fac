#define BOOST_TEST_DYN_LINK
#include "lang/trace_dat/compression.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "base/error.h"

namespace gpufs {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

// The text of a compressed block that has at most so many bytes, or what is wrong with it.
std::string try_uncompress(Compression kind, const std::string& block, std::size_t most) {
    std::string text(most, ' ');
    try {
        text.resize(uncompress(kind, bytes_of(block), std::as_writable_bytes(std::span(text))));
    } catch (const Error& e) {
        return e.what();
    }
    return text;
}

BOOST_AUTO_TEST_SUITE(compression)

BOOST_AUTO_TEST_CASE(blocks_of_each_kind_and_size_are_read_back) {
    for (const Compression kind : {Compression::none, Compression::zlib, Compression::zstd})
        for (const std::size_t size : {1u, 100u, 5'000u, 70'000u, 300'000u, 2'000'000u}) {
            std::string text(size, '\0');
            for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i / 7 % 251);
            const std::string block = compress(kind, bytes_of(text));
            BOOST_TEST((try_uncompress(kind, block, size) == text), size);
        }
}

BOOST_AUTO_TEST_CASE(a_block_of_zstd_is_one_frame_of_todays_format) {
    const std::string block = compress(Compression::zstd, bytes_of("GPU jobs"));
    BOOST_TEST(try_uncompress(Compression::zstd, block, 100) == "GPU jobs");
    BOOST_TEST(try_uncompress(Compression::zstd, block + block, 100) ==
               "zstd: a block is not one frame");
    BOOST_TEST(try_uncompress(Compression::zstd, block.substr(0, block.size() - 1), 100) ==
               "zstd: Src size is incorrect");
    for (const std::string first : {"", "\x28\xb5\x2f", "\x27\xb5\x2f\xfd", "\x25\xb5\x2f\xfd"})
        BOOST_TEST(
            try_uncompress(Compression::zstd, first + block.substr(first.size()) + "x", 100) ==
            (first.size() == 4 ? "zstd: a block does not begin as a frame"
                               : "zstd: a block is not one frame"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
