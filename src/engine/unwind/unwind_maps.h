#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/bpf/map.h"
#include "kernel/bpf/ring_buffer.h"
#include "lang/unwind/table.h"

namespace gpufs {

// The tables by which programs walk user stacks (lang/unwind/unwind_code.h), in memory that they
// and we share. Takes 8 MB at the beginning, and 72 MB at most.
class UnwindMaps {
public:
    // Throws SysError, UnsupportedError.
    UnwindMaps();

    // For Monitor::Choice: which map has which name.
    std::map<std::string, int> descriptors() const;

    UnwindRules& rules() noexcept { return rules_; }
    // Adds a file's rows, and the new rules. The number of its first page; absent where they find
    // no room.
    std::optional<std::uint32_t> add(const UnwindTable& table);

    // Sets where a process has code. The first range begins at 0. Returns false where it finds no
    // room: then the process has none.
    bool set_process(std::uint32_t pid, std::span<const UnwindRange> ranges);
    void remove_process(std::uint32_t pid);

    // Readable while programs ask.
    int fd() const { return asks_.fd(); }
    // The processes that programs asked for, each once until allow_asking().
    std::vector<std::uint32_t> take_asked();
    void allow_asking(std::uint32_t pid) const;

    // Of all tables.
    std::size_t bytes() const;

private:
    // Ranges of one process, in a place whose size is a power of 2.
    struct Place {
        std::uint32_t first = 0;
        unsigned size_class = 0;
    };
    struct Freed {
        std::uint32_t first;
        std::uint64_t time_ns;
    };
    std::optional<Place> take_place(std::size_t ranges);
    void free_place(const Place& place);
    bool begin_block();
    void add_rules();

    BpfMap processes_, ranges_, pages_, rule_map_, asked_, ask_map_;
    std::vector<BpfMap> slabs_;
    BpfMap rows_;
    Mapping range_memory_, page_memory_, rule_memory_, slab_memory_;
    RingBuffer asks_;
    UnwindRules rules_;
    std::size_t rules_there_ = 0;
    std::uint32_t next_page_ = 0;
    std::uint32_t next_row_ = 0;
    std::uint32_t next_range_ = 0;
    std::map<std::uint32_t, Place> places_;  // by process
    std::map<unsigned, std::deque<Freed>> free_;
};

}  // namespace gpufs
