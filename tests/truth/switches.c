/* Jump tables that are hard to read without symbols (strip it): entries that lead to the start of a
   cold part, in the middle of the table, and indices of 8 bits beyond 127.

     switches SIZE */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;

static __attribute__((noinline, cold)) void rare(unsigned value) { sink += value; }

static __attribute__((noinline)) unsigned with_cold_cases(unsigned which, unsigned value) {
    switch (which) {
    case 0:
        return value * 3;
    case 1:
        return value ^ sink;
    case 2:
        return value / 7;
    case 3:
        rare(value);
        return value + 1;
    case 4:
        return value << 2;
    case 5:
        rare(value + 2);
        return sink;
    case 6:
        return value % 13;
    case 7:
        return ~value;
    default:
        return value * sink + 11;
    }
}

#define CASE(n)                                                                                    \
    case n:                                                                                        \
        sink += value * (n);                                                                       \
        value ^= sink >> (n) % 7;                                                                  \
        break;
#define CASES(n) CASE(n) CASE(n + 1) CASE(n + 2) CASE(n + 3) CASE(n + 4) CASE(n + 5) CASE(n + 6)
static __attribute__((noinline)) unsigned with_narrow_index(const unsigned char *which,
                                                            unsigned n) {
    unsigned value = 1;
    for (unsigned i = 0; i < n; i++)
        switch (which[i]) {
            CASES(0)
            CASES(7)
            CASES(14)
            CASES(21)
            CASES(28)
            CASES(35)
            CASES(42)
            CASES(49)
            CASES(56)
            CASES(63)
            CASES(70)
            CASES(77)
            CASES(84)
            CASES(91)
            CASES(98)
            CASES(105)
            CASES(112)
            CASES(119)
            CASES(126)
        default:
            value++;
        }
    return value;
}

int main(int argc, char **argv) {
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0, sum = 0;
    static unsigned char which[10000];
    for (unsigned i = 0; i < n && i < sizeof which; i++) {
        which[i] = (unsigned char)(i * 37);
        sum += with_cold_cases(i % 9, i);
    }
    printf("%u\n", sum + with_narrow_index(which, n < sizeof which ? n : sizeof which));
    return 0;
}
