/* `status PROGRAM ARGUMENT…` says how the program ended, as waitpid tells it.  `status -SIGNAL
   MILLISECONDS PROGRAM …` sends it a signal so long after its second line of output. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void send_later(pid_t child, int output, int number, int milliseconds) {
    char byte;
    for (int lines = 0; lines < 2 && read(output, &byte, 1) == 1;)
        lines += byte == '\n';
    usleep(1000u * (unsigned)milliseconds);
    kill(child, number);
}

int main(int argc, char **argv) {
    int number = argc > 3 && argv[1][0] == '-' ? atoi(argv[1] + 1) : 0, status, ends[2];
    int milliseconds = number ? atoi(argv[2]) : 0;
    char **command = argv + (number ? 3 : 1);
    struct rlimit cores = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_CORE, &cores);
    if (pipe(ends) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        if (number)
            dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(command[0], command);
        _exit(127);
    }
    close(ends[1]);
    if (number)
        send_later(child, ends[0], number, milliseconds);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    if (WIFSIGNALED(status))
        printf("signal %d%s\n", WTERMSIG(status), WCOREDUMP(status) ? ", core" : "");
    else
        printf("status %d\n", WEXITSTATUS(status));
    return 0;
}
