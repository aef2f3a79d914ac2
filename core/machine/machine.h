/* A machine description: what a machine file (machines/NAME.conf) says. */
#ifndef PM_MACHINE_H
#define PM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/raw_file.h"
#include "core/structure/structure.h"
#include "core/base/base.h"
#include "core/shared_level/shared_level.h"

enum {
    PM_MACHINE_MAX_UNITS = 64,
    PM_MACHINE_MAX_DOMAINS = 16,
    PM_MOST_RESERVATIONS = 8, /* of one table */
    PM_MOST_FOREIGN = 4,
};

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

/* ---- trust ----------------------------------------------------------------------------------- */

/* What a section of a machine file says of its own figures.  Bit i stands for field i of the
   section's table (fields.c). */
struct pm_trust {
    uint64_t given;      /* in the file, not a default */
    uint64_t unverified; /* named by `not_verified` */
    char *source;        /* "[2] section 4"; NULL: the file says none */
    const char *path;
    int line; /* where the section ends in PATH; 0: from --set */
};

/* A figure that was measured, and between what it lies with 80% probability. */
struct pm_figure_interval {
    char *name;    /* "L2.latency" */
    double number; /* the figure itself, as the file has it */
    double low, high;
};

/* ---- levels ---------------------------------------------------------------------------------- */

/* A level of the memory hierarchy seen from the core.  The penalty of a miss is paid on top of the
   access time of the level itself: cycles = misses · miss_penalty_cycles · exposed (Marin &
   Mellor-Crummey 2004, section 3.2). */
struct pm_level {
    char *name; /* "L1", "L2", "TLB" */
    uint8_t kind;
    uint64_t size_bytes;    /* a TLB: entries · bytes that an entry maps */
    uint64_t block_bytes;   /* line; a TLB: bytes that an entry maps */
    uint64_t entries;       /* a TLB's */
    uint32_t associativity; /* 0: fully */
    enum pm_replacement replacement;
    bool unified;                /* it holds code, too */
    enum pm_indexing indexed;    /* from here to copy_bandwidth: caches only */
    enum pm_inclusion inclusion; /* towards the caches nearer the core */
    enum pm_write_policy write;
    bool write_allocate;   /* a store that misses brings the block in */
    double latency_cycles; /* of a hit, for people and for dependence chains through L1 */
    double read_bandwidth; /* bytes a cycle from this level towards the core; 0 unknown */
    double write_bandwidth, copy_bandwidth; /* a copy moves each byte twice */
    uint32_t shared_by;                     /* cores; 1 private */
    struct pm_response serves;  /* of a cache that neighbours use, too; no points: it is a step */
    uint64_t serves_size_bytes; /* that the level had when its response was given */
    uint32_t misses_in_flight;  /* of this level, outstanding at a time; 0 unknown */
    double miss_penalty_cycles;
    double exposed; /* share of the penalty that the core cannot hide, 0…1 */
    struct pm_trust trust;
};

/* What lies behind the last cache; 0 where it is not known.  Latencies are from load to use. */
struct pm_memory {
    double latency_cycles;       /* of a miss alone, its line clean everywhere */
    double latency_dirty_cycles; /* something has to be written back first */
    double back_to_back_cycles;  /* of each of many misses in a row */
    double restart_cycles;       /* until the core goes on: the first word has come */
    uint32_t misses_in_flight;
    /* 10⁹ bytes a second of one core, and of all cores of the socket: reads, writes, copies. */
    double bandwidth_gbs, bandwidth_all_gbs;
    double write_bandwidth_gbs, write_bandwidth_all_gbs;
    double copy_bandwidth_gbs, copy_bandwidth_all_gbs;
    struct pm_trust trust;
};

/* Hardware that fetches ahead of a stride. */
struct pm_prefetcher {
    char *name;
    char *level; /* that it brings blocks into */
    uint64_t min_stride_bytes, max_stride_bytes;
    uint32_t streams; /* that it follows at a time; 0 unknown */
    double covers;    /* the share of a stream's miss that it hides, 0…1; 0 unknown */
    bool crosses_pages, down;
    struct pm_trust trust;
};

/* ---- what operations cost -------------------------------------------------------------------- */

/* An execution unit. */
struct pm_unit {
    char *name, *does; /* DOES may be NULL */
    char *scheduler;   /* that operations are bound to at allocation; NULL: to none */
    struct pm_trust trust;
};

/* COUNT times any one of the units, each busy for `busy_cycles` from cycle `start` of the operation
   on. */
struct pm_reservation {
    uint64_t units; /* bit set */
    uint32_t count;
    double busy_cycles, start_cycle;
};

/* A reservation table: one way to execute an operation, which takes all of its reservations (Marin
   & Mellor-Crummey 2004, section 2.4). */
struct pm_reservation_table {
    size_t n_reservations;
    struct pm_reservation reservations[PM_MOST_RESERVATIONS];
};

/* What one operation of a class (and width, where it matters) needs; or an instruction, for all
   that it does beside its loads and stores. */
struct pm_cost {
    char *mnemonic; /* NULL: of a class */
    enum pm_op_class op_class;
    uint32_t width_bits;    /* row applies to operations up to this width; 0: any */
    uint32_t element_bytes; /* 0: any */
    double latency_cycles;
    double second_latency_cycles; /* from its second register; 0: as from the first */
    double merge_latency_cycles;  /* from a register that is also written; 0: as from the others */
    double repeat_cycles;  /* of a row with `units`: cycles that the unit is busy, 1 = pipelined */
    uint32_t operations;   /* how many such operations it is: a gather of four elements, 4 loads */
    double slots;          /* issue slots of one; 0: one */
    size_t n_alternatives; /* 0: no unit (free, renamed) */
    struct pm_reservation_table *alternatives; /* the operation is executed by any one of these */
    bool has_tables;                           /* written as `uses`, not as `units` */
    char *domain;                              /* NULL: none */
    struct pm_trust trust;
};

/* A dependence for which another latency counts than that of the row it comes from. */
struct pm_bypass {
    uint64_t from_classes, to_classes; /* bit sets of enum pm_op_class */
    uint32_t from_domains, to_domains; /* bit sets of machine->domains */
    bool is_extra;                     /* cycles are added, not in place */
    double latency_cycles, extra_cycles;
    struct pm_trust trust;
};

/* X (enumerator, word): what an operation of another ISA may have that this machine's instructions
   have not. */
#define PM_FOREIGNS(X)                                                                             \
    X(PM_FOREIGN_MEMORY_OPERAND, "memory_operand")   /* a load or store within an operation */     \
    X(PM_FOREIGN_INDEXED_ADDRESS, "indexed_address") /* of two registers */                        \
    X(PM_FOREIGN_PUSH, "push")   /* push, pop, call, return: the stack moves */                    \
    X(PM_FOREIGN_FLAGS, "flags") /* what reads flags and is no branch */                           \
    X(PM_FOREIGN_MASK, "mask")   /* what writes some elements only */                              \
    X(PM_FOREIGN_GATHER, "gather")                                                                 \
    X(PM_FOREIGN_SCATTER, "scatter")                                                               \
    X(PM_FOREIGN_MULTIPLY_ADD, "multiply_add")
enum pm_foreign_kind {
#define PM_FOREIGN_ENUM(id, word) id,
    PM_FOREIGNS(PM_FOREIGN_ENUM)
#undef PM_FOREIGN_ENUM
        PM_N_FOREIGN
};

/* Operations that come in addition, one after the other. */
struct pm_foreign {
    bool given;
    size_t n_adds;
    enum pm_op_class adds[PM_MOST_FOREIGN];
    struct pm_trust trust;
};

/* What needs no unit, because renaming does it. */
enum {
    PM_ELIMINATES_MOVES = 1,
    PM_ELIMINATES_VECTOR_MOVES = 2,
    PM_ELIMINATES_ZEROING = 4,      /* of a register, by an instruction that gives zero */
    PM_ELIMINATES_ADDITIONS = 8,    /* of a constant to a register: its latency */
    PM_ELIMINATES_BORROWS = 32,     /* what sbb of a register and itself waits for, but the flags */
    PM_ELIMINATES_STACK_MOVES = 16, /* of the stack pointer, by push and pop: not even a slot */
};

/* ---- curves ---------------------------------------------------------------------------------- */

/* The share of a curve's accesses that hit a level, at each of its points. */
struct pm_curve_hits {
    char *level;
    double *share;
};

/* A figure measured against the working set: a machine's signature is made of such (Snavely, Wolter
   & Carrington 2001).  Arrays of `n_points`. */
struct pm_curve {
    char *name, *of; /* "load_latency", "read_bandwidth": what was measured, says who measured */
    double stride_bytes; /* 0: random */
    uint32_t threads;
    uint64_t page_bytes; /* 0 unknown */
    size_t n_points;
    double *working_set_bytes, *value, *low, *high; /* the last two NULL: not known */
    PM_ARRAY(struct pm_curve_hits, hits);
    struct pm_trust trust;
};
void pm_free_curve(struct pm_curve *curve); /* what it owns */

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_machine {
    char *name;     /* file name without .conf; with CHANGES between brackets, if there are any */
    char *path;     /* of the file */
    char *asked_as; /* what -m found it by; NULL: nobody asked for it by a name */
    char *changes;  /* "L2.size=4MiB, L2.ways=8" by --set; NULL none */
    char *title;    /* "SGI Origin 2000 (R12000, 300 MHz)" */
    char *sources;  /* where the numbers come from */
    char *isa;      /* whose instructions the rows cost; NULL: the file does not say */
    char *includes; /* names of the files that it is made from; NULL none */
    double clock_hz;
    uint32_t cores;
    double issue_width;         /* operations that can issue in a cycle */
    double fetch_width;         /* slots that are fetched in a cycle, up to a jump that is taken; 0
                                   unknown */
    double taken_jumps;         /* of a loop of one line, that are fetched in a cycle; 0: one */
    uint64_t fetch_bytes;       /* of an aligned line of code that is fetched at once; 0 unknown */
    double next_line_cycles;    /* that such a line takes which follows another; 0: one */
    double store_line_cycles;   /* in which a store enters the first cache, if it is not to the line
                                   of the one before; 0 unknown */
    uint64_t store_line_bytes;  /* … and how long such a line is; 0: of the first cache, 64 */
    double retire_width;        /* 0 unknown */
    uint32_t vector_width_bits; /* widest operation; wider ones are split */
    bool out_of_order;
    bool fuses_memory; /* a load that feeds an operation of the same instruction costs no issue slot
                        */
    bool unfuses_indexed; /* … but not where its address is of two registers, and the operation has
                             another source beside the place that it writes, or stores */
    bool fuses_nops;      /* one and what stands before it take one issue slot */
    bool extends_apart;   /* a load that extends the sign is a load and a move */
    double
        stack_move_cycles; /* that an instruction waits which reads the stack pointer after push
                              or pop have moved it and changes it, if these moves are eliminated */
    bool has_fma;          /* without: an fma costs a multiplication and an addition */
    uint32_t window;       /* instructions in flight; 0 unknown */
    uint32_t scheduler;    /* of these, so many that wait for operands, loads apart; 0 unknown */
    double complex_address_cycles; /* more of a load whose address is scaled, or of base, index and
                                      displacement */
    double store_forward_cycles;   /* from a store's data to a load of the same place; 0 unknown */
    double store_forward_general_cycles; /* … of a general register; 0: as of any */
    bool renames_memory; /* a load into a general register of what a store has whole waits for the
                            store's data alone, and takes no time then */
    double store_block_cycles; /* … to a load of what several stores have, which are out of the
                                  window by then; 0 unknown */
    double mispredict_cycles;  /* penalty of a branch that was predicted wrongly; 0 unknown */
    enum pm_branch_predictor branch_predictor; /* the reference predictor that its own is like */
    uint64_t fuses_branch;       /* bit set of classes whose instruction fuses with a branch */
    uint32_t eliminates;         /* PM_ELIMINATES_… */
    uint64_t page_bytes;         /* the page in use; 0: those of all TLBs */
    uint32_t page_walkers;       /* 0 unknown */
    double page_fault_cycles;    /* of the system, to bring a page at its first touch; 0 unknown */
    double memory_bandwidth_gbs; /* of one core; 0 unknown: no bandwidth bound */
    double memory_bandwidth_bytes_per_cycle; /* the same */
    struct pm_memory memory;
    struct pm_trust trust; /* of the figures above */

    size_t n_units;
    struct pm_unit units[PM_MACHINE_MAX_UNITS];
    size_t n_domains;
    char *domains[PM_MACHINE_MAX_DOMAINS];
    PM_ARRAY(struct pm_cost, costs); /* those of a class together, then those of mnemonics */
    uint32_t first_cost[PM_N_OP_CLASSES + 1];
    PM_ARRAY(struct pm_bypass, bypasses);
    struct pm_foreign foreign[PM_N_FOREIGN];
    size_t n_levels;         /* in use */
    size_t n_all_levels;     /* then TLBs of other pages than the one in use */
    struct pm_level *levels; /* caches from the core outwards, then TLBs */
    PM_ARRAY(struct pm_prefetcher, prefetchers);
    PM_ARRAY(struct pm_curve, curves);
    PM_ARRAY(struct pm_figure_interval, intervals);
    PM_ARRAY(char *, paths); /* of the files read: this one, and those that it includes */
    size_t n_unverified;     /* of its figures */
};

/* What a prediction for MACHINE cannot have since the file says nothing of it, as a sentence that
   the caller frees; NULL: nothing of that kind. */
char *pm_machine_gap(const struct pm_machine *machine);

/* ---- reading --------------------------------------------------------------------------------- */

/* Where a mistake stands, for showing the line. */
struct pm_mistake {
    char *path;
    int line;       /* from 1; 0: nowhere */
    int column;     /* from 1; 0: the whole line */
    char *sentence; /* without file and line */
};

struct pm_machine_options {
    /* The path of the machine NAME, owned by the caller; NULL with a sentence.  NULL: only files
       beside the one that includes are found. */
    char *(*find)(const char *name, struct pm_error *err);
    /* Has ISA such an instruction?  NULL: mnemonics are not checked. */
    bool (*knows_mnemonic)(const char *isa, const char *mnemonic);
    char *const *settings; /* "L2.size=4MiB": --set */
    size_t n_settings;
    struct pm_mistake *mistake; /* NULL: nobody wants to know */
};

/* Reads a machine file (libconfuse), with what it includes.  A mistake gives one sentence with file
   and line. */
struct pm_machine *pm_machine_read_with(const char *path, const struct pm_machine_options *options,
                                        struct pm_error *err);
struct pm_machine *pm_machine_read(const char *path, struct pm_error *err);
void pm_machine_free(struct pm_machine *machine);
void pm_mistake_free(struct pm_mistake *mistake); /* what it owns */
/* Finds in TEXT, that of the file, the line and column of what SENTENCE quotes: at the mistake's
   line, or above it within the section that ends there. */
void pm_mistake_locate(const char *text, const char *sentence, struct pm_mistake *mistake);

/* Writes MACHINE as a machine file, from which pm_machine_read makes the same machine. */
void pm_machine_write(FILE *to, const struct pm_machine *machine);

/* RESPONSE as `serves` has it in a machine file, "{\"1MiB: 1 (1 to 1)\", …}"; owned by the caller.
 */
char *pm_response_text(const struct pm_response *response);

/* ---- its figures as a list ------------------------------------------------------------------- */

/* A figure or word of a machine, by the name that --set takes. */
struct pm_figure {
    char *name;       /* "clock_mhz", "L2.size", "fp_add/256/8.latency", "vpmullq.latency" */
    char *value;      /* as in a machine file: "1280KiB" */
    double number;    /* NAN: a word */
    const char *unit; /* "cycles"; "" none */
    bool unverified;
    const char *source; /* NULL: the file says none */
};

struct pm_figures {
    PM_ARRAY(struct pm_figure, figures);
};

/* All figures that the file gives, in the order of a machine file. */
struct pm_figures pm_machine_figures(const struct pm_machine *machine);
void pm_figures_free(struct pm_figures *figures);

/* ---- changed copies ---------------------------------------------------------------------------
 */

/* A copy whose figures may be changed: its own, and those of its levels, rows of costs and
   bypasses. All else it shares with MACHINE, which must stay.  (What a user changes by --set is
   changed while a machine is read, so that it is checked and named.)  Freed by
   pm_machine_copy_free, as are the copies below. */
struct pm_machine *pm_machine_copy(const struct pm_machine *machine);
void pm_machine_copy_free(struct pm_machine *copy);

/* MACHINE with the figure NAME times FACTOR; of a row's units and reservation tables the busy
   cycles.  It has no prefetchers and curves.  NULL: NAME is none that can be scaled. */
struct pm_machine *pm_machine_scaled(const struct pm_machine *machine, const char *name,
                                     double factor);

/* MACHINE with a level whose misses cost nothing and move no bytes. */
struct pm_machine *pm_machine_without_level(const struct pm_machine *machine, size_t level);

/* ---- the words of a machine file ------------------------------------------------------------- */

const char *pm_replacement_word(enum pm_replacement replacement);
const char *pm_indexing_word(enum pm_indexing indexing);
const char *pm_branch_predictor_word(enum pm_branch_predictor predictor);
const char *pm_foreign_word(enum pm_foreign_kind kind);
/* False if WORD, of LENGTH characters, is none. */
bool pm_replacement_of(const char *word, size_t length, enum pm_replacement *replacement);
bool pm_indexing_of(const char *word, size_t length, enum pm_indexing *indexing);

/* ---- costs ----------------------------------------------------------------------------------- */

/* The row that applies to an operation, NULL when the file has none for its class: such operations
   are reported as unknown, not counted as free. */
const struct pm_cost *pm_machine_cost(const struct pm_machine *machine, enum pm_op_class op_class,
                                      uint32_t width_bits, uint32_t element_bytes);
/* The row of an instruction of ISA by its mnemonic; NULL: there is none, its classes count. */
const struct pm_cost *pm_machine_mnemonic_cost(const struct pm_machine *machine, const char *isa,
                                               const char *mnemonic, uint32_t width_bits,
                                               uint32_t element_bytes);
/* Busy cycles of what ALTERNATIVE reserves of UNITS (a bit set) and no others. */
double pm_busy_within(const struct pm_reservation_table *table, uint64_t units);
/* The reciprocal throughput of many operations of ROW by its units alone: cycles an operation.
   Exact where its alternatives share no unit, else a lower bound. */
double pm_cost_throughput(const struct pm_cost *row);
/* "fp_add/256/8", "vpmullq": by which figures of the row are named; owned by the caller. */
char *pm_cost_name(const struct pm_cost *row);
/* The name of the I-th of its unverified figures, NULL behind the last. */
const char *pm_cost_unverified(const struct pm_cost *row, size_t i);
/* Issue slots of one operation. */
double pm_cost_slots(const struct pm_cost *row);
/* The latency of a dependence from FROM to TO: that of FROM, unless a bypass says otherwise. */
double pm_bypass_latency(const struct pm_machine *machine, const struct pm_cost *from,
                         const struct pm_cost *to);
/* "p0|p1", "p0 + 2*p5:4@1": a reservation table as `uses` takes it; owned by the caller. */
char *pm_reservation_table_text(const struct pm_machine *machine,
                                const struct pm_reservation_table *table);

/* ---- levels ---------------------------------------------------------------------------------- */

/* How many blocks a level holds: a cache its lines, a TLB its entries.  Of one with a response as
   many as lie between reuses of which it serves half: what a step would stand at. */
double pm_level_capacity_blocks(const struct pm_level *level);
/* Misses of HISTOGRAM, in blocks of LEVEL's, through its response, or if it was fully associative.
   (Those in its sets are fit/sets/'s.) */
double pm_level_distance_misses(const struct pm_level *level, const struct pm_histogram *histogram);
/* "L3, of 32 MiB, is shared: it serves half of the reuses at 6 MiB."; owned by the caller.  NULL:
   it has no response. */
char *pm_level_serves_text(const struct pm_level *level);
/* How many sets these are in, 1 where the level is fully associative.  Need not be a power of two:
   the slices of a cache are as many as the cores. */
uint64_t pm_level_sets(const struct pm_level *level);
/* Whether hits and misses of the level, or in a set of it, hang on distances below 16. */
bool pm_level_needs_short_distances(const struct pm_level *level);
/* Index of the cache farthest from the core. */
size_t pm_last_cache(const struct pm_machine *machine);
/* The share of a miss that prefetchers hide of a stream with STRIDE_BYTES (0 or more; 0: none) that
   goes from line to line of LINE_BYTES. */
double pm_prefetched_share(const struct pm_machine *machine, double stride_bytes,
                           double line_bytes);
/* Whether the machine file says that share of streams from line to line, which else is a usual one.
 */
bool pm_says_what_is_prefetched(const struct pm_machine *machine, double line_bytes);

#endif
