#include "lang/probe/x86_instruction.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

namespace gpufs {
namespace {

std::size_t length_of(std::string_view code) {
    return x86_instruction_length(std::as_bytes(std::span(code)));
}

struct Sample {
    std::string_view code;  // bytes of other instructions follow
    const char* assembly;
};
template <std::size_t N>
constexpr Sample of(const char (&code)[N], const char* assembly) {
    return {std::string_view(code, N - 1), assembly};
}

constexpr Sample kSamples[] = {
    of("\x55", "push %rbp"),
    of("\x41\x57", "push %r15"),
    of("\x90", "nop"),
    of("\xf3\x0f\x1e\xfa", "endbr64"),
    of("\x66\x2e\x0f\x1f\x84\0\0\0\0\0", "cs nopw 0(%rax,%rax,1)"),
    of("\x48\x89\xe5", "mov %rsp,%rbp"),
    of("\x8b\x45\xfc", "mov -4(%rbp),%eax"),
    of("\x8b\x04\x24", "mov (%rsp),%eax"),
    of("\x8b\x04\x25\0\0\0\0", "mov 0,%eax"),
    of("\x48\x8b\x05\x10\0\0\0", "mov 16(%rip),%rax"),
    of("\x48\x8b\x84\x24\x10\x01\0\0", "mov 272(%rsp),%rax"),
    of("\x05\1\0\0\0", "add $1,%eax"),
    of("\x66\x05\1\0", "add $1,%ax"),
    of("\x48\x05\1\0\0\0", "add $1,%rax"),
    of("\x83\xec\x08", "sub $8,%esp"),
    of("\x48\x81\xec\0\1\0\0", "sub $256,%rsp"),
    of("\x66\x81\xc1\0\1", "add $256,%cx"),
    of("\x6b\xc0\x0a", "imul $10,%eax,%eax"),
    of("\x69\xc0\x10\x27\0\0", "imul $10000,%eax,%eax"),
    of("\xb8\1\0\0\0", "mov $1,%eax"),
    of("\x66\xb8\1\0", "mov $1,%ax"),
    of("\x48\xb8\1\2\3\4\5\6\7\x08", "movabs $…,%rax"),
    of("\x48\xa1\1\2\3\4\5\6\7\x08", "movabs …,%rax"),
    of("\xf6\xc2\1", "test $1,%dl"),
    of("\xf6\xd0", "not %al"),
    of("\xf7\xc2\1\0\0\0", "test $1,%edx"),
    of("\x48\xf7\xd8", "neg %rax"),
    of("\xe8\0\0\0\0", "call"),
    of("\x66\x66\x48\xe8\0\0\0\0", "data16 rex.W call"),
    of("\xeb\xfe", "jmp, short"),
    of("\x0f\x84\0\0\0\0", "je"),
    of("\xff\x25\0\0\0\0", "jmp *0(%rip)"),
    of("\xc3", "ret"),
    of("\xc2\x08\0", "ret $8"),
    of("\xc8\x10\0\0", "enter $16,$0"),
    of("\xf3\x48\xab", "rep stos"),
    of("\xf0\x48\x0f\xb1\x0a", "lock cmpxchg %rcx,(%rdx)"),
    of("\x0f\x05", "syscall"),
    of("\x64\x48\x8b\x04\x25\x28\0\0\0", "mov %fs:40,%rax"),
    of("\x0f\x70\xc0\x1b", "pshufw $27,%mm0,%mm0"),
    of("\x0f\xc8", "bswap %eax"),
    of("\x0f\xba\xe0\x05", "bt $5,%eax"),
    of("\x66\x0f\x38\0\xc1", "pshufb %xmm1,%xmm0"),
    of("\x66\x0f\x3a\x0f\xc1\x08", "palignr $8,%xmm1,%xmm0"),
    of("\xc5\xf8\x77", "vzeroupper"),
    of("\xc5\xfd\x70\xc1\x1b", "vpshufd $27,%ymm1,%ymm0"),
    of("\xc4\xe2\x7d\x58\x02", "vpbroadcastd (%rdx),%ymm0"),
    of("\xc4\xe3\x7d\x39\xc1\1", "vextracti128 $1,%ymm0,%xmm1"),
    of("\x62\xf1\x7c\x48\x10\x07", "vmovups (%rdi),%zmm0"),
    of("\x62\xf3\x75\x48\x1f\xc1\x04", "vpcmpd $4,%zmm1,%zmm1,%k0"),
    of("\x8f\xe9\x78\x81\xc1", "vfrczpd %xmm1,%xmm0"),
    of("\x8f\xe8\x78\xc0\xc1\x05", "vprotb $5,%xmm1,%xmm0"),
    of("\x8f\x45\0", "pop 0(%rbp)"),
    of("\xdb\x2c\x24", "fldt (%rsp)"),
};

}  // namespace

BOOST_AUTO_TEST_SUITE(x86_instructions)

BOOST_AUTO_TEST_CASE(each_has_its_length_whatever_follows) {
    for (const Sample& sample : kSamples) {
        BOOST_TEST_CONTEXT(sample.assembly) {
            const std::string code(sample.code);
            BOOST_TEST(length_of(code) == code.size());
            BOOST_TEST(length_of(code + std::string(16, '\0')) == code.size());
            BOOST_TEST(length_of(code + std::string(16, '\xff')) == code.size());
            BOOST_TEST(length_of(std::string_view(code).substr(0, code.size() - 1)) != code.size());
        }
    }
}

BOOST_AUTO_TEST_CASE(what_is_none_has_no_length) {
    for (const std::string_view code :
         {std::string_view(), std::string_view("\x06", 1), std::string_view("\x62", 1),
          std::string_view("\x48", 1), std::string_view("\x0f", 1), std::string_view("\x9a", 1)})
        BOOST_TEST(length_of(code) == 0u);
    BOOST_TEST(length_of(std::string(20, '\x66') + '\x90') == 0u);  // more than 15 bytes
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
