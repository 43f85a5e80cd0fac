#include "engine/recording/perf_records.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/read_at.h"
#include "engine/recording/made_record.h"

namespace gpufs {
namespace {

using perf_data::Bytes;
using perf_data::kRecordHeader;
using perf_data::RecordHeader;

constexpr std::size_t kBlock = 256 << 10;
// Records end in a compressed one as a rule; what remains is a piece of one.
constexpr std::size_t kMostUnpacked = 256 << 20;

std::uint64_t size_of(int file) {
    struct stat facts {};
    check(::fstat(file, &facts), [] { return std::string("look at the recording"); });
    return static_cast<std::uint64_t>(facts.st_size);
}

}  // namespace

PerfRecords::PerfRecords(int file, perf_data::Section data) : file_(file), data_(data) {
    const std::uint64_t end = size_of(file);
    if (data_.bytes == 0) data_.bytes = end - std::min(end, data_.at);
    rewind();
}

void PerfRecords::rewind() {
    at_ = data_.at;
    held_.clear();
    used_ = 0;
    attached_ = {};
    unpacker_.reset();
    unpacked_.clear();
    unpacked_used_ = 0;
    has_ended_ = false;
    notes_.clear();
}

// Makes the next bytes of the file be in held_ behind used_, as far as there are any.
bool PerfRecords::hold(std::size_t bytes) {
    if (held_.size() - used_ >= bytes) return true;
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    const std::size_t kept = held_.size();
    const std::uint64_t end = data_.at + data_.bytes;
    const std::uint64_t left = end - std::min(at_, end);
    held_.resize(kept +
                 static_cast<std::size_t>(std::min<std::uint64_t>(std::max(bytes, kBlock), left)));
    const std::size_t got = read_at(file_, at_, std::span(held_).subspan(kept), "the recording");
    held_.resize(kept + got);
    at_ += got;
    return held_.size() >= bytes;
}

Bytes PerfRecords::end_with(std::string note) {
    has_ended_ = true;
    if (!note.empty()) notes_.push_back(std::move(note));
    return {};
}

Bytes PerfRecords::next_in_file() {
    attached_ = {};
    if (has_ended_) return {};
    const bool has_header = hold(kRecordHeader);
    const std::uint64_t here = at_ - (held_.size() - used_);
    if (!has_header) {
        const bool is_end = held_.size() == used_ && here >= data_.at + data_.bytes;
        return end_with(is_end ? "" : cat("the file ends at byte ", at_, ", inside its records"));
    }
    const RecordHeader header = perf_data::record_header(std::span(held_).subspan(used_));
    if (header.size < kRecordHeader)
        return end_with(
            cat("byte ", here, ": a record of ", header.size, " bytes; the rest is left out"));
    if (!hold(header.size))
        return end_with(cat("the file ends at byte ", at_, ", inside a record"));
    const Bytes record = std::span(held_).subspan(used_, header.size);
    used_ += header.size;

    std::uint64_t behind = 0;
    if (header.type == perf_data::kTracingDataRecord)
        behind = (get_at<std::uint32_t>(record, kRecordHeader) + std::uint64_t{7}) / 8 * 8;
    if (header.type == perf_data::kAuxiliaryTrace)
        behind = get_at<std::uint64_t>(record, kRecordHeader);
    if (behind == 0) return record;
    attached_ = {here + header.size, behind};
    kept_.assign(record.begin(), record.end());
    // A size that is damage leads to the end, not around it.
    at_ = data_.at + data_.bytes - std::min(data_.bytes, data_.at + data_.bytes - attached_.at);
    at_ += std::min(behind, data_.at + data_.bytes - at_);
    held_.clear();
    used_ = 0;
    return kept_;
}

// Empty where there is no whole record in what is unpacked.
Bytes PerfRecords::next_unpacked() {
    const Bytes rest = std::span(unpacked_).subspan(unpacked_used_);
    if (rest.size() < kRecordHeader) return {};
    const RecordHeader header = perf_data::record_header(rest);
    if (header.size < kRecordHeader) {
        unpacked_used_ = unpacked_.size();
        return end_with(
            cat("a compressed record of ", header.size, " bytes is damage; the rest is left out"));
    }
    if (rest.size() < header.size) return {};
    unpacked_used_ += header.size;
    return rest.first(header.size);
}

bool PerfRecords::unpack(Bytes record, std::size_t header) {
    if (!unpacker_) unpacker_ = std::make_unique<ZstdStream>();
    unpacked_.erase(unpacked_.begin(),
                    unpacked_.begin() + static_cast<std::ptrdiff_t>(unpacked_used_));
    unpacked_used_ = 0;
    try {
        unpacker_->uncompress(record.subspan(std::min(header, record.size())), unpacked_,
                              kMostUnpacked);
        return true;
    } catch (const Error& e) {
        end_with(cat("a damaged block (", e.what(), "); the rest is left out"));
        return false;
    }
}

Bytes PerfRecords::next() {
    for (;;) {
        if (const Bytes record = next_unpacked(); !record.empty()) return record;
        const Bytes record = next_in_file();
        if (record.empty()) return {};
        const RecordHeader header = perf_data::record_header(record);
        if (header.type == perf_data::kCompressed2) {
            const std::uint64_t size = get_at<std::uint64_t>(record, kRecordHeader);
            const std::size_t begin = kRecordHeader + sizeof size;
            const auto most = record.size() - std::min(begin, record.size());
            if (begin + most > record.size()) continue;  // cut: nothing is in it
            if (!unpack(record.first(begin + std::min<std::uint64_t>(size, most)), begin))
                return {};
        } else if (header.type == perf_data::kCompressed) {
            if (!unpack(record, kRecordHeader)) return {};
        } else {
            return record;
        }
    }
}

}  // namespace gpufs
