/* Parts of a run: how often each routine is called between markers or calls is plain from main. */
#include <stdio.h>

#ifdef MARKERS
#include <pmodel.h>
#else
#define pmodel_start()
#define pmodel_stop()
#endif

#define OUT_OF_LINE __attribute__((noinline, noclone))

static volatile int sink;

OUT_OF_LINE static void helper(int n) {
    for (int i = 0; i < n; i++)
        sink += i;
}

OUT_OF_LINE static void set_up(void) {
    helper(7);
    helper(7);
    helper(7);
}

OUT_OF_LINE static void work(int depth) {
    helper(5);
    helper(4);
    if (depth)
        work(depth - 1);
    sink++;
}

OUT_OF_LINE static void first(void) {
    helper(1);
    sink++;
}

OUT_OF_LINE static void last(void) {
    helper(2);
    sink++;
}

OUT_OF_LINE static void finish(void) {
    helper(9);
    helper(9);
}

OUT_OF_LINE static void in_parallel(int n) {
#pragma omp parallel for schedule(static, 1) num_threads(4)
    for (int i = 0; i < n; i++)
        helper(0);
}

int main(void) {
    pmodel_stop();
    set_up();
    in_parallel(40);
    pmodel_start();
    for (int i = 0; i < 4; i++)
        work(i % 2); /* 6 activations, 12 times helper */
    pmodel_stop();
    for (int i = 0; i < 3; i++) {
        first();
        in_parallel(100);
        last();
    }
    pmodel_start();
    finish();
    printf("%d\n", sink);
}
