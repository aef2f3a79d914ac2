/* A client and a server, threads of one process, over TCP: messages of 10 i bytes for i = 1 … N,
   and answers of 7. Then a pair of sockets, and what is not to be counted: a pipe, another routine
   of the library, and direct calls. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

void message_send(int file, char *bytes, long n, int is_socket);
void message_receive(int file, char *bytes, long n, int is_socket);
void other_send(int file, char *bytes, long n, int is_socket);
void other_receive(int file, char *bytes, long n, int is_socket);

static long N;

static void *serve(void *listening) {
    char *bytes = malloc(10 * (size_t)N + 100);
    int file = accept(*(int *)listening, NULL, NULL);
    for (long i = 1; i <= N; i++) {
        message_receive(file, bytes, 10 * i, 1);
        message_send(file, bytes, 7, 1);
    }
    other_receive(file, bytes, 50, 1);
    close(file);
    free(bytes);
    return NULL;
}

static void ask(int file, char *bytes) {
    for (long i = 1; i <= N; i++) {
        message_send(file, bytes, 10 * i, 1);
        message_receive(file, bytes, 7, 1);
    }
    other_send(file, bytes, 50, 1);
}

static void through(int in, int out, char *bytes, int is_socket) {
    message_send(in, bytes, 33, is_socket);
    message_receive(out, bytes, 33, is_socket);
}

static char bytes[1 << 20];

int main(int argc, char **argv) {
    N = argc > 1 ? atol(argv[1]) : 4;
    if (10 * N + 100 > (long)sizeof bytes)
        return 1;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), pair[2], ends[2];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    pthread_t server;
    if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 1) ||
        getsockname(listening, (struct sockaddr *)&address, &length) ||
        pthread_create(&server, NULL, serve, &listening))
        return 1;
    int file = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)&address, length))
        return 1;
    ask(file, bytes);
    pthread_join(server, NULL);
    close(file); /* the numbers of the next ones are those of these */
    close(listening);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(ends))
        return 1;
    through(pair[0], pair[1], bytes, 1);
    through(ends[1], ends[0], bytes, 0);
    if (write(pair[0], bytes, 100) != 100 || read(pair[1], bytes, 100) != 100)
        return 1;
    printf("%ld\n", N);
    return 0;
}
