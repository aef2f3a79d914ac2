/* A library that moves messages whole, by whatever function of the C library comes next, or by the
 * one that CHOICE says. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static __thread unsigned choice;

void message_send(int file, char *bytes, long n, int is_socket);
void message_receive(int file, char *bytes, long n, int is_socket);
void other_send(int file, char *bytes, long n, int is_socket);
void other_receive(int file, char *bytes, long n, int is_socket);

static long put(int file, char *bytes, long n, int is_socket) {
    struct iovec part = {bytes, (size_t)n};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    switch (is_socket ? choice++ % 6 : 0) {
    case 0:
        return write(file, bytes, (size_t)n);
    case 1:
        return writev(file, &part, 1);
    case 2:
        return send(file, bytes, (size_t)n, 0);
    case 3:
        return sendto(file, bytes, (size_t)n, 0, NULL, 0);
    case 4:
        return sendmsg(file, &message.msg_hdr, 0);
    default:
        return sendmmsg(file, &message, 1, 0) == 1 ? (long)message.msg_len : -1;
    }
}

static long get(int file, char *bytes, long n, int is_socket) {
    struct iovec part = {bytes, (size_t)n};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    switch (is_socket ? choice++ % 6 : 0) {
    case 0:
        return read(file, bytes, (size_t)n);
    case 1:
        return readv(file, &part, 1);
    case 2:
        recv(file, bytes, (size_t)n, MSG_PEEK);
        return recv(file, bytes, (size_t)n, 0);
    case 3:
        return recvfrom(file, bytes, (size_t)n, 0, NULL, NULL);
    case 4:
        return recvmsg(file, &message.msg_hdr, 0);
    default:
        return recvmmsg(file, &message, 1, 0, NULL) == 1 ? (long)message.msg_len : -1;
    }
}

void message_send(int file, char *bytes, long n, int is_socket) {
    for (long done = 0, more; done < n; done += more)
        if ((more = put(file, bytes + done, n - done, is_socket)) < 0)
            _exit(9);
}

void message_receive(int file, char *bytes, long n, int is_socket) {
    for (long done = 0, more; done < n; done += more)
        if ((more = get(file, bytes + done, n - done, is_socket)) <= 0)
            _exit(9);
}

void other_send(int file, char *bytes, long n, int is_socket) {
    message_send(file, bytes, n, is_socket);
}

void other_receive(int file, char *bytes, long n, int is_socket) {
    message_receive(file, bytes, n, is_socket);
}
