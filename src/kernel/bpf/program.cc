#include "kernel/bpf/program.h"

#include <linux/btf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/scan.h"
#include "base/text.h"
#include "kernel/bpf/syscall.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {
namespace {

// Parses the number at the beginning of `text` and removes it.
std::optional<std::size_t> take_number(std::string_view& text) {
    Scan scan(text);
    const auto number = scan.take_number<std::size_t>();
    text = scan.rest();
    return number;
}

// "12: (61) r0 = *(u32 *)(r1 +16)" is instruction 12.
std::optional<std::size_t> insn_of_row(std::string_view row) {
    const auto number = take_number(row);
    return number && row.starts_with(": (") ? number : std::nullopt;
}

// "R1=ctx()", "R1_w=inv7", "12: R0=...", " frame1: R6=...", "from 3 to 5: R0=...": registers.
bool shows_registers(std::string_view row) {
    const auto colon = row.find(": ");
    if (colon != row.npos) row = trim(row.substr(colon + 2));
    if (!row.starts_with('R')) return false;
    row.remove_prefix(1);
    return take_number(row) && (row.starts_with('=') || row.starts_with('_'));
}

// Whether the verifier prints such a line for valid programs, too.
bool is_narration(std::string_view row) {
    constexpr std::string_view kBeginnings[] = {
        "processed ",   "verification time", "stack depth", ";",          "from ",
        "func#",        "mark_precise",      "regs=",       "last_idx ",  "first_idx ",
        "parent ",      "propagating ",      "caller:",     "callee:",    "returning from callee",
        "to caller at", "cur state:",        "old state:",  "max_states",
    };
    return row.empty() || insn_of_row(row) || shows_registers(row) ||
           std::ranges::any_of(kBeginnings, [&](auto b) { return row.starts_with(b); });
}

// "R0 max value is outside of the allowed memory range" only adds detail to the line before it.
bool is_afterthought(std::string_view row) {
    return row.ends_with("value is outside of the allowed memory range") ||
           row.ends_with("value is outside of the array range");
}

// Throws for a program that never reached the verifier: the log is empty.
[[noreturn]] void throw_unverified(int code, const BpfProgramSpec& spec) {
    const std::string doing = cat("load program '", spec.name, "'");
    if (spec.insns.empty()) throw Error(cat("program '", spec.name, "' has no instructions"));
    if (code == E2BIG)
        throw Error(cat("program '", spec.name, "' has ", counted(spec.insns.size(), "instruction"),
                        ": this kernel takes no such program"),
                    running_kernel() < KernelVersion{5, 2, 0}
                        ? "the limit is 4096 instructions before Linux 5.2"
                        : "the limit is 1000000 instructions");
    if (code == EINVAL)
        throw UnsupportedError(cat("cannot ", doing,
                                   ": this kernel knows no such program type or "
                                   "attach type (type ",
                                   spec.type, ", attach type ", spec.expected_attach_type, ")"),
                               "a newer kernel, or another kind of probe");
    throw_bpf_error(code, doing);
}

// BTF that declares only the names of functions: all are "static int name()".
class FunctionBtf {
public:
    explicit FunctionBtf(const std::vector<FunctionName>& functions) {
        add_type("int", BTF_KIND_INT, 4);
        append(BTF_INT_SIGNED << 24 | 32u);
        add_type("", BTF_KIND_FUNC_PROTO, kInt);
        for (std::uint32_t i = 0; i < functions.size(); ++i) {
            add_type(functions[i].name, BTF_KIND_FUNC, kProto);
            infos_.push_back({functions[i].first_insn, kProto + 1 + i});
        }
    }
    std::vector<std::byte> bytes() const {
        btf_header header{};
        header.magic = BTF_MAGIC;
        header.version = BTF_VERSION;
        header.hdr_len = sizeof header;
        header.type_len = static_cast<__u32>(types_.size());
        header.str_off = header.type_len;
        header.str_len = static_cast<__u32>(strings_.size());
        std::vector<std::byte> all(sizeof header + types_.size() + strings_.size());
        std::memcpy(all.data(), &header, sizeof header);
        std::ranges::copy(types_, all.begin() + sizeof header);
        std::memcpy(all.data() + sizeof header + types_.size(), strings_.data(), strings_.size());
        return all;
    }
    const std::vector<bpf_func_info>& infos() const { return infos_; }

private:
    static constexpr std::uint32_t kInt = 1, kProto = 2;  // type ids, in the order of add_type()

    void append(std::uint32_t word) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&word);
        types_.insert(types_.end(), bytes, bytes + sizeof word);
    }
    void add_type(std::string_view name, std::uint32_t kind, std::uint32_t size_or_type) {
        append(name.empty() ? 0 : static_cast<std::uint32_t>(strings_.size()));
        append(kind << 24);
        append(size_or_type);
        if (name.empty()) return;
        // The kernel takes C identifiers only.
        if (is_digit(name[0])) strings_ += '_';
        for (const char c : name) strings_ += is_word_char(c) ? c : '_';
        strings_ += '\0';
    }

    std::vector<std::byte> types_;
    std::string strings_ = std::string(1, '\0');
    std::vector<bpf_func_info> infos_;
};

// The size of the complete log, as reported by Linux 6.4 and later; 0 before. The kernel writes it
// after the last member that older headers have.
std::uint32_t log_true_size(const bpf_attr& attr) {
    constexpr std::size_t kAt = offsetof(bpf_attr, core_relo_rec_size) + sizeof(__u32);
    std::uint32_t size;
    static_assert(kAt + sizeof size <= sizeof attr);
    std::memcpy(&size, reinterpret_cast<const std::byte*>(&attr) + kAt, sizeof size);
    return size;
}

int try_load(bpf_attr& attr, const BpfProgramSpec& spec) {
    set_object_name(attr.prog_name, spec.name);
    const int fd = sys_bpf_charged(BPF_PROG_LOAD, attr);
    if (fd != -1 || errno != E2BIG) return fd;
    // E2BIG means too many instructions, or Linux before 4.15, which does not know names and
    // rejects the non-zero bytes.
    std::ranges::fill(attr.prog_name, '\0');
    return sys_bpf_charged(BPF_PROG_LOAD, attr);
}

// Linux 7.3 explains some refusals, at length and behind the line that says what is wrong.
struct ExplainedLog {
    std::string_view log, explanation;

    explicit ExplainedLog(std::string_view text) : log(text) {
        constexpr std::string_view kBegin = "Verification failed: ";
        const auto at = text.starts_with(kBegin) ? 0 : text.find(cat("\n", kBegin));
        if (at == text.npos) return;
        log = text.substr(0, at);
        explanation = text.substr(at);
    }
};

}  // namespace

VerifierError::VerifierError(std::string_view program, std::string log)
    : Error(cat("the kernel's verifier refused program '", program, "'"), {},
            std::string(VerifierLog{log}.useful_line())),
      log_(std::move(log)) {}

std::string_view VerifierLog::useful_line() const {
    const ExplainedLog parts(text);
    std::string_view found;
    for (const std::string_view raw : lines_of(parts.log)) {
        const std::string_view row = trim(raw);
        if (!is_narration(row) && !(is_afterthought(row) && !found.empty())) found = row;
    }
    if (found.empty() && !parts.explanation.empty())
        return lines_of(trim(parts.explanation)).front();
    return found;
}

std::optional<std::size_t> VerifierLog::insn() const {
    // Some mistakes are found before the walk, and the line names the instruction: "back-edge from
    // insn 4 to 1", "unreachable insn 7".
    std::string_view line = useful_line();
    constexpr std::string_view kInsn = "insn ";
    if (const auto at = line.find(kInsn); at != line.npos) {
        line.remove_prefix(at + kInsn.size());
        if (const auto number = take_number(line)) return number;
    }
    const ExplainedLog parts(text);
    std::optional<std::size_t> last;
    for (const std::string_view row : lines_of(parts.log))
        if (const auto number = insn_of_row(row)) last = number;
    if (last) return last;
    for (std::string_view row : lines_of(parts.explanation)) {
        row = trim(row);
        if (!row.starts_with(kInsn)) continue;
        row.remove_prefix(kInsn.size());
        return take_number(row);
    }
    return std::nullopt;
}

Fd load_btf(std::span<const std::byte> btf) {
    bpf_attr attr = zeroed_attr();
    attr.btf = address_of(btf.data());
    attr.btf_size = static_cast<__u32>(btf.size());
    Fd fd{sys_bpf_charged(BPF_BTF_LOAD, attr)};
    if (fd) return fd;
    const int code = errno;
    throw_bpf_error(code, "give the kernel BTF", code == EINVAL ? "Linux 4.18 or later" : "");
}

Fd load_program(const BpfProgramSpec& spec) {
    bpf_attr attr = zeroed_attr();
    attr.prog_type = spec.type;
    attr.insns = address_of(spec.insns.data());
    attr.insn_cnt = static_cast<__u32>(spec.insns.size());
    attr.license = address_of(spec.licence.c_str());
    attr.expected_attach_type = spec.expected_attach_type;
    attr.prog_flags = spec.flags;
    attr.attach_btf_id = spec.attach_btf_id;
    if (spec.attach_btf_fd != -1) attr.attach_btf_obj_fd = static_cast<__u32>(spec.attach_btf_fd);
    // Before Linux 5.0, kprobe programs must give the running kernel's version; later it is
    // ignored.
    if (running_kernel() < KernelVersion{5, 0, 0}) attr.kern_version = running_kernel().code();
    Fd btf_fd;
    std::optional<FunctionBtf> btf;
    if (!spec.functions.empty()) {
        btf.emplace(spec.functions);
        btf_fd = load_btf(btf->bytes());
        attr.prog_btf_fd = static_cast<__u32>(btf_fd.get());
        attr.func_info_rec_size = sizeof(bpf_func_info);
        attr.func_info = address_of(btf->infos().data());
        attr.func_info_cnt = static_cast<__u32>(btf->infos().size());
    }
    if (Fd fd{try_load(attr, spec)}) return fd;
    const int code = errno;

    // ENOSPC means "your log buffer is too small", not "your program is bad": grow and ask again.
    // Linux before 5.2 takes at most 16 MiB - 1 byte.
    constexpr std::size_t kMaxLog = (16u << 20) - 1;
    std::string log(64u << 10, '\0');
    attr.log_level = 1;
    for (;;) {
        attr.log_buf = address_of(log.data());
        attr.log_size = static_cast<__u32>(log.size());
        if (Fd fd{sys_bpf_charged(BPF_PROG_LOAD, attr)}) return fd;
        if (errno != ENOSPC || log.size() >= kMaxLog) break;
        const std::size_t wanted = std::max<std::size_t>(log_true_size(attr), log.size() * 4);
        log.assign(std::min(wanted, kMaxLog), '\0');
    }
    log.resize(std::strlen(log.c_str()));
    if (trim(log).empty()) throw_unverified(code, spec);
    throw VerifierError(spec.name, std::move(log));
}

}  // namespace gpufs
