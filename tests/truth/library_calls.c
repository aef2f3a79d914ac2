/* A program that calls routines of the C library which access memory, and after each one a loop
   over single bytes that does the same, so that the accesses of both can be compared
   (check_called.c). All of them are in two pages at a fixed address, behind which nothing may be
   touched.

     library_calls ROUNDS [faults]

   With a second argument it then makes calls that fault, and jumps out of the handler.
   Build it with -O1 -fno-builtin -fno-tree-loop-distribute-patterns. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <wchar.h>

#define ARENA 0x10000000
enum { ARENA_BYTES = 8192, LONGEST = 300 };

static uint32_t state = 1;
static uint32_t below(uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)state * n >> 32);
}

#define SLOW static __attribute__((noinline))
SLOW void slow_copy(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}
SLOW void slow_fill(char *to, int value, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = (char)value;
}
SLOW int slow_compare(const unsigned char *a, const unsigned char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int difference = a[i] - b[i];
        if (difference)
            return difference;
    }
    return 0;
}
SLOW size_t slow_until_equal(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] == b[i])
            return n - i - 1;
    return 0;
}
/* valgrind does not know this instruction. */
SLOW size_t fast_until_equal(const char *a, const char *b, size_t n) {
    __asm__ volatile("repne cmpsb" : "+S"(a), "+D"(b), "+c"(n) : : "cc", "memory");
    return n;
}
/* A bit that lies up to 2^15 bytes away. */
SLOW int fast_bits(void *at, int64_t number) {
    int is_set;
    __asm__ volatile("xor %0, %0; btsq %2, %1; adc $0, %0"
                     : "=&r"(is_set), "+m"(*(uint64_t *)at)
                     : "r"(number)
                     : "cc", "memory");
    __asm__ volatile("btl %1, %0" : : "m"(*(uint32_t *)at), "r"((int)number) : "cc");
    __asm__ volatile("btrw %w1, %0" : "+m"(*(uint16_t *)at) : "r"((int)number) : "cc", "memory");
    return is_set;
}
SLOW int slow_bits(char *at, int64_t number) {
    volatile uint64_t *word = (uint64_t *)at + (number >> 6);
    volatile uint32_t *half = (uint32_t *)at + (number >> 5);
    volatile uint16_t *quarter = (uint16_t *)at + (number >> 4);
    uint64_t all = *word;
    *word = all | UINT64_C(1) << (number & 63);
    (void)*half;
    uint16_t some = *quarter;
    *quarter = (uint16_t)(some & ~(1u << (number & 15)));
    return all >> (number & 63) & 1;
}
SLOW int slow_compare_text(const unsigned char *a, const unsigned char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = a[i];
        int difference = c - b[i];
        if (difference || !c)
            return difference;
    }
    return 0;
}
SLOW size_t slow_find(const unsigned char *in, int value, int other, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = in[i];
        if (c == value || c == other)
            return i;
    }
    return n;
}
SLOW size_t slow_find_last(const unsigned char *in, int value, size_t n) {
    while (n > 0 && in[n - 1] != value)
        n--;
    return n;
}
SLOW void slow_copy_text(char *to, const char *from, size_t n, int fills) {
    for (size_t i = 0; i < n; i++) {
        char c = from[i];
        to[i] = c;
        if (!c) {
            for (i++; fills && i < n; i++)
                to[i] = 0;
            return;
        }
    }
}
SLOW void slow_append(char *to, const char *from, size_t n) {
    while (*to)
        to++;
    for (size_t i = 0; i < n; i++) {
        char c = from[i];
        to[i] = c;
        if (!c)
            return;
    }
    to[n] = 0;
}

/* In the place of a return. */
static __attribute__((noinline)) void *copy_last(void *to, const void *from, size_t n) {
    return memcpy(to, from, n);
}
static __attribute__((noinline)) size_t length_last(const char *text) { return strlen(text + 1); }

/* Two places that do not overlap; the second may end where the arena does. */
static char *first, *second;
static size_t n;
static void choose(void) {
    char *arena = (char *)ARENA;
    n = below(LONGEST);
    first = arena + below(ARENA_BYTES / 2 - 2 * LONGEST);
    second = below(2) ? arena + ARENA_BYTES - n : arena + ARENA_BYTES / 2 + below(LONGEST);
}
static void choose_text(void) {
    choose();
    if (n == 0)
        n = 1, second = first + LONGEST;
    for (size_t i = 0; i < n; i++)
        first[i] = second[i] = (char)('a' + below(3));
    first[n - 1] = second[n - 1] = 0;
    if (n > 4 && below(2))
        first[below((uint32_t)n - 1)] = 'x';
}

static size_t blocks(void) {
    size_t sum = 0;
    choose(), memcpy(first, second, n), slow_copy(first, second, n);
    choose(), copy_last(second, first, n), slow_copy(second, first, n);
    choose(), memmove(second, first, n), slow_copy(second, first, n);
    choose(), sum += (size_t)((char *)mempcpy(first, second, n) - first);
    slow_copy(first, second, n);
    choose(), bcopy(first, second, n), slow_copy(second, first, n);
    choose(), wmemcpy((wchar_t *)first, (wchar_t *)(first + LONGEST), n / 4);
    slow_copy(first, first + LONGEST, n / 4 * 4);
    choose(), memset(second, 'a' + (int)below(3), n), slow_fill(second, 0, n);
    choose(), bzero(second, n), slow_fill(second, 'b', n);
    choose(), explicit_bzero(first, n), slow_fill(first, 'c', n);
    choose_text();
    sum += (size_t)(memcmp(first, second, n) != 0);
    sum += (size_t)(slow_compare((void *)first, (void *)second, n) != 0);
    for (size_t i = 0; i < n; i++)
        second[i] = (char)(first[i] + (below(100) != 0));
    sum += fast_until_equal(first, second, n), sum += slow_until_equal(first, second, n);
    int64_t bit = (int64_t)below(8 * ARENA_BYTES - 64);
    char *middle = (char *)ARENA + ARENA_BYTES / 2;
    bit -= 4 * ARENA_BYTES;
    sum += (size_t)fast_bits(middle, bit), sum += (size_t)slow_bits(middle, bit);
    choose_text();
    sum += memchr(second, 'c', n) != NULL;
    sum += slow_find((void *)second, 'c', 'c', n);
    sum += memrchr(second, 'x', n) != NULL;
    sum += slow_find_last((void *)second, 'x', n);
    sum += memrchr(second, 'b', n) != NULL;
    sum += slow_find_last((void *)second, 'b', n);
    sum += rawmemchr(second, 0) != NULL;
    sum += slow_find((void *)second, 0, 0, n);
    return sum;
}

static size_t texts(void) {
    size_t sum = 0, some = below(LONGEST);
    choose_text();
    sum += strlen(second) + slow_find((void *)second, 0, 0, n);
    if (n > 1)
        sum += length_last(second) + slow_find((void *)(second + 1), 0, 0, n);
    sum += strnlen(second, some) + slow_find((void *)second, 0, 0, some);
    sum += strchr(second, 'c') != NULL;
    sum += slow_find((void *)second, 'c', 0, n);
    sum += (size_t)(strchrnul(second, 'x') - second);
    sum += slow_find((void *)second, 'x', 0, n);
    sum += strrchr(first, 'b') != NULL;
    sum += slow_find((void *)first, 0, 0, n);
    sum += (size_t)(strcmp(first, second) != 0);
    sum += (size_t)(slow_compare_text((void *)first, (void *)second, n) != 0);
    sum += (size_t)(strncmp(first, second, some) != 0);
    sum += (size_t)(slow_compare_text((void *)first, (void *)second, some) != 0);
    choose_text(), strcpy(first, second), slow_copy_text(first, second, n, 0);
    choose_text(), sum += (size_t)(stpcpy(first, second) - first);
    slow_copy_text(first, second, n, 0);
    choose_text(), strncpy(first, second, some), slow_copy_text(first, second, some, 1);
    choose_text(), first[n / 2] = 0, strcat(first, second);
    first[n / 2] = 0, slow_append(first, second, LONGEST);
    choose_text(), first[n / 2] = 0, strncat(first, second, some);
    first[n / 2] = 0, slow_append(first, second, some);
    return sum;
}

static sigjmp_buf way_out;
static void leave_fault(int number) {
    (void)number;
    siglongjmp(way_out, 1);
}
static size_t faults(void) {
    char *nowhere = (char *)ARENA + ARENA_BYTES;
    volatile size_t n_faults = 0;
    signal(SIGSEGV, leave_fault);
    for (volatile int i = 0; i < 200; i++) {
        if (sigsetjmp(way_out, 1))
            n_faults++;
        else if (i % 4 == 0)
            n_faults += 1000 * strlen(nowhere + i);
        else if (i % 4 == 1)
            memcpy(nowhere - i, nowhere - 8000, (size_t)-1 - (size_t)i);
        else if (i % 4 == 2)
            n_faults += 1000 * (size_t)strcmp(nowhere - i, nowhere - i);
        else
            strcpy(nowhere, "text");
        memset((char *)ARENA, 'z', ARENA_BYTES);
    }
    return n_faults;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    size_t sum = 0;
    if (mmap((void *)ARENA, ARENA_BYTES + 4096, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)ARENA ||
        mprotect((char *)ARENA + ARENA_BYTES, 4096, PROT_NONE) != 0) {
        perror("library_calls");
        return 1;
    }
    for (int i = 0; i < rounds; i++)
        sum += blocks() + texts();
    if (argc > 2)
        sum += faults();
    printf("%zu\n", sum);
    return 0;
}
