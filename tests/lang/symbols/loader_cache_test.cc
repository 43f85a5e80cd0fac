#define BOOST_TEST_DYN_LINK
#include "lang/symbols/loader_cache.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>

#include "base/cat.h"

namespace gpufs {
namespace {

#if defined __aarch64__
constexpr std::uint32_t kOurs = 0x0a03;
#else
constexpr std::uint32_t kOurs = 0x0303;
#endif

struct Entry {
    std::uint32_t flags, name, path;  // the texts' places behind the entries
};

// A cache with these entries, behind which these texts are.
std::string cache_of(const std::vector<Entry>& entries, const std::string& texts) {
    constexpr std::size_t kHeader = 48, kEntry = 24;
    const std::size_t texts_at = kHeader + kEntry * entries.size();
    std::string bytes(texts_at, '\0');
    const auto put = [&](std::size_t at, std::size_t number) {
        const auto word = static_cast<std::uint32_t>(number);
        std::memcpy(bytes.data() + at, &word, sizeof word);
    };
    bytes.replace(0, 20, "glibc-ld.so.cache1.1");
    put(20, entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        put(kHeader + kEntry * i, entries[i].flags);
        put(kHeader + kEntry * i + 4, texts_at + entries[i].name);
        put(kHeader + kEntry * i + 8, texts_at + entries[i].path);
    }
    return bytes + texts;
}

std::string named(std::string_view bytes) {
    std::string text;
    for (const CachedLibrary& one : parse_loader_cache(bytes))
        text += cat(one.name, '=', one.path, '\n');
    return text;
}

const std::string kTexts("libc.so.6\0/lib/libc.so.6\0/lib32/libc.so.6\0", 45);

BOOST_AUTO_TEST_SUITE(loader_cache)

BOOST_AUTO_TEST_CASE(libraries_of_this_machine_have_their_names_and_paths) {
    const std::string bytes = cache_of({{0x0003, 0, 26}, {kOurs, 0, 10}}, kTexts);
    BOOST_TEST(named(bytes) == "libc.so.6=/lib/libc.so.6\n");
    BOOST_TEST(named(cat("ld.so-1.7.0 of old programs", bytes)) == "libc.so.6=/lib/libc.so.6\n");
}

BOOST_AUTO_TEST_CASE(what_another_processor_needs_is_not_loaded) {
    BOOST_TEST(is_for_processor("/lib/libz.so.1", {}));
    BOOST_TEST(!is_for_processor("/lib/glibc-hwcaps/x86-64-v3/libz.so.1", {"x86-64-v2"}));
    BOOST_TEST(
        is_for_processor("/lib/glibc-hwcaps/x86-64-v3/libz.so.1", {"x86-64-v2", "x86-64-v3"}));
}

BOOST_AUTO_TEST_CASE(damage_is_no_library) {
    BOOST_TEST(named("") == "");
    BOOST_TEST(named("no cache at all, but some text that is long enough") == "");
    BOOST_TEST(named(cache_of({{kOurs, 0, 1'000'000}, {kOurs, 2'000'000, 10}}, kTexts)) == "");
    const std::string whole = cache_of({{kOurs, 0, 10}}, kTexts);
    for (std::size_t length = 0; length < whole.size(); ++length)
        parse_loader_cache(std::string_view(whole).substr(0, length));
    std::string many = whole;
    many.replace(20, 4, "\xff\xff\xff\xff");
    BOOST_TEST(named(many).starts_with("libc.so.6=/lib/libc.so.6\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
