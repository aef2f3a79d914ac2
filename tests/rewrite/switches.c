/* Jump tables in several shapes: dense switches, a switch in a loop, two switches that share cases,
   computed goto with one dispatch and with one a label. */
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int dense(int x, int y) {
    switch (x) {
    case 0:
        return y + 1;
    case 1:
        return y * 3;
    case 2:
        return y - 7;
    case 3:
        return y ^ 55;
    case 4:
        return y / 3;
    case 5:
        return y % 11;
    case 6:
        return y << 2;
    case 7:
        return -y;
    case 8:
        puts("eight");
        return 0;
    case 9:
        y += 3; /* fall through */
    case 10:
        return y & 0xff;
    default:
        return 99;
    }
}

__attribute__((noinline)) static int letters(const char *text) {
    int n = 0;
    for (; *text; text++)
        switch (*text) {
        case 'a':
            n += 1;
            break;
        case 'b':
            n += 3;
            break;
        case 'c':
            n ^= 5;
            break;
        case 'd':
            n *= 2;
            break;
        case 'e':
            n--;
            break;
        case 'f':
            n += dense(n & 15, n);
            break;
        case 'g':
            return n;
        default:
            n += 100;
        }
    return n;
}

/* Every label has its own dispatch: jumps and labels form a complete bipartite graph. */
__attribute__((noinline)) static long interpret(const unsigned char *code, long n) {
    // cppcheck-suppress syntaxError
    static const void *const labels[] = {&&stop, &&add, &&twice, &&flip, &&loop, &&skip};
    long value = 1;
    const unsigned char *at = code;
#define NEXT goto *labels[*at++]
    NEXT;
add:
    value += 5;
    NEXT;
twice:
    value *= 2;
    value &= 0xffffff;
    NEXT;
flip:
    value ^= 9;
    NEXT;
skip:
    at += value & 1;
    NEXT;
loop:
    if (--n > 0)
        at = code;
    NEXT;
stop:
    return value;
}

__attribute__((noinline)) static int shared_cases(int x, int y) {
    int result = 0;
    switch (x) {
    case 0:
    case 3:
        goto common;
    case 1:
        result = 10;
        break;
    case 2:
        result = 20;
        break;
    case 4:
        result = 40;
        break;
    case 5:
        return -1;
    }
    switch (y) {
    case 0:
        result += 1;
        break;
    case 1:
    common:
        result += 2;
        break;
    case 2:
        result *= 3;
        break;
    case 3:
        result -= 4;
        break;
    case 4:
        result ^= 5;
        break;
    }
    return result;
}

int main(void) {
    long sum = 0;
    for (int round = 0; round < 50; round++)
        for (int x = -2; x < 14; x++)
            sum += dense(x == 8 && round ? 7 : x, round + x);
    printf("dense %ld, letters %d\n", sum, letters("abcdefzzfabcdeffcbag"));
    static const unsigned char code[] = {1, 2, 5, 3, 1, 5, 2, 3, 4, 0};
    printf("interpret %ld %ld\n", interpret(code, 1), interpret(code, 1000));
    for (int x = -1; x < 7; x++)
        for (int y = -1; y < 6; y++)
            sum = 31 * sum + shared_cases(x, y);
    printf("shared %ld\n", sum);
    return 0;
}
