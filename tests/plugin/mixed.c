/* Control flow that a marker of blocks could get wrong: a switch that becomes a table, computed
   goto, a cold part, a nested function, inline assembly, a volatile and a noreturn call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct particle {
    double position[3], mass;
    int kind;
};

static volatile int ticks;

static int classify(int x) {
    switch (x) {
    case 0:
        return puts("zero");
    case 1:
        return putchar('1');
    case 2:
        return rand();
    case 3:
        return -7;
    case 4:
        return puts("four");
    case 5:
        return abs(x - 99);
    case 6:
        return putchar('6');
    case 7:
        return 1234;
    default:
        return x;
    }
}

__attribute__((noinline)) int interpret(const unsigned char *code, int *stack) {
    // cppcheck-suppress syntaxError
    static void *const operations[] = {&&push, &&add, &&dup, &&stop};
    int top = 0;
    goto *operations[*code++];
push:
    stack[top++] = *code++;
    goto *operations[*code++];
add:
    top--;
    stack[top - 1] += stack[top];
    goto *operations[*code++];
dup:
    stack[top] = stack[top - 1];
    top++;
    goto *operations[*code++];
stop:
    return stack[top - 1];
}

__attribute__((cold, noreturn, noinline)) static void give_up(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(3);
}

__attribute__((noinline)) double centre(const struct particle *particles, int n) {
    double sum = 0, mass = 0;
    for (int i = 0; i < n; i++) {
        if (__builtin_expect(particles[i].mass <= 0, 0)) {
            fprintf(stderr, "particle %d of %d has mass %g\n", i, n, particles[i].mass);
            give_up("bad particle");
        }
        for (int axis = 0; axis < 3; axis++)
            sum += particles[i].position[axis] * particles[i].mass;
        mass += particles[i].mass;
    }
    return sum / mass;
}

__attribute__((noinline)) int with_nested(int *values, int n) {
    int total = 0;
    int by_value(const void *a, const void *b) {
        total++;
        return *(const int *)a - *(const int *)b;
    }
    qsort(values, n, sizeof values[0], by_value);
    return total > n ? values[0] : values[n - 1];
}

static unsigned add_with_assembly(unsigned a, unsigned *b) {
#ifdef __x86_64__
    __asm__ volatile("addl %1, %0" : "+m"(*b) : "r"(a) : "cc");
#else
    *b += a;
    __asm__ volatile("" : "+m"(*b));
#endif
    ticks++;
    return *b;
}

struct particle copy_of(const struct particle *particle) {
    return *particle;
}

int main(int argc, char **argv) {
    static struct particle particles[64];
    static const unsigned char code[] = {0, 5, 2, 1, 0, 7, 1, 3};
    int stack[16], values[33];
    unsigned sum = 0;
    for (int i = 0; i < 64; i++) {
        particles[i].mass = 1 + i % 3;
        particles[i].kind = classify(i % 11 + argc - 1);
    }
    for (int i = 0; i < 33; i++)
        values[i] = (i * 37) % 33;
    struct particle copy = copy_of(&particles[7]);
    memcpy(particles[9].position, copy.position, sizeof copy.position);
    printf("%d %g %d %u %s\n", interpret(code, stack), centre(particles, 64),
           with_nested(values, 33), add_with_assembly(2, &sum), argc > 1 ? argv[1] : "-");
    return 0;
}
