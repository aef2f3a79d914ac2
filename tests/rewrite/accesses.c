/* Accesses whose addresses are known: each is announced on standard output byte by byte, then made.
   A handler (access_handler.c) writes what was recorded in the arena in the same form.  Only the
   functions named access_… touch the arena. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

uint8_t arena[65536] __attribute__((aligned(4096)));

static void announce(char kind, const void *address, size_t n_bytes) {
    for (size_t i = 0; i < n_bytes; i++)
        printf("%c %zx\n", kind, (size_t)((const uint8_t *)address - arena) + i);
}

#define ACCESS static __attribute__((noinline, noipa))

ACCESS long access_load(const long *p, long i) { return p[i]; }
ACCESS void access_store(int *p, long i, int value) { p[i] = value; }
ACCESS void access_update(short *p) { *p += 3; }
ACCESS void access_copy(void *to, const void *from, size_t n) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
ACCESS void access_copy_down(uint64_t *to, const uint64_t *from, size_t n) {
    __asm__ volatile("std\n\trep movsq\n\tcld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
ACCESS void access_fill(uint32_t *to, size_t n) {
    __asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(7) : "memory");
}
/* All registers but %rsp hold something that is used afterwards, and so do the flags. */
ACCESS long access_crowded(long *p) {
    long result;
    __asm__ volatile("push %%rbp\n\t"
                     "mov $1, %%ebx; mov $2, %%ecx; mov $3, %%edx; mov $4, %%ebp; mov $5, %%edi\n\t"
                     "mov $6, %%r8d; mov $7, %%r9d; mov $8, %%r10d; mov $9, %%r11d\n\t"
                     "mov $10, %%r12d; mov $11, %%r13d; mov $12, %%r14d; mov $13, %%r15d\n\t"
                     "mov $0x7fffffffffffffff, %%rax; add $1, %%rax\n\t" /* overflow, sign */
                     "mov (%%rsi), %%rax\n\t"
                     "mov %%rax, 8(%%rsi)\n\t"
                     "mov $0, %%esi\n\t"
                     "seto %%sil\n\t"
                     "lea (%%rax,%%rsi,2), %%rax\n\t"
                     "adc $0, %%rax\n\t"
                     "add %%rbx, %%rax; add %%rcx, %%rax; add %%rdx, %%rax; add %%rbp, %%rax\n\t"
                     "add %%rdi, %%rax; add %%r8, %%rax; add %%r9, %%rax; add %%r10, %%rax\n\t"
                     "add %%r11, %%rax; add %%r12, %%rax; add %%r13, %%rax; add %%r14, %%rax\n\t"
                     "add %%r15, %%rax\n\t"
                     "pop %%rbp"
                     : "=a"(result), "+S"(p)
                     :
                     : "rbx", "rcx", "rdx", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "cc", "memory");
    return result;
}

__attribute__((target("avx2"), noinline, noipa)) static __m256i
access_gather(const int *base, __m256i index, __m256i mask) {
    return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), base, index, mask, 4);
}
__attribute__((target("avx2"), noinline, noipa)) static void
access_mask_store(double *p, __m256i mask, __m256d value) {
    _mm256_maskstore_pd(p, mask, value);
}
__attribute__((target("avx512f"), noinline, noipa)) static __m512 access_mask_load(const float *p,
                                                                                   __mmask16 mask) {
    return _mm512_maskz_loadu_ps(mask, p);
}
__attribute__((target("avx512bw"), noinline, noipa)) static void
access_mask_bytes(void *p, __mmask64 mask, __m512i value) {
    _mm512_mask_storeu_epi8(p, mask, value);
}
__attribute__((target("avx512f"), noinline, noipa)) static void
access_compress(double *p, __mmask8 mask, __m512d value) {
    _mm512_mask_compressstoreu_pd(p, mask, value);
}
__attribute__((target("avx512f"), noinline, noipa)) static __m512 access_expand(const float *p,
                                                                                __mmask16 mask) {
    return _mm512_maskz_expandloadu_ps(mask, p);
}
__attribute__((target("avx512f"), noinline, noipa)) static void
access_scatter(double *base, __m256i index, __mmask8 mask, __m512d value) {
    _mm512_mask_i32scatter_pd(base, mask, index, value, 8);
}
__attribute__((target("avx512f"), noinline, noipa)) static __m512d
access_gather_512(const double *base, __m512i index, __mmask8 mask) {
    return _mm512_mask_i64gather_pd(_mm512_setzero_pd(), mask, index, base, 8);
}

__attribute__((target("avx2"))) static long with_avx2(void) {
    int *ints = (int *)(arena + 8192);
    static const int places[8] = {5, 900, 17, 3, 4, 256, 31, 2};
    static const int on[8] = {-1, 0, -1, -1, 0, -1, 0, -1};
    for (int i = 0; i < 8; i++)
        if (on[i])
            announce('L', ints + places[i], 4);
    __m256i sum = access_gather(ints, _mm256_loadu_si256((const __m256i *)places),
                                _mm256_loadu_si256((const __m256i *)on));
    double *doubles = (void *)(arena + 16384 + 24);
    announce('S', doubles + 1, 8);
    announce('S', doubles + 3, 8);
    access_mask_store(doubles, _mm256_set_epi64x(-1, 0, -1, 0), _mm256_set1_pd(1.5));
    return _mm256_extract_epi32(sum, 0);
}

__attribute__((target("avx512bw"))) static long with_avx512(void) {
    float *floats = (void *)(arena + 20480);
    for (int i = 0; i < 16; i++)
        if (0xa5c3 >> i & 1)
            announce('L', floats + i, 4);
    __m512 loaded = access_mask_load(floats, 0xa5c3);
    for (int i = 0; i < 64; i++)
        if (UINT64_C(0x8000000170000003) >> i & 1)
            announce('S', arena + 24576 + i, 1);
    access_mask_bytes(arena + 24576, UINT64_C(0x8000000170000003), _mm512_set1_epi8(9));
    double *doubles = (void *)(arena + 28672);
    static const int places[8] = {40, 1, 90, 7, 8, 300, 2, 77};
    static const long long wide[8] = {4, 100, 9, 70, 80, 3, 20, 7};
    for (int i = 0; i < 4; i++) /* 0xc9 has four bits, 0x8421 too: packed from the address on */
        announce('S', doubles + 500 + i, 8);
    access_compress(doubles + 500, 0xc9, _mm512_set1_pd(3.5));
    for (int i = 0; i < 4; i++)
        announce('L', floats + 40 + i, 4);
    loaded = _mm512_add_ps(loaded, access_expand(floats + 40, 0x8421));
    access_compress(doubles + 500, 0, _mm512_set1_pd(3.5));
    for (int i = 0; i < 8; i++)
        if (0x5b >> i & 1)
            announce('S', doubles + places[i], 8);
    access_scatter(doubles, _mm256_loadu_si256((const __m256i *)places), 0x5b, _mm512_set1_pd(2.5));
    for (int i = 0; i < 8; i++)
        if (0xd2 >> i & 1)
            announce('L', doubles + wide[i], 8);
    __m512d gathered = access_gather_512(doubles, _mm512_loadu_si512(wide), 0xd2);
    return (long)_mm512_reduce_add_ps(loaded) + (long)_mm512_reduce_add_pd(gathered);
}

int main(void) {
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        announce('L', arena + 64 + 8 * i, 8);
        sum += access_load((const long *)(arena + 64), i);
        announce('S', arena + 128 + 4 * i, 4);
        access_store((int *)(arena + 128), i, 5);
        announce('B', arena + 256 + 2 * i, 2);
        access_update((short *)(arena + 256) + i);
    }
    announce('L', arena + 512, 13);
    announce('S', arena + 1024, 13);
    access_copy(arena + 1024, arena + 512, 13);
    access_copy(arena + 1024, arena + 512, 0);
    announce('S', arena + 2048, 5 * 4);
    access_fill((uint32_t *)(arena + 2048), 5);
    for (int i = 0; i < 4; i++)
        announce('L', arena + 3072 - 8 * i, 8);
    for (int i = 0; i < 4; i++)
        announce('S', arena + 4096 - 8 * i, 8);
    access_copy_down((uint64_t *)(arena + 4096), (uint64_t *)(arena + 3072), 4);
    announce('L', arena + 5000, 8);
    announce('S', arena + 5008, 8);
    sum += access_crowded((long *)(arena + 5000));
    if (__builtin_cpu_supports("avx2"))
        sum += with_avx2();
    if (__builtin_cpu_supports("avx512bw"))
        sum += with_avx512();
    fprintf(stderr, "sum %ld\n", sum);
    return 0;
}
