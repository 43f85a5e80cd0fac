#include "bt/types/c_types.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "bt/parse/parse.h"
#include "bt/types/constants.h"
#include "bt/types/sample_world.h"
#include "bt/types/uapi_constants.h"

namespace gpufs::bt {
namespace {

using test::SampleWorld;

// Definitions that this test's compiler and the script's have both: the same text.
#define C_PART(...) \
    namespace c {   \
    __VA_ARGS__     \
    }               \
    constexpr const char* kText = #__VA_ARGS__;

// clang-format off
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmultichar"
#pragma GCC diagnostic ignored "-Wpedantic"  // C has anonymous structures, and arrays of no elements
C_PART(
    enum colour { RED, GREEN = 5, BLUE };
    enum sign { MINUS = -1, PLUS = 1 };
    enum wide { NARROW = 1, WIDE = 0x100000000 };
    typedef unsigned int number_t;
    typedef char name_t[16];
    struct plain { char a; int b; char c; long d; short e; };
    struct texts { char name[16]; name_t other; unsigned char bytes[3]; char rows[2][8]; };
    struct pointers { char a; struct plain *next; void *any; char *text; int **many; int *array[3]; };
    struct nested { char a; struct plain inner; struct plain all[2]; char b; };
    union both { int number; char bytes[6]; long large; };
    struct mixed { char a; union both b; enum colour c; enum wide d; number_t e; enum sign f; };
    struct anonymous { char a; struct { int x; char y; }; union { short s; long l; }; char z; };
    struct in_place { int a; struct { char b; long c; } inner; union { int d; char e; } either[2]; };
    struct __attribute__((packed)) tight { char a; int b; long c; short d; };
    struct holds_tight { char a; struct tight b; char c; };
    struct bits { unsigned a:3; unsigned b:5; unsigned c:30; int d:4; unsigned char e:2; long f:40; };
    struct more_bits { char a; int b:3; int :0; int c:4; unsigned long d:33; unsigned long e:31; int :5; char f:1; };
    struct bits_behind { short a; unsigned b:20; char c; unsigned d:12; };
    struct __attribute__((packed)) tight_bits { unsigned a:3; unsigned b:30; unsigned char c:7; unsigned short d:16; };
    struct __attribute__((packed)) across_bits { char a; unsigned long b:60; int c:29; char d; };
    struct empty {};
    struct flexible { int count; char rest[0]; };
    struct floats { char a; float b; char c; double d; char e; long double f; char g; __int128 h; };
    typedef int __attribute__((aligned(16))) spaced_t;
    typedef struct { char a; } wide_t __attribute__((aligned(8)));
    struct aligned { char a; char b __attribute__((aligned(8))); char c; spaced_t d; wide_t e; } __attribute__((aligned(64)));
    struct aligned_bits { unsigned a:3; unsigned b:5 __attribute__((aligned(8))); char c; };
    struct holds_aligned { char a; struct aligned b; };
    struct packed_member { char a; int b __attribute__((packed)); long c __attribute__((packed, aligned(2))); __attribute__((aligned(32))) char d; };
    struct __attribute__((packed, aligned(4))) tight_aligned { char a; long b; struct aligned c; int d __attribute__((aligned(8))); };
    struct unnamed_enum { char a; enum { UNNAMED = 3, OTHER } b; char c; };
    enum { SIZE = sizeof(int), POINTER = sizeof(char *) };
    struct by_size { char a[sizeof(long) * 2]; char b[SIZE + POINTER]; short c[sizeof(number_t)]; };
    struct by_type { char a[sizeof(struct plain)]; short b[sizeof(union both) - sizeof(wide_t)]; int c['c' - 'a']; char d[sizeof(struct plain[2])]; };
    struct of_types { char a; __typeof__(long) b; char c; __typeof__(char *) d; __typeof__(struct plain) e[2]; __typeof__(short[3]) f[2]; };
    typedef struct listed listed_t; typedef listed_t *listed_p;
    struct listed { char a; listed_t *next; listed_p all[2]; char b; };
    enum letters { LETTER = 'l', NEWLINE = '\n', HIGH = '\xff', TWO = 'ab' };
    struct sizes { size_t a; ssize_t b; unsigned long long c; signed char d; long int e; unsigned short int f; };
)
#pragma GCC diagnostic pop
// clang-format on

#pragma pack(push, 2)
namespace c {
struct in_twos {
    char a;
    int b;
    long c __attribute__((aligned(8)));
    char d;
    unsigned e : 30, f : 30;
    char g;
};
#pragma pack(1)
struct in_ones {
    char a;
    long b;
    in_twos c;
};
#pragma pack(pop)
struct in_none {
    char a;
    in_twos b;
    long c;
};
}  // namespace c

Script script_of(std::string text) {
    ParseInput input;
    input.source = {"test.bt", std::move(text)};
    SampleWorld world;
    input.world = &world;
    return parse(input);
}

// What the script's types are asked for.
struct Types {
    explicit Types(const std::string& text)
        : script(script_of(text + " BEGIN { exit(); }")), table(script, world, mistakes) {}

    std::shared_ptr<const Structure> structure(const std::string& name) const {
        return table.structure(*structure_type(name));
    }
    // The type of a cast to this.
    TypePtr type(const std::string& words) const {
        const Script casts = script_of(cat("BEGIN { $x = (", words, ")0; }"));
        return table.resolve(casts.probes[0].body[0]->value->type_name);
    }

    SampleWorld world;
    Script script;
    Diagnostics mistakes;
    TypeTable table;
};

struct Expected {
    const char* structure;
    const char* member;
    std::size_t offset, bytes;
};
#define MEMBER(s, m)                               \
    Expected {                                     \
#s, #m, offsetof(c::s, m), sizeof(c::s::m) \
    }

BOOST_AUTO_TEST_SUITE(bt_c_types)

BOOST_AUTO_TEST_CASE(members_lie_where_the_compiler_puts_them) {
    using namespace c;
    const Expected expected[] = {
        MEMBER(plain, a),         MEMBER(plain, b),         MEMBER(plain, c),
        MEMBER(plain, d),         MEMBER(plain, e),         MEMBER(texts, name),
        MEMBER(texts, other),     MEMBER(texts, bytes),     MEMBER(texts, rows),
        MEMBER(pointers, next),   MEMBER(pointers, any),    MEMBER(pointers, text),
        MEMBER(pointers, many),   MEMBER(pointers, array),  MEMBER(nested, inner),
        MEMBER(nested, all),      MEMBER(nested, b),        MEMBER(mixed, b),
        MEMBER(mixed, c),         MEMBER(mixed, d),         MEMBER(mixed, e),
        MEMBER(mixed, f),         MEMBER(anonymous, x),     MEMBER(anonymous, y),
        MEMBER(anonymous, s),     MEMBER(anonymous, l),     MEMBER(anonymous, z),
        MEMBER(in_place, inner),  MEMBER(in_place, either), MEMBER(tight, b),
        MEMBER(tight, c),         MEMBER(tight, d),         MEMBER(holds_tight, b),
        MEMBER(holds_tight, c),   MEMBER(flexible, rest),   MEMBER(bits_behind, c),
        MEMBER(floats, b),        MEMBER(floats, d),        MEMBER(floats, f),
        MEMBER(floats, h),        MEMBER(aligned, b),       MEMBER(aligned, c),
        MEMBER(aligned, d),       MEMBER(aligned, e),       MEMBER(aligned_bits, c),
        MEMBER(holds_aligned, b), MEMBER(packed_member, b), MEMBER(packed_member, c),
        MEMBER(packed_member, d), MEMBER(tight_aligned, b), MEMBER(tight_aligned, c),
        MEMBER(tight_aligned, d), MEMBER(unnamed_enum, b),  MEMBER(unnamed_enum, c),
        MEMBER(by_size, b),       MEMBER(by_size, c),       MEMBER(sizes, a),
        MEMBER(sizes, b),         MEMBER(sizes, c),         MEMBER(sizes, d),
        MEMBER(sizes, e),         MEMBER(sizes, f),         MEMBER(by_type, b),
        MEMBER(by_type, c),       MEMBER(by_type, d),       MEMBER(of_types, b),
        MEMBER(of_types, d),      MEMBER(of_types, e),      MEMBER(of_types, f),
    };
    const Types types(kText);
    BOOST_TEST(types.mistakes.to_text() == "");
    for (const Expected& one : expected) {
        BOOST_TEST_INFO(one.structure << '.' << one.member);
        const auto structure = types.structure(one.structure);
        BOOST_TEST_REQUIRE(structure);
        const Type::Field* found = member(*structure, one.member);
        BOOST_TEST_REQUIRE(found);
        BOOST_TEST(found->offset == one.offset);
        BOOST_TEST(found->type->bytes == one.bytes);
    }
}

BOOST_AUTO_TEST_CASE(structures_have_the_compiler_s_sizes) {
    const Types types(kText);
    const auto bytes = [&](const char* name) {
        const auto structure = types.structure(name);
        return structure ? structure->bytes : ~std::size_t{0};
    };
#define SIZE(s) BOOST_TEST(bytes(#s) == sizeof(c::s), #s)
    SIZE(plain);
    SIZE(texts);
    SIZE(pointers);
    SIZE(nested);
    SIZE(both);
    SIZE(mixed);
    SIZE(anonymous);
    SIZE(in_place);
    SIZE(tight);
    SIZE(holds_tight);
    SIZE(bits);
    SIZE(more_bits);
    SIZE(bits_behind);
    SIZE(tight_bits);
    SIZE(flexible);
    SIZE(sizes);
    SIZE(floats);
    SIZE(aligned);
    SIZE(aligned_bits);
    SIZE(holds_aligned);
    SIZE(packed_member);
    SIZE(tight_aligned);
    SIZE(unnamed_enum);
    SIZE(by_size);
    SIZE(by_type);
    SIZE(of_types);
    SIZE(listed);
#undef SIZE
    BOOST_TEST(bytes("empty") == 0u);  // in C; C++ has 1
}

BOOST_AUTO_TEST_CASE(characters_are_the_compiler_s_numbers) {
    const Types types(kText);
    BOOST_TEST(types.table.constant("LETTER")->number == c::LETTER);
    BOOST_TEST(types.table.constant("NEWLINE")->number == c::NEWLINE);
    BOOST_TEST(types.table.constant("HIGH")->number == c::HIGH);
    BOOST_TEST(types.table.constant("TWO")->number == c::TWO);
}

BOOST_AUTO_TEST_CASE(sizes_are_of_the_world_s_types_too) {
    const Types types(
        "struct s { char a[sizeof(struct sample)]; char b[sizeof(struct other[2])]; "
        "_Alignas(16) char c; };");
    BOOST_TEST(member(*types.structure("s"), "b")->offset == 16u);
    BOOST_TEST(member(*types.structure("s"), "c")->offset == 32u);
    BOOST_TEST(types.structure("s")->bytes == 48u);
    BOOST_CHECK_EXCEPTION(
        Types("struct s { char a[sizeof(struct nosuch)]; };"), UsageError, [](const UsageError& e) {
            return std::string(e.what()).find("the length of the array is not a constant") !=
                   std::string::npos;
        });
}

BOOST_AUTO_TEST_CASE(pragma_pack_limits_what_members_are_aligned_to) {
    const Types types(
        "#pragma pack(push, 2)\n"
        "struct in_twos { char a; int b; long c __attribute__((aligned(8))); char d; "
        "unsigned e : 30, f : 30; char g; };\n"
        "#pragma pack(1)\n"
        "struct in_ones { char a; long b; struct in_twos c; };\n"
        "#pragma pack(pop)\n"
        "struct in_none { char a; struct in_twos b; long c; };");
    const Expected expected[] = {MEMBER(in_twos, b), MEMBER(in_twos, c), MEMBER(in_twos, d),
                                 MEMBER(in_twos, g), MEMBER(in_ones, b), MEMBER(in_ones, c),
                                 MEMBER(in_none, b), MEMBER(in_none, c)};
    for (const Expected& one : expected)
        BOOST_TEST(member(*types.structure(one.structure), one.member)->offset == one.offset,
                   one.structure << '.' << one.member);
    BOOST_TEST(types.structure("in_twos")->bytes == sizeof(c::in_twos));
    BOOST_TEST(types.structure("in_ones")->bytes == sizeof(c::in_ones));
    BOOST_TEST(types.structure("in_none")->bytes == sizeof(c::in_none));
}

BOOST_AUTO_TEST_CASE(a_layout_that_is_not_followed_is_refused) {
    const auto refused = [](const char* text) {
        try {
            return script_of(cat(text, "\nBEGIN { exit(); }")), std::string("taken");
        } catch (const Error& e) {
            return std::string(e.what()).substr(0, std::string_view(e.what()).find('\n'));
        }
    };
    BOOST_TEST(refused("struct a { int x __attribute__((mode(DI))); };") ==
               "test.bt:1:33: error: the attribute 'mode' is not known here");
    BOOST_TEST(refused("enum e { A } __attribute__((packed));") ==
               "test.bt:1:1: error: a packed enum is not known here");
    BOOST_TEST(refused("struct a { int x __attribute__((aligned(3))); };") ==
               "test.bt:1:41: error: an alignment is a power of 2");
    BOOST_TEST(refused("#pragma pack(pop)") ==
               "test.bt:1:1: error: there is no pack(push) in front of it");
    BOOST_TEST(refused("#pragma pack(3)") ==
               "test.bt:1:1: error: members are packed to 1, 2, 4, 8 or 16 bytes");
    BOOST_TEST(refused("#pragma pack(push, name, 4)") ==
               "test.bt:1:1: error: this form of #pragma pack is not known here");
    BOOST_TEST(refused("#pragma once") == "taken");
}

// The bits of a structure in which only this member is not 0, read as a program would read them.
template <class S, class Set>
std::uint64_t read_bits(const Structure& structure, const char* name, Set set) {
    S value;
    std::memset(&value, 0, sizeof value);
    set(value);
    const Type::Field* field = member(structure, name);
    if (!field || field->offset + field->bit_bytes() > sizeof value) return 0;
    const auto* const from = reinterpret_cast<const unsigned char*>(&value) + field->offset;
    std::uint64_t unit = 0;
    for (std::size_t i = 0; i < field->bit_bytes(); ++i) {
        const int up = static_cast<int>(8 * i) - static_cast<int>(field->bit_shift);
        unit |= up < 0 ? std::uint64_t{from[i]} >> -up : std::uint64_t{from[i]} << up;
    }
    // Whatever is beside the member's bits would be seen.
    const std::uint64_t mask = (std::uint64_t{1} << field->bit_size) - 1;
    return (unit & ~mask) != 0 ? 0 : unit;
}

BOOST_AUTO_TEST_CASE(bit_fields_lie_where_the_compiler_puts_them) {
    const Types types(kText);
#define BITS(s, m, ones)                                                           \
    BOOST_TEST(read_bits<c::s>(*types.structure(#s), #m,                           \
                               [](c::s& value) {                                   \
                                   value.m = static_cast<decltype(value.m)>(ones); \
                               }) == std::uint64_t{ones},                          \
               #s "." #m)
    BITS(bits, a, 7u);
    BITS(bits, b, 31u);
    BITS(bits, c, 0x3fffffffu);
    BITS(bits, e, 3u);
    BITS(more_bits, d, 0x1ffffffffu);
    BITS(more_bits, e, 0x7fffffffu);
    BITS(bits_behind, b, 0xfffffu);
    BITS(bits_behind, d, 0xfffu);
    BITS(tight_bits, a, 7u);
    BITS(tight_bits, b, 0x3fffffffu);
    BITS(tight_bits, c, 127u);
    BITS(tight_bits, d, 0xffffu);
    BITS(across_bits, b, 0xfffffffffffffffu);
    BITS(aligned_bits, b, 31u);
#undef BITS
    // Signed ones: all bits set.
    BOOST_TEST(read_bits<c::bits>(*types.structure("bits"), "d",
                                  [](c::bits& value) { value.d = -1; }) == 15u);
    BOOST_TEST(read_bits<c::bits>(*types.structure("bits"), "f",
                                  [](c::bits& value) { value.f = -1; }) == 0xffffffffffu);
    BOOST_TEST(read_bits<c::more_bits>(*types.structure("more_bits"), "b",
                                       [](c::more_bits& value) { value.b = -1; }) == 7u);
    BOOST_TEST(read_bits<c::more_bits>(*types.structure("more_bits"), "c",
                                       [](c::more_bits& value) { value.c = -1; }) == 15u);
    BOOST_TEST(read_bits<c::across_bits>(*types.structure("across_bits"), "c",
                                         [](c::across_bits& value) { value.c = -1; }) ==
               0x1fffffffu);
    BOOST_TEST(member(*types.structure("bits"), "d")->type->is_signed);
}

BOOST_AUTO_TEST_CASE(members_have_types) {
    const Types types(kText);
    const auto type = [&](const char* structure, const char* name) {
        return name_of(*member(*types.structure(structure), name)->type);
    };
    BOOST_TEST(type("texts", "name") == "string[16]");
    BOOST_TEST(type("texts", "other") == "string[16]");
    BOOST_TEST(type("texts", "bytes") == "uint8[3]");
    BOOST_TEST(type("texts", "rows") == "string[8][2]");
    BOOST_TEST(type("pointers", "next") == "struct plain *");
    BOOST_TEST(type("pointers", "text") == "int8 *");
    BOOST_TEST(type("pointers", "many") == "int32 * *");
    BOOST_TEST(type("pointers", "array") == "int32 *[3]");
    BOOST_TEST(type("nested", "all") == "struct plain[2]");
    BOOST_TEST(type("mixed", "e") == "uint32");
    BOOST_TEST(type("mixed", "d") == "enum wide");
    BOOST_TEST(member(*types.structure("mixed"), "c")->type->words.size() == 3u);
    BOOST_TEST(!member(*types.structure("mixed"), "c")->type->is_signed);
    BOOST_TEST(member(*types.structure("mixed"), "f")->type->is_signed);
    BOOST_TEST((member(*types.structure("pointers"), "next")->type->space == Space::none));
    // A pointer to a structure knows it by name only, or a list could not be.
    BOOST_TEST(!member(*types.structure("pointers"), "next")->type->element->structure);
    const Type::Field* inner = member(*types.structure("in_place"), "inner");
    BOOST_TEST_REQUIRE(inner->type->structure);
    BOOST_TEST(member(*inner->type->structure, "c")->offset == 8u);
}

BOOST_AUTO_TEST_CASE(names_of_types_resolve) {
    const Types types("struct own { int a; }; typedef struct own own_t; enum e { A };");
    const auto name = [&](const char* words) {
        const TypePtr type = types.type(words);
        return type ? name_of(*type) : "none";
    };
    BOOST_TEST(name("uint8") == "uint8");
    BOOST_TEST(name("int64") == "int64");
    BOOST_TEST(name("unsigned long") == "uint64");
    BOOST_TEST(name("long long") == "int64");
    BOOST_TEST(name("unsigned int") == "uint32");
    BOOST_TEST(name("char") == "int8");
    BOOST_TEST(name("u64") == "uint64");
    BOOST_TEST(name("__u32") == "uint32");
    BOOST_TEST(name("size_t") == "uint64");
    BOOST_TEST(name("pid_t") == "int32");
    BOOST_TEST(name("bool") == "bool");
    BOOST_TEST(name("string[16]") == "string[16]");
    BOOST_TEST(name("int32[4]") == "int32[4]");
    BOOST_TEST(name("char *") == "int8 *");
    BOOST_TEST(name("struct own") == "struct own");
    BOOST_TEST(name("struct own *") == "struct own *");
    BOOST_TEST(name("enum e") == "enum e");
    // The World's.
    BOOST_TEST(name("struct sample") == "struct sample");
    BOOST_TEST(name("sample_t *") == "struct sample *");
    BOOST_TEST(name("struct nothing") == "none");
    BOOST_TEST(types.type("struct own")->bytes == 4u);
    BOOST_TEST(types.type("struct sample")->bytes == 16u);
    BOOST_TEST(types.table.hint_for_type("struct onw") == "did you mean 'struct own'?");
    BOOST_TEST(types.table.hint_for_type("unit64") == "did you mean 'uint64'?");
}

BOOST_AUTO_TEST_CASE(a_script_s_definition_hides_the_world_s) {
    const Types types("struct sample { char only; };");
    BOOST_TEST(types.type("struct sample")->bytes == 1u);
    BOOST_TEST(types.structure("sample")->fields.size() == 1u);
    BOOST_TEST(types.structure("other")->fields.size() == 1u);
    BOOST_TEST(!types.structure("nothing"));
}

BOOST_AUTO_TEST_CASE(structures_of_the_world_are_members) {
    struct sample {
        long number;
        char text[8];
    };
    struct holder {
        char a;
        sample b;
        char c;
    };
    const Types types("struct holder { char a; struct sample b; char c; };");
    const auto structure = types.structure("holder");
    BOOST_TEST(structure->bytes == sizeof(holder));
    BOOST_TEST(member(*structure, "b")->offset == offsetof(holder, b));
    BOOST_TEST(member(*structure, "c")->offset == offsetof(holder, c));
}

BOOST_AUTO_TEST_CASE(constants_come_from_enums_the_world_and_headers) {
    const Types types(kText);
    BOOST_TEST(types.table.constant("BLUE")->number == 6);
    BOOST_TEST(types.table.constant("MINUS")->number == -1);
    BOOST_TEST(types.table.constant("WIDE")->number == 0x100000000);
    BOOST_TEST(types.table.constant("GREEN")->type->name == "colour");
    BOOST_TEST(types.table.constant("SAMPLE_ONE")->number == 1);
    BOOST_TEST(types.table.constant("AF_INET6")->number == 10);
    BOOST_TEST(!types.table.constant("AF_INET6")->type);
    BOOST_TEST(!types.table.constant("NOTHING_SUCH").has_value());
}

BOOST_AUTO_TEST_CASE(a_wrong_member_gets_a_hint) {
    const Types types("struct s { int parent; int child; struct { int anonymous; }; };");
    const auto structure = types.structure("s");
    BOOST_TEST(!member(*structure, "parnet"));
    BOOST_TEST(hint_for_member(*structure, "parnet") == "did you mean 'parent'?");
    BOOST_TEST(hint_for_member(*structure, "anonymuos") == "did you mean 'anonymous'?");
    BOOST_TEST(hint_for_member(*structure, "zzz") == "");
}

std::string mistakes_of(const std::string& text) {
    return Types(text).mistakes.to_text();
}

BOOST_AUTO_TEST_CASE(mistakes_in_definitions_are_told) {
    BOOST_TEST(mistakes_of("struct s { nothing_t a; };").find("no type is named 'nothing_t'") !=
               std::string::npos);
    BOOST_TEST(mistakes_of("struct s { int a:33; };")
                   .find("'a' has 33 bits of 32 that its type "
                         "has") != std::string::npos);
    BOOST_TEST(mistakes_of("struct s { struct s a; };").find("struct 's' contains itself") !=
               std::string::npos);
    BOOST_TEST(mistakes_of("struct s { int x; struct { char y, x; }; };") ==
               "test.bt:1:19: error: there is a member 'x' already\n"
               "struct s { int x; struct { char y, x; }; }; BEGIN { exit(); }\n"
               "                  ^~~~~~");
    BOOST_TEST(mistakes_of("#include <time.h>\nstruct s { strange_t a; };") ==
               "test.bt:2:12: error: no type is named 'strange_t'\n"
               "struct s { strange_t a; }; BEGIN { exit(); }\n"
               "           ^~~~~~~~~\n"
               "hint: it may be of <time.h>; headers are not read, what they define is taken from "
               "the kernel's types");
    BOOST_TEST(mistakes_of("enum e { A }; enum f { A };").find("'A' is defined twice") !=
               std::string::npos);
    BOOST_TEST(mistakes_of("struct s { char a[60000][60000]; };").find("'a' is too large") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(definitions_of_any_size_are_borne) {
    std::string nested, doubled = "struct d0 { char a[1000000]; };", stars = "struct s { int ";
    for (int i = 0; i < 2000; ++i) nested += cat("struct n", i, " { struct n", i + 1, " a; };");
    for (int i = 1; i < 80; ++i)
        doubled += cat("struct d", i, " { struct d", i - 1, " a; struct d", i - 1, " b; };");
    stars += std::string(100000, '*') + "a; };";
    BOOST_TEST(mistakes_of(nested + "struct n2000 { int a; };").find("' is in too many others") !=
               std::string::npos);
    BOOST_TEST(mistakes_of(doubled).find("struct 'd12' is too large") != std::string::npos);
    try {
        BOOST_TEST(mistakes_of(stars).find("'a' is too large") != std::string::npos);
    } catch (const UsageError&) {  // the parser has a bound, too
    }
}

BOOST_AUTO_TEST_CASE(a_mistake_has_its_place) {
    BOOST_TEST(mistakes_of("struct s { unit32_t a; };") ==
               "test.bt:1:12: error: no type is named 'unit32_t'\n"
               "struct s { unit32_t a; }; BEGIN { exit(); }\n"
               "           ^~~~~~~~\n"
               "hint: did you mean 'uint32_t'?");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(bt_uapi_constants)

BOOST_AUTO_TEST_CASE(headers_constants_are_known) {
    BOOST_TEST(uapi_constant("AF_INET").value() == 2);
    BOOST_TEST(uapi_constant("SOCK_STREAM").value() == 1);
    BOOST_TEST(uapi_constant("IPPROTO_TCP").value() == 6);
    BOOST_TEST(uapi_constant("O_WRONLY").value() == 1);
    BOOST_TEST(uapi_constant("S_IFDIR").value() == 0040000);
    BOOST_TEST(uapi_constant("ENOENT").value() == 2);
    BOOST_TEST(uapi_constant("EWOULDBLOCK").value() == 11);
    BOOST_TEST(uapi_constant("ERESTARTSYS").value() == 512);
    BOOST_TEST(uapi_constant("SIGKILL").value() == 9);
    BOOST_TEST(uapi_constant("SIGPOLL").value() == 29);
    BOOST_TEST(uapi_constant("CLONE_THREAD").value() == 0x10000);
    BOOST_TEST(uapi_constant("PROT_EXEC").value() == 4);
    BOOST_TEST(uapi_constant("MAP_SHARED").value() == 1);
    BOOST_TEST(uapi_constant("TASK_RUNNING").value() == 0);
    BOOST_TEST(uapi_constant("TASK_UNINTERRUPTIBLE").value() == 2);
    BOOST_TEST(uapi_constant("AT_FDCWD").value() == -100);
    BOOST_TEST(uapi_constant("PF_KTHREAD").value() == 0x200000);
    BOOST_TEST(uapi_constant("PATH_MAX").value() == 4096);
    BOOST_TEST(uapi_constant("TCP_ESTABLISHED").value() == 1);
    BOOST_TEST(uapi_constant("ETH_P_IP").value() == 0x800);
}

BOOST_AUTO_TEST_CASE(a_word_of_the_language_is_never_an_enumerator) {
    const Types types("");
    const auto value = [&](const char* name) {
        Expr expr;
        expr.kind = Expr::Kind::identifier;
        expr.text = name;
        return constant_of(expr, Instance{}, types.table);
    };
    BOOST_TEST(value("SAMPLE_ONE").value() == 1);
    BOOST_TEST(!value("pid").has_value());
}

BOOST_AUTO_TEST_CASE(other_names_are_not) {
    for (const char* name : {"", "E", "SIG", "SIGNOTHING", "ENOTHING", "AF_", "pid", "af_inet"})
        BOOST_TEST(!uapi_constant(name).has_value(), name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
