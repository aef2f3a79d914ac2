/* Ways out of loops and routines that no edge shows: longjmp into the same frame, into outer frames
   and out of recursion, and ways that leave several loops at once.  Prints "NAME entries" of what
   its own counts say; names of loops are the routine's with the loop's depth. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline, noclone))

static jmp_buf back;
static volatile int sink;
static unsigned n_same_1, n_same_2, n_deep, n_outer_1, n_outer_2, n_goto_1, n_goto_2, n_goto_3,
    n_late, n_even, n_odd;

/* Left by longjmp into its own frame, from its inner loop. */
OUT_OF_LINE static void same_frame(void) {
    volatile int round = 0;
    if (setjmp(back) == 0)
        sink++;
    if (round < 5) {
        round++;
        n_same_1++;
        for (int i = 0; i < 10; i++) {
            n_same_2++;
            for (int j = 0; j < 10; j++) {
                sink += j;
                if (i == 3 && j == round)
                    longjmp(back, 1);
            }
        }
    }
}

OUT_OF_LINE static void deep(int level) {
    n_deep++;
    for (int i = 0; i < 3; i++) {
        sink += i;
        if (level == 0 && i == 1)
            longjmp(back, 2);
        if (level > 0)
            deep(level - 1);
    }
    sink++;
}

/* Jumped back to from a recursion that it called in a loop. */
OUT_OF_LINE static void outer(void) {
    n_outer_1++;
    for (volatile int i = 0; i < 4; i++) {
        if (setjmp(back) == 0) {
            n_outer_2++;
            for (int j = 0; j < 3; j++)
                deep(j);
        }
        sink++;
    }
}

OUT_OF_LINE static int many_at_once(int n) {
    n_goto_1++;
    for (int i = 0; i < n; i++) {
        n_goto_2++;
        for (int j = 0; j < n; j++) {
            n_goto_3++;
            for (int k = 0; k < n; k++) {
                sink += k;
                if (i == 2 && j == 1 && k == 1)
                    return sink;
                if (k == 3)
                    goto next;
            }
        next:
            sink++;
        }
    }
    return 0;
}

/* Tail calls from one into the other. */
OUT_OF_LINE static int odd(int n);
OUT_OF_LINE static int even(int n) {
    n_even++;
    return n == 0 ? sink : odd(n - 1);
}
OUT_OF_LINE static int odd(int n) {
    n_odd++;
    return n == 0 ? -sink : even(n - 1);
}

OUT_OF_LINE static void leaves_for_good(void) {
    n_late++;
    for (int i = 0;; i++) {
        sink++;
        if (i == 7) {
            printf("same_frame/1 %u\nsame_frame/2 %u\ndeep %u\ndeep/1 %u\nouter/1 %u\nouter/2 %u\n"
                   "many_at_once %u\nmany_at_once/1 %u\nmany_at_once/2 %u\nmany_at_once/3 %u\n"
                   "even %u\nodd %u\nleaves_for_good/1 %u\n",
                   n_same_1, n_same_2, n_deep, n_deep, n_outer_1, n_outer_2, n_goto_1, n_goto_1,
                   n_goto_2, n_goto_3, n_even, n_odd, n_late);
            exit(0);
        }
    }
}

int main(void) {
    same_frame();
    outer();
    for (int i = 0; i < 6; i++)
        many_at_once(i);
    even(9);
    odd(4);
    leaves_for_good();
}
