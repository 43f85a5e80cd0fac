#include "view/trace/parallel_text.h"

#include <algorithm>
#include <system_error>

namespace gpufs {
namespace {

// What a batch has is still in the cache of who made it when it is text.
constexpr std::size_t kBatchBytes = 24 << 10;
// Behind each thread's own some that it can go on with.
constexpr std::size_t kBatchesEach = 4;

// The same functions, asked by one thread at a time: they may read their table at the first
// question. What they return stays where it is.
AddressNames one_at_a_time(AddressNames names) {
    const auto mutex = std::make_shared<std::mutex>();
    if (names.symbol)
        names.symbol = [mutex, symbol = std::move(names.symbol)](std::uint64_t address) {
            const std::scoped_lock lock(*mutex);
            return symbol(address);
        };
    if (names.text)
        names.text = [mutex, text = std::move(names.text)](std::uint64_t address) {
            const std::scoped_lock lock(*mutex);
            return text(address);
        };
    return names;
}

}  // namespace

ParallelText::ParallelText(TraceContext& context, const std::vector<std::string>& prefixes,
                           std::size_t threads, Write write)
    : text_(context),
      prefixes_(prefixes),
      write_(std::move(write)),
      filled_(std::make_unique<Batch>()) {
    context.addresses = one_at_a_time(std::move(context.addresses));
    try {
        while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        // No more threads to be had: those there are, and the caller, do the work.
    }
}

ParallelText::~ParallelText() {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    claimable_.notify_all();
}

void ParallelText::make_text(Batch& batch) const try {
    for (const Line& line : batch.lines) {
        TraceRecord record = line.record;
        record.bytes = std::as_bytes(std::span(batch.bytes)).subspan(line.begin, line.size);
        text_.print(line.prepared, record, prefixes_[line.prefix], batch.text);
    }
} catch (...) {
    batch.failure = std::current_exception();
}

// With the mutex held.
ParallelText::Batch* ParallelText::claim() {
    return claimed_ == batches_.size() ? nullptr : batches_[claimed_++].get();
}

void ParallelText::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        claimable_.wait(lock, [this] { return is_over_ || claimed_ != batches_.size(); });
        if (is_over_) return;
        Batch* const batch = claim();
        lock.unlock();
        make_text(*batch);
        lock.lock();
        batch->is_done = true;
        done_.notify_one();
    }
}

void ParallelText::add(const TraceRecord& record, std::size_t prefix) {
    Batch& batch = *filled_;
    // As aligned as in its page.
    batch.bytes.resize((batch.bytes.size() + 7) / 8 * 8);
    Line& line = batch.lines.emplace_back();
    line.record = record;
    line.record.bytes = {};
    line.begin = batch.bytes.size();
    line.size = record.bytes.size();
    line.prefix = prefix;
    line.prepared = text_.prepare(record);
    batch.bytes.append(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
    if (batch.bytes.size() >= kBatchBytes) hand_over();
}

void ParallelText::hand_over() {
    {
        const std::scoped_lock lock(mutex_);
        batches_.push_back(std::move(filled_));
    }
    claimable_.notify_one();
    write_done(kBatchesEach * threads_.size());
    if (spare_.empty()) spare_.push_back(std::make_unique<Batch>());
    filled_ = std::move(spare_.back());
    spare_.pop_back();
}

// Until no more than so many are left that are not written.
void ParallelText::write_done(std::size_t most_left) {
    std::unique_lock lock(mutex_);
    while (!batches_.empty()) {
        Batch& front = *batches_.front();
        if (!front.is_done) {
            if (batches_.size() <= most_left) return;
            if (Batch* const batch = claim()) {
                lock.unlock();
                make_text(*batch);
                lock.lock();
                batch->is_done = true;
            } else {
                done_.wait(lock, [&] { return front.is_done; });
            }
            continue;
        }
        std::unique_ptr<Batch> batch = std::move(batches_.front());
        batches_.pop_front();
        --claimed_;
        lock.unlock();
        if (batch->failure) std::rethrow_exception(batch->failure);
        write_(batch->text);
        batch->bytes.clear();
        batch->text.clear();
        batch->lines.clear();
        batch->is_done = false;
        spare_.push_back(std::move(batch));
        lock.lock();
    }
}

void ParallelText::finish() {
    if (!filled_->lines.empty()) hand_over();
    write_done(0);
}

}  // namespace gpufs
