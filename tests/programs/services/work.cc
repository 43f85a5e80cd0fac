// Calls what monitors of libraries look at, so often as is said here.
#include <fcntl.h>
#include <linux/close_range.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "programs/static_probe.h"
#include "programs/works.h"

extern "C" {
int SSL_read(void*, void*, int);
int SSL_write(void*, const void*, int);
int SSL_read_ex(void*, void*, std::size_t, std::size_t*);
int SSL_write_ex(void*, const void*, std::size_t, std::size_t*);
int SSL_do_handshake(void*);
long gnutls_record_recv(void*, void*, std::size_t);
long gnutls_record_send(void*, const void*, std::size_t);
int gnutls_handshake(void*);
void* PQexec(void*, const char*);
void* PQexecParams(void*, const char*);
}

// As a server of MariaDB has it that is built with static probes. Not in a namespace: the name is
// what is looked for.
class THD;
enum enum_server_command : int { kPing = 14, kQuery = 3 };
[[gnu::noinline]] int dispatch_command(enum_server_command command, THD*, char* text, unsigned,
                                       bool) {
    if (command == kQuery) STATIC_PROBE("mysql", "query__start", "0", "8@%0 8@$1", "r"(text));
    ::usleep(15000);
    if (command == kQuery) STATIC_PROBE("mysql", "query__done", "0", "-4@$0");
    return text[0] + command;
}

extern "C" {
[[gnu::section(".probes"), gnu::used]] volatile unsigned short start_listeners = 0,
                                                               done_listeners = 0;
}

// As PostgreSQL's server has it: who fails does not come to the end.
[[gnu::noinline]] void exec_simple_query(const char* text, bool fails) {
    if (start_listeners > 0)
        STATIC_PROBE("postgresql", "query__start", "start_listeners", "8@%0", "r"(text));
    ::usleep(15000);
    if (!fails && done_listeners > 0)
        STATIC_PROBE("postgresql", "query__done", "done_listeners", "8@%0", "m"(text));
}

namespace {

// What is kept, and what is not; each in a function of its own, which its stack names. The compiler
// cannot know what a volatile pointer is for.
void* volatile kept = nullptr;

[[gnu::noinline]] void keeps(std::size_t bytes) {
    kept = std::malloc(bytes);
}
[[gnu::noinline]] void frees(std::size_t bytes) {
    kept = std::malloc(bytes);
    std::free(kept);
}
[[gnu::noinline]] void grows() {
    kept = std::realloc(nullptr, 10);
    kept = std::realloc(kept, 5000);
}
[[gnu::noinline]] void shrinks_to_nothing() {
    kept = std::calloc(7, 11);
    kept = std::realloc(kept, 0);
}
[[gnu::noinline]] void cannot_grow() {
    kept = std::calloc(13, 10);
    kept = std::realloc(kept, static_cast<std::size_t>(-1) / 4);
}
[[gnu::noinline]] void aligns() {
    void* at = nullptr;
    if (::posix_memalign(&at, 64, 333) == 0) kept = at;
}
[[gnu::noinline]] void* maps(std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
[[gnu::noinline]] void maps_and_unmaps() {
    ::munmap(maps(1 << 16), 1 << 16);
}
[[gnu::noinline]] void makes(int count) {
    for (int i = 0; i < count; ++i) kept = new char[24];
}

// Says that it runs, and waits for a line or the end of its input.
void waits_to_be_asked() {
    std::puts("ready");
    std::fflush(stdout);
    char line = 0;
    works::check(::read(STDIN_FILENO, &line, 1) >= 0, "read");
}

void allocate(const works::Numbers& numbers) {
    const auto rounds = static_cast<int>(numbers[0]);
    const auto work = [rounds] {
        for (int i = 0; i < rounds; ++i) {
            keeps(100);
            frees(50);
            frees(1 << 20);
        }
        makes(rounds);
    };
    std::thread other(work);
    work();
    other.join();
    grows();
    shrinks_to_nothing();
    cannot_grow();
    aligns();
    kept = ::mremap(maps(1 << 20), 1 << 20, 2 << 20, MREMAP_MAYMOVE);
    maps_and_unmaps();
}

// Mappings that are given back, moved and replaced in parts. Each function says what it leaves.
// What calls the kernel is in functions of its own: who calls a function without a frame may be
// missing in a stack.
constexpr std::size_t kMiB = 1 << 20;
[[gnu::noinline]] char* maps_bytes(std::size_t bytes, char* at = nullptr,
                                   int protection = PROT_READ | PROT_WRITE) {
    void* got =
        ::mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    works::check(got != MAP_FAILED, "mmap");
    return static_cast<char*>(got);
}
[[gnu::noinline]] void remaps_bytes(char* at, std::size_t bytes, bool is_possible) {
    kept = ::mremap(at, kMiB, bytes, MREMAP_MAYMOVE);
    works::check((kept != MAP_FAILED) == is_possible, "mremap");
}
void unmaps(char* at, std::size_t bytes) {
    works::check(::munmap(at, bytes) == 0, "munmap");
}
// A place where nothing is; `number` makes it another one.
char* place_of_its_own(std::size_t number) {
    return reinterpret_cast<char*>((32ULL << 40) + (number << 32));
}

[[gnu::noinline]] void aligns_a_mapping() {  // 4 MiB
    char* at = maps_bytes(8 * kMiB, place_of_its_own(0) + kMiB);
    char* aligned = place_of_its_own(0) + 4 * kMiB;
    unmaps(at, static_cast<std::size_t>(aligned - at));
    unmaps(aligned + 4 * kMiB, kMiB);
    kept = aligned;
}
[[gnu::noinline]] void gives_a_tail_back() {  // 4 KiB
    char* at = maps_bytes(16 * kMiB);
    unmaps(at + 4096, 16 * kMiB - 4096);
    kept = at;
}
[[gnu::noinline]] void gives_neighbours_back_at_once() {  // nothing
    char* at = maps_bytes(32 * kMiB, place_of_its_own(1));
    maps_bytes(32 * kMiB, at + 32 * kMiB);
    unmaps(at, 64 * kMiB);
}
[[gnu::noinline]] void gives_parts_of_neighbours_back_at_once() {  // 1 MiB of each pair
    char* at = maps_bytes(2 * kMiB, place_of_its_own(2));
    maps_bytes(2 * kMiB, at + 2 * kMiB);
    unmaps(at + kMiB, 3 * kMiB);
    char* other = maps_bytes(2 * kMiB, place_of_its_own(6));
    maps_bytes(2 * kMiB, other + 2 * kMiB);
    unmaps(other, 3 * kMiB);
    kept = at;
}
[[gnu::noinline]] void moves_a_part() {  // 3 MiB, and the 2 MiB that it becomes
    char* at = maps_bytes(4 * kMiB, place_of_its_own(3));
    remaps_bytes(at, 2 * kMiB, true);
    kept = at;
}
[[gnu::noinline]] void cannot_move_a_part() {  // 4 MiB
    char* at = maps_bytes(4 * kMiB, place_of_its_own(4));
    remaps_bytes(at + 3 * kMiB, 1ULL << 60, false);
    kept = at;
}
[[gnu::noinline]] void maps_over_another() {  // 1 MiB
    char* at = maps_bytes(2 * kMiB, place_of_its_own(5));
    maps_bytes(kMiB, at, PROT_NONE);
    maps_bytes(kMiB, at + kMiB);
}

void unmap(const works::Numbers&) {
    aligns_a_mapping();
    gives_a_tail_back();
    gives_neighbours_back_at_once();
    gives_parts_of_neighbours_back_at_once();
    moves_a_part();
    cannot_move_a_part();
    maps_over_another();
}

// Descriptors that stay open, and some that do not, each in a function of its own, too.
[[gnu::noinline]] int opens(int flags = 0) {
    const int fd = ::open("/dev/null", O_RDONLY | flags);
    works::check(fd >= 0, "open");
    return fd;
}
[[gnu::noinline]] void opens_for_good(int count) {
    for (int i = 0; i < count; ++i) works::check(opens() >= 0, "open");
}
[[gnu::noinline]] void opens_and_closes(int count) {
    for (int i = 0; i < count; ++i) ::close(opens());
    ::close(-1);
    works::check(::open("/no/such/file", O_RDONLY) < 0, "open what is not there");
}
[[gnu::noinline]] void puts_one_over_another() {
    const int one = opens();
    works::check(::dup2(one, opens()) >= 0, "dup2");
    ::dup2(one, one);
}
[[gnu::noinline]] void copies_one() {
    const int one = opens();
    works::check(::dup(one) >= 0 && ::fcntl(one, F_DUPFD, 0) >= 0, "dup");
    ::close(one);
}
[[gnu::noinline]] void makes_pairs() {
    int ends[2];
    works::check(::pipe(ends) == 0 && ::pipe2(ends, O_CLOEXEC) == 0, "pipe");
    works::check(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    ::close(ends[0]);
}
[[gnu::noinline]] void makes_kinds() {
    sigset_t none;
    ::sigemptyset(&none);
    const int signals = ::signalfd(-1, &none, 0);
    works::check(signals >= 0 && ::signalfd(signals, &none, 0) == signals, "signalfd");
    works::check(::eventfd(0, 0) >= 0 && ::epoll_create1(0) >= 0 && ::inotify_init() >= 0 &&
                     ::timerfd_create(CLOCK_MONOTONIC, 0) >= 0 &&
                     ::memfd_create("gpufs-test", 0) >= 0,
                 "make descriptors");
}
[[gnu::noinline]] void accepts() {
    // The kernel chooses a name of the abstract ones.
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = ""};
    socklen_t bytes = sizeof name;
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0),
              client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    works::check(::bind(server, address, sizeof name.sun_family) == 0 && ::listen(server, 1) == 0 &&
                     ::getsockname(server, address, &bytes) == 0 &&
                     ::connect(client, address, bytes) == 0,
                 "connect");
    works::check(::accept(server, nullptr, nullptr) >= 0, "accept");
    ::close(client);
    ::close(server);
}
// Of these all but the first are closed.
[[gnu::noinline]] void closes_a_range(int count) {
    constexpr int kFirst = 500;
    const int one = opens();
    for (int i = 0; i < count; ++i) works::check(::dup2(one, kFirst + i) >= 0, "dup2");
    ::close(one);
    works::check(::syscall(SYS_close_range, kFirst + 1, ~0U, 0) == 0, "close_range");
}
// Of its six, an exec leaves those that begin without the flag and keep to that, and one that
// loses it.
[[gnu::noinline]] void opens_for_a_program() {
    opens();
    opens(O_CLOEXEC);
    works::check(::fcntl(opens(), F_SETFD, FD_CLOEXEC) == 0, "fcntl");
    works::check(::fcntl(opens(O_CLOEXEC), F_SETFD, 0) == 0, "fcntl");
    works::check(::ioctl(opens(), FIOCLEX) == 0, "ioctl");
    const auto ranged = static_cast<unsigned>(opens());
    works::check(::syscall(SYS_close_range, ranged, ranged, CLOSE_RANGE_CLOEXEC) == 0,
                 "close_range");
    ::execl("/bin/true", "true", nullptr);
    works::check(false, "execl");
}
[[gnu::noinline]] int opens_for_the_parent() {
    return opens();
}

void waits_for(pid_t child) {
    int status = 0;
    works::check(::waitpid(child, &status, 0) == child && status == 0, "wait for a child");
}

void descriptors(const works::Numbers& numbers) {
    waits_to_be_asked();
    const auto count = static_cast<int>(numbers[0]);
    opens_for_good(count);
    opens_and_closes(count);
    puts_one_over_another();
    copies_one();
    makes_pairs();
    makes_kinds();
    accepts();
    closes_a_range(count);
    int fd = -1;
    std::thread([&] { fd = opens(); }).join();
    ::close(fd);
    fd = opens_for_the_parent();
    // What a child closes is its own.
    if (const pid_t child = ::fork(); child == 0) {
        ::close(fd);
        opens_for_a_program();
    } else {
        waits_for(child);
    }
}

// Until a thread of this process sleeps, where all that it does is to wait.
void wait_until_asleep(const std::atomic<pid_t>& tid) {
    for (char state = 'R'; state != 'S'; ::usleep(1000)) {
        if (tid == 0) continue;
        std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
        std::string text;
        std::getline(file, text);
        const auto at = text.rfind(')');
        if (at != text.npos) state = text[at + 2];
    }
}
[[gnu::noinline]] void takes_lock(pthread_mutex_t& lock) {
    works::check(::pthread_mutex_lock(&lock) == 0, "lock");
}
[[gnu::noinline]] void gives_lock_back(pthread_mutex_t& lock) {
    works::check(::pthread_mutex_unlock(&lock) == 0, "unlock");
}

// This thread, "keeper", has the lock, and "waiter" waits for it; so often.
void fight_for(const pthread_mutexattr_t& attributes, long rounds) {
    pthread_mutex_t lock;
    works::check(::pthread_mutex_init(&lock, &attributes) == 0, "make a mutex");
    for (long i = 0; i < rounds; ++i) {
        takes_lock(lock);
        std::atomic<pid_t> tid = 0;
        std::thread waiter([&] {
            ::pthread_setname_np(::pthread_self(), "waiter");
            tid = ::gettid();
            takes_lock(lock);
            gives_lock_back(lock);
        });
        wait_until_asleep(tid);
        gives_lock_back(lock);
        waiter.join();
    }
    ::pthread_mutex_destroy(&lock);
}

[[gnu::noinline]] void signals_condition(pthread_cond_t& condition) {
    ::pthread_cond_signal(&condition);
}
void wait_for_condition() {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    std::atomic<pid_t> tid = 0;
    std::thread waiter([&] {
        ::pthread_setname_np(::pthread_self(), "sleeper");
        takes_lock(lock);
        tid = ::gettid();
        ::pthread_cond_wait(&condition, &lock);
        gives_lock_back(lock);
    });
    wait_until_asleep(tid);
    signals_condition(condition);
    waiter.join();
}

// DESCRIPTOR: two threads each wait for what the other has, and a third one ends the process; where
// there is a descriptor, after it has closed that and was asked.
void deadlock(const works::Numbers& numbers) {
    waits_to_be_asked();
    ::pthread_setname_np(::pthread_self(), "keeper");
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
    static std::atomic<pid_t> own, its;
    own = ::gettid();
    takes_lock(one);
    std::thread([] {
        ::pthread_setname_np(::pthread_self(), "stuck");
        takes_lock(other);
        its = ::gettid();
        takes_lock(one);
    }).detach();
    wait_until_asleep(its);
    std::thread([descriptor = static_cast<int>(numbers[0])] {
        wait_until_asleep(own);
        if (descriptor != 0) {
            ::close(descriptor);
            waits_to_be_asked();
        }
        std::_Exit(0);
    }).detach();
    takes_lock(other);
}

void fight(const works::Numbers& numbers) {
    waits_to_be_asked();
    ::pthread_setname_np(::pthread_self(), "keeper");
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    fight_for(attributes, numbers[0]);
    ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    fight_for(attributes, numbers[0]);
    ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_NONE);
    ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    fight_for(attributes, numbers[0]);
    wait_for_condition();
}

void look_up(const works::Numbers&) {
    addrinfo* found = nullptr;
    if (::getaddrinfo("localhost", nullptr, nullptr, &found) == 0) ::freeaddrinfo(found);
    const addrinfo numeric{.ai_flags = AI_NUMERICHOST,
                           .ai_family = 0,
                           .ai_socktype = 0,
                           .ai_protocol = 0,
                           .ai_addrlen = 0,
                           .ai_addr = nullptr,
                           .ai_canonname = nullptr,
                           .ai_next = nullptr};
    for (int i = 0; i < 3; ++i) ::getaddrinfo("no number", nullptr, &numeric, &found);
}

void encrypt(const works::Numbers&) {
    char text[1000];
    std::size_t bytes = 0;
    for (int i = 0; i < 4; ++i) SSL_do_handshake(text);
    for (int i = 0; i < 5; ++i) SSL_read(text, text, 700);
    SSL_read(text, text, -1);
    SSL_write(text, text, 300);
    SSL_read_ex(text, text, 1000, &bytes);
    SSL_write_ex(text, text, 40, &bytes);
    gnutls_handshake(text);
    for (int i = 0; i < 2; ++i) gnutls_record_send(text, text, 90);
    gnutls_record_recv(text, text, 10);
}

void query(const works::Numbers&) {
    char connection[8] = {};
    for (int i = 0; i < 3; ++i) PQexec(connection, "slow query");
    for (int i = 0; i < 20; ++i) PQexec(connection, "fast");
    PQexecParams(connection, "slow with $1");
}

// A server that runs already when somebody looks.
void serve(const works::Numbers&) {
    waits_to_be_asked();
    char text[] = "UPDATE t SET a = 1";
    dispatch_command(kQuery, nullptr, text, 0, false);
    dispatch_command(kPing, nullptr, text, 0, false);
    exec_simple_query("SELECT 1/0", true);
    exec_simple_query("SELECT 1", false);
    exec_simple_query("SELECT 2", false);
}

}  // namespace

int main(int argc, char** argv) {
    return works::run_main({{"allocate", {1, allocate}},
                            {"unmap", {0, unmap}},
                            {"descriptors", {1, descriptors}},
                            {"fight", {1, fight}},
                            {"deadlock", {1, deadlock}},
                            {"look-up", {0, look_up}},
                            {"encrypt", {0, encrypt}},
                            {"query", {0, query}},
                            {"serve", {0, serve}}},
                           argc, argv);
}
