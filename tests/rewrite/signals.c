/* Signal handlers that run instrumented code at any instruction, and one that leaves by siglongjmp.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile long n_signals;
static long table[64];
static sigjmp_buf back;
static volatile int jumps;

static void on_alarm(int signal) {
    long sum = 0;
    for (int i = 0; i < 64; i++) {
        table[i] += i ^ signal;
        sum += table[(i * 7) & 63];
    }
    n_signals += sum != 0;
}

static void on_user(int signal) {
    (void)signal;
    jumps++;
    siglongjmp(back, 1);
}

/* Enough live values that every register is taken. */
__attribute__((noinline)) static uint64_t mix(uint64_t *a, int n) {
    uint64_t x = 1, y = 2, z = 3, w = 4, u = 5, v = 6, q = 7, r = 8, s = 9;
    for (int i = 0; i < n; i++) {
        x += a[i & 255];
        y ^= x + a[(i + 1) & 255];
        z += y * 3;
        w ^= z >> 3;
        u += w + a[(i + 2) & 255];
        v ^= u << 1;
        q += v;
        r ^= q + a[(i + 3) & 255];
        s += r;
        x ^= s >> 5;
        a[i & 255] += x;
    }
    return x + y + z + w + u + v + q + r + s;
}

int main(int argc, char **argv) {
    static uint64_t numbers[256];
    struct itimerval interval = {{0, 100}, {0, 100}};
    (void)argv;
    for (unsigned i = 0; i < 256; i++)
        numbers[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    signal(SIGALRM, on_alarm);
    signal(SIGUSR1, on_user);
    if (argc < 2)
        setitimer(ITIMER_REAL, &interval, NULL);
    uint64_t sum = 0;
    for (int i = 0; i < 20; i++)
        sum += mix(numbers, 100000);
    memset(&interval, 0, sizeof interval);
    setitimer(ITIMER_REAL, &interval, NULL);
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(back, 1) == 0)
            raise(SIGUSR1);
    printf("%016llx, %d jumps, signals %s\n", (unsigned long long)sum, jumps,
           argc > 1 || n_signals > 0 ? "came" : "missing");
    return 0;
}
