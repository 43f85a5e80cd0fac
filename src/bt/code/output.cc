#include "bt/code/output.h"

#include "base/align.h"
#include "base/cat.h"
#include "bt/syntax/walk.h"
#include "bt/types/constants.h"
#include "lang/ir/read_memory.h"

// What programs send to the reader.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// join(): so many texts of so many bytes each, at most.
constexpr std::size_t kJoined = 16, kJoinedBytes = 128;
constexpr const char* kTimeFormat = "%H:%M:%S\n";

SentRecord::Kind kind_of(Fn function) {
    switch (function) {
        case Fn::errorf:
            return SentRecord::Kind::errorf;
        case Fn::warnf:
            return SentRecord::Kind::warnf;
        case Fn::system:
            return SentRecord::Kind::system;
        case Fn::cat:
            return SentRecord::Kind::cat;
        case Fn::clear:
            return SentRecord::Kind::clear;
        case Fn::zero:
            return SentRecord::Kind::zero;
        case Fn::time:
            return SentRecord::Kind::time;
        default:
            return SentRecord::Kind::printf;
    }
}

// A text in quotes, or one of two.
bool is_own_text(const Expr& expr) {
    if (expr.kind != Expr::Kind::ternary) return expr.kind == Expr::Kind::string;
    return expr.operands[1] && is_own_text(*expr.operands[1]) && is_own_text(*expr.operands[2]);
}

}  // namespace

void ProbeCode::put_record_id(const std::string& record, const Local& to) {
    const ir::Temp id = code_.symbol(Relocation::to(Relocation::Kind::record_id, record), ir::kU32);
    code_.store(to.place(), id, ir::kU32);
}

ir::Temp ProbeCode::send(const Local& at, std::size_t bytes) {
    return code_.call(shared_.send_function(), {*context_, address_of(at), bytes});
}

void ProbeCode::stop_after_exit(ir::Label otherwise) {
    bool is_called = false;
    for_each_expr(*instance_.probe, [&](const Expr& expr) {
        is_called = is_called || (expr.kind == Expr::Kind::call && expr.text == "exit");
    });
    if (!is_called || instance_.provider() == Provider::end) return;
    const ir::Temp has_exited = code_.load(
        {code_.symbol(Relocation::to(Relocation::Kind::map_value, shared_.exit_map())), 0},
        ir::kU64);
    code_.branch(ir::Cmp::ne, ir::kU64, has_exited, 0, otherwise);
}

void ProbeCode::tell_failure(const Expr& expr, const char* helper, ir::Operand result) {
    constexpr std::size_t kBytes = 2 * kWord;
    std::string& name = failures_[{&expr, helper}];
    if (name.empty()) {
        SentRecord record;
        record.kind = SentRecord::Kind::helper_error;
        record.text = helper;
        record.values.push_back({integer_type(kWord, true), kWord});
        record.bytes = kBytes;
        record.at = expr.at;
        name = shared_.add_record(std::move(record));
    }
    const Local at = allocate(kBytes);
    code_.store(at.place(), 0, ir::kU64);
    put_record_id(name, at);
    code_.store(at.place(kWord), result, ir::kU64);
    send(at, kBytes);
}

// What the helper of a read returned, and where that is below 0, told.
ir::Temp ProbeCode::told_read(Space space, bool is_text, ir::Temp result) {
    if (!asked_ || !shared_.options().tells_failures) return result;
    const char* const helper =
        space == Space::user     ? is_text ? "probe_read_user_str" : "probe_read_user"
        : space == Space::kernel ? is_text ? "probe_read_kernel_str" : "probe_read_kernel"
        : is_text                ? "probe_read_str"
                                 : "probe_read";
    const ir::Label is_read = code_.new_label();
    code_.branch(ir::Cmp::ge, ir::kS64, result, 0, is_read);
    tell_failure(*asked_, helper, result);
    code_.bind(is_read);
    return result;
}

std::vector<const Expr*> ProbeCode::Output::values_from(std::size_t first) const {
    std::vector<const Expr*> values;
    for (std::size_t i = first; i < call_.operands.size(); ++i)
        values.push_back(call_.operands[i].get());
    return values;
}

const std::string& ProbeCode::Output::name_of(SentRecord record) {
    record.at = call_.at;
    std::string& name = in_.records_[&call_];
    if (name.empty()) name = in_.shared_.add_record(std::move(record));
    return name;
}

ir::Temp ProbeCode::Output::send(SentRecord record, const std::vector<const Expr*>& values) {
    std::size_t end = sizeof(std::uint32_t);
    for (const Expr* value : values) {
        const TypePtr type = in_.type_of(*value);
        end = align_up(end, kWord);
        record.values.push_back({type, end, is_own_text(*value)});
        end += type->bytes;
    }
    const std::size_t bytes = align_up(end, kWord);
    record.bytes = bytes;
    const std::vector<SentValue> places = record.values;
    const std::string& name = name_of(std::move(record));
    const std::size_t room = values.empty() ? 0 : room_behind(*in_.type_of(*values.back()));
    const Local at = in_.allocate(bytes + room);
    if (!values.empty()) code_.store(at.place(), 0, ir::kU64);
    in_.put_record_id(name, at);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const SentValue& place = places[i];
        const std::size_t next = i + 1 < places.size() ? places[i + 1].offset : bytes;
        in_.put(in_.eval(*values[i]), place.type, at.at(place.offset), TextEnd::sent);
        // Each byte that is sent was written: the kernel checks it of the stack's.
        in_.zero(at.at(place.offset + place.type->bytes), next - place.offset - place.type->bytes);
    }
    if (values.empty() && bytes > sizeof(std::uint32_t))
        code_.store(at.place(sizeof(std::uint32_t)), 0, ir::kU32);
    return in_.send(at, bytes);
}

void ProbeCode::Output::warn(std::string text) {
    SentRecord warning;
    warning.kind = SentRecord::Kind::warnf;
    warning.text = std::move(text);
    send(std::move(warning), {});
}

void ProbeCode::Output::exit() {
    SentRecord record;
    record.kind = SentRecord::Kind::exit;
    const std::vector<const Expr*> code = values_from(0);
    const ir::Temp result = send(std::move(record), code);
    const ir::Temp word = code_.new_temp(ir::kU64);
    const ir::Label is_told = code_.new_label();
    code_.assign(word, kExitTold);
    code_.branch(ir::Cmp::eq, ir::kU64, result, 0, is_told);
    code_.assign(word, kExitUntold);
    if (!code.empty()) {
        const ir::Temp low =
            code_.compute(ir::Op::bit_and, ir::kU64, in_.number(*code.front()), 0xff);
        code_.assign(word, code_.compute(ir::Op::bit_or, ir::kU64,
                                         code_.compute(ir::Op::shl, ir::kU64, low, kExitCodeShift),
                                         kExitUntold));
    }
    code_.bind(is_told);
    const std::string& map = in_.shared_.exit_map();
    code_.store({code_.symbol(Relocation::to(Relocation::Kind::map_value, map)), 0}, word,
                ir::kU64);
    code_.jump(*in_.end_);
}

void ProbeCode::Output::format(SentRecord::Kind kind) {
    SentRecord record;
    record.kind = kind;
    record.text = *literal_of(*call_.operands[0]);
    record.expanded_from = call_.expanded_from;
    send(std::move(record), values_from(1));
}

void ProbeCode::Output::print(bool clears) {
    const Expr& of = *call_.operands[0];
    if (of.kind == Expr::Kind::map) {
        const TypedMap& map = in_.map_of(of);
        if (of.operands.empty()) return print_map(map, clears);
        if (map.value->is_aggregation()) return print_entry(map);
    }
    SentRecord record;
    record.kind = SentRecord::Kind::print;
    send(std::move(record), {&of});
}

void ProbeCode::Output::print_map(const TypedMap& map, bool clears) {
    SentRecord record;
    record.kind = SentRecord::Kind::print_map;
    record.map = map.name;
    record.clears = clears;
    record.has_top = call_.operands.size() > 1;
    send(std::move(record), values_from(1));
}

// The reader looks the element up by its key.
void ProbeCode::Output::print_entry(const TypedMap& map) {
    const std::size_t key_bytes = align_up(map.key->bytes, kWord), bytes = kWord + key_bytes;
    SentRecord record;
    record.kind = SentRecord::Kind::print_entry;
    record.map = map.name;
    record.values.push_back({map.key, kWord});
    record.bytes = bytes;
    const std::string& name = name_of(std::move(record));
    const Local key = in_.key_of(map, call_.operands[0]->operands, 0).value(),
                at = in_.allocate(bytes);
    code_.store(at.place(), 0, ir::kU64);
    in_.put_record_id(name, at);
    in_.copy(key, at.at(kWord), key_bytes);
    in_.send(at, bytes);
}

// join(argv[, separator]): the texts up to the first null pointer.
void ProbeCode::Output::join() {
    constexpr std::size_t kTexts = 2 * kWord, kBytes = kTexts + kJoined * kJoinedBytes;
    SentRecord record;
    record.kind = SentRecord::Kind::join;
    record.text = call_.operands.size() > 1 ? *literal_of(*call_.operands[1]) : " ";
    record.stride = kJoinedBytes;
    record.values.push_back({buffer_type(kJoined * kJoinedBytes), kWord});
    record.bytes = kBytes;
    const std::string& name = name_of(std::move(record));
    const Value argv = in_.eval(*call_.operands[0]);
    const Space space = argv.type->is(Kind::pointer) ? argv.type->space : Space::none;
    const ir::Temp from = code_.convert(in_.number(argv), ir::kU64);
    const Local at = in_.allocate(kBytes), word = in_.allocate(kWord);
    in_.zero(at, kTexts);
    in_.put_record_id(name, at);
    const ir::Label done = code_.new_label();
    for (std::size_t i = 0; i < kJoined; ++i) {
        code_.store(word.place(), 0, ir::kU64);
        in_.read(word, kWord, code_.compute(ir::Op::add, ir::kU64, from, i * kWord), space);
        const ir::Temp text = code_.load(word.place(), ir::kU64);
        code_.branch(ir::Cmp::eq, ir::kU64, text, 0, done);
        const Local to = at.at(kTexts + i * kJoinedBytes);
        code_.store(to.place(), 0, ir::kU8);
        append_read_text(code_, space, in_.address_of(to), kJoinedBytes, text);
        code_.store(at.place(kWord), i + 1, ir::kU32);
    }
    code_.bind(done);
    in_.send(at, kBytes);
}

void ProbeCode::Output::signal(int helper) {
    const Expr& which = *call_.operands[0];
    const auto name = literal_of(which);
    if (!name || in_.constant(which)) {
        code_.call(helper, {in_.number(which)});
        return;
    }
    const auto known =
        in_.shared_.table().constant(name->starts_with("SIG") ? *name : gpufs::cat("SIG", *name));
    if (!known) in_.fail(which.at, gpufs::cat(*name, " is not a valid signal"));
    code_.call(helper, {known->number});
}

// debugf(): into the kernel's own trace buffer, as bpf_trace_printk() writes it.
void ProbeCode::Output::debug() {
    const std::string format = *literal_of(*call_.operands[0]);
    const Local text = in_.allocate(align_up(format.size() + 1, kWord));
    in_.put_literal(format, align_up(format.size() + 1, kWord), text);
    std::vector<ir::Operand> values;
    for (const Expr* argument : values_from(1)) {
        const Value value = in_.eval(*argument);
        if (value.type->is(Kind::string))
            values.push_back(in_.address_of(in_.in_memory(value, value.type)));
        else
            values.push_back(in_.number(value));
    }
    values.resize(3, 0);
    code_.call(BPF_FUNC_trace_printk,
               {in_.address_of(text), format.size() + 1, values[0], values[1], values[2]});
}

void ProbeCode::Output::emit(const FunctionRow& row) {
    SentRecord record;
    record.kind = kind_of(row.function);
    switch (row.function) {
        case Fn::print:
            return print();
        case Fn::clear:
        case Fn::zero:
            record.map = call_.operands[0]->text;
            send(std::move(record), {});
            return;
        case Fn::time:
            record.text = call_.operands.empty() ? kTimeFormat : *literal_of(*call_.operands[0]);
            send(std::move(record), {});
            return;
        case Fn::join:
            return join();
        case Fn::exit:
            return exit();
        case Fn::signal:
            return signal(BPF_FUNC_send_signal);
        case Fn::signal_thread:
            return signal(BPF_FUNC_send_signal_thread);
        case Fn::debugf:
            return debug();
        case Fn::override_:
            code_.call(BPF_FUNC_override_return, {*in_.context_, in_.number(*call_.operands[0])});
            return;
        case Fn::fail:
        case Fn::static_assert_:
            return;
        default:
            return format(record.kind);
    }
}

}  // namespace gpufs::bt
