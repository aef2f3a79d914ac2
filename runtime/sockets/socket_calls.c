/* libpmodel-sockets.so: functions of the C library that move bytes on descriptors.  What they moved
   is told to the runtime (runtime/sockets/sockets.h), where there is one.

   What the C library does by itself, as for a stream that fdopen made, does not come by here. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

extern void pmodel_socket_transfer(int file, bool is_sent, uint64_t bytes, uint64_t n_transfers)
    __attribute__((weak, visibility("default")));

/* What the compiler calls where a buffer's size is known (_FORTIFY_SOURCE). */
ssize_t __read_chk(int file, void *buffer, size_t n, size_t size);
ssize_t __recv_chk(int file, void *buffer, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int file, void *buffer, size_t n, size_t size, int flags,
                       struct sockaddr *from, socklen_t *length);

#define CALLS(X)                                                                                   \
    X(read)                                                                                        \
    X(__read_chk)                                                                                  \
    X(readv)                                                                                       \
    X(recv)                                                                                        \
    X(__recv_chk)                                                                                  \
    X(recvfrom)                                                                                    \
    X(__recvfrom_chk)                                                                              \
    X(recvmsg)                                                                                     \
    X(recvmmsg)                                                                                    \
    X(write)                                                                                       \
    X(writev)                                                                                      \
    X(send)                                                                                        \
    X(sendto)                                                                                      \
    X(sendmsg)                                                                                     \
    X(sendmmsg)                                                                                    \
    X(sendfile)                                                                                    \
    X(sendfile64)                                                                                  \
    X(splice)

/* The next ones after ours. */
static struct {
#define NEXT(name) __typeof__(&name) name;
    CALLS(NEXT)
#undef NEXT
} next;

__attribute__((constructor)) static void find_next(void) {
#define FIND(name) next.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
    CALLS(FIND)
#undef FIND
}

/* Other libraries' constructors may come before ours. */
#define CALL(name, ...)                                                                            \
    ({                                                                                             \
        if (!next.name)                                                                            \
            find_next();                                                                           \
        next.name(__VA_ARGS__);                                                                    \
    })

static ssize_t sent(int file, ssize_t n) {
    if (n > 0 && pmodel_socket_transfer)
        pmodel_socket_transfer(file, true, (uint64_t)n, 1);
    return n;
}

static ssize_t received(int file, int flags, ssize_t n) {
    if (n > 0 && pmodel_socket_transfer && !(flags & (MSG_PEEK | MSG_ERRQUEUE)))
        pmodel_socket_transfer(file, false, (uint64_t)n, 1);
    return n;
}

static int several(int file, bool is_sent, const struct mmsghdr *messages, int n) {
    uint64_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += messages[i].msg_len;
    if (bytes > 0 && pmodel_socket_transfer)
        pmodel_socket_transfer(file, is_sent, bytes, (uint64_t)n);
    return n;
}

/* ---- in -------------------------------------------------------------------------------------- */

EXPORT ssize_t read(int file, void *buffer, size_t n) {
    return received(file, 0, CALL(read, file, buffer, n));
}

EXPORT ssize_t __read_chk(int file, void *buffer, size_t n, size_t size) {
    return received(file, 0, CALL(__read_chk, file, buffer, n, size));
}

EXPORT ssize_t readv(int file, const struct iovec *parts, int n_parts) {
    return received(file, 0, CALL(readv, file, parts, n_parts));
}

EXPORT ssize_t recv(int file, void *buffer, size_t n, int flags) {
    return received(file, flags, CALL(recv, file, buffer, n, flags));
}

EXPORT ssize_t __recv_chk(int file, void *buffer, size_t n, size_t size, int flags) {
    return received(file, flags, CALL(__recv_chk, file, buffer, n, size, flags));
}

EXPORT ssize_t recvfrom(int file, void *restrict buffer, size_t n, int flags,
                        struct sockaddr *restrict from, socklen_t *restrict length) {
    return received(file, flags, CALL(recvfrom, file, buffer, n, flags, from, length));
}

EXPORT ssize_t __recvfrom_chk(int file, void *buffer, size_t n, size_t size, int flags,
                              struct sockaddr *from, socklen_t *length) {
    return received(file, flags, CALL(__recvfrom_chk, file, buffer, n, size, flags, from, length));
}

EXPORT ssize_t recvmsg(int file, struct msghdr *message, int flags) {
    return received(file, flags, CALL(recvmsg, file, message, flags));
}

EXPORT int recvmmsg(int file, struct mmsghdr *messages, unsigned n, int flags,
                    struct timespec *timeout) {
    int result = CALL(recvmmsg, file, messages, n, flags, timeout);
    return flags & (MSG_PEEK | MSG_ERRQUEUE) ? result : several(file, false, messages, result);
}

/* ---- out ------------------------------------------------------------------------------------- */

EXPORT ssize_t write(int file, const void *buffer, size_t n) {
    return sent(file, CALL(write, file, buffer, n));
}

EXPORT ssize_t writev(int file, const struct iovec *parts, int n_parts) {
    return sent(file, CALL(writev, file, parts, n_parts));
}

EXPORT ssize_t send(int file, const void *buffer, size_t n, int flags) {
    return sent(file, CALL(send, file, buffer, n, flags));
}

EXPORT ssize_t sendto(int file, const void *buffer, size_t n, int flags, const struct sockaddr *to,
                      socklen_t length) {
    return sent(file, CALL(sendto, file, buffer, n, flags, to, length));
}

EXPORT ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
    return sent(file, CALL(sendmsg, file, message, flags));
}

EXPORT int sendmmsg(int file, struct mmsghdr *messages, unsigned n, int flags) {
    return several(file, true, messages, CALL(sendmmsg, file, messages, n, flags));
}

/* ---- from file to file ----------------------------------------------------------------------- */

EXPORT ssize_t sendfile(int to, int from, off_t *at, size_t n) {
    return sent(to, CALL(sendfile, to, from, at, n));
}

EXPORT ssize_t sendfile64(int to, int from, off64_t *at, size_t n) {
    return sent(to, CALL(sendfile64, to, from, at, n));
}

EXPORT ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n,
                      unsigned flags) {
    ssize_t moved = CALL(splice, from, from_at, to, to_at, n, flags);
    return sent(to, received(from, 0, moved));
}
