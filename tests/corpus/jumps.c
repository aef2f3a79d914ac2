/* Control flow that is not a loop or a switch: computed goto, Duff's device, tail calls straight
   and through pointers, calls that never return, cold parts, setjmp, labels in assembler text,
   nested functions, variable arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noipa, used))

KEEP long sink(long x) {
    static volatile long s;
    s += x;
    return s;
}

/* ---- computed goto ---- */

KEEP long interpret(const unsigned char *code) {
    static const void *const labels[] = {&&add, &&sub, &&mul, &&dup, &&jump, &&end};
    long a = 1, b = 2;
#define NEXT goto *labels[*code++]
    NEXT;
add:
    a += b;
    NEXT;
sub:
    a -= sink(b);
    NEXT;
mul:
    a *= b;
    NEXT;
dup:
    b = a;
    NEXT;
jump:
    code += *code;
    NEXT;
end:
    return a;
}

/* Labels as differences: no address is in the data. */
KEEP long interpret_differences(const unsigned char *code) {
    static const int labels[] = {&&one - &&one, &&two - &&one, &&three - &&one, &&end - &&one};
    long a = 1;
    goto *(&&one + labels[*code++]);
one:
    a += sink(1);
    goto *(&&one + labels[*code++]);
two:
    a ^= sink(2);
    goto *(&&one + labels[*code++]);
three:
    a *= 3;
    goto *(&&one + labels[*code++]);
end:
    return a;
}

/* Addresses of labels that a first call hands out, and a later one finds in its code. */
KEEP long threaded(const void **code, const unsigned char *numbers, int n) {
    static const void *const labels[] = {&&halve, &&negate, &&grow, &&end};
    long a = 100;
    if (numbers) {
        for (int i = 0; i < n; i++)
            code[i] = labels[numbers[i] & 3];
        return 0;
    }
    goto **code++;
halve:
    a /= 2 + (sink(a) & 1);
    goto **code++;
negate:
    a = -sink(a);
    goto **code++;
grow:
    a += sink(3) * a;
    goto **code++;
end:
    return a;
}

/* As in printf: a table of bytes gives the number of a label, others go to one label at once. */
KEEP long scan(const char *text) {
    static const unsigned char kinds[] = {1, 0, 2, 0, 0, 3, 0, 2, 1, 0, 0, 3, 4, 0, 0, 1};
    static const int labels[] = {&&other - &&other, &&plus - &&other, &&minus - &&other,
                                 &&times - &&other, &&end - &&other};
    long a = 1;
    unsigned c;
#define SCAN                                                                                       \
    c = (unsigned char)*text++ - 'a';                                                              \
    goto *(c < sizeof kinds ? &&other + labels[kinds[c]] : &&other)
    SCAN;
plus:
    a += sink(1);
    SCAN;
minus:
    a -= sink(2);
    SCAN;
times:
    a *= 3;
    SCAN;
other:
    if (text[-1] == 0)
        return a;
    a ^= sink(4);
    SCAN;
end:
    return a;
}

KEEP long choose_label(int k, long a) {
    void *to = k ? &&yes : &&no;
    a = sink(a);
    goto *to;
yes:
    return a + 1;
no:
    return a - 1;
}

/* ---- Duff ---- */

KEEP void duff(short *to, const short *from, int count) {
    int n = (count + 7) / 8;
    switch (count % 8) {
    case 0:
        do {
            *to++ = *from++;
        case 7:
            *to++ = *from++;
        case 6:
            *to++ = *from++;
        case 5:
            *to++ = *from++;
        case 4:
            *to++ = *from++;
        case 3:
            *to++ = *from++;
        case 2:
            *to++ = *from++;
        case 1:
            *to++ = *from++;
        } while (--n > 0);
    }
}

/* ---- tail calls ---- */

typedef long routine(long, long);
KEEP long tail_straight(long a, long b) { return sink(a + b); }
KEEP long tail_pointer(routine *f, long a, long b) { return f(b, a); }
struct methods {
    routine *first, *second;
    routine *table[8];
};
KEEP long tail_member(const struct methods *m, long a, long b) { return m->second(a, b); }
KEEP long tail_table(const struct methods *m, long a, long b) { return m->table[a & 7](a, b); }
KEEP long tail_with_frame(const struct methods *m, long a, long b) {
    long c = sink(a), d = sink(b), e = sink(c + d);
    if (e & 1)
        return m->first(c, d);
    return m->table[e & 7](d, c);
}
KEEP long tail_deep(const struct methods *m, long a, long b) {
    for (long i = 0; i < b; i++)
        a += sink(i);
    return a > b ? tail_with_frame(m, a, b) : tail_table(m, b, a);
}
KEEP long even(long n);
KEEP long odd(long n) { return n == 0 ? 0 : even(n - 1); }
KEEP long even(long n) { return n == 0 ? 1 : odd(n - 1); }
static long plus(long a, long b) { return a + b; }
static routine *volatile current = plus;
KEEP long tail_global(long a, long b) { return current(a, b); }

/* ---- never returns; cold ---- */

KEEP __attribute__((noreturn)) void die(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(3);
}
KEEP __attribute__((cold)) void complain(long x) { printf("complaint %ld\n", x); }
KEEP void *must_allocate(size_t n) {
    void *p = malloc(n);
    if (!p)
        die("no memory");
    return p;
}
static void stops_silently(long x) { exit((int)x); } /* the caller is not told */
KEEP long checks(long a, long b) {
    if (a > b)
        stops_silently(a);
    if (__builtin_expect(a == 17, 0)) {
        complain(a);
        for (long i = 0; i < b; i++)
            complain(i);
    }
    return sink(a);
}
KEEP long many_exits(long a) {
    if (a == 1)
        abort();
    if (a == 2)
        die("two");
    if (a == 3)
        __builtin_trap();
    if (a == 4)
        __builtin_unreachable();
    return sink(a);
}
KEEP long unreachable_default(int k) {
    switch (k) {
    case 0:
        return sink(1);
    case 1:
        return sink(2) + 1;
    case 2:
        return sink(4) * 3;
    case 3:
        return sink(5) - 9;
    case 4:
        return sink(6) ^ 7;
    case 5:
        return sink(8) << 1;
    default:
        __builtin_unreachable();
    }
}
KEEP long cold_cases(int k, long x) {
    switch (k) {
    case 0:
        return sink(x);
    case 1:
        complain(x);
        return 4;
    case 2:
        return sink(x + 1) * 2;
    case 3:
        complain(x + 3);
        return sink(7);
    case 4:
        return sink(x) - 3;
    case 5:
        complain(k);
        abort();
    case 6:
        return sink(x * 2);
    }
    return 0;
}
KEEP long likely_loop(const long *v, long n) {
    long s = 0;
    for (long i = 0; i < n; i++) {
        if (__builtin_expect(v[i] < 0, 0)) {
            complain(v[i]);
            continue;
        }
        if (__builtin_expect(v[i] > 1000000, 0))
            goto large;
        s += v[i];
    }
    return s;
large:
    complain(n);
    return -1;
}

/* ---- setjmp ---- */

static jmp_buf place;
KEEP void leap(long x) {
    if (x > 2)
        longjmp(place, (int)x);
}
KEEP long returns_twice(long n) {
    volatile long tries = 0;
    int how = setjmp(place);
    tries++;
    if (how > 5)
        return tries;
    for (long i = 0; i < n; i++)
        leap(i + how);
    return sink(tries);
}

/* ---- assembler text ---- */

KEEP long asm_branches(long n) {
    long a = 0;
    __asm__("1: add %1, %0\n\tdec %1\n\tjnz 1b" : "+r"(a), "+r"(n) : : "cc");
    return a;
}
KEEP long asm_skips(long n) {
    for (long i = 0; i < 3; i++)
        __asm__("test $1, %0\n\tjz 2f\n\tinc %0\n2:\tnop" : "+r"(n) : : "cc");
    return n;
}
KEEP long asm_goto(long n) {
    __asm__ goto("test %0, %0\n\tjs %l[negative]\n\tjz %l[zero]"
                 :
                 : "r"(n)
                 : "cc"
                 : negative, zero);
    return sink(n);
negative:
    return -1;
zero:
    return sink(0) + 5;
}

/* ---- nested functions, variable arguments, large frames ---- */

KEEP long apply(long (*f)(long), long x) { return f(x) + f(x + 1); }
KEEP long outer(long k) {
    __label__ out;
    long total = 0;
    long inner(long x) {
        total += x * k;
        if (total > 100)
            goto out;
        return total;
    }
    apply(inner, 3);
    return total;
out:
    return -total;
}
KEEP long sum_of(int n, ...) {
    va_list list;
    long s = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        s += i % 3 == 2 ? (long)va_arg(list, double) : va_arg(list, long);
    va_end(list);
    return s;
}
KEEP long large_frame(long n) {
    char buffer[30000];
    memset(buffer, (int)n, sizeof buffer);
    return sink(buffer[n]);
}
KEEP long variable_frame(long n) {
    long v[n];
    for (long i = 0; i < n; i++)
        v[i] = sink(i);
    return v[n / 2];
}
KEEP int words(const char *text) {
    static const char *const known[] = {"if", "else", "while", "for", "return"};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i]) == 0)
            return (int)i;
    return -1;
}
KEEP long spin(long n) {
    for (;;) {
        n = sink(n);
        if (n > 1000)
            break;
        if (n & 1)
            goto middle;
        sink(2);
    middle:
        sink(3);
    }
    return n;
}
/* Two entries to one cycle. */
KEEP long irreducible(long n) {
    if (n & 1)
        goto inside;
    do {
        sink(n);
    inside:
        n -= sink(1) & 3;
    } while (n > 0);
    return n;
}

int main(int argc, char **argv) {
    static const unsigned char code[] = {0, 1, 2, 3, 5}, steps[] = {0, 1, 2, 3};
    struct methods m = {plus, plus, {plus, plus, plus, plus, plus, plus, plus, plus}};
    short from[20] = {1, 2, 3}, to[20];
    long v[] = {1, 2, -3, 4}, s = interpret(code) + interpret_differences(steps);
    s += choose_label(argc, 4) + scan("abcdefghijklmnop~");
    const void *thread[5];
    threaded(thread, code, 4);
    s += threaded(thread, NULL, 0);
    duff(to, from, 20);
    s += tail_straight(1, 2) + tail_pointer(plus, 3, 4) + tail_member(&m, 1, 2);
    s += tail_table(&m, 2, 3) + tail_with_frame(&m, 2, 3) + tail_deep(&m, 2, 3) + even(6);
    s += tail_global(1, 2);
    free(must_allocate(10));
    s += checks(1, 20) + many_exits(9) + unreachable_default(argc) + cold_cases(argc, 3);
    s += likely_loop(v, 4) + returns_twice(5) + asm_branches(4) + asm_skips(3) + asm_goto(argc);
    s += outer(2) + sum_of(4, 1L, 2L, 3.0, 4L) + large_frame(argc) + variable_frame(6);
    s += words(argv[0]) + spin(3) + irreducible(5);
    return s == 42;
}
