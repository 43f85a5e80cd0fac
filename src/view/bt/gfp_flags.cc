#include "view/bt/gfp_flags.h"

#include <vector>

#include "view/monitor/value_text.h"

namespace gpufs::bt {

namespace {

// Bits of <linux/gfp_types.h>.
enum : std::uint64_t {
    kDma = 1U << 0,
    kHighmem = 1U << 1,
    kDma32 = 1U << 2,
    kMovable = 1U << 3,
    kReclaimable = 1U << 4,
    kHigh = 1U << 5,
    kIo = 1U << 6,
    kFs = 1U << 7,
    kZero = 1U << 8,
    kDirectReclaim = 1U << 10,
    kKswapdReclaim = 1U << 11,
    kWrite = 1U << 12,
    kNowarn = 1U << 13,
    kRetryMayfail = 1U << 14,
    kNofail = 1U << 15,
    kNoretry = 1U << 16,
    kMemalloc = 1U << 17,
    kComp = 1U << 18,
    kNomemalloc = 1U << 19,
    kHardwall = 1U << 20,
    kThisnode = 1U << 21,
    kAccount = 1U << 22,
    kZerotags = 1U << 23,
    kSkipZero = 1U << 24,
    kSkipKasan = 1U << 25,
    kNoObjExt = 1U << 26,

    kReclaim = kDirectReclaim | kKswapdReclaim,
    kNoio = kReclaim,
    kNofs = kReclaim | kIo,
    kKernel = kReclaim | kIo | kFs,
    kUser = kKernel | kHardwall,
    kHighuser = kUser | kHighmem,
    kHighuserMovable = kHighuser | kMovable | kSkipKasan,
    kTranshugeLight = (kHighuserMovable | kComp | kNomemalloc | kNowarn) & ~kReclaim,
    kTranshuge = kTranshugeLight | kDirectReclaim,
};

// Those of several bits first, as <trace/events/mmflags.h> has them.
std::vector<FlagName> gfp_names() {
    const std::pair<std::uint64_t, const char*> names[] = {
        {kTranshuge, "GFP_TRANSHUGE"},
        {kTranshugeLight, "GFP_TRANSHUGE_LIGHT"},
        {kHighuserMovable, "GFP_HIGHUSER_MOVABLE"},
        {kHighuser, "GFP_HIGHUSER"},
        {kUser, "GFP_USER"},
        {kKernel | kAccount, "GFP_KERNEL_ACCOUNT"},
        {kKernel, "GFP_KERNEL"},
        {kNofs, "GFP_NOFS"},
        {kHigh | kKswapdReclaim, "GFP_ATOMIC"},
        {kNoio, "GFP_NOIO"},
        {kKswapdReclaim | kNowarn, "GFP_NOWAIT"},
        {kDma, "GFP_DMA"},
        {kHighmem, "__GFP_HIGHMEM"},
        {kDma32, "GFP_DMA32"},
        {kMovable, "__GFP_MOVABLE"},
        {kReclaimable, "__GFP_RECLAIMABLE"},
        {kHigh, "__GFP_HIGH"},
        {kIo, "__GFP_IO"},
        {kFs, "__GFP_FS"},
        {kZero, "__GFP_ZERO"},
        {kDirectReclaim, "__GFP_DIRECT_RECLAIM"},
        {kKswapdReclaim, "__GFP_KSWAPD_RECLAIM"},
        {kWrite, "__GFP_WRITE"},
        {kNowarn, "__GFP_NOWARN"},
        {kRetryMayfail, "__GFP_RETRY_MAYFAIL"},
        {kNofail, "__GFP_NOFAIL"},
        {kNoretry, "__GFP_NORETRY"},
        {kMemalloc, "__GFP_MEMALLOC"},
        {kComp, "__GFP_COMP"},
        {kNomemalloc, "__GFP_NOMEMALLOC"},
        {kHardwall, "__GFP_HARDWALL"},
        {kThisnode, "__GFP_THISNODE"},
        {kAccount, "__GFP_ACCOUNT"},
        {kZerotags, "__GFP_ZEROTAGS"},
        {kSkipZero, "__GFP_SKIP_ZERO"},
        {kSkipKasan, "__GFP_SKIP_KASAN"},
        {kNoObjExt, "__GFP_NO_OBJ_EXT"},
    };
    std::vector<FlagName> out;
    for (const auto& [bits, name] : names) out.push_back({bits, bits, name});
    return out;
}

}  // namespace

std::string gfp_text(std::uint64_t flags) {
    static const std::vector<FlagName> names = gfp_names();
    return flags_text(names, flags);
}

}  // namespace gpufs::bt
