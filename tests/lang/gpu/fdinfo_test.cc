#include "lang/gpu/fdinfo.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"

// Texts in the form that the kernel's documentation and drivers have.
namespace gpufs {
namespace {

constexpr std::string_view kAmdgpuOld =
    "pos:\t0\nflags:\t02100002\nmnt_id:\t25\npasid:\t32775\ndrm-driver:\tamdgpu\n"
    "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t4711\ndrm-memory-vram:\t1260 KiB\n"
    "drm-memory-gtt: \t16 KiB\ndrm-memory-cpu: \t0 KiB\namd-evicted-vram:\t3 KiB\n"
    "drm-engine-gfx:\t123456789 ns\ndrm-engine-enc_1:\t5 ns\n";
constexpr std::string_view kAmdgpu =
    "pos:\t0\nflags:\t02100002\nmnt_id:\t25\nino:\t1033\ndrm-driver:\tamdgpu\n"
    "drm-client-id:\t37\ndrm-client-name:\tdrm-engine-x: 5\ndrm-pdev:\t0000:03:00.0\n"
    "pasid:\t32775\ndrm-total-vram:\t12 MiB\n"
    "drm-shared-vram:\t2 MiB\ndrm-active-vram:\t1 MiB\ndrm-resident-vram:\t8 MiB\n"
    "drm-purgeable-vram:\t0\ndrm-memory-vram:\t8192 KiB\ndrm-engine-gfx:\t9 ns\n";
constexpr std::string_view kI915 =
    "pos:\t0\ndrm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n"
    "drm-total-system0:\t128 MiB\ndrm-resident-system0:\t36496 KiB\n"
    "drm-engine-render:\t9288864723 ns\ndrm-engine-copy:\t2035071108 ns\n"
    "drm-engine-video:\t0 ns\ndrm-engine-capacity-video:\t2\n"
    "drm-engine-video-enhance:\t0 ns\n";
constexpr std::string_view kXe =
    "drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
    "drm-total-vram0:\t23992 KiB\ndrm-cycles-rcs:\t28257900\n"
    "drm-total-cycles-rcs:\t7655183225\ndrm-cycles-vcs:\t0\n"
    "drm-total-cycles-vcs:\t7655183225\ndrm-engine-capacity-vcs:\t2\n";
constexpr std::string_view kPanfrost =
    "ino:    531\ndrm-driver:     panfrost\ndrm-client-id:  14\n"
    "drm-engine-fragment:    1846584880 ns\ndrm-cycles-fragment:    1424359409\n"
    "drm-maxfreq-fragment:   799999987 Hz\ndrm-curfreq-fragment:   799999987 Hz\n"
    "drm-total-memory:       290 MiB\ndrm-resident-memory:    36496 KiB\n";

BOOST_AUTO_TEST_SUITE(drm_fdinfo)

DrmClient parsed(std::string_view text) {
    const auto client = parse_drm_client(text);
    BOOST_TEST_REQUIRE(client.has_value());
    return *client;
}

std::string words(const std::optional<std::uint64_t>& number) {
    return number ? cat(*number) : "-";
}
std::string text_of(const DrmClient& client) {
    std::string text = cat(client.driver, ' ', client.device, ' ', words(client.id));
    for (const auto& one : client.engines)
        text += cat("\n", one.name, ' ', words(one.busy_ns), ' ', words(one.cycles), '/',
                    words(one.all_cycles), ' ', words(one.max_hz), " x", one.capacity);
    for (const auto& one : client.regions)
        text += cat("\n", one.name, ' ', words(one.total), ' ', words(one.shared), ' ',
                    words(one.resident), ' ', words(one.active), ' ', words(one.purgeable));
    return text;
}

BOOST_AUTO_TEST_CASE(amdgpus_old_keys_of_memory_are_what_is_resident) {
    BOOST_TEST(text_of(parsed(kAmdgpuOld)) ==
               "amdgpu 0000:03:00.0 4711\n"
               "gfx 123456789 -/- - x1\nenc_1 5 -/- - x1\n"
               "vram - - 1290240 - -\ngtt - - 16384 - -\ncpu - - 0 - -");
}

BOOST_AUTO_TEST_CASE(amdgpus_new_keys_count_where_both_are_there) {
    BOOST_TEST(text_of(parsed(kAmdgpu)) ==
               "amdgpu 0000:03:00.0 37\ngfx 9 -/- - x1\n"
               "vram 12582912 2097152 8388608 1048576 0");
}

BOOST_AUTO_TEST_CASE(i915s_engines_have_a_capacity) {
    BOOST_TEST(text_of(parsed(kI915)) ==
               "i915 0000:00:02.0 7\n"
               "render 9288864723 -/- - x1\ncopy 2035071108 -/- - x1\nvideo 0 -/- - x2\n"
               "video-enhance 0 -/- - x1\n"
               "system0 134217728 - 37371904 - -");
}

BOOST_AUTO_TEST_CASE(xe_counts_cycles) {
    BOOST_TEST(text_of(parsed(kXe)) ==
               "xe 0000:03:00.0 3\n"
               "rcs - 28257900/7655183225 - x1\nvcs - 0/7655183225 - x2\n"
               "vram0 24567808 - - - -");
}

BOOST_AUTO_TEST_CASE(panfrost_has_times_cycles_and_a_region_called_memory) {
    BOOST_TEST(text_of(parsed(kPanfrost)) ==
               "panfrost  14\nfragment 1846584880 1424359409/- 799999987 x1\n"
               "memory 304087040 - 37371904 - -");
}

BOOST_AUTO_TEST_CASE(other_files_are_no_client) {
    BOOST_TEST(!parse_drm_client(""));
    BOOST_TEST(!parse_drm_client("pos:\t0\nflags:\t02\ninotify wd:1 ino:2\n"));
    BOOST_TEST(!parse_drm_client("drm-client-id:\t5\ndrm-engine-gfx:\t5 ns\n"));
}

BOOST_AUTO_TEST_CASE(what_is_no_number_of_a_known_unit_is_ignored) {
    BOOST_TEST(text_of(parsed("drm-driver:\tx\ndrm-client-id:\tmany\ndrm-engine-a:\t-5 ns\n"
                              "drm-total-b:\t5 parsecs\ndrm-engine-capacity-c:\t0\n"
                              "drm-total-d:\t99999999999999999999 KiB\n"
                              "drm-total-e:\t9999999999999999999 KiB\ndrm-engine\ndrm-new-f: 5")) ==
               "x  -\nc - -/- - x1\ne 18446744073709551615 - - - -");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
