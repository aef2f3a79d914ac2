/* `sums N [HOW]`: a little work at size N, and how it ends after that: nothing, `child` (it
   waits for one that sleeps for $NAP seconds), `ever`, a signal's number, or `slowly` (it takes N
   tenths of a second). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double values[100000];

static double work(long n) {
    double sum = 0;
    for (long i = 0; i < n * 1000; i++) {
        values[(i * 7) % 100000] += (double)i;
        sum += values[i % 100000];
    }
    return sum;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1;
    const char *how = argc > 2 ? argv[2] : "";
    printf("%g\n", work(n));
    fflush(stdout);
    if (strcmp(how, "slowly") == 0)
        usleep((useconds_t)n * 100000);
    else if (strcmp(how, "child") == 0)
        execl("/bin/sh", "sh", "-c", "sleep $NAP & wait", (char *)NULL);
    else if (strcmp(how, "ever") == 0)
        for (;;)
            work(n);
    else if (atoi(how))
        raise(atoi(how));
    return 0;
}
