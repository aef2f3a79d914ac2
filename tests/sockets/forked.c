/* A parent and its child talk through a pair of sockets that the parent has used before. */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void message_send(int file, char *bytes, long n, int is_socket);
void message_receive(int file, char *bytes, long n, int is_socket);

int main(void) {
    char bytes[500] = {0};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    message_send(pair[0], bytes, 11, 1);
    message_receive(pair[1], bytes, 11, 1);
    if (fork() == 0) {
        message_receive(pair[1], bytes, 500, 1);
        message_send(pair[1], bytes, 3, 1);
        exit(0);
    }
    message_send(pair[0], bytes, 500, 1);
    message_receive(pair[0], bytes, 3, 1);
    wait(NULL);
    return 0;
}
