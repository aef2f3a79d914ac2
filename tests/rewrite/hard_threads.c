/* Threads in every form: thousands of short ones, detached, cancelled, C11's, with destructors, and
   made by clone with a stack of their own; OpenMP regions in each other, tasks; contexts that are
   switched by hand. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

/* Enough live values that every register is taken. */
__attribute__((noinline)) static uint64_t mix(uint64_t seed, int n) {
    uint64_t a[64], x = seed, y = 2, z = 3, w = 4, u = 5, v = 6, q = 7, r = 8, s = 9;
    for (int i = 0; i < 64; i++)
        a[i] = seed * (uint64_t)(i + 1);
    for (int i = 0; i < n; i++) {
        x += a[i & 63];
        y ^= x + a[(i + 1) & 63];
        z += y * 3;
        w ^= z >> 3;
        u += w + a[(i + 2) & 63];
        v ^= u << 1;
        q += v;
        r ^= q + a[(i + 3) & 63];
        s += r;
        x ^= s >> 5;
        a[i & 63] += x;
    }
    return x + y + z + w + u + v + q + r + s;
}

static void *work(void *seed) { return (void *)(uintptr_t)mix((uintptr_t)seed, 300); }

static void short_threads(void) {
    uint64_t sum = 0;
    for (uintptr_t i = 0; i < 2000; i += 4) {
        pthread_t threads[4];
        for (uintptr_t k = 0; k < 4; k++)
            if (pthread_create(&threads[k], NULL, work, (void *)(i + k)) != 0)
                puts("pthread_create failed");
        for (int k = 0; k < 4; k++) {
            void *result;
            pthread_join(threads[k], &result);
            sum += (uintptr_t)result;
        }
    }
    printf("short %016llx\n", (unsigned long long)sum);
}

static int n_detached;
static void *detached(void *seed) {
    void *result = work(seed);
    __atomic_fetch_add(&n_detached, result != NULL, __ATOMIC_RELEASE);
    return NULL;
}
static void detached_threads(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (uintptr_t i = 1; i <= 100; i++) {
        pthread_t thread;
        while (pthread_create(&thread, &attributes, detached, (void *)i) == EAGAIN)
            usleep(1000);
    }
    while (__atomic_load_n(&n_detached, __ATOMIC_ACQUIRE) < 100)
        usleep(1000);
    puts("detached 100");
}

static int n_cleaned;
static void clean(void *seed) { n_cleaned += mix((uintptr_t)seed, 10) != 0; }
static void *cancelled(void *asynchronous) {
    int old;
    pthread_cleanup_push(clean, (void *)1);
    if (asynchronous)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;) {
        mix(3, 100);
        if (!asynchronous)
            pthread_testcancel();
    }
    pthread_cleanup_pop(1);
    return NULL;
}
static void cancelled_threads(void) {
    for (uintptr_t i = 0; i < 6; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, cancelled, (void *)(i % 2));
        usleep(5000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        n_cleaned += result == PTHREAD_CANCELED;
    }
    printf("cancelled %d\n", n_cleaned);
}

static pthread_key_t key;
static _Thread_local long count;
static long destroyed;
static void destroy(void *value) {
    destroyed += (long)(mix((uintptr_t)value, 20) != 0) + count;
    if ((uintptr_t)value > 1)
        pthread_setspecific(key, (void *)((uintptr_t)value - 1));
}
static int with_key(void *value) {
    pthread_setspecific(key, value);
    for (int i = 0; i < 5; i++)
        count += i;
    thrd_exit((int)count);
}
static void c11_threads(void) {
    int sum = 0;
    pthread_key_create(&key, destroy);
    for (uintptr_t i = 1; i <= 5; i++) {
        thrd_t thread;
        int result = 0;
        thrd_create(&thread, with_key, (void *)i);
        thrd_join(thread, &result);
        sum += result;
    }
    printf("C11 %d, destroyed %ld\n", sum, destroyed);
}

/* ---- clone ----------------------------------------------------------------------------------- */

static int running[3];
static uint64_t results[3];
static int cloned(void *which) {
    results[(uintptr_t)which] = mix((uintptr_t)which + 5, 400000);
    return 0;
}
static void wait_until_gone(int *word) {
    int value;
    while ((value = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != 0)
        syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}
static void clones(void) {
    enum { STACK = 1 << 18 };
    /* Threads of this process; they have our thread-local storage. */
    for (uintptr_t i = 0; i < 3; i++) {
        char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        running[i] = -1;
        if (clone(cloned, stack + STACK,
                  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                      CLONE_CHILD_CLEARTID,
                  (void *)i, NULL, NULL, &running[i]) < 0)
            puts("clone failed");
    }
    uint64_t mine = mix(99, 400000), sum = 0;
    for (int i = 0; i < 3; i++)
        wait_until_gone(&running[i]);
    for (int i = 0; i < 3; i++)
        sum ^= results[i];
    printf("clone %016llx %016llx\n", (unsigned long long)mine, (unsigned long long)sum);
    /* A process that shares our memory, and one that copies it. */
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status;
    results[0] = results[1] = 0;
    pid_t child = clone(cloned, stack + STACK, CLONE_VM | SIGCHLD, (void *)0);
    mine = mix(98, 200000);
    waitpid(child, &status, 0);
    printf("sharing %d, %d\n", WEXITSTATUS(status), results[0] != 0);
    child = clone(cloned, stack + STACK, SIGCHLD, (void *)1);
    waitpid(child, &status, 0);
    printf("copying %d, %d\n", WEXITSTATUS(status), results[1] != 0);
    munmap(stack, STACK);
}

/* ---- OpenMP ---------------------------------------------------------------------------------- */

static long fibonacci(int n) {
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static int private_value;
#pragma omp threadprivate(private_value)

static void regions(void) {
    long sum = 0, result = 0;
    omp_set_max_active_levels(3);
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
#pragma omp parallel for num_threads(2) reduction(+ : sum) schedule(dynamic, 3)
        for (int i = 0; i < 200; i++)
            sum += (long)(mix((uint64_t)i, 10) & 0xff);
    }
#pragma omp parallel num_threads(4)
#pragma omp single
    result = fibonacci(14);
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        private_value = omp_get_thread_num();
#pragma omp barrier
        sum += private_value;
#pragma omp critical
        sum += (long)(mix(7, 5) & 1);
    }
    printf("OpenMP %ld %ld\n", sum, result);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static ucontext_t caller, generators[3];
static long generated[3];
static void generate(int which) {
    for (long i = 0;; i++) {
        generated[which] = (long)(mix((uint64_t)(which + i), 30) & 0xffff);
        swapcontext(&generators[which], &caller);
    }
}
static void contexts(void) {
    enum { STACK = 1 << 16 };
    static char stacks[3][STACK];
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        getcontext(&generators[i]);
        generators[i].uc_stack.ss_sp = stacks[i];
        generators[i].uc_stack.ss_size = STACK;
        generators[i].uc_link = NULL;
        makecontext(&generators[i], (void (*)(void))generate, 1, i);
    }
    for (int round = 0; round < 300; round++)
        for (int i = 0; i < 3; i++) {
            swapcontext(&caller, &generators[i]);
            sum += generated[i];
        }
    printf("contexts %ld\n", sum);
}

int main(void) {
    short_threads();
    detached_threads();
    cancelled_threads();
    c11_threads();
    clones();
    regions();
    contexts();
    return 0;
}
