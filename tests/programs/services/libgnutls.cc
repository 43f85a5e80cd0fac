// Functions of GnuTLS, without it: they take what they are given.
#include <cstddef>

extern "C" {
long gnutls_record_recv(void*, void*, std::size_t bytes) {
    return static_cast<long>(bytes);
}
long gnutls_record_send(void*, const void*, std::size_t bytes) {
    return static_cast<long>(bytes);
}
// GNUTLS_E_UNSUPPORTED_VERSION_PACKET
int gnutls_handshake(void*) {
    return -8;
}
}
