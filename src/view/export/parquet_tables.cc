#include "view/export/parquet_tables.h"

#include <algorithm>

#include "base/cat.h"

namespace gpufs {
namespace {

using Type = ParquetWriter::Type;

Type type_of(Argument::Kind kind) {
    switch (kind) {
        case Argument::Kind::unsigned_number:
        case Argument::Kind::address:
            return Type::u64;
        case Argument::Kind::signed_number:
            return Type::i64;
        case Argument::Kind::text:
            break;
    }
    return Type::text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parquet_facts(TraceFile& file) {
    const TraceFile::Facts& facts = file.facts();
    return {{"machine", facts.uname}, {"recorder", facts.recorder}, {"clock", facts.clock}};
}

EventTable::EventTable(TraceFile& file, ParquetWriter::Write write)
    : file_(file), out_(std::move(write)), arguments_(file.context()) {
    time_ = out_.add_column("time_ns", Type::i64);
    cpu_ = out_.add_column("cpu", Type::i32);
    tid_ = out_.add_column("tid", Type::i32);
    pid_ = out_.add_column("pid", Type::i32);
    comm_ = out_.add_column("comm", Type::text);
    event_ = out_.add_column("event", Type::text);
    lost_ = out_.add_column("lost", Type::i64);
    lost_most_ = out_.add_column("lost_most", Type::i64);
}

// One name may have values of different types: each has its column. A field may have the name of
// another with a suffix: no two arguments of a row may have one column.
std::size_t EventTable::column_of(const Argument& argument, std::span<const KnownColumn> row) {
    const Type type = type_of(argument.kind);
    const char* const word = type == Type::text  ? "_text"
                             : type == Type::i64 ? "_signed"
                                                 : "_unsigned";
    for (std::size_t tried = 0;; ++tried) {
        // The plain name is for whoever comes first; then a suffix tells the type.
        const std::string name =
            cat("arg_", argument.name, tried == 0 ? "" : word, tried < 2 ? "" : cat('_', tried));
        const auto known = columns_.find(name);
        if (known == columns_.end()) {
            const std::size_t column = out_.add_column(name, type);
            columns_.emplace(name, std::pair(type, column));
            return column;
        }
        const auto [its_type, column] = known->second;
        if (its_type == type && std::ranges::count(row, column, &KnownColumn::column) == 0)
            return column;
    }
}

void EventTable::add(const TraceRecord& record) {
    const int id = record.id();
    const EventPlan& plan =
        plans_.get(id, [&](int one) { return plan_event(file_.context().events, one); });
    const CommonFields common = common_fields(record.bytes);
    const TaskNames& tasks = file_.context().tasks;
    out_.set(time_, static_cast<std::int64_t>(record.timestamp));
    out_.set(cpu_, record.cpu);
    out_.set(tid_, common.pid);
    if (const int process = tasks.tgid(common.pid); process != 0) out_.set(pid_, process);
    out_.set(comm_, tasks.comm(common.pid));
    out_.set(event_, plan.event ? std::string_view(plan.full_name)
                                : std::string_view(cat("unknown event ", id)));
    if (const Loss& lost = record.lost_before; !lost.is_zero()) {
        out_.set(lost_, static_cast<std::int64_t>(lost.least));
        if (lost.most != Loss::kUnbounded)
            out_.set(lost_most_, static_cast<std::int64_t>(lost.most));
    }
    auto& known = known_[id];
    const std::span<const Argument> arguments = arguments_.of(plan, record);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Argument& argument = arguments[i];
        if (i == known.size()) known.push_back({argument.kind, column_of(argument, known)});
        // An argument of another kind than in the record before has another column.
        if (known[i].kind != argument.kind) known[i] = {argument.kind, column_of(argument, known)};
        if (argument.kind == Argument::Kind::text)
            out_.set(known[i].column, argument.text);
        else
            out_.set(known[i].column, static_cast<std::int64_t>(argument.number));
    }
    out_.end_row();
}

JobTable::JobTable(TraceFile& file, ParquetWriter::Write write)
    : file_(file), out_(std::move(write)) {
    device_ = out_.add_column("device", Type::text);
    ring_ = out_.add_column("ring", Type::text);
    context_ = out_.add_column("context", Type::u64);
    job_ = out_.add_column("job", Type::u64);
    pid_ = out_.add_column("pid", Type::i32);
    comm_ = out_.add_column("comm", Type::text);
    on_ = out_.add_column("waited_on", Type::text);
    queued_ = out_.add_column("queued_ns", Type::i64);
    run_ = out_.add_column("run_ns", Type::i64);
    done_ = out_.add_column("done_ns", Type::i64);
    dropped_ = out_.add_column("dropped", Type::i32);
}

void JobTable::write(const JobStep::Key& key, const JobFacts& job) {
    out_.set(device_, job.device);
    out_.set(ring_, job.ring);
    out_.set(context_, static_cast<std::int64_t>(key.context));
    out_.set(job_, static_cast<std::int64_t>(key.number));
    if (job.pid != 0) out_.set(pid_, static_cast<std::int64_t>(job.pid));
    if (!job.comm.empty()) out_.set(comm_, job.comm);
    if (!job.on.empty()) out_.set(on_, job.on);
    const auto set_time = [&](std::size_t column, std::uint64_t time) {
        if (time != 0) out_.set(column, static_cast<std::int64_t>(time));
    };
    set_time(queued_, job.queued);
    set_time(run_, job.ran);
    set_time(done_, job.done);
    out_.set(dropped_, std::int64_t{job.is_dropped});
    out_.end_row();
}

// A fence's address is used again: what is queued with it is another job.
JobFacts& JobTable::job_of(const JobStep& step) {
    JobFacts* const known = open_.find(step.key);
    if (known && step.what != JobStep::What::queue) return *known;
    return open_.add(step.key,
                     [this](const JobStep::Key& key, const JobFacts& old) { write(key, old); });
}

void JobTable::add(const JobStep& step, std::uint64_t time) {
    JobFacts& job = job_of(step);
    job.take(step, time);
    if (!step.is_last()) return;
    write(step.key, job);
    open_.remove(step.key);
}

void JobTable::finish() {
    open_.for_each([this](const JobStep::Key& key, const JobFacts& job) { write(key, job); });
    out_.finish(parquet_facts(file_));
}

}  // namespace gpufs
