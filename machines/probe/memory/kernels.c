/* The loops that touch memory. */
#include <string.h>

#include "machines/probe/memory/private.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- chains ---------------------------------------------------------------------------------- */

/* K chains at a time.  The compiler keeps as many in registers as there are registers; the other
   chains take a few cycles more a step, which is little against a miss. */
#define FOLLOW(K)                                                                                  \
    static void follow_##K(void **starts, uint64_t steps) {                                        \
        void **at[K];                                                                              \
        for (int i = 0; i < K; i++)                                                                \
            at[i] = starts[i];                                                                     \
        for (; steps > 0; steps--) {                                                               \
            _Pragma("GCC unroll 64") for (int i = 0; i < K; i++) {                                 \
                at[i] = *at[i];                                                                    \
                __asm__ volatile("" : "+r"(at[i]));                                                \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < K; i++)                                                                \
            starts[i] = at[i];                                                                     \
    }
FOLLOW(1)
FOLLOW(2)
FOLLOW(4)
FOLLOW(6)
FOLLOW(8)
FOLLOW(10)
FOLLOW(12)
FOLLOW(16)
FOLLOW(20)
FOLLOW(24)
FOLLOW(32)
FOLLOW(48)
FOLLOW(64)

/* The word behind the link is written. */
static void follow_and_write(void **starts, uint64_t steps) {
    void **at = starts[0];
    for (; steps > 0; steps--) {
        void **next = *at;
        at[1] = (void *)steps;
        __asm__ volatile("" : "+r"(next) : : "memory");
        at = next;
    }
    starts[0] = at;
}

void pm_follow_chains(void **starts, unsigned chains, uint64_t steps, bool writes) {
    static const struct {
        unsigned chains;
        void (*follow)(void **starts, uint64_t steps);
    } known[] = {{1, follow_1},   {2, follow_2},   {4, follow_4},   {6, follow_6},
                 {8, follow_8},   {10, follow_10}, {12, follow_12}, {16, follow_16},
                 {20, follow_20}, {24, follow_24}, {32, follow_32}, {48, follow_48},
                 {64, follow_64}};
    if (writes) {
        follow_and_write(starts, steps);
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].chains == chains)
            known[i].follow(starts, steps);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Eight vectors a turn; BYTES is a multiple of 512.  Written as instructions, so that no compiler
   takes one for another. */
#define VECTOR_KERNELS(name, target_, move, reg, size)                                             \
    __attribute__((target(target_))) static void load_##name(const uint8_t *from,                  \
                                                             uint64_t bytes) {                     \
        for (const uint8_t *end = from + bytes; from < end; from += 8 * (size))                    \
            __asm__ volatile(move " (%0), %%" reg "0\n" move " %c1(%0), %%" reg "1\n" move         \
                                  " %c2(%0), %%" reg "2\n" move " %c3(%0), %%" reg "3\n" move      \
                                  " %c4(%0), %%" reg "4\n" move " %c5(%0), %%" reg "5\n" move      \
                                  " %c6(%0), %%" reg "6\n" move " %c7(%0), %%" reg "7\n"           \
                             :                                                                     \
                             : "r"(from), "i"(size), "i"(2 * (size)), "i"(3 * (size)),             \
                               "i"(4 * (size)), "i"(5 * (size)), "i"(6 * (size)), "i"(7 * (size))  \
                             : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");    \
    }                                                                                              \
    __attribute__((target(target_))) static void store_##name(uint8_t *to, uint64_t bytes) {       \
        for (const uint8_t *end = to + bytes; to < end; to += 8 * (size))                          \
            __asm__ volatile(move " %%" reg "0, (%0)\n" move " %%" reg "0, %c1(%0)\n" move         \
                                  " %%" reg "0, %c2(%0)\n" move " %%" reg "0, %c3(%0)\n" move      \
                                  " %%" reg "0, %c4(%0)\n" move " %%" reg "0, %c5(%0)\n" move      \
                                  " %%" reg "0, %c6(%0)\n" move " %%" reg "0, %c7(%0)\n"           \
                             :                                                                     \
                             : "r"(to), "i"(size), "i"(2 * (size)), "i"(3 * (size)),               \
                               "i"(4 * (size)), "i"(5 * (size)), "i"(6 * (size)), "i"(7 * (size))  \
                             : "memory");                                                          \
    }                                                                                              \
    __attribute__((target(target_))) static void copy_##name(uint8_t *to, const uint8_t *from,     \
                                                             uint64_t bytes) {                     \
        for (const uint8_t *end = from + bytes; from < end; from += 4 * (size), to += 4 * (size))  \
            __asm__ volatile(move " (%0), %%" reg "0\n" move " %c2(%0), %%" reg "1\n" move         \
                                  " %c3(%0), %%" reg "2\n" move " %c4(%0), %%" reg "3\n" move      \
                                  " %%" reg "0, (%1)\n" move " %%" reg "1, %c2(%1)\n" move         \
                                  " %%" reg "2, %c3(%1)\n" move " %%" reg "3, %c4(%1)\n"           \
                             :                                                                     \
                             : "r"(from), "r"(to), "i"(size), "i"(2 * (size)), "i"(3 * (size))     \
                             : "xmm0", "xmm1", "xmm2", "xmm3", "memory");                          \
    }
VECTOR_KERNELS(128, "sse2", "movups", "xmm", 16)
VECTOR_KERNELS(256, "avx", "vmovups", "ymm", 32)
VECTOR_KERNELS(512, "avx512f", "vmovups", "zmm", 64)

static void run_wide(enum pm_sweep_kind kind, uint8_t *buffer, uint8_t *other, uint64_t bytes) {
    bool avx512 = __builtin_cpu_supports("avx512f"), avx = __builtin_cpu_supports("avx");
    if (kind == PM_SWEEP_LOAD)
        avx512 ? load_512(buffer, bytes) : avx ? load_256(buffer, bytes) : load_128(buffer, bytes);
    else if (kind == PM_SWEEP_STORE)
        avx512 ? store_512(buffer, bytes)
        : avx  ? store_256(buffer, bytes)
               : store_128(buffer, bytes);
    else
        avx512 ? copy_512(other, buffer, bytes)
        : avx  ? copy_256(other, buffer, bytes)
               : copy_128(other, buffer, bytes);
    if (avx)
        __asm__ volatile("vzeroupper" : : : "memory");
}
#else
static void run_wide(enum pm_sweep_kind kind, uint8_t *buffer, uint8_t *other, uint64_t bytes) {
    if (kind == PM_SWEEP_COPY)
        memcpy(other, buffer, bytes);
    else
        memset(buffer, 0, bytes);
}
#endif

static inline void access_word(enum pm_sweep_kind kind, uint8_t *from, uint8_t *to) {
    uint64_t word;
    if (kind == PM_SWEEP_STORE)
        *(volatile uint64_t *)from = 1;
    else {
        word = *(volatile uint64_t *)from;
        if (kind == PM_SWEEP_COPY)
            *(volatile uint64_t *)to = word;
    }
}

static inline void run_strided(enum pm_sweep_kind kind, uint8_t *buffer, uint8_t *other,
                               uint64_t bytes, uint64_t stride) {
    uint64_t at = 0;
    for (; at + 7 * stride < bytes; at += 8 * stride)
        _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++) access_word(
            kind, buffer + at + (uint64_t)i * stride, other + at + (uint64_t)i * stride);
    for (; at < bytes; at += stride)
        access_word(kind, buffer + at, other + at);
}

/* As many accesses as there are words, but not more than those of a slice.  Four generators of
   numbers, so that none waits for another. */
static inline void run_random(enum pm_sweep_kind kind, uint8_t *buffer, uint8_t *other,
                              uint64_t bytes, uint64_t *random) {
    uint64_t words = bytes / 8, n = (bytes < PM_SWEEP_SLICE ? bytes : PM_SWEEP_SLICE) / 8, state[4];
    for (unsigned i = 0; i < 4; i++)
        state[i] = *random + i * 0x9E3779B97F4A7C15;
    for (uint64_t done = 0; done < n; done += 4)
        _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) {
            state[i] = state[i] * 6364136223846793005U + 1442695040888963407U;
            uint64_t word = (uint64_t)(((unsigned __int128)state[i] * words) >> 64);
            access_word(kind, buffer + 8 * word, other + 8 * word);
        }
    *random = state[0];
}

void pm_run_sweep(enum pm_sweep_kind kind, uint8_t *buffer, uint8_t *other, uint64_t bytes,
                  uint64_t stride_bytes, uint64_t *random) {
    if (stride_bytes == 8) {
        run_wide(kind, buffer, other, bytes / 512 * 512);
        return;
    }
    /* The kind is constant in each, so that the loops have no branch on it. */
    switch (kind) {
    case PM_SWEEP_LOAD:
        stride_bytes ? run_strided(PM_SWEEP_LOAD, buffer, other, bytes, stride_bytes)
                     : run_random(PM_SWEEP_LOAD, buffer, other, bytes, random);
        break;
    case PM_SWEEP_STORE:
        stride_bytes ? run_strided(PM_SWEEP_STORE, buffer, other, bytes, stride_bytes)
                     : run_random(PM_SWEEP_STORE, buffer, other, bytes, random);
        break;
    default:
        stride_bytes ? run_strided(PM_SWEEP_COPY, buffer, other, bytes, stride_bytes)
                     : run_random(PM_SWEEP_COPY, buffer, other, bytes, random);
    }
}
