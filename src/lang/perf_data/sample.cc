#include "lang/perf_data/sample.h"

#include <linux/perf_event.h>

#include <bit>
#include <cstring>

#include "base/kernel_abi.h"

namespace gpufs::perf_data {
namespace {

// Takes values off a body; what is behind its end is 0, and makes it cut.
class Values {
public:
    explicit Values(Bytes rest) : rest_(rest) {}

    template <class T>
    T take() {
        T value{};
        if (rest_.size() < sizeof value) {
            is_cut_ = true;
            rest_ = {};
            return value;
        }
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_ = rest_.subspan(sizeof value);
        return value;
    }
    Bytes take_bytes(std::uint64_t count) {
        if (count > rest_.size()) {
            is_cut_ = true;
            rest_ = {};
            return {};
        }
        const Bytes taken = rest_.first(static_cast<std::size_t>(count));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    bool is_cut() const { return is_cut_; }

private:
    Bytes rest_;
    bool is_cut_ = false;
};

// What PERF_SAMPLE_READ puts into a sample.
void skip_read(std::uint64_t format, Values& values) {
    const auto with = [&](std::uint64_t bits) {
        return static_cast<std::uint64_t>(std::popcount(format & bits));
    };
    const std::uint64_t times =
        with(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    const std::uint64_t of_each = 1 + with(PERF_FORMAT_ID | kPerfFormatLost);
    std::uint64_t count = 1;
    if (format & PERF_FORMAT_GROUP) count = values.take<std::uint64_t>();
    // More than any record can hold, and no overflow.
    if (count > UINT16_MAX) count = UINT16_MAX;
    values.take_bytes(8 * (times + count * of_each));
}

std::size_t count_of(std::uint64_t sample_type, std::uint64_t bits) {
    return static_cast<std::size_t>(std::popcount(sample_type & bits));
}

}  // namespace

RecordHeader record_header(Bytes record) {
    Values values(record);
    RecordHeader header;
    header.type = values.take<std::uint32_t>();
    header.misc = values.take<std::uint16_t>();
    header.size = values.take<std::uint16_t>();
    return header;
}

bool parse_sample(const Attribute& attribute, Bytes body, Sample& sample) {
    const auto has = [&](std::uint64_t bit) { return (attribute.sample_type & bit) != 0; };
    Values values(body);
    sample = {};
    if (has(PERF_SAMPLE_IDENTIFIER)) values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_IP)) sample.ip = values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_TID)) {
        sample.stamp.pid = values.take<std::int32_t>();
        sample.stamp.tid = values.take<std::int32_t>();
    }
    if (has(PERF_SAMPLE_TIME)) sample.stamp.time = values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_ADDR)) values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_ID)) values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_STREAM_ID)) values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_CPU)) {
        sample.stamp.cpu = values.take<std::uint32_t>();
        values.take<std::uint32_t>();
    }
    if (has(PERF_SAMPLE_PERIOD)) sample.period = values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_READ)) skip_read(attribute.read_format, values);
    if (has(PERF_SAMPLE_CALLCHAIN)) {
        const std::uint64_t count = values.take<std::uint64_t>();
        if (count > UINT16_MAX) return false;
        sample.callchain = values.take_bytes(8 * count);
    }
    if (has(PERF_SAMPLE_RAW)) sample.raw = values.take_bytes(values.take<std::uint32_t>());
    return !values.is_cut();
}

// At the end of the record, each in 8 bytes.
bool parse_stamp(const Attribute& attribute, Bytes body, Stamp& stamp) {
    stamp = {};
    if (!attribute.stamps_all) return true;
    const auto has = [&](std::uint64_t bit) { return (attribute.sample_type & bit) != 0; };
    const std::size_t size =
        8 * count_of(attribute.sample_type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                                PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                                PERF_SAMPLE_IDENTIFIER);
    if (body.size() < size) return false;
    Values values(body.last(size));
    if (has(PERF_SAMPLE_TID)) {
        stamp.pid = values.take<std::int32_t>();
        stamp.tid = values.take<std::int32_t>();
    }
    if (has(PERF_SAMPLE_TIME)) stamp.time = values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_ID)) values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_STREAM_ID)) values.take<std::uint64_t>();
    if (has(PERF_SAMPLE_CPU)) stamp.cpu = values.take<std::uint32_t>();
    return true;
}

std::uint64_t sample_id(const Attribute& any, Bytes body) {
    std::size_t before = 0;
    if ((any.sample_type & PERF_SAMPLE_IDENTIFIER) == 0) {
        if ((any.sample_type & PERF_SAMPLE_ID) == 0) return 0;
        before = count_of(any.sample_type,
                          PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
    }
    if (body.size() < 8 * (before + 1)) return 0;
    return Values(body.subspan(8 * before)).take<std::uint64_t>();
}

}  // namespace gpufs::perf_data
