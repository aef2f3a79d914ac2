/* A program that accesses memory in as many ways as instructions have, in arrays at fixed addresses
   (link it with -no-pie), so that two tools that watch it can be compared address by address:
   widths from 1 byte to 32, unaligned ones, read-modify-write, string instructions, indirect calls
   through memory, everything that moves the stack pointer, and, where there is AVX2, masked
   accesses and gathers.

     touch_memory SIZE */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { LARGEST = 1000 };
static double values[LARGEST + 8], sums[LARGEST + 8];
static int32_t places[LARGEST + 8];
static uint8_t bytes[LARGEST + 64];
static uint16_t halves[LARGEST + 8];
static uint64_t words[LARGEST + 8];

typedef double function(double);
static __attribute__((noinline)) double half(double x) { return x / 2; }
static __attribute__((noinline)) double twice(double x) { return x * 2; }
static function *functions[] = {half, twice, half};

static __attribute__((noinline)) void fill(int n) {
    for (int i = 0; i < n; i++) {
        values[i] = i * 0.5;
        places[i] = (int32_t)((uint32_t)i * 7919u % (uint32_t)n);
        bytes[i] = (uint8_t)i;
        halves[i] = (uint16_t)(i * 3);
    }
}

static __attribute__((noinline)) void gather_sums(int n) {
    for (int i = 0; i < n; i++)
        sums[i] += values[places[i]] * bytes[i] + halves[n - 1 - i];
}

static __attribute__((noinline)) void count(int n) {
    for (int i = 0; i < n; i++) {
        words[bytes[i] % 16]++;
        bytes[i] ^= 1;
        if (i % 3 == 0)
            halves[i] = (uint16_t)(halves[i] << 1);
    }
}

static __attribute__((noinline)) double unaligned(int n) {
    double sum = 0;
    for (int i = 0; i + 8 <= n; i += 3) {
        double piece;
        memcpy(&piece, bytes + i, sizeof piece);
        sum += piece > 0;
    }
    return sum;
}

static __attribute__((noinline)) double call_through_memory(int n) {
    double sum = 1;
    for (int i = 0; i < n; i++)
        sum = functions[i % 3](sum);
    return sum;
}

static __attribute__((noinline)) void strings(int n) {
    void *to = bytes, *to_words = sums;
    const void *from = values;
    unsigned long count_bytes = (unsigned long)n / 2, count_words = (unsigned long)n / 3, none = 0;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count_bytes) : "a"(5) : "memory");
    __asm__ volatile("rep movsq" : "+D"(to_words), "+S"(from), "+c"(count_words) : : "memory");
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(none) : "a"(6) : "memory");
    __asm__ volatile("movsl" : "+D"(to), "+S"(from) : : "memory");
}

/* String instructions that stop early, forwards and backwards. */
static __attribute__((noinline)) void compare_strings(int n) {
    for (int i = 0; i + 40 < n; i++) {
        const void *a = bytes + i, *b = bytes + 300 + i % 7, *in = words + i;
        unsigned long some = (unsigned long)(i % 40), all = 20, none = (unsigned long)(i % 2);
        bytes[300 + i % 7 + i % 33] = bytes[i + i % 33];
        __asm__ volatile("repe cmpsb" : "+S"(a), "+D"(b), "+c"(some) : : "cc", "memory");
        __asm__ volatile("repne scasq"
                         : "+D"(in), "+c"(all)
                         : "a"(words[i + i % 30])
                         : "cc", "memory");
        in = halves + i, all = 30;
        __asm__ volatile("repe scasw" : "+D"(in), "+c"(all) : "a"(-1) : "cc", "memory");
        a = bytes + i + 39, b = bytes + 339, all = 40;
        __asm__ volatile("std; repe cmpsb; cld" : "+S"(a), "+D"(b), "+c"(all) : : "cc", "memory");
        in = words + i + 20, all = (unsigned long)(i % 20);
        __asm__ volatile("std; repne scasl; cld" : "+D"(in), "+c"(all) : "a"(3) : "cc", "memory");
        __asm__ volatile("repe cmpsb" : "+S"(a), "+D"(b), "+c"(none) : : "cc", "memory");
        a = bytes + i + 20, b = bytes + 339, all = 10;
        __asm__ volatile("std; rep movsb; cld" : "+S"(a), "+D"(b), "+c"(all) : : "cc", "memory");
    }
}

static __attribute__((noinline)) void through_the_stack(int n) {
    for (int i = 0; i < n; i++)
        __asm__ volatile("lea -128(%%rsp), %%rsp; pushq %0; popq %1; lea 128(%%rsp), %%rsp"
                         : "+m"(words[i % 16]), "+m"(words[i])
                         :
                         : "memory");
}

/* On a stack of its own, whose addresses are fixed. */
static uint64_t stack[512];
void on_own_stack(uint64_t *end);
__asm__(".text\n.type on_own_stack, @function\non_own_stack:\n"
        "mov %rsp, %rax; mov %rdi, %rsp; push %rbp; push %rax\n"
        "pushq $7; pushw $3; pushq 2(%rsp); popq 2(%rsp); popw %cx; push %rsp\n"
        "pushf; popf; pop %rdx; pushq 8(%rsp); popq (%rsp); push %rcx; pop (%rdi)\n"
        "enter $40, $0; mov %rdx, -8(%rbp); leave\n"
        "lea takes_argument(%rip), %rcx; push %rcx; push %rcx; call *(%rsp); pop %rcx\n"
        "pushq %rcx; call takes_argument; sub $8, %rsp; mov %rsp, %rbp; leave; push %rax\n"
        "pop %rax; pop %rax; mov -16(%rdi), %rsp; mov -8(%rdi), %rbp; ret\n"
        ".size on_own_stack, . - on_own_stack\n"
        ".type takes_argument, @function\ntakes_argument: ret $8\n"
        ".size takes_argument, . - takes_argument\n");

static __attribute__((noinline)) void exchange(int n) {
    for (int i = 0; i < n; i++) {
        __atomic_fetch_add(&words[i], 3, __ATOMIC_SEQ_CST);
        __atomic_exchange_n(&places[i], i, __ATOMIC_SEQ_CST);
    }
}

#ifdef __AVX2__
static __attribute__((noinline)) void masked_and_gathered(int n) {
    __m256i lanes = _mm256_set_epi64x(3, 2, 1, 0);
    for (int i = 0; i < n; i += 4) {
        __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n - i - 1 - (i % 3)), lanes);
        __m256d some = _mm256_maskload_pd(values + i, mask);
        __m128i where = _mm_loadu_si128((const __m128i *)(places + i));
        __m256d far = _mm256_mask_i32gather_pd(some, values, where, _mm256_castsi256_pd(mask), 8);
        _mm256_maskstore_pd(sums + i, mask, _mm256_add_pd(some, far));
    }
}
#else
static void masked_and_gathered(int n) { (void)n; }
#endif

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 16 || n > LARGEST) {
        fprintf(stderr, "touch_memory: the size must be between 16 and %d\n", LARGEST);
        return 2;
    }
    fill(n);
    gather_sums(n);
    count(n);
    double sum = unaligned(n) + call_through_memory(n);
    masked_and_gathered(n);
    through_the_stack(n);
    for (int i = 0; i < n; i++)
        on_own_stack(stack + 256 + i % 8);
    exchange(n);
    strings(n);
    compare_strings(n);
    for (int i = 0; i < n; i++)
        sum += sums[i] + (double)words[i];
    printf("%.6g\n", sum);
    return 0;
}
