/* Code that is instrumented by hand, as the rewriter would do it: a probe header in a segment of
   its own (by_hand.sh puts section .pmprobe at BY_HAND_ADDRESS), counters and memory records in
   inline assembly.  One module; reference r is of group r, 8 bytes, a load, unless the table says
   else. */
#ifndef BY_HAND_H
#define BY_HAND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/probe_abi.h"

#define BY_HAND_ADDRESS 0x20000000ul
enum { N_COUNTERS = 16, N_REFERENCES = 18, N_TRAPS = 1 };

struct by_hand_segment {
    struct pm_probe_header header;
    struct pm_probe_reference references[N_REFERENCES];
    struct pm_probe_trap traps[N_TRAPS];
};

/* The addresses of a trap are in the assembly that defines these. */
extern char old_code[], new_code[], old_code_end[];

#define PLAIN(n) [n] = {.group = n, .size_bytes = 8, .access = 1, .kind = PM_ACCESS_PLAIN}
#define OTHER(n, k, bytes, count, width, factor, slots)                                            \
    [n] = {.group = n,                                                                             \
           .size_bytes = bytes,                                                                    \
           .access = 1,                                                                            \
           .kind = k,                                                                              \
           .elements = count,                                                                      \
           .index_bytes = width,                                                                   \
           .scale = factor,                                                                        \
           .payload_slots = slots}

enum { STRING = 8, SEARCH, MASK_K, MASK_V, GATHER_K, GATHER_V, STORE, BOTH, FROM, TO };

#define BY_HAND_SEGMENT                                                                            \
    __attribute__((section(".pmprobe"), used)) const struct by_hand_segment by_hand_segment =      \
        {                                                                                          \
            .header =                                                                              \
                {                                                                                  \
                    .magic = PM_PROBE_MAGIC,                                                       \
                    .version = PM_PROBE_VERSION,                                                   \
                    .header_bytes = sizeof(struct pm_probe_header),                                \
                    .structure_hash = 0x1234,                                                      \
                    .build_id = {1, 2, 3},                                                         \
                    .build_id_bytes = 3,                                                           \
                    .first_counter = 2,                                                            \
                    .n_counters = N_COUNTERS,                                                      \
                    .first_reference = 3,                                                          \
                    .n_references = N_REFERENCES,                                                  \
                    .n_groups = N_REFERENCES,                                                      \
                    .n_traps = N_TRAPS,                                                            \
                    .has_memory_records = 1,                                                       \
                    .references = offsetof(struct by_hand_segment, references),                    \
                    .traps = offsetof(struct by_hand_segment, traps),                              \
                    .old_text = (uint64_t)old_code,                                                \
                    .old_text_end = (uint64_t)old_code_end,                                        \
                    .header_address = BY_HAND_ADDRESS,                                             \
                },                                                                                 \
            .references =                                                                          \
                {                                                                                  \
                    PLAIN(0),                                                                      \
                    PLAIN(1),                                                                      \
                    PLAIN(2),                                                                      \
                    PLAIN(3),                                                                      \
                    PLAIN(4),                                                                      \
                    PLAIN(5),                                                                      \
                    PLAIN(6),                                                                      \
                    PLAIN(7),                                                                      \
                    OTHER(STRING, PM_ACCESS_STRING, 8, 0, 0, 0, 1),                                \
                    [SEARCH] = {.group = SEARCH,                                                   \
                                .size_bytes = 1,                                                   \
                                .access = 1,                                                       \
                                .kind = PM_ACCESS_STRING,                                          \
                                .payload_slots = 1,                                                \
                                .takes_turns = 1},                                                 \
                    OTHER(MASK_K, PM_ACCESS_MASK_K, 8, 8, 0, 0, 1),                                \
                    OTHER(MASK_V, PM_ACCESS_MASK_V, 8, 4, 0, 0, 2),                                \
                    OTHER(GATHER_K, PM_ACCESS_GATHER_K, 8, 8, 8, 8, 5),                            \
                    OTHER(GATHER_V, PM_ACCESS_GATHER_V, 8, 4, 4, 8, 4),                            \
                    [STORE] = {.group = STORE, .size_bytes = 8, .access = 2},                      \
                    [BOTH] = {.group = BOTH, .size_bytes = 8, .access = 3},                        \
                    [FROM] = {.group = FROM,                                                       \
                              .size_bytes = 8,                                                     \
                              .access = 1,                                                         \
                              .kind = PM_ACCESS_STRING,                                            \
                              .payload_slots = 1,                                                  \
                              .takes_turns = 1},                                                   \
                    [TO] = {.group = TO,                                                           \
                            .size_bytes = 8,                                                       \
                            .access = 2,                                                           \
                            .kind = PM_ACCESS_STRING,                                              \
                            .payload_slots = 1},                                                   \
                },                                                                                 \
            .traps = {{(uint64_t)old_code, (uint64_t)new_code}},                                   \
    }

/* Counter n of the module. */
#define COUNT(n)                                                                                   \
    __asm__ volatile("incq %%gs:%c0" : : "i"(PM_CB_COUNTERS + 8 * (2 + (n))) : "cc", "memory")

/* Room for N_SLOTS × 16 bytes: checks the limit as a basic block does, and bumps. */
static inline char *by_hand_take(size_t n_slots) {
    char *record;
    __asm__ volatile("movq %%gs:8, %0\n\t"
                     "cmpq %%gs:16, %0\n\t"
                     "jbe 1f\n\t"
                     "leaq 0f(%%rip), %0\n\t"
                     "movq %0, %%gs:96\n\t"
                     "jmp *%%gs:88\n"
                     "0:\tmovq %%gs:8, %0\n"
                     "1:\taddq %1, %%gs:8"
                     : "=&r"(record)
                     : "r"(16 * n_slots)
                     : "cc", "memory");
    return record;
}

static inline void by_hand_record(uint64_t address, uint64_t reference, const void *payload,
                                  size_t n_slots) {
    char *record = by_hand_take(1 + n_slots);
    struct pm_memory_record head = {3 + reference, address};
    memcpy(record, &head, sizeof head);
    if (n_slots)
        memcpy(record + sizeof head, payload, 16 * n_slots);
}

static inline void touch(uint64_t address, uint64_t reference) {
    by_hand_record(address, reference, NULL, 0);
}

#endif
