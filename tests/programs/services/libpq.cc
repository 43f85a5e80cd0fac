// Functions of PostgreSQL's client library, without a server: what begins with "slow" takes 20 ms.
#include <unistd.h>

#include <string_view>

extern "C" {
void* PQexec(void* connection, const char* query) {
    if (std::string_view(query).starts_with("slow")) ::usleep(20000);
    return connection;
}
void* PQexecParams(void* connection, const char* query) {
    return PQexec(connection, query);
}
}
