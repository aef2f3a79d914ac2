/* Calls that are jumps (-O2): of a named routine, and of another one behind a call of a named one.
 */
#include <sys/socket.h>

void message_send(int file, char *bytes, long n, int is_socket);
void message_receive(int file, char *bytes, long n, int is_socket);
void other_send(int file, char *bytes, long n, int is_socket);

__attribute__((noipa)) static void tail(int file, char *bytes) { message_send(file, bytes, 20, 1); }

__attribute__((noipa)) static void both(int file, char *bytes) {
    message_send(file, bytes, 1, 1);
    other_send(file, bytes, 300, 1);
}

int main(void) {
    char bytes[321] = {0};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    tail(pair[0], bytes);
    both(pair[0], bytes);
    message_receive(pair[1], bytes, 321, 1);
    return 0;
}
