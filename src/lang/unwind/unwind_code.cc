#include "lang/unwind/unwind_code.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/cat.h"
#include "base/kernel_abi.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/ir.h"
#include "lang/unwind/rule.h"

namespace gpufs {
namespace {

using ir::Cmp;
using ir::Op;

// The memory of one walk: registers by DWARF number, then words, then a copy of pt_regs, which is
// not needed any more when the walk begins, and has room for what is read of the stack.
constexpr std::int64_t kWord = 8, kRegisters = 32;
enum Memory : std::int64_t {
    kIp = kRegisters * kWord,
    kBack = kIp + kWord,  // 1: the address is behind a call
    kFrames = kBack + kWord,
    kFirstRange = kFrames + kWord,
    kRangeCount = kFirstRange + kWord,
    kGuessed = kRangeCount + kWord,  // 1: part of the way was by frame pointers, and is told
    kReturn = kGuessed + kWord,      // where the function that begins returns to, or 0
    kCopy = kReturn + kWord,
};

// How a kernel keeps the registers of user code. Places are counted in words.
struct KernelRegisters {
    // In struct pt_regs, by DWARF number; then the address, and what says that it is user code of
    // 64 bits.
    std::array<std::uint8_t, kRegisters> at;
    std::uint8_t ip, mode, words;
    std::uint32_t mode_mask, user_mode;
    // On the stack of a signal's handler, in struct ucontext, in bytes from the stack pointer: a
    // run of words, and where those are in it that are followed.
    std::int64_t context_at;
    std::uint8_t context_words, frame, other, stack, context_ip;
    // The instructions to which a handler returns, where a library has no rule for them.
    std::uint64_t sigreturn;
};
constexpr KernelRegisters kKernelX86{
    .at = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0},
    .ip = 16,
    .mode = 17,  // the code segment
    .words = 21,
    .mode_mask = 0xffff,
    .user_mode = 0x33,  // __USER_CS
    .context_at = 120,  // rbp, rbx, rdx, rax, rcx, rsp, rip
    .context_words = 7,
    .frame = 0,
    .other = 1,
    .stack = 5,
    .context_ip = 6,
    .sigreturn = 0x0f0000000fc0c748,  // mov $15, %rax; syscall
};
constexpr KernelRegisters kKernelArm64{
    .at = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
    .ip = 32,
    .mode = 33,  // pstate
    .words = 34,
    .mode_mask = 0x1f,
    .user_mode = 0,     // exception level 0, not of 32 bits
    .context_at = 544,  // x29, x30, sp, pc
    .context_words = 4,
    .frame = 0,
    .other = 1,
    .stack = 2,
    .context_ip = 3,
    .sigreturn = 0xd4000001d2801168,  // mov x8, #139; svc #0
};
constexpr std::int64_t kMostWords = std::max(kKernelX86.words, kKernelArm64.words);
constexpr std::int64_t kKernelStackBytes = 16 << 10;  // of x86-64

constexpr std::uint64_t kFirstPage = 4096;

std::string cut_of(const MapDeclaration& map) {
    return cat(map.name, ".cut");
}
std::string early_of(const MapDeclaration& map) {
    return cat(map.name, ".early");
}

class Walk {
public:
    Walk(const MapDeclaration& map, const UnwindKernel& kernel, std::int64_t frames_at,
         std::int64_t memory_at)
        : map_(map),
          kernel_(kernel),
          machine_(*kernel.machine),
          registers_(machine_.pushes_return ? kKernelX86 : kKernelArm64),
          frames_at_(frames_at),
          memory_at_(memory_at) {
        code_.set_source(map.at);
    }

    // unwind.NAME: the whole walk.
    std::vector<CodeItem> write() {
        element_ = code_.argument(1);
        const ir::Temp back = code_.argument(2);
        out_ = code_.new_label();
        cut_ = code_.new_label();
        done_ = code_.new_label();
        const ir::Label none = code_.new_label();
        read_registers(none);
        set(kReturn, back);
        find_process(none);
        if (kernel_.has_callbacks) {
            const ir::Slot context = code_.new_slot(kWord);
            code_.store(context, *element_, ir::kU64);
            const ir::Temp callback =
                code_.symbol(Relocation::to(Relocation::Kind::callback, frame_function(map_)));
            code_.call(BPF_FUNC_loop,
                       {static_cast<std::uint32_t>(frames()), callback, code_.address(context), 0});
        } else {
            const ir::Temp index = code_.new_temp(ir::kU64);
            const ir::Label again = code_.new_label();
            code_.assign(index, 0);
            code_.bind(again);
            append_frame(index);
            code_.assign(index, code_.compute(Op::add, ir::kU64, index, 1));
            code_.branch(Cmp::lt, ir::kU64, index, frames(), again);
            code_.jump(full());
            code_.bind(cut_);
            append_cut();
            code_.bind(done_);
            code_.bind(out_);
        }
        // A 0 behind the frames, where there is room.
        const ir::Temp count = word(kFrames);
        const ir::Label is_full = code_.new_label();
        const ir::Temp bytes = code_.compute(Op::shl, ir::kU64, count, 3);
        code_.branch(Cmp::ge, ir::kU64, bytes, map_.value.bytes, is_full);
        code_.store({code_.compute(Op::add, ir::kU64, *element_, bytes), frames_at_}, 0, ir::kU64);
        code_.bind(is_full);
        code_.leave(bytes);
        code_.bind(none);
        code_.leave(0);
        return code_.assemble();
    }

    // unwind_frame.NAME: one step, a callback of bpf_loop().
    std::vector<CodeItem> write_frame() {
        const ir::Temp index = code_.argument(1);
        const ir::Temp context = code_.argument(2);
        element_ = code_.load({context, 0}, ir::kU64);
        out_ = code_.new_label();
        cut_ = code_.new_label();
        done_ = code_.new_label();
        append_frame(index);
        code_.branch(Cmp::eq, ir::kU64, index, frames() - 1, full());
        code_.leave(0);
        code_.bind(cut_);
        append_cut();
        code_.bind(done_);
        code_.bind(out_);
        code_.leave(1);
        return code_.assemble();
    }

    static std::string frame_function(const MapDeclaration& map) {
        return cat("unwind_frame.", map.name);
    }

private:
    std::uint64_t frames() const { return map_.value.bytes / kWord; }
    // Where there is no room for the next frame. A map for short stacks is to have only short ones.
    ir::Label full() const { return frames() < kStackTraceFrames ? done_ : cut_; }
    void append_cut() { append_loss(code_, cut_of(map_)); }
    // The kernel's way is taken.
    void append_early(ir::Label out) {
        append_loss(code_, early_of(map_));
        code_.jump(out);
    }

    ir::Place at(std::int64_t offset) { return {*element_, memory_at_ + offset}; }
    ir::Temp word(std::int64_t offset) { return code_.load(at(offset), ir::kU64); }
    void set(std::int64_t offset, const ir::Operand& value) {
        code_.store(at(offset), value, ir::kU64);
    }
    ir::Temp address(std::int64_t offset) {
        return code_.compute(Op::add, ir::kU64, *element_, memory_at_ + offset);
    }
    ir::Temp map_address(const char* name) {
        return code_.symbol(Relocation::to(Relocation::Kind::map, name));
    }
    // A value of a map with keys of 4 bytes; jumps where there is none.
    ir::Temp look_up(const ir::Operand& map, const ir::Operand& key, ir::Label none) {
        const ir::Slot slot = code_.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
        code_.store(slot, key, ir::kU32);
        const ir::Temp value = code_.call(BPF_FUNC_map_lookup_elem, {map, code_.address(slot)});
        code_.branch(Cmp::eq, ir::kU64, value, 0, none);
        return value;
    }
    void read_user(std::int64_t to, std::int64_t bytes, const ir::Operand& from, ir::Label failed) {
        const ir::Temp status = code_.convert(
            code_.call(BPF_FUNC_probe_read_user, {address(to), bytes, from}), ir::kS64);
        code_.branch(Cmp::ne, ir::kS64, status, 0, failed);
    }

    static std::int64_t place_of(std::uint8_t reg) { return reg * kWord; }
    // Of an address that code may have signed.
    ir::Temp unsigned_address(const ir::Operand& address) {
        return code_.compute(Op::bit_and, ir::kU64, address, kernel_.address_mask);
    }

    void read_registers(ir::Label none) {
        const std::int64_t bytes = registers_.words * kWord;
        ir::Temp from = code_.new_temp(ir::kU64);
        if (kernel_.has_task_registers) {
            code_.assign(from, code_.call(BPF_FUNC_task_pt_regs,
                                          {code_.call(BPF_FUNC_get_current_task_btf, {})}));
        } else {
            const ir::Temp task = code_.call(BPF_FUNC_get_current_task, {});
            code_.call(BPF_FUNC_probe_read_kernel,
                       {address(kCopy), kWord,
                        code_.compute(Op::add, ir::kU64, task, kernel_.stack_offset)});
            code_.assign(from,
                         code_.compute(Op::add, ir::kU64, word(kCopy), kKernelStackBytes - bytes));
        }
        const ir::Temp status = code_.convert(
            code_.call(BPF_FUNC_probe_read_kernel, {address(kCopy), bytes, from}), ir::kS64);
        code_.branch(Cmp::ne, ir::kS64, status, 0, none);
        const auto copied = [&](std::int64_t number) { return word(kCopy + number * kWord); };
        // A kernel thread has none; one of 32 bits has others.
        code_.branch(
            Cmp::ne, ir::kU64,
            code_.compute(Op::bit_and, ir::kU64, copied(registers_.mode), registers_.mode_mask),
            registers_.user_mode, none);
        for (std::uint8_t reg = 0; reg < machine_.registers; ++reg)
            set(place_of(reg), copied(registers_.at[reg]));
        set(kIp, copied(registers_.ip));
        for (const std::int64_t begins_as_0 : {kBack, kFrames, kGuessed}) set(begins_as_0, 0);
    }

    void ask(const ir::Operand& process) {
        const ir::Slot key = code_.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
        code_.store(key, process, ir::kU32);
        const ir::Label known = code_.new_label();
        const ir::Temp status =
            code_.convert(code_.call(BPF_FUNC_map_update_elem,
                                     {map_address(kUnwindAsked), code_.address(key),
                                      code_.address(key), static_cast<int>(BPF_NOEXIST)}),
                          ir::kS64);
        code_.branch(Cmp::ne, ir::kS64, status, 0, known);
        code_.call(BPF_FUNC_ringbuf_output,
                   {map_address(kUnwindAsks), code_.address(key), sizeof(std::uint32_t), 0});
        code_.bind(known);
    }
    ir::Temp own_process() {
        return code_.compute(Op::shr, ir::kU64, code_.call(BPF_FUNC_get_current_pid_tgid, {}), 32);
    }

    void find_process(ir::Label none) {
        const ir::Temp process = own_process();
        const ir::Label unknown = code_.new_label(), known = code_.new_label();
        const ir::Temp ranges = look_up(map_address(kUnwindProcesses), process, unknown);
        set(kFirstRange, code_.load({ranges, 0}, ir::kU32));
        set(kRangeCount, code_.load({ranges, sizeof(std::uint32_t)}, ir::kU32));
        code_.jump(known);
        code_.bind(unknown);
        ask(process);
        append_early(none);
        code_.bind(known);
    }

    // The last of `count` sorted entries of a block, from the one with the number `first` on, whose
    // `value` is not above `x`; the first one may not be above it. Without branches: the kernel
    // follows all ways through a program, and a processor guesses half of these wrong.
    template <class Value>
    ir::Temp search(unsigned block_bits, ir::Temp first, ir::Temp count, ir::Temp x,
                    Value&& value) {
        constexpr int kSign = 63;
        const ir::Temp found = code_.new_temp(ir::kU64);
        code_.assign(found, 0);
        for (std::uint64_t step = 1u << (block_bits - 1); step != 0; step /= 2) {
            const ir::Temp next = code_.compute(Op::add, ir::kU64, found, step);
            const ir::Temp exists = code_.compute(
                Op::shr, ir::kS64, code_.compute(Op::sub, ir::kS64, next, count), kSign);
            const ir::Temp there = value(code_.compute(Op::add, ir::kU64, first, next));
            const ir::Temp past = code_.compute(Op::sub, ir::kS64, there, x);
            const ir::Temp is_not_above =
                code_.compute(Op::shr, ir::kS64, code_.compute(Op::sub, ir::kS64, past, 1), kSign);
            const ir::Temp both = code_.compute(Op::bit_and, ir::kU64, exists, is_not_above);
            code_.assign(found, code_.compute(Op::add, ir::kU64, found,
                                              code_.compute(Op::bit_and, ir::kU64, both, step)));
        }
        return code_.compute(Op::add, ir::kU64, first, found);
    }
    // The address of an entry within its block.
    ir::Temp entry(ir::Temp block, ir::Temp number, std::uint32_t entries, unsigned shift) {
        const ir::Temp index = code_.compute(Op::bit_and, ir::kU64, number, entries - 1);
        return code_.compute(Op::add, ir::kU64, block,
                             code_.compute(Op::shl, ir::kU64, index, shift));
    }

    // The number of the rule for the address `x`.
    ir::Temp find_rule(ir::Temp index, ir::Temp x, ir::Label by_frame_pointer) {
        constexpr unsigned kRangeShift = 4, kRowShift = 2;
        static_assert(sizeof(UnwindRange) == 1 << kRangeShift);
        const ir::Temp first = word(kFirstRange);
        const ir::Temp block =
            look_up(map_address(kUnwindRanges),
                    code_.compute(Op::shr, ir::kU64, first, kRangeBlockBits), by_frame_pointer);
        const auto range_at = [&](ir::Temp number) {
            return entry(block, number, kRangeBlock, kRangeShift);
        };
        const ir::Temp range =
            range_at(search(kRangeBlockBits, first, word(kRangeCount), x, [&](ir::Temp number) {
                return code_.load({range_at(number), 0}, ir::kU64);
            }));
        const ir::Temp start = code_.load({range, 0}, ir::kU64);
        const ir::Temp page = code_.load({range, kWord}, ir::kU32);
        const ir::Label is_code = code_.new_label();
        code_.branch(Cmp::eq, ir::kU64, page, kNoUnwindTable, by_frame_pointer);
        code_.branch(Cmp::ne, ir::kU64, page, kNoCode, is_code);
        // Something was mapped since, or it is no address of code. What a compiler made while the
        // program ran has frame pointers.
        ask(own_process());
        const ir::Label guess = code_.new_label();
        code_.branch(Cmp::ne, ir::kU64, index, 0, guess);
        set(kFrames, 0);
        append_early(done_);
        code_.bind(guess);
        code_.branch(Cmp::ne, ir::kU64, word(kGuessed), 0, by_frame_pointer);
        set(kGuessed, 1);
        append_early(by_frame_pointer);
        code_.bind(is_code);
        const ir::Temp past = code_.compute(
            Op::shr, ir::kU64, code_.compute(Op::sub, ir::kU64, x, start), kUnwindPageBits);
        const ir::Temp rows =
            look_up(map_address(kUnwindPages), code_.compute(Op::add, ir::kU64, page, past),
                    by_frame_pointer);
        const ir::Temp first_row = code_.load({rows, 0}, ir::kU32);
        const ir::Temp row_count = code_.load({rows, sizeof(std::uint32_t)}, ir::kU32);
        code_.branch(Cmp::eq, ir::kU64, row_count, 0, by_frame_pointer);
        const ir::Temp slab =
            look_up(map_address(kUnwindRows),
                    code_.compute(Op::shr, ir::kU64, first_row, kRowBlockBits + kRowSlabBits),
                    by_frame_pointer);
        const ir::Temp row_block = look_up(
            slab,
            code_.compute(Op::bit_and, ir::kU64,
                          code_.compute(Op::shr, ir::kU64, first_row, kRowBlockBits), kRowSlab - 1),
            by_frame_pointer);
        const ir::Temp low = code_.compute(Op::bit_and, ir::kU64, x, kUnwindPageBytes - 1);
        const auto row_at = [&](ir::Temp number) {
            return code_.load({entry(row_block, number, kRowBlock, kRowShift), 0}, ir::kU32);
        };
        const ir::Temp found =
            search(kRowBlockBits, first_row, row_count, low, [&](ir::Temp number) {
                return code_.compute(Op::bit_and, ir::kU64, row_at(number), kUnwindPageBytes - 1);
            });
        return code_.compute(Op::shr, ir::kU64, row_at(found), kUnwindPageBits);
    }

    // Puts the place into the frames, and finds its caller's. Jumps to done_ behind the outermost
    // frame, and to cut_ where the caller cannot be found.
    void append_frame(ir::Temp index) {
        const ir::Label by_frame_pointer = code_.new_label(), by_signal = code_.new_label(),
                        next = code_.new_label();
        const ir::Temp ip = word(kIp);
        // Asked in the register that is used: Linux 6.1 forgets what it knows of one on the stack.
        const ir::Temp offset = code_.compute(Op::shl, ir::kU64, index, 3);
        code_.branch(Cmp::ge, ir::kU64, offset, map_.value.bytes, out_);
        const ir::Temp slot = code_.compute(Op::add, ir::kU64, *element_, offset);
        code_.store({slot, frames_at_}, ip, ir::kU64);
        const ir::Temp count = code_.compute(Op::add, ir::kU64, index, 1);
        set(kFrames, count);
        const ir::Temp x = code_.compute(Op::sub, ir::kU64, ip, word(kBack));
        const ir::Temp number = find_rule(index, x, by_frame_pointer);
        const ir::Temp rule = look_up(map_address(kUnwindRules), number, by_frame_pointer);
        apply_rule(rule, index, ip, by_frame_pointer, by_signal, next);
        code_.bind(by_frame_pointer);
        apply_frame_pointer(by_signal, next);
        code_.bind(by_signal);
        apply_signal();
        code_.bind(next);
        // The end of a stack that has no rule for its end: behind the frame pointer 0, by which the
        // ABI marks it, there may be the number of arguments.
        const ir::Label go_on = code_.new_label();
        const ir::Temp now = word(kIp);
        code_.branch(Cmp::ge, ir::kU64, now, kFirstPage, go_on);
        code_.branch(Cmp::eq, ir::kU64, now, 0, done_);
        code_.branch(Cmp::eq, ir::kU64, word(place_of(machine_.frame)), 0, done_);
        code_.jump(cut_);
        code_.bind(go_on);
    }

    ir::Temp member(ir::Temp rule, std::size_t offset, ir::Type type) {
        return code_.load({rule, static_cast<std::int64_t>(offset)}, type);
    }

    void apply_rule(ir::Temp rule, ir::Temp index, ir::Temp ip, ir::Label by_frame_pointer,
                    ir::Label by_signal, ir::Label next) {
        using Kind = UnwindRule::Kind;
        const auto is = [](Kind kind) { return static_cast<std::uint64_t>(kind); };
        const ir::Label have = code_.new_label(), known = code_.new_label();
        const ir::Temp kind = member(rule, offsetof(UnwindRule, kind), ir::kU8);
        code_.branch(Cmp::eq, ir::kU64, kind, is(Kind::none), by_frame_pointer);
        code_.branch(Cmp::eq, ir::kU64, kind, is(Kind::signal), by_signal);
        code_.branch(Cmp::eq, ir::kU64, kind, is(Kind::outermost), done_);
        code_.branch(Cmp::eq, ir::kU64, kind, is(Kind::unknown), cut_);
        const ir::Temp base = member(rule, offsetof(UnwindRule, base), ir::kU8);
        // Of the callers only these are followed.
        code_.branch(Cmp::eq, ir::kU64, index, 0, known);
        code_.branch(Cmp::eq, ir::kU64, base, machine_.stack, known);
        code_.branch(Cmp::eq, ir::kU64, base, machine_.frame, known);
        code_.branch(Cmp::ne, ir::kU64, base, machine_.other, cut_);
        code_.bind(known);
        const ir::Temp from = entry(*element_, base, machine_.registers, 3);
        const ir::Temp cfa = code_.new_temp(ir::kU64);
        code_.assign(cfa, code_.compute(Op::add, ir::kU64, code_.load({from, memory_at_}, ir::kU64),
                                        member(rule, offsetof(UnwindRule, offset), ir::kS32)));
        code_.branch(Cmp::eq, ir::kU64, kind, is(Kind::plain), have);
        const ir::Temp extra = member(rule, offsetof(UnwindRule, extra), ir::kS32);
        const ir::Label indirect = code_.new_label();
        code_.branch(Cmp::ne, ir::kU64, kind, is(Kind::plt), indirect);
        code_.branch(Cmp::lt, ir::kU64, code_.compute(Op::bit_and, ir::kU64, ip, 15), extra, have);
        code_.assign(cfa, code_.compute(Op::add, ir::kU64, cfa, kWord));
        code_.jump(have);
        code_.bind(indirect);
        read_user(kCopy, kWord, cfa, cut_);
        code_.assign(cfa, code_.compute(Op::add, ir::kU64, word(kCopy), extra));
        code_.bind(have);
        const ir::Temp stack = word(place_of(machine_.stack));
        if (machine_.pushes_return) {
            code_.branch(Cmp::le, ir::kU64, cfa, stack, cut_);
            read_user(kIp, kWord, code_.compute(Op::sub, ir::kU64, cfa, kWord), cut_);
        } else {
            code_.branch(Cmp::lt, ir::kU64, cfa, stack, cut_);
            check_return_register(rule);
        }
        restore(rule, offsetof(UnwindRule, other), offsetof(UnwindRule, other_words),
                machine_.other, cfa);
        restore(rule, offsetof(UnwindRule, frame), offsetof(UnwindRule, frame_words),
                machine_.frame, cfa);
        if (!machine_.pushes_return) set(kIp, unsigned_address(word(place_of(machine_.other))));
        set(place_of(machine_.stack), cfa);
        set(kBack, 1);
        set(kReturn, 0);
        code_.jump(next);
    }

    // A function that has called one has saved where it returns to.
    void check_return_register(ir::Temp rule) {
        const ir::Label good = code_.new_label();
        code_.branch(Cmp::eq, ir::kU64, word(kBack), 0, good);
        code_.branch(Cmp::eq, ir::kU64, member(rule, offsetof(UnwindRule, other), ir::kU8),
                     static_cast<int>(UnwindRule::Saved::in_register), cut_);
        code_.bind(good);
    }

    void restore(ir::Temp rule, std::size_t saved_at, std::size_t words_at, std::uint8_t reg,
                 ir::Temp cfa) {
        using Saved = UnwindRule::Saved;
        const ir::Label is_there = code_.new_label(), have = code_.new_label();
        const ir::Temp saved = member(rule, saved_at, ir::kU8);
        code_.branch(Cmp::eq, ir::kU64, saved, static_cast<int>(Saved::in_register), is_there);
        const ir::Temp from = code_.new_temp(ir::kU64);
        code_.assign(from, cfa);
        code_.branch(Cmp::eq, ir::kU64, saved, static_cast<int>(Saved::at_cfa), have);
        code_.assign(from, word(place_of(machine_.frame)));
        code_.bind(have);
        const ir::Temp offset =
            code_.compute(Op::shl, ir::kU64, member(rule, words_at, ir::kS16), 3);
        read_user(place_of(reg), kWord, code_.compute(Op::add, ir::kU64, from, offset), cut_);
        code_.bind(is_there);
    }

    void apply_frame_pointer(ir::Label by_signal, ir::Label next) {
        const ir::Label no_signal = code_.new_label();
        read_user(kCopy, kWord, word(kIp), no_signal);
        code_.branch(Cmp::eq, ir::kU64, word(kCopy), registers_.sigreturn, by_signal);
        code_.bind(no_signal);
        // A function that begins has not yet made its frame.
        const ir::Label has_frame = code_.new_label();
        const ir::Temp back = word(kReturn);
        code_.branch(Cmp::eq, ir::kU64, back, 0, has_frame);
        set(kReturn, 0);
        set(kIp, back);
        const std::int64_t stack = place_of(machine_.stack), frame = place_of(machine_.frame);
        if (machine_.pushes_return)
            set(stack, code_.compute(Op::add, ir::kU64, word(stack), kWord));
        set(kBack, 1);
        code_.jump(next);
        code_.bind(has_frame);
        const ir::Temp pointer = word(frame);
        code_.branch(Cmp::eq, ir::kU64, pointer, 0, done_);
        code_.branch(Cmp::lt, ir::kU64, pointer, word(stack), cut_);
        code_.branch(Cmp::any_bits, ir::kU64, pointer, kWord - 1, cut_);
        read_user(kCopy, 2 * kWord, pointer, cut_);
        set(stack, code_.compute(Op::add, ir::kU64, pointer, 2 * kWord));
        set(frame, word(kCopy));
        const ir::Temp back_there = word(kCopy + kWord);
        set(kIp, machine_.pushes_return ? back_there : unsigned_address(back_there));
        set(kBack, 1);
        code_.jump(next);
    }

    void apply_signal() {
        const ir::Temp context =
            code_.compute(Op::add, ir::kU64, word(place_of(machine_.stack)), registers_.context_at);
        read_user(kCopy, registers_.context_words * kWord, context, cut_);
        const auto told = [&](std::uint8_t place) { return word(kCopy + place * kWord); };
        set(place_of(machine_.frame), told(registers_.frame));
        set(place_of(machine_.other), told(registers_.other));
        set(place_of(machine_.stack), told(registers_.stack));
        set(kIp, told(registers_.context_ip));
        set(kBack, 0);
        set(kReturn, 0);
    }

    ir::Code code_;
    const MapDeclaration& map_;
    const UnwindKernel& kernel_;
    const UnwindMachine& machine_;
    const KernelRegisters& registers_;
    const std::int64_t frames_at_, memory_at_;
    std::optional<ir::Temp> element_;
    ir::Label out_{}, cut_{}, done_{};
};

}  // namespace

void unwind_user_stacks(Program& program, const UnwindKernel& kernel) {
    UserStackWay way;
    way.memory_bytes = kCopy + kMostWords * kWord;
    way.define = [&kernel](Program& to, const MapDeclaration& map, std::int64_t frames_at,
                           std::int64_t memory_at) {
        const auto add = [&](std::string name, std::vector<CodeItem> code) {
            Subprogram function;
            function.name = std::move(name);
            function.code = std::move(code);
            function.at = map.at;
            function.leaves_record_alone = true;
            to.subprograms.push_back(std::move(function));
        };
        std::string name = cat("unwind.", map.name);
        add(name, Walk(map, kernel, frames_at, memory_at).write());
        if (kernel.has_callbacks)
            add(Walk::frame_function(map), Walk(map, kernel, frames_at, memory_at).write_frame());
        const auto count = [&](std::string counter, std::string what) {
            MapDeclaration made = array_map(std::move(counter), BPF_MAP_TYPE_ARRAY,
                                            Layout::of("value", integer_value(kWord)), map.at);
            made.aggregation.kind = Aggregation::Kind::count;
            made.tally = std::move(what);
            to.maps.push_back(std::move(made));
        };
        count(cut_of(map), "user stacks cut short");
        count(early_of(map), "user stacks by frame pointers, before their tables were there");
        return name;
    };
    take_user_stacks(program, way);
}

}  // namespace gpufs
