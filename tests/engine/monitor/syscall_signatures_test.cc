#include "engine/monitor/syscall_signatures.h"

#include <sys/syscall.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/error.h"
#include "lang/event/syscall_arguments.h"
#include "vm/map.h"

namespace gpufs {
namespace {

using Kind = SyscallArgument;

// Has the event of uname alone, which is named for the kernel's function.
class OneCall : public EventSource {
public:
    std::vector<std::string> names() override { return {kName}; }
    std::optional<std::string> format_text(std::string_view full_name) override {
        if (full_name != kName) return std::nullopt;
        return "name: sys_enter_newuname\nID: 7\nformat:\n"
               "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
               "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
               "\tfield:struct new_utsname * name;\toffset:16;\tsize:8;\tsigned:0;\n\n"
               "print fmt: \"\"\n";
    }
    std::optional<std::string> find_name(int) override { return std::nullopt; }
    std::string described() const override { return "this test"; }
    std::string advice(std::string_view) const override { return ""; }
    std::string field_advice() const override { return ""; }

private:
    static constexpr const char* kName = "syscalls:sys_enter_newuname";
};

class Signatures {
public:
    explicit Signatures(const std::string& wanted) {
        Events events(std::make_unique<OneCall>());
        fill_signatures(map_, wanted, events);
    }
    SyscallSignature of(std::uint32_t number) const {
        SyscallSignature signature;
        std::vector<std::byte> bytes(sizeof signature);
        BOOST_TEST(map_.lookup(bytes_of(number), bytes));
        std::memcpy(&signature, bytes.data(), sizeof signature);
        return signature;
    }
    bool has(std::uint32_t number) const { return of(number).texts[0] != 0; }

private:
    static BpfMapSpec spec() {
        BpfMapSpec spec;
        spec.type = BPF_MAP_TYPE_ARRAY;
        spec.name = "signatures";
        spec.key_bytes = sizeof(std::uint32_t);
        spec.value_bytes = sizeof(SyscallSignature);
        spec.max_entries = 1024;
        return spec;
    }
    VmMemory memory_;
    InterpretedMap map_{spec(), 1, memory_};
};

std::string refusal_of(const std::string& wanted) try {
    const Signatures signatures(wanted);
    return "none";
} catch (const UsageError& e) {
    return cat(e.what(), "; ", e.hint());
}

BOOST_AUTO_TEST_SUITE(syscall_signatures)

BOOST_AUTO_TEST_CASE(calls_have_the_signatures_of_their_events_others_six_numbers) {
    for (const char* all : {"", "*"}) {
        const Signatures signatures(all);
        BOOST_TEST((signatures.of(SYS_uname).kinds[0] == Kind::pointer));
        BOOST_TEST((signatures.of(SYS_uname).kinds[1] == Kind::none));
        for (const std::uint32_t number : {std::uint32_t{SYS_close}, 1000u, 1023u})
            BOOST_TEST((signatures.of(number).kinds == unknown_signature().kinds));
    }
}

BOOST_AUTO_TEST_CASE(only_calls_that_are_asked_for_have_one) {
    const Signatures signatures("uname,clos*");
    BOOST_TEST(signatures.has(SYS_uname));
    BOOST_TEST(signatures.has(SYS_close));
    for (const std::uint32_t number : {std::uint32_t{SYS_read}, 1000u, 1023u})
        BOOST_TEST(!signatures.has(number));
}

BOOST_AUTO_TEST_CASE(a_name_or_pattern_without_a_call_is_refused) {
    BOOST_TEST(refusal_of("close,unam") == "no system call is named 'unam'; did you mean 'uname'?");
    BOOST_TEST(refusal_of("nothing*") == "no system call is named 'nothing*'; ");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
