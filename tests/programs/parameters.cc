// Functions with parameters of all kinds, each of which prints what it was given: what a script
// reads where they begin is compared with it.
#include <cstdio>

#define NOINLINE extern "C" __attribute__((noinline))

struct Small {
    int count;
    float ratio;
};
struct Point {
    double x, y;
};
struct Large {
    long first, second, third;
};
struct Node {
    Node* next;
    int value;
    unsigned low : 3, high : 6;
    char name[8];
    struct {
        short inner[2];
    } part;
};
enum Color { RED = 1, GREEN = 2 };

// Passed by its address, as it is not copied byte by byte.
class Owner {
public:
    explicit Owner(int given) : number(given) {}
    ~Owner() { number = 0; }
    int number;
};

NOINLINE void many(int a, long b, char c, short d, unsigned e, Color f, int g, long h) {
    std::printf("many %d %ld %d %d %u %d %d %ld\n", a, b, c, d, e, f, g, h);
}

// What is passed in other registers, or on the stack, in between.
NOINLINE void mixed(double real, int a, Small small, bool b, Large large, Point point, long c,
                    Owner owner, const char* text, unsigned char last) {
    std::printf("mixed %d %d %ld %s %u\n", a, b, c, text, last);
    std::fprintf(stderr, "%g %d %ld %g %d\n", real, small.count, large.third, point.x,
                 owner.number);
}

NOINLINE void crowded(double a, double b, double c, double d, double e, double f, double g,
                      double h, double i, int first, long double wide, long second, long third,
                      long fourth, long fifth, long sixth, long last) {
    std::printf("crowded %d %ld %ld\n", first, sixth, last);
    std::fprintf(stderr, "%g %Lg %ld\n", a + b + c + d + e + f + g + h + i, wide,
                 second + third + fourth + fifth);
}

// The first of them on the stack, where the caller puts it.
NOINLINE void given(Large large, int a) {
    std::printf("given %ld %d\n", large.first, a);
}

NOINLINE Large made(int seed, long other) {
    std::printf("made %d %ld\n", seed, other);
    return {seed, other, 3};
}

NOINLINE void linked(const Node* node) {
    const Node& next = *node->next;
    std::printf("linked %d %d %u %u %s %d\n", node->value, next.value, next.low, next.high,
                next.name, next.part.inner[1]);
}

NOINLINE void refers(int& a, const Node& node, long&& b) {
    std::printf("refers %lx %d %d %ld\n", reinterpret_cast<unsigned long>(&a), a, node.value, b);
}

// Bit fields that lie across the words of their types.
struct __attribute__((packed)) Tight {
    char before;
    unsigned long wide : 60;
    int narrow : 29;
    char behind;
    int last;
};
NOINLINE void tight(const Tight* bits) {
    std::printf("tight %lu %d %d\n", static_cast<unsigned long>(bits->wide), bits->narrow,
                bits->last);
}

// Nobody here knows what it has.
struct Opaque;
NOINLINE void hands_on(const Opaque* handle) {
    std::printf("hands_on %d\n", handle != nullptr);
}

// What only this file sees is described without the name that its symbol has.
namespace {
__attribute__((noinline)) void alone(const Small* small, int a) {
    std::printf("alone %d %d\n", small->count, a);
}
}  // namespace

// Of one name.
namespace ns {
__attribute__((noinline)) void choose(int a) {
    std::printf("choose int %d\n", a);
}
__attribute__((noinline)) void choose(const char* text) {
    std::printf("choose text %s\n", text);
}
__attribute__((noinline)) void chooses(int a) {
    std::printf("chooses %d\n", a);
}
}  // namespace ns

int main() {
    for (int i = 1; i < 4; ++i) {
        many(-i, 1L << (30 + i), 'a', static_cast<short>(-4 * i), 5, GREEN, -7, 8L * i);
        mixed(2.5, 11 * i, {i, 1.5}, i % 2 == 0, {1, 2, 3}, {1.5, 2.5}, -i, Owner(i), "text",
              static_cast<unsigned char>(250 + i));
        crowded(1, 2, 3, 4, 5, 6, 7, 8, 9, i, 1.5L, 2, 3, 4, 5, 6 * i, 7 * i);
        given({10L * i, 2, 3}, i);
        const Large large = made(i, -i);
        Node second{nullptr, i, 5, 33, "second", {{1, static_cast<short>(-large.third)}}};
        Node first{&second, 100 + i, 1, 2, "first", {{3, 4}}};
        linked(&first);
        refers(first.value, second, 5L * i);
        const Tight bits{'b', 0xabcdef012345678 + static_cast<unsigned long>(i),
                         -123456789 * (i % 3), 'c', -i};
        tight(&bits);
        const Small small{i, 0.5F};
        alone(&small, -i);
        hands_on(nullptr);
        ns::choose(i);
        ns::choose("text");
        ns::chooses(i);
    }
}
