#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gpufs {

class BpfInterpreter;

// The memory that interpreted programs see: regions, each at an address of ours. The addresses are
// in a range where neither a kernel nor a process has anything, so that a pointer out of a
// recording is never taken for one, and so far apart that running out of a region leads nowhere.
class BpfMemory {
public:
    enum class Kind {
        context,   // what a program is given: read only, accesses aligned
        constant,  // read only
        data,      // map values
        stack,     // accesses aligned; bytes must be written before they are read
        kernel,    // for probe_read_kernel and its kin, not for the program itself
        user,      // for probe_read_user and its kin
    };
    // No stack frame is larger.
    static constexpr std::size_t kStackBytes = 512;

    // Gives the bytes an address, a multiple of 8. They are borrowed until they are removed.
    std::uint64_t add(Kind kind, std::span<std::byte> bytes);
    // The same for the kinds that programs do not write.
    std::uint64_t add_read_only(Kind kind, std::span<const std::byte> bytes);
    // Shows other bytes at the address of a whole region: the next record, the next run's frame.
    void rebind(std::uint64_t address, std::span<const std::byte> bytes);
    void remove(std::uint64_t address);

    // Where the program's bytes really are; null where it may not touch all of them.
    const std::byte* find_readable(std::uint64_t address, std::size_t bytes) const;
    std::byte* find_writable(std::uint64_t address, std::size_t bytes);
    // The same for one load or store, which must be aligned on a stack and in a context.
    const std::byte* find_for_load(std::uint64_t address, std::size_t bytes) const;
    std::byte* find_for_store(std::uint64_t address, std::size_t bytes);
    // What probe_read_kernel can read: everything but `user`. And probe_read_user: only that.
    std::span<const std::byte> find_kernel(std::uint64_t address) const;
    std::span<const std::byte> find_user(std::uint64_t address) const;

private:
    struct Region {
        Kind kind = Kind::constant;
        std::byte* bytes = nullptr;  // written to only where the kind allows it
        std::size_t size = 0;
        std::bitset<kStackBytes> written;  // Kind::stack
        bool is_used = false;
    };
    struct Place {
        const Region* region;
        std::size_t offset;
    };
    Place find(std::uint64_t address) const;

    std::vector<Region> regions_;
};

using BpfArguments = std::array<std::uint64_t, 5>;
// A helper function. A program that calls it with what the verifier would refuse is stopped:
// interpreter.fail() says why.
using BpfHelper = std::function<std::uint64_t(BpfInterpreter&, const BpfArguments&)>;

// Everything that programs share and see: memory, maps, helpers, and where and when they run. The
// replay of a recording sets `now` for every record.
struct BpfWorld {
    struct Moment {
        std::uint64_t time_ns = 0;
        std::uint32_t cpu = 0;
        std::uint32_t pid = 0;  // of the process
        std::uint32_t tid = 0;  // of the thread
        std::string comm;
    };

    // One map, as helpers use it. Keys and values are of the map's sizes.
    struct Map {
        std::size_t key_bytes = 0, value_bytes = 0;
        // The address of the value in BpfMemory, or 0.
        std::function<std::uint64_t(std::span<const std::byte> key)> lookup;
        // 0, or an errno as a negative number. Flags are those of bpf(2): BPF_ANY, BPF_NOEXIST, …
        std::function<int(std::span<const std::byte> key, std::span<const std::byte> value,
                          std::uint64_t flags)>
            update;
        std::function<int(std::span<const std::byte> key)> erase;
        // Of an array of one value: its address, for programs that name it directly.
        std::uint64_t value_address = 0;
    };

    BpfMemory memory;
    Moment now;
    std::map<int, Map> maps;           // by the descriptor that programs name
    std::map<int, BpfHelper> helpers;  // by number

    // What a program holds when it loads a map, and back.
    static std::uint64_t handle_of(int map_fd);
    const Map* find_map(std::uint64_t handle) const;
};

// Adds map_lookup_elem, map_update_elem, map_delete_elem, probe_read and probe_read_str with their
// _kernel and _user forms, ktime_get_ns, get_smp_processor_id, get_current_pid_tgid,
// get_current_comm and loop.
void add_common_helpers(BpfWorld& world);

}  // namespace gpufs
