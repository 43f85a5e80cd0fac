#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/perf_data/sample.h"
#include "lang/trace_dat/compression.h"

namespace gpufs {

// Reads the records of a perf.data one after the other, unpacked; holds one block of the file.
class PerfRecords {
public:
    // `data` is where they are; 0 bytes: up to the end of the file, as perf leaves it where it is
    // killed. The descriptor must stay open.
    PerfRecords(int file, perf_data::Section data);

    // The next record, with its header; valid until the next call. Empty at the end. Throws
    // SysError.
    perf_data::Bytes next();
    void rewind();

    // Where the data is that belongs to the record just read, but stands behind it (kTracingData,
    // kAuxiliaryTrace). It is not read.
    perf_data::Section attached() const { return attached_; }
    std::uint64_t bytes_read() const { return at_ + used_ - held_.size() - data_.at; }
    std::uint64_t bytes() const { return data_.bytes; }
    // Whether any record was compressed so far.
    bool is_compressed() const { return unpacker_ != nullptr; }
    // Damage found so far, one line each.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    perf_data::Bytes next_in_file();
    perf_data::Bytes next_unpacked();
    perf_data::Bytes end_with(std::string note);
    bool unpack(perf_data::Bytes record, std::size_t header);
    bool hold(std::size_t bytes);

    int file_;
    perf_data::Section data_;
    std::uint64_t at_ = 0;  // of the file: what is read next
    std::vector<std::byte> held_;
    std::size_t used_ = 0;  // bytes of held_ that are done with
    perf_data::Section attached_;
    std::vector<std::byte> kept_;  // a record whose block is gone
    std::unique_ptr<ZstdStream> unpacker_;
    std::vector<std::byte> unpacked_;
    std::size_t unpacked_used_ = 0;
    bool has_ended_ = false;
    std::vector<std::string> notes_;
};

}  // namespace gpufs
