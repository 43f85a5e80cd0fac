#include "lang/ir/gen.h"

#include <cstring>
#include <type_traits>

namespace gpufs::test {

std::uint64_t RandomProgram::constant() {
    constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
    const std::uint64_t edges[] = {0,
                                   1,
                                   2,
                                   7,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   kTop,
                                   kTop - 1,
                                   ~0ull,
                                   0 - 2ull,
                                   0 - 0x80ull,
                                   0 - 0x80000000ull,
                                   0 - 0x80000001ull};
    const std::size_t i = below(std::size(edges) + 6);
    return i < std::size(edges) ? edges[i] : random_();
}

ir::Type RandomProgram::any_type() {
    constexpr ir::Type kTypes[] = {ir::kU8,  ir::kS8,  ir::kU16, ir::kS16,
                                   ir::kU32, ir::kS32, ir::kU64, ir::kS64};
    return kTypes[below(8)];
}

std::vector<RandomProgram::Statement> RandomProgram::block(std::size_t statements, int depth) {
    std::vector<Statement> block;
    for (std::size_t i = 0; i < statements; ++i) block.push_back(statement(depth));
    return block;
}

RandomProgram::Statement RandomProgram::statement(int depth) {
    Statement s;
    constexpr Kind kSimple[] = {
        Kind::compute,   Kind::compute,   Kind::compute,      Kind::compute,    Kind::compute,
        Kind::negate,    Kind::swap,      Kind::from_context, Kind::fetch,      Kind::from_buffer,
        Kind::to_buffer, Kind::to_buffer, Kind::copy,         Kind::add_atomic, Kind::exchange,
        Kind::map_get,   Kind::map_set,   Kind::comm};
    constexpr Kind kNested[] = {Kind::condition, Kind::condition, Kind::loop, Kind::scope};
    s.kind = depth > 0 && below(5) == 0 ? kNested[below(4)] : kSimple[below(std::size(kSimple))];
    s.type = any_type();
    s.op = static_cast<ir::Op>(below(10));
    s.cmp = static_cast<ir::Cmp>(below(7));
    s.target = below(types_.size());
    if (below(4) != 0) s.a = below(types_.size());
    if (below(4) != 0) s.b = below(types_.size());
    s.a_number = constant();
    s.b_number = constant();
    s.buffer = below(buffers_);
    s.other_buffer = below(buffers_);
    s.count = 1 + below(3);
    const bool is_atomic =
        s.kind == Kind::add_atomic || s.kind == Kind::fetch || s.kind == Kind::exchange;
    if (is_atomic && s.type.bytes < 4) s.type.bytes = 4;
    constexpr AtomicOp kPlain[] = {AtomicOp::add, AtomicOp::or_, AtomicOp::and_, AtomicOp::xor_};
    constexpr AtomicOp kFetching[] = {AtomicOp::fetch_add, AtomicOp::fetch_or, AtomicOp::fetch_and,
                                      AtomicOp::fetch_xor, AtomicOp::xchg};
    s.atomic = s.kind == Kind::fetch ? kFetching[below(5)] : kPlain[below(4)];
    if (is_atomic && !has_atomics_) {
        s.kind = Kind::add_atomic;
        s.atomic = AtomicOp::add;
    }
    const std::size_t room = s.kind == Kind::from_context ? kContextBytes : kBufferBytes;
    s.offset = below(room / s.type.bytes) * s.type.bytes;
    switch (s.kind) {
        case Kind::condition:
            s.then = block(1 + below(4), depth - 1);
            if (below(2) == 0) s.otherwise = block(1 + below(4), depth - 1);
            break;
        case Kind::loop:
            s.then = block(1 + below(3), 0);
            break;
        case Kind::scope:
            s.buffer = buffers_++;
            s.then = block(2 + below(4), depth - 1);
            --buffers_;
            break;
        default:
            break;
    }
    return s;
}

// Makes the intermediate code.
class RandomProgram::Compiler {
public:
    Compiler(const RandomProgram& program, ir::Code& code)
        : program_(program), code_(code), context_(code.argument(1)) {}

    void compile() {
        std::uint64_t first = 1;
        for (const ir::Type type : program_.types_) {
            variables_.push_back(code_.new_temp(type));
            code_.assign(variables_.back(), first++ * 0x0123456789abcdefull);
        }
        add_buffer();
        block(program_.body_);
        ir::Temp hash = code_.new_temp(ir::kU64);
        code_.assign(hash, 17);
        for (const ir::Temp variable : variables_) mix(hash, variable);
        for (std::size_t at = 0; at < kBufferBytes; at += 8)
            mix(hash, code_.load({buffers_[0], static_cast<int>(at)}, ir::kU64));
        const ir::Temp high = code_.compute(ir::Op::shr, ir::kU64, hash, 32);
        code_.leave(code_.compute(ir::Op::bit_xor, ir::kU32, hash, high));
    }

private:
    void mix(ir::Temp hash, ir::Operand value) {
        const ir::Temp product = code_.compute(ir::Op::mul, ir::kU64, hash, 1000003);
        code_.assign(hash, code_.compute(ir::Op::bit_xor, ir::kU64, product, value));
    }

    void add_buffer() {
        buffers_.push_back(code_.new_slot(kBufferBytes));
        for (std::size_t at = 0; at < kBufferBytes; at += 8)
            code_.store({buffers_.back(), static_cast<int>(at)}, at + 1, ir::kU64);
    }

    ir::Operand operand(const std::optional<std::size_t>& variable, std::uint64_t number) const {
        return variable ? ir::Operand(variables_[*variable]) : ir::Operand(number);
    }

    void block(const std::vector<Statement>& statements) {
        for (const Statement& s : statements) statement(s);
    }

    void statement(const Statement& s) {
        const ir::Operand a = operand(s.a, s.a_number), b = operand(s.b, s.b_number);
        const auto assign = [&](ir::Operand value) { code_.assign(variables_[s.target], value); };
        const ir::Place place = s.buffer < buffers_.size()
                                    ? ir::Place(buffers_[s.buffer], static_cast<int>(s.offset))
                                    : ir::Place(context_);
        switch (s.kind) {
            case Kind::compute:
                return assign(code_.compute(s.op, s.type, a, b));
            case Kind::negate:
                return assign(code_.negate(a, s.type));
            case Kind::swap:
                return assign(code_.swap_bytes(a, s.type));
            case Kind::from_context:
                return assign(code_.load({context_, static_cast<int>(s.offset)}, s.type));
            case Kind::from_buffer:
                return assign(code_.load(place, s.type));
            case Kind::to_buffer:
                return code_.store(place, a, s.type);
            case Kind::add_atomic:
                return code_.atomic(s.atomic, place, a, s.type);
            case Kind::fetch:
                return assign(code_.fetch(s.atomic, place, a, s.type));
            case Kind::exchange:
                return assign(code_.compare_exchange(place, a, b, s.type));
            case Kind::copy:
                return assign(code_.call(BPF_FUNC_probe_read_kernel,
                                         {code_.address(buffers_[s.buffer]), kBufferBytes,
                                          code_.address(buffers_[s.other_buffer])}));
            case Kind::map_get:
                return map_get(s);
            case Kind::map_set:
                return map_set(s, a);
            case Kind::comm:
                code_.call(BPF_FUNC_get_current_comm, {code_.address(code_.new_slot(16)), 16});
                return;
            case Kind::condition:
                return condition(s, a, b);
            case Kind::loop:
                return loop(s);
            case Kind::scope:
                add_buffer();
                block(s.then);
                if (s.count == 1) mix_in(s, buffers_.back());
                buffers_.pop_back();
                return;
        }
    }

    void mix_in(const Statement& s, ir::Slot buffer) {
        code_.assign(variables_[s.target],
                     code_.compute(ir::Op::add, ir::kU64, variables_[s.target],
                                   code_.load({buffer, 8}, ir::kU64)));
    }

    ir::Temp map() {
        Relocation map;
        map.kind = Relocation::Kind::map;
        map.name = "values";
        return code_.symbol(map);
    }

    ir::Slot key(const Statement& s) {
        const ir::Slot key = code_.new_slot(4, 4);
        code_.store(key, s.a_number % (kMapEntries + 1), ir::kU32);  // one too many
        return key;
    }

    void map_get(const Statement& s) {
        const ir::Temp value = code_.call(BPF_FUNC_map_lookup_elem, {map(), code_.address(key(s))});
        const ir::Label out = code_.new_label();
        code_.branch(ir::Cmp::eq, ir::kU64, value, 0, out);
        code_.assign(variables_[s.target], code_.load(value, ir::kU64));
        code_.bind(out);
    }

    void map_set(const Statement& s, ir::Operand a) {
        const ir::Slot value = code_.new_slot(8);
        code_.store(value, a, ir::kU64);
        const ir::Temp status = code_.call(BPF_FUNC_map_update_elem,
                                           {map(), code_.address(key(s)), code_.address(value), 0});
        // Before Linux 6.4 a map's own function is called, which returns an int: what is in the
        // upper half then is chance.
        code_.assign(variables_[s.target], code_.convert(status, ir::kS32));
    }

    void condition(const Statement& s, ir::Operand a, ir::Operand b) {
        const ir::Label then = code_.new_label(), end = code_.new_label();
        code_.branch(s.cmp, s.type, a, b, then);
        block(s.otherwise);
        code_.jump(end);
        code_.bind(then);
        block(s.then);
        code_.bind(end);
    }

    void loop(const Statement& s) {
        const ir::Temp round = code_.new_temp(ir::kU32);
        code_.assign(round, 0);
        const ir::Label top = code_.new_label();
        code_.bind(top);
        block(s.then);
        code_.assign(round, code_.compute(ir::Op::add, ir::kU32, round, 1));
        code_.branch(ir::Cmp::lt, ir::kU32, round, s.count, top);
    }

    const RandomProgram& program_;
    ir::Code& code_;
    ir::Temp context_;
    std::vector<ir::Temp> variables_;
    std::vector<ir::Slot> buffers_;
};

// Computes in C++'s own types.
struct RandomProgram::Model {
    using Buffer = std::array<std::byte, kBufferBytes>;

    const RandomProgram& program;
    const Context& context;
    MapValues& map;
    std::vector<std::uint64_t> variables;
    std::vector<Buffer> buffers;

    // Calls f with a zero of the type.
    static std::uint64_t in_type(ir::Type type, auto&& f) {
        const auto wide = [](auto value) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        };
        switch (type.bytes) {
            case 1:
                return type.is_signed ? wide(f(std::int8_t{})) : wide(f(std::uint8_t{}));
            case 2:
                return type.is_signed ? wide(f(std::int16_t{})) : wide(f(std::uint16_t{}));
            case 4:
                return type.is_signed ? wide(f(std::int32_t{})) : wide(f(std::uint32_t{}));
            default:
                return type.is_signed ? wide(f(std::int64_t{})) : f(std::uint64_t{});
        }
    }

    template <class T>
    static T compute(ir::Op op, std::uint64_t a, std::uint64_t b) {
        using U = std::uint64_t;
        const T x = static_cast<T>(a), y = static_cast<T>(b);
        const U count = b % (sizeof(T) == 8 ? 64 : 32);
        const bool overflows = std::is_signed_v<T> && y == static_cast<T>(-1);
        switch (op) {
            case ir::Op::add:
                return static_cast<T>(a + b);
            case ir::Op::sub:
                return static_cast<T>(a - b);
            case ir::Op::mul:
                return static_cast<T>(a * b);
            case ir::Op::div:
                if (y == 0) return 0;
                return overflows ? static_cast<T>(0 - a) : static_cast<T>(x / y);
            case ir::Op::mod:
                if (y == 0) return x;
                return overflows ? T{0} : static_cast<T>(x % y);
            case ir::Op::bit_and:
                return static_cast<T>(x & y);
            case ir::Op::bit_or:
                return static_cast<T>(x | y);
            case ir::Op::bit_xor:
                return static_cast<T>(x ^ y);
            case ir::Op::shl:
                return static_cast<T>(a << count);
            case ir::Op::shr:
                break;
        }
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(static_cast<std::int64_t>(x) >> count);
        else
            return static_cast<T>(static_cast<U>(x) >> count);
    }

    template <class T>
    static bool holds(ir::Cmp cmp, std::uint64_t a, std::uint64_t b) {
        const T x = static_cast<T>(a), y = static_cast<T>(b);
        const bool results[] = {x == y, x != y, x<y, x <= y, x> y, x >= y, (x & y) != 0};
        return results[static_cast<int>(cmp)];
    }

    template <class T>
    static T swapped(std::uint64_t value) {
        T in = static_cast<T>(value), out;
        for (std::size_t i = 0; i < sizeof in; ++i)
            reinterpret_cast<std::byte*>(&out)[i] =
                reinterpret_cast<const std::byte*>(&in)[sizeof in - 1 - i];
        return out;
    }

    std::uint32_t run() {
        std::uint64_t first = 1;
        for (const ir::Type type : program.types_) {
            variables.push_back(0);
            set(variables.size() - 1, first++ * 0x0123456789abcdefull, type);
        }
        add_buffer();
        block(program.body_);
        std::uint64_t hash = 17;
        const auto mix = [&](std::uint64_t value) { hash = (hash * 1000003) ^ value; };
        for (const std::uint64_t value : variables) mix(value);
        for (std::size_t at = 0; at < kBufferBytes; at += 8) mix(word(buffers[0], at));
        return static_cast<std::uint32_t>(hash ^ hash >> 32);
    }

    static std::uint64_t word(const Buffer& buffer, std::size_t at) {
        std::uint64_t value;
        std::memcpy(&value, &buffer[at], sizeof value);
        return value;
    }

    void set(std::size_t variable, std::uint64_t value, ir::Type type) {
        variables[variable] =
            in_type(type, [&](auto zero) { return static_cast<decltype(zero)>(value); });
    }

    void add_buffer() {
        buffers.emplace_back();
        for (std::size_t at = 0; at < kBufferBytes; at += 8) {
            const std::uint64_t value = at + 1;
            std::memcpy(&buffers.back()[at], &value, sizeof value);
        }
    }

    void block(const std::vector<Statement>& statements) {
        for (const Statement& s : statements) statement(s);
    }

    void statement(const Statement& s) {
        const std::uint64_t a = s.a ? variables[*s.a] : s.a_number;
        const std::uint64_t b = s.b ? variables[*s.b] : s.b_number;
        const auto assign = [&](std::uint64_t value) {
            set(s.target, value, program.types_[s.target]);
        };
        const auto load = [&](const std::byte* from) {
            return in_type(s.type, [&](auto value) {
                std::memcpy(&value, from, sizeof value);
                return value;
            });
        };
        const auto cut = [&](std::uint64_t value) {
            return s.type.bytes == 4 ? static_cast<std::uint32_t>(value) : value;
        };
        std::byte* at = s.kind == Kind::scope || s.kind == Kind::from_context
                            ? nullptr
                            : &buffers[s.buffer][s.offset];
        const std::size_t key = s.a_number % (kMapEntries + 1);
        switch (s.kind) {
            case Kind::compute:
                return assign(in_type(
                    s.type, [&](auto zero) { return compute<decltype(zero)>(s.op, a, b); }));
            case Kind::negate:
                return assign(
                    in_type(s.type, [&](auto zero) { return static_cast<decltype(zero)>(0 - a); }));
            case Kind::swap:
                return assign(
                    in_type(s.type, [&](auto zero) { return swapped<decltype(zero)>(a); }));
            case Kind::from_context:
                return assign(load(&context[s.offset]));
            case Kind::from_buffer:
                return assign(load(at));
            case Kind::to_buffer:
                std::memcpy(at, &a, s.type.bytes);
                return;
            case Kind::add_atomic:
            case Kind::fetch: {
                const std::uint64_t old = load(at);
                const std::uint64_t results[] = {old + a, old | a, old & a, old ^ a, a};
                constexpr AtomicOp kOps[] = {AtomicOp::add, AtomicOp::or_, AtomicOp::and_,
                                             AtomicOp::xor_};
                std::size_t which = 0;
                while (which < 4 &&
                       (static_cast<int>(s.atomic) & ~BPF_FETCH) != static_cast<int>(kOps[which]))
                    ++which;
                if (s.atomic == AtomicOp::xchg) which = 4;
                std::memcpy(at, &results[which], s.type.bytes);
                if (s.kind == Kind::fetch) assign(old);
                return;
            }
            case Kind::exchange: {
                const std::uint64_t old = load(at);
                if (cut(old) == cut(a)) std::memcpy(at, &b, s.type.bytes);
                return assign(old);
            }
            case Kind::copy:
                buffers[s.buffer] = Buffer(buffers[s.other_buffer]);
                return assign(0);
            case Kind::map_get:
                if (key < kMapEntries) assign(map[key]);
                return;
            case Kind::map_set:
                if (key < kMapEntries) map[key] = a;
                return assign(key < kMapEntries ? 0 : static_cast<std::uint64_t>(std::int64_t{-7}));
            case Kind::comm:
                return;
            case Kind::condition: {
                const bool is_true = in_type(s.type, [&](auto zero) {
                                         return holds<decltype(zero)>(s.cmp, a, b) ? 1 : 0;
                                     }) != 0;
                return block(is_true ? s.then : s.otherwise);
            }
            case Kind::loop:
                for (std::size_t i = 0; i < s.count; ++i) block(s.then);
                return;
            case Kind::scope:
                add_buffer();
                block(s.then);
                if (s.count == 1) assign(variables[s.target] + word(buffers.back(), 8));
                buffers.pop_back();
                return;
        }
    }
};

RandomProgram::RandomProgram(std::uint64_t seed, std::size_t variables, std::size_t statements,
                             bool atomics)
    : has_atomics_(atomics), random_(seed) {
    for (std::size_t i = 0; i < variables; ++i) types_.push_back(any_type());
    body_ = block(statements, 2);
}

RandomProgram::Context RandomProgram::random_context() {
    Context bytes;
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_());
    // Edges meet more often than by chance.
    for (std::size_t at = 0; at < kContextBytes; at += 8)
        if (below(2) == 0) {
            const std::uint64_t value = constant();
            std::memcpy(&bytes[at], &value, sizeof value);
        }
    return bytes;
}

ir::Code RandomProgram::compile() const {
    ir::Code code;
    Compiler(*this, code).compile();
    return code;
}

std::uint32_t RandomProgram::evaluate(const Context& context, MapValues& map) const {
    return Model{*this, context, map, {}, {}}.run();
}

}  // namespace gpufs::test
