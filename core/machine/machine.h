/* A machine description: what a machine file (machines/NAME.conf) says. */
#ifndef PM_MACHINE_H
#define PM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/structure/structure.h"
#include "core/base/base.h"

enum { PM_MACHINE_MAX_UNITS = 64 };

enum pm_level_kind { PM_LEVEL_CACHE = 0, PM_LEVEL_TLB = 1 };

/* X (enumerator, word in machine files).  Of each list the first is what a file means that says
   nothing. */
#define PM_REPLACEMENTS(X)                                                                         \
    X(PM_REPLACEMENT_LRU, "lru")                                                                   \
    X(PM_REPLACEMENT_PLRU, "plru") /* a binary tree of bits that point away from what was used */  \
    X(PM_REPLACEMENT_FIFO, "fifo")                                                                 \
    X(PM_REPLACEMENT_RANDOM, "random")

/* Which address says the set.  Above the page offset the bits of a physical one are not known. */
#define PM_INDEXINGS(X)                                                                            \
    X(PM_INDEXED_VIRTUAL, "virtual")                                                               \
    X(PM_INDEXED_PHYSICAL, "physical")

/* What a cache holds of the blocks that a cache nearer the core holds: whatever its own misses and
   evictions left there, all, or none. */
#define PM_INCLUSIONS(X)                                                                           \
    X(PM_INCLUSION_NEITHER, "neither")                                                             \
    X(PM_INCLUSION_INCLUSIVE, "inclusive")                                                         \
    X(PM_INCLUSION_EXCLUSIVE, "exclusive")

/* When a store reaches the next level: when its block is replaced, or at once. */
#define PM_WRITE_POLICIES(X)                                                                       \
    X(PM_WRITE_BACK, "back")                                                                       \
    X(PM_WRITE_THROUGH, "through")

#define PM_LEVEL_ENUM(id, word) id,
enum pm_replacement { PM_REPLACEMENTS(PM_LEVEL_ENUM) };
enum pm_indexing { PM_INDEXINGS(PM_LEVEL_ENUM) };
enum pm_inclusion { PM_INCLUSIONS(PM_LEVEL_ENUM) };
enum pm_write_policy { PM_WRITE_POLICIES(PM_LEVEL_ENUM) };
#undef PM_LEVEL_ENUM

/* A level of the memory hierarchy seen from the core.  The penalty of a miss is paid on top of the
   access time of the level itself: cycles = misses · miss_penalty_cycles · exposed (Marin &
   Mellor-Crummey 2004, section 3.2). */
struct pm_level {
    char *name; /* "L1", "L2", "TLB" */
    uint8_t kind;
    uint64_t size_bytes;    /* a TLB: entries · bytes that an entry maps */
    uint64_t block_bytes;   /* line; a TLB: bytes that an entry maps */
    uint32_t associativity; /* 0: fully */
    enum pm_replacement replacement;
    bool unified;                /* it holds code, too */
    enum pm_indexing indexed;    /* from here to write_allocate: caches only */
    enum pm_inclusion inclusion; /* towards the caches nearer the core */
    enum pm_write_policy write;
    bool write_allocate;   /* a store that misses brings the block in */
    double latency_cycles; /* of a hit, for people and for dependence chains through L1 */
    double miss_penalty_cycles;
    double exposed;     /* share of the penalty that the core cannot hide, 0…1 */
    uint32_t shared_by; /* cores; 1 private */
    bool verified;
};

/* An execution unit. */
struct pm_unit {
    char *name;
};

/* What one operation of a class (and width, where it matters) needs. */
struct pm_cost {
    enum pm_op_class op_class;
    uint32_t width_bits;    /* row applies to operations up to this width; 0: any */
    uint32_t element_bytes; /* 0: any */
    double latency_cycles;
    double repeat_cycles; /* cycles that the unit is busy: 1 = pipelined */
    uint64_t units;       /* bit set: any one of these executes it; 0 = no unit (free, renamed) */
    uint32_t operations;  /* how many such operations it splits into: a 256-bit add on a machine
                             of 128-bit units is 2; computed from max_width where the file has it */
    bool verified;
};

struct pm_machine {
    char *name;  /* file name without .conf */
    char *title; /* "SGI Origin 2000 (R12000, 300 MHz)" */
    char *path;
    double clock_hz;
    double issue_width;         /* operations that can issue in a cycle */
    uint32_t vector_width_bits; /* widest operation; wider ones are split */
    bool out_of_order;
    bool fuses_memory; /* a load that feeds an operation of the same instruction costs no issue slot
                        */
    bool has_fma;      /* without: an fma costs a multiplication and an addition */
    uint32_t window;   /* instructions in flight; 0 unknown */
    double store_forward_cycles; /* from a store's data to a load of the same place; 0 unknown */
    double memory_bandwidth_bytes_per_cycle; /* of one core; 0 unknown: no bandwidth bound */
    size_t n_units;
    struct pm_unit units[PM_MACHINE_MAX_UNITS];
    size_t n_costs;
    struct pm_cost *costs;
    size_t n_levels;
    struct pm_level *levels; /* caches from the core outwards, then TLBs */
    size_t n_not_verified;   /* figures marked so in the file */
    char *sources;           /* where the numbers come from */
};

/* Reads a machine file (libconfuse).  A mistake gives one sentence with file and line. */
struct pm_machine *pm_machine_read(const char *path, struct pm_error *err);
void pm_machine_free(struct pm_machine *machine);

/* The words of a machine file. */
const char *pm_replacement_word(enum pm_replacement replacement);
const char *pm_indexing_word(enum pm_indexing indexing);
/* False if WORD, of LENGTH characters, is none. */
bool pm_replacement_of(const char *word, size_t length, enum pm_replacement *replacement);
bool pm_indexing_of(const char *word, size_t length, enum pm_indexing *indexing);

/* The row that applies to an operation, NULL when the file has none for its class: such operations
   are reported as unknown, not counted as free. */
const struct pm_cost *pm_machine_cost(const struct pm_machine *machine, enum pm_op_class op_class,
                                      uint32_t width_bits, uint32_t element_bytes);

/* How many blocks a level holds: a cache its lines, a TLB its entries. */
double pm_level_capacity_blocks(const struct pm_level *level);
/* How many sets these are in, 1 where the level is fully associative.  Need not be a power of two:
   the slices of a cache are as many as the cores. */
uint64_t pm_level_sets(const struct pm_level *level);
/* Whether hits and misses of the level, or in a set of it, hang on distances below 16. */
bool pm_level_needs_short_distances(const struct pm_level *level);
/* Index of the cache farthest from the core. */
size_t pm_last_cache(const struct pm_machine *machine);

#endif
