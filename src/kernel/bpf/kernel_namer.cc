#include "kernel/bpf/kernel_namer.h"

#include <array>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "kernel/bpf/op.h"
#include "kernel/bpf/program.h"
#include "kernel/bpf/test_run.h"

namespace gpufs {
namespace {

// A name of KSYM_NAME_LEN (512 since Linux 6.1), a module's, and two numbers.
constexpr std::size_t kMostText = 640;
constexpr std::array<char, 8> kFormat = {"%pS"};

BpfMap make_text_map(const char* name, std::size_t bytes, std::uint32_t flags) {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_ARRAY;
    spec.name = name;
    spec.key_bytes = sizeof(std::uint32_t);
    spec.value_bytes = static_cast<std::uint32_t>(bytes);
    spec.max_entries = 1;
    spec.flags = flags;
    return BpfMap::create(spec);
}

// A format must be constant: in a map that neither side can write.
BpfMap make_format() {
    BpfMap map = make_text_map("format", kFormat.size(), BPF_F_RDONLY_PROG);
    const std::uint32_t key = 0;
    map.update(bytes_of(key), std::as_bytes(std::span(kFormat)));
    map.freeze();
    return map;
}

Fd load_namer(const BpfMap& format, const BpfMap& answer) {
    using namespace op;
    constexpr int r1 = BPF_REG_1, r2 = BPF_REG_2, r3 = BPF_REG_3, r4 = BPF_REG_4;
    constexpr int kAddress = -8;  // on the stack
    const auto value = [](int dst, const BpfMap& map) {
        return make(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_VALUE, 0, map.fd());
    };
    const bpf_insn second{};
    const bpf_insn insns[] = {
        load(BPF_DW, r1, r1, 0),
        store(BPF_DW, BPF_REG_10, kAddress, r1),
        value(r1, answer),
        second,
        mov(r2, kMostText),
        value(r3, format),
        second,
        copy(r4, BPF_REG_10),
        add(r4, kAddress),
        mov(BPF_REG_5, sizeof(std::uint64_t)),
        call(BPF_FUNC_snprintf),
        mov(BPF_REG_0, 0),
        leave(),
    };
    BpfProgramSpec spec;
    spec.type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    spec.name = "namer";
    spec.insns = insns;
    return load_program(spec);
}

}  // namespace

std::optional<KernelNamer> KernelNamer::load() {
    try {
        BpfMap format = make_format(), answer = make_text_map("answer", kMostText, 0);
        Fd program = load_namer(format, answer);
        KernelNamer namer(std::move(format), std::move(answer), std::move(program));
        namer.text(0);
        return namer;
    } catch (const Error&) {
        return std::nullopt;  // whatever the reason: /proc/kallsyms has the names, too
    }
}

std::string KernelNamer::text(std::uint64_t address) const {
    TestRun run;
    run.context = bytes_of(address);
    test_run(program_.get(), run);
    const std::uint32_t key = 0;
    std::array<char, kMostText> text{};
    answer_.lookup(bytes_of(key), std::as_writable_bytes(std::span(text)));
    return std::string(up_to_nul(text));
}

}  // namespace gpufs
