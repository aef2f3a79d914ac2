/* Programs whose reuse patterns are known by hand; tests/e2e/carried.sh says which.  Every element
   of an array is a cache line, and every access is volatile, so that all levels of optimisation
   make the same accesses to the arrays.

     patterns 1|2|3|4|5 */
#include <pthread.h>
#include <setjmp.h>

#define APART __attribute__((noipa))
enum { N = 40, STEPS = 3, DEPTH = 4, ROWS = 6, COLUMNS = 10 };

struct line {
    volatile long value;
} __attribute__((aligned(64)));

struct line a[N], s[ROWS + 2][COLUMNS];

/* ---- two loops over one array, in a time loop of their caller -------------------------------- */

static APART long first(void) {
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += a[i].value;
    return sum;
}

static APART void second(long sum) {
    for (int i = 0; i < N; i++)
        a[i].value = sum;
}

static APART void two(void) {
    for (int t = 0; t < STEPS; t++)
        second(first());
}

/* ---- rows that the middle loop comes back to ------------------------------------------------- */

static APART long stencil(void) {
    long sum = 0;
    for (int i = 1; i <= ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum += s[i - 1][j].value + s[i][j].value + s[i + 1][j].value;
    return sum;
}

/* ---- a routine on the stack several times ---------------------------------------------------- */

static APART long recursion(int depth) {
    long sum = first();
    if (depth)
        sum += recursion(depth - 1);
    return sum + first();
}

/* ---- a loop that is left by a jump of its own ------------------------------------------------ */

static jmp_buf out;

static volatile int half = N / 2;

static APART long until_half(void) {
    long sum = 0;
    for (int i = 0; i < N; i++) {
        sum += a[i].value;
        if (i == half)
            longjmp(out, 1);
    }
    return sum;
}

static APART void jump(void) {
    for (volatile int t = 0; t < STEPS; t++)
        if (!setjmp(out))
            until_half();
}

/* ---- threads --------------------------------------------------------------------------------- */

static APART void *twice(void *unused) {
    first();
    first();
    return unused;
}

static APART void threads(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, twice, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv) {
    switch (argc > 1 ? *argv[1] : 0) {
    case '1':
        two();
        break;
    case '2':
        stencil();
        break;
    case '3':
        recursion(DEPTH);
        break;
    case '4':
        jump();
        break;
    case '5':
        threads();
        break;
    default:
        return 2;
    }
    return 0;
}
