/* One program for all checks of the runtime: the first argument says what to do.
   tests/e2e/runtime.sh knows which counts and distances come out. */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "runtime/pmodel.h"
#include "tests/e2e/runtime/by_hand.h"

BY_HAND_SEGMENT;

/* The int3 stands for a jump to new_code, which the trap handler makes. */
__asm__(".text\n.globl call_old, old_code, old_code_end, new_code\n"
        "call_old: call old_code\n ret\n"
        "old_code: int3\n ud2\n"
        "old_code_end: nop\n"
        "new_code: movl $42, %eax\n ret\n");
int call_old(void);

enum { BLOCK = 64 };
static uint64_t block(uint64_t number) { return 0x7f0000000000 + number * BLOCK; }

/* ---- plain counting -------------------------------------------------------------------------- */

static int count_and_touch(void) {
    for (int i = 0; i < 1000; i++)
        COUNT(0);
    /* Twice over 100 blocks: 100 cold, 100 at distance 99. */
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < 100; i++)
            touch(block(i), 0);
    touch(block(99), STORE);     /* distance 0 */
    touch(block(98) + 60, BOTH); /* crosses into 99: load 1, store 0; load 1, store 0 */
    return 0;
}

static int many_records(void) {
    /* Ten buffers full: the slow path is taken, over 1000 blocks. */
    for (unsigned i = 0; i < 200000; i++)
        touch(block(i % 1000), 1);
    return 0;
}

static int payloads(void) {
    uint64_t string[2] = {64, 0}, backwards[2] = {64, 1 << 10}, search[2] = {1, 0};
    by_hand_record(block(0), STRING, string, 1);        /* blocks 0…7 */
    by_hand_record(block(8) - 8, STRING, backwards, 1); /* the same ones, downwards */
    by_hand_record(block(100), SEARCH, search, 1);      /* one byte */
    uint64_t mask_k[2] = {0xf3, 0};                     /* two runs */
    by_hand_record(block(200), MASK_K, mask_k, 1);      /* one block, twice */
    uint64_t mask_v[4] = {~0ul, 0, 0, ~0ul};
    by_hand_record(block(300) - 16, MASK_V, mask_v, 2); /* block 299, block 300 */
    uint64_t gather_k[10] = {0x81, 0, 0, 1, 2, 3, 4, 5, 6, (uint64_t)-8};
    by_hand_record(block(400), GATHER_K, gather_k, 5); /* block 400, block 399 */
    uint64_t gather_v[8] = {~0ul, ~0ul, 0, 0, (uint64_t)(uint32_t)-8 << 32 | 8};
    by_hand_record(block(500), GATHER_V, gather_v, 4); /* block 501, block 499 */
    return 0;
}

/* The two operands of a string instruction: blocks 0 100 1 101, then 101 1 100 0 where both go
 * down. */
static int turns(void) {
    uint64_t up[2] = {16, 0}, down[2] = {16, 1 << 10};
    by_hand_record(block(0), FROM, up, 1);
    by_hand_record(block(100), TO, up, 1);
    by_hand_record(block(102) - 8, FROM, down, 1); /* distances 0, 2 */
    by_hand_record(block(2) - 8, TO, down, 1);     /* distances 1, 3 */
    return 0;
}

/* ---- state ----------------------------------------------------------------------------------- */

/* Every register, flag, vector and control word must survive the slow path. */
static int state(void) {
    double values[8], after[8];
    int errors = 0;
    fesetround(FE_DOWNWARD);
    errno = 77;
    for (unsigned round = 0; round < 30000; round++) {
        for (unsigned i = 0; i < 8; i++)
            values[i] = round + i / 8.0;
        static const uint64_t expected[2] = {30, 0};
        uint64_t found[2] = {0, 0}; /* the sum, and how often a flag was wrong */
        __asm__ volatile("movupd (%2), %%xmm13\n movupd 16(%2), %%xmm1\n movl $11, %%r11d\n"
                         "movl $12, %%r12d\n movl $7, %%ecx\n std\n stc\n"
                         "movq %%gs:8, %%rsi\n cmpq %%gs:16, %%rsi\n jbe 1f\n"
                         "stc\n leaq 0f(%%rip), %%rsi\n movq %%rsi, %%gs:96\n jmp *%%gs:88\n"
                         "0: movq %%gs:8, %%rsi\n"
                         "jnc 3f\n"
                         "1: movq %%rsi, (%%rsi)\n movq $3, 8(%%rsi)\n addq $16, %%gs:8\n"
                         "jmp 4f\n 3: incq %1\n 4: pushfq\n popq %%rdx\n cld\n btl $10, %%edx\n"
                         "jc 2f\n incq %1\n 2: movupd %%xmm13, (%3)\n movupd %%xmm1, 16(%3)\n"
                         "leaq (%%r11,%%r12), %0\n addq %%rcx, %0\n"
                         : "=&r"(found[0]), "+&r"(found[1])
                         : "r"(values), "r"(after)
                         : "rsi", "rdx", "rcx", "r11", "r12", "xmm1", "xmm13", "cc", "memory");
        errors += memcmp(found, expected, 16) != 0 || memcmp(values, after, 32) != 0;
    }
    errors += fegetround() != FE_DOWNWARD || errno != 77;
    return errors != 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *work(void *argument) {
    for (long i = 0; i < (long)argument; i++)
        COUNT(1);
    for (unsigned i = 0; i < 10; i++)
        touch(block(i), 2);
    return argument;
}

static int c11_work(void *argument) { return work(argument) != NULL; }

static void *leave_early(void *argument) {
    work(argument);
    pthread_exit(NULL);
}

static int threads(void) {
    pthread_t ids[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, i == 3 ? leave_early : work, (void *)(1000 * (i + 1)));
    for (long i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
    thrd_t id;
    int result;
    thrd_create(&id, c11_work, (void *)5);
    thrd_join(id, &result);
    return 0;
}

/* ---- signals --------------------------------------------------------------------------------- */

static sigjmp_buf target;
static int depth;

static void handle(int number) {
    COUNT(2);
    touch(block(1), 3);
    if (number == SIGUSR1 && depth++ < 3)
        raise(SIGUSR1);
    if (number == SIGUSR2)
        siglongjmp(target, 1);
}

static int signals(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_NODEFER}, old;
    char *own = NULL, *now = NULL;
    __asm__("movq %%gs:0, %0" : "=r"(own));
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1); /* four deep */
    signal(SIGUSR2, handle);
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(target, 1) == 0)
            raise(SIGUSR2);
    __asm__("movq %%gs:0, %0" : "=r"(now));
    sigaction(SIGUSR1, NULL, &old);
    return own != now || old.sa_handler != handle || (old.sa_flags & SA_SIGINFO) != 0;
}

static int traps_of_program;
static void on_trap(int number) { traps_of_program += number == SIGTRAP; }

static int traps(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int moved = call_old();
    signal(SIGTRAP, on_trap);
    __asm__ volatile("int3"); /* not in the old text: the program's own */
    return !(moved == 42 && call_old() == 42 && traps_of_program == 1);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int fork_child(void) {
    count_and_touch();
    if (fork() == 0) {
        COUNT(3);
        touch(block(0), 4);
        exit(0);
    }
    wait(NULL);
    return 0;
}

static int vfork_child(void) {
    COUNT(4);
    if (vfork() == 0) {
        COUNT(4);
        _exit(0);
    }
    wait(NULL);
    return 0;
}

static int markers(void) {
    COUNT(5);
    touch(block(0), 5);
    pmodel_stop();
    for (unsigned i = 0; i < 50; i++) {
        COUNT(5);
        touch(block(1 + i), 5);
    }
    pmodel_start();
    COUNT(5);
    touch(block(0), 5); /* distance 0: the stopped part was not seen */
    return 0;
}

/* ---- ways out -------------------------------------------------------------------------------- */

static const char *own_name;

static int count_and_flush(void) {
    COUNT(6);
    return fflush(stdout);
}

static int by_exit_now(void) {
    count_and_flush();
    _exit(3);
}

static int by_quick_exit(void) {
    count_and_flush();
    quick_exit(4);
}

static int by_exec(void) {
    count_and_flush();
    execl("/nonexistent", "x", NULL);
    return execlp(own_name, own_name, "plain", NULL);
}

int main(int n_arguments, char **arguments) {
    static const struct {
        const char *name;
        int (*run)(void);
    } parts[] = {
        {"plain", count_and_touch},
        {"many", many_records},
        {"payloads", payloads},
        {"turns", turns},
        {"state", state},
        {"threads", threads},
        {"signals", signals},
        {"traps", traps},
        {"fork", fork_child},
        {"vfork", vfork_child},
        {"markers", markers},
        {"_exit", by_exit_now},
        {"quick_exit", by_quick_exit},
        {"exec", by_exec},
    };
    own_name = arguments[0];
    for (size_t i = 0; n_arguments > 1 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(arguments[1], parts[i].name) == 0) {
            puts(parts[i].name);
            return parts[i].run();
        }
    return 99;
}
