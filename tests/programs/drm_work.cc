// Work for GPU drivers that the kernel brings and that need no hardware, whose fences are real.
//
//   gpufs-drm-work vgem N M       N waits for a fence that is signalled after M us
//   gpufs-drm-work cursor N       N changes of a cursor of virtio-gpu, which waits for the device
//
// Each wait goes to stderr: "waited NS". Ends with status 0 when it did exactly what it was told
// to.

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "works.h"

namespace {

using works::check;
using works::Numbers;
using Clock = std::chrono::steady_clock;

// From the kernel's include/uapi/drm: drm.h, drm_mode.h, vgem_drm.h.
struct Version {
    int numbers[3];
    std::size_t name_bytes;
    char* name;
    std::size_t date_bytes;
    char* date;
    std::size_t text_bytes;
    char* text;
};
struct DumbBuffer {
    std::uint32_t height, width, bits, flags, handle, pitch;
    std::uint64_t bytes;
};
struct PrimeHandle {
    std::uint32_t handle, flags;
    std::int32_t fd;
};
struct AttachFence {
    std::uint32_t handle, flags, fence, unused;
};
struct SignalFence {
    std::uint32_t fence, flags;
};
struct Resources {
    std::uint64_t fb_ids, crtc_ids, connector_ids, encoder_ids;
    std::uint32_t fbs, crtcs, connectors, encoders, sizes[4];
};
struct Mode {
    std::uint32_t clock;
    std::uint16_t width, horizontal[4], height, vertical[4];
    std::uint32_t refresh, flags, type;
    char name[32];
};
struct Connector {
    std::uint64_t encoder_ids, modes, properties, property_values;
    std::uint32_t mode_count, property_count, encoder_count, encoder_id, connector_id, more[6],
        unused;
};
struct Framebuffer {
    std::uint32_t id, width, height, pitch, bits, depth, handle;
};
struct SetCrtc {
    std::uint64_t connector_ids;
    std::uint32_t connectors, crtc_id, fb_id, x, y, gamma_size, has_mode;
    Mode mode;
};
struct Cursor {
    std::uint32_t flags, crtc_id;
    std::int32_t x, y;
    std::uint32_t width, height, handle;
};
constexpr unsigned long kVersion = _IOWR('d', 0x00, Version);
constexpr unsigned long kPrimeHandle = _IOWR('d', 0x2d, PrimeHandle);
constexpr unsigned long kAttachFence = _IOWR('d', 0x41, AttachFence);
constexpr unsigned long kSignalFence = _IOW('d', 0x42, SignalFence);
constexpr unsigned long kResources = _IOWR('d', 0xa0, Resources);
constexpr unsigned long kSetCrtc = _IOWR('d', 0xa2, SetCrtc);
constexpr unsigned long kCursor = _IOWR('d', 0xa3, Cursor);
constexpr unsigned long kConnector = _IOWR('d', 0xa7, Connector);
constexpr unsigned long kFramebuffer = _IOWR('d', 0xae, Framebuffer);
constexpr unsigned long kDumbBuffer = _IOWR('d', 0xb2, DumbBuffer);
constexpr std::uint32_t kForWriting = 1, kCursorImage = 1;

// The driver's card.
class Card {
public:
    explicit Card(const std::string& driver) {
        for (int i = 0; i < 16; ++i) {
            fd_ = ::open(("/dev/dri/card" + std::to_string(i)).c_str(), O_RDWR | O_CLOEXEC);
            char name[32] = {};
            Version version{{}, sizeof name - 1, name, 0, nullptr, 0, nullptr};
            if (fd_ >= 0 && ::ioctl(fd_, kVersion, &version) == 0 && driver == name) return;
            ::close(fd_);
        }
        throw std::runtime_error("no card of " + driver);
    }
    ~Card() { ::close(fd_); }
    Card(const Card&) = delete;
    Card& operator=(const Card&) = delete;

    template <class Argument>
    Argument ask(unsigned long request, Argument argument, const char* what) const {
        check(::ioctl(fd_, request, &argument) == 0, what);
        return argument;
    }
    DumbBuffer buffer(std::uint32_t width, std::uint32_t height) const {
        return ask(kDumbBuffer, DumbBuffer{height, width, 32, 0, 0, 0, 0}, "make a buffer");
    }

private:
    int fd_ = -1;
};

// Does it, and tells how long that took.
template <class Wait>
void timed(const Wait& wait) {
    const auto begin = Clock::now();
    wait();
    const std::chrono::nanoseconds took = Clock::now() - begin;
    std::fprintf(stderr, "waited %lld\n", static_cast<long long>(took.count()));
}

void vgem(const Numbers& n) {
    const Card card("vgem");
    const DumbBuffer buffer = card.buffer(64, 64);
    const int shared = card.ask(kPrimeHandle, PrimeHandle{buffer.handle, 0, -1}, "share it").fd;
    for (long i = 0; i < n[0]; ++i) {
        const std::uint32_t fence =
            card.ask(kAttachFence, AttachFence{buffer.handle, kForWriting, 0, 0}, "fence").fence;
        std::thread signaller([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(n[1]));
            card.ask(kSignalFence, SignalFence{fence, 0}, "signal");
        });
        timed([&] {
            const dma_buf_sync begin{DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};
            check(::ioctl(shared, DMA_BUF_IOCTL_SYNC, &begin) == 0, "wait for the fence");
        });
        signaller.join();
    }
    ::close(shared);
}

template <class T>
std::uint64_t address_of(T& object) {
    return reinterpret_cast<std::uintptr_t>(&object);
}

void cursor(const Numbers& n) {
    const Card card("virtio_gpu");
    std::uint32_t crtc = 0, connector = 0;
    Resources wanted{};
    wanted.crtc_ids = address_of(crtc);
    wanted.connector_ids = address_of(connector);
    wanted.crtcs = wanted.connectors = 1;
    card.ask(kResources, wanted, "crtcs");
    std::vector<Mode> modes(64);
    Connector of{};
    of.modes = address_of(modes[0]);
    of.mode_count = static_cast<std::uint32_t>(modes.size());
    of.connector_id = connector;
    check(card.ask(kConnector, of, "modes").mode_count > 0, "no mode");

    const DumbBuffer screen = card.buffer(modes[0].width, modes[0].height);
    const std::uint32_t picture =
        card.ask(kFramebuffer,
                 Framebuffer{0, screen.width, screen.height, screen.pitch, 32, 24, screen.handle},
                 "picture")
            .id;
    card.ask(kSetCrtc, SetCrtc{address_of(connector), 1, crtc, picture, 0, 0, 0, 1, modes[0]},
             "show it");
    const DumbBuffer images[] = {card.buffer(64, 64), card.buffer(64, 64)};
    for (long i = 0; i < n[0]; ++i)
        timed([&] {
            card.ask(kCursor, Cursor{kCursorImage, crtc, 0, 0, 64, 64, images[i % 2].handle},
                     "cursor");
        });
}

const std::map<std::string, works::Work> kWorks = {{"vgem", {2, vgem}}, {"cursor", {1, cursor}}};

}  // namespace

int main(int argc, char** argv) {
    return works::run_main(kWorks, argc, argv);
}
