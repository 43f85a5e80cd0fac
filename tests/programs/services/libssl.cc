// Functions of OpenSSL, without it: they take what they are given.
#include <unistd.h>

#include <cstddef>

extern "C" {
int SSL_read(void*, void*, int bytes) {
    return bytes;
}
int SSL_write(void*, const void*, int bytes) {
    return bytes;
}
int SSL_read_ex(void*, void*, std::size_t bytes, std::size_t* got) {
    *got = bytes / 2;
    return 1;
}
int SSL_write_ex(void*, const void*, std::size_t bytes, std::size_t* took) {
    *took = bytes;
    return 1;
}
// The first call would block, the second is done after 2 ms.
int SSL_do_handshake(void*) {
    static int calls = 0;
    if (++calls % 2 == 1) return -1;
    ::usleep(2000);
    return 1;
}
}
