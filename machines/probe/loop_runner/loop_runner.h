/* The loop runner: cycles that an iteration of a loop takes on this machine, measured alone.

   The hottest path of an innermost loop is copied out of its program, unrolled at two counts, and
   run in a child process on made-up memory: a page that the copy touches is mapped where it is
   touched, each on a physical page of its own, so that all data stay in the first-level cache.  The
   difference of the times at both counts is that of the iterations between them; what it costs to
   begin and end is in neither.

   After BHive (Chen, Brahmakshatriya, Mendis, Renda, Atkinson, Sýkora, Amarasinghe, Carbin: BHive:
   A Benchmark Suite and Measurement Framework for Validating x86-64 Basic Block Performance Models,
   IISWC 2019, sections 3 and 4), for loops with the branches in them; README.md says what differs.
 */
#ifndef PM_PROBE_LOOPS_H
#define PM_PROBE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

/* Why a loop was not run. */
enum pm_loop_refusal {
    PM_LOOP_RAN = 0,
    /* seen in its code */
    PM_LOOP_NO_PATH,       /* no way from its header back to it is known */
    PM_LOOP_TOO_LONG,      /* an iteration has too many bytes to be unrolled */
    PM_LOOP_CALLS,         /* calls or returns on its path */
    PM_LOOP_INDIRECT_JUMP, /* a jump through a table on its path */
    PM_LOOP_STRING,        /* an instruction that repeats itself (rep), how often is not known */
    PM_LOOP_X87,           /* x87 or MMX: made-up data are no data for their stack */
    PM_LOOP_SYSTEM,        /* asks the system or the processor for something, waits, or is random */
    PM_LOOP_SEGMENT,       /* accesses by %fs or %gs: the thread's own data */
    PM_LOOP_BEYOND_REACH,  /* addresses too far from its code, or no code that can be read */
    PM_LOOP_NOT_HERE,      /* instructions that this processor does not have */
    PM_LOOP_BRANCHES,      /* of a basic block: control flow in it */
    /* met when it was run */
    PM_LOOP_PAGES,     /* more pages than fit in the first-level cache */
    PM_LOOP_ADDRESS,   /* made-up data lead to addresses that cannot be mapped */
    PM_LOOP_ALIGNMENT, /* … to addresses that are not aligned as an instruction wants */
    PM_LOOP_DIVIDES,   /* divides by zero, or the quotient is too large */
    PM_LOOP_ALIASES,   /* loads what it stored before only because the data are made up */
    PM_LOOP_UNSTEADY,  /* does not touch the same pages each time */
    PM_LOOP_TIME,      /* took longer than it may */
    PM_LOOP_CRASHED,   /* ended its process in another way */
    PM_LOOP_STOPPED,   /* its turn did not come */
    PM_LOOP_N_REFUSALS
};

/* "calls", "more than 8 pages" …; "" of PM_LOOP_RAN. */
const char *pm_loop_refusal_words(enum pm_loop_refusal why);
/* "calls", "pages" …: for JSON and CSV; "ran" of PM_LOOP_RAN. */
const char *pm_loop_refusal_name(enum pm_loop_refusal why);

enum { PM_LOOP_MOST_PAGES = 8 };

/* Measured time of one loop, or why there is none. */
struct pm_loop_time {
    uint32_t scope;                   /* of the structure; PM_NONE: it was added as bytes */
    uint8_t why;                      /* enum pm_loop_refusal */
    struct pm_estimate cycles;        /* of an iteration; unknown unless it ran */
    uint32_t n_instructions, n_bytes; /* of an iteration's path; 0: no path */
    uint64_t hash;     /* XXH64 of the path's bytes, in the order of the path, as they stand in the
                          file: the same code, wherever it is measured; 0: no path */
    uint32_t pages;    /* of data that were mapped */
    uint32_t unrolled; /* the larger of the two counts; 0 unless it ran */
    bool undisturbed;  /* by all that the clock saw (pm_timing.undisturbed, pm_clock_best_width) */
};

/* Innermost loops and what is found out about them. */
struct pm_loop_set {
    PM_ARRAY(struct pm_loop_time, times);
    PM_ARRAY(struct pm_loop_code, codes); /* private; beside times */
    PM_ARRAY(struct pm_image *, images);  /* private; of the modules */
};

/* All innermost loops of STRUCTURE, x86-64, lifted as far as counters (PM_LIFT_ALL), with the code
   of their hottest paths from the files of its modules.  The path follows EDGE_COUNTS (n_edges
   values) where these say that the loop was executed; else, and for NULL, the lifter's estimated
   frequencies (pm_edge.weight).  ROUTINES: per routine, whether its loops are wanted; NULL: all
   are. Loops whose code rules it out are refused here.  NULL with a sentence for another ISA, and
   for a file that cannot be read.  Freed by pm_loop_set_free. */
struct pm_loop_set *pm_loop_set_new(const struct pm_structure *structure, const double *edge_counts,
                                    const bool *routines, struct pm_error *err);
/* An empty one, for loops as bytes. */
struct pm_loop_set *pm_loop_set_empty(void);
void pm_loop_set_free(struct pm_loop_set *set); /* NULL is fine */

/* The bytes of the path of loop I, times[I].n_bytes of them, in the order of the path, as they
   stand in the file; NULL: no path, or one that was refused for its code. */
const uint8_t *pm_loop_set_bytes(const struct pm_loop_set *set, size_t i);

/* Adds a loop that is one run of instructions at ADDRESS, of which the last branch or jump leads
   back to the first; all others are taken to be exits. */
void pm_loop_set_add(struct pm_loop_set *set, const uint8_t *bytes, size_t n_bytes,
                     uint64_t address);

/* How code that was added is run. */
enum pm_loop_form {
    PM_LOOP_PATH = 0,      /* the path of a loop, unrolled, with a jump back to each iteration */
    PM_LOOP_BLOCK,         /* a basic block, unrolled: nothing lies between its copies */
    PM_LOOP_BLOCK_IN_LOOP, /* … in a loop that a decrement and a conditional jump close */
};

/* What registers and words of memory hold when a block begins. */
#define PM_LOOP_BLOCK_VALUE UINT64_C(0x12345600)

/* Adds a basic block of N_BYTES without control flow, to be run as BHive does: all registers and
   all words of memory hold 0x12345600, and pages are mapped where they are touched.  COUNTER, of a
   block in a loop: the general register, of those that the block leaves alone, that counts. */
void pm_loop_set_add_block(struct pm_loop_set *set, const uint8_t *bytes, size_t n_bytes,
                           enum pm_loop_form form, unsigned counter);

struct pm_loop_options {
    double loop_seconds;  /* that a loop may take in all; 0: a fifth of a second */
    double round_seconds; /* of work in a round of the clock; 0: 20 microseconds */
    unsigned rounds;      /* for each of the two counts, in each of three settings; 0: 7 */
    /* Called as loops are done; false: stop, the others get PM_LOOP_STOPPED.  May be NULL. */
    bool (*progress)(void *context, size_t done, size_t all);
    void *context;
};

/* Runs the loops of SET that are not refused yet, one after the other, many in one child process,
   and fills their times; of loops with the same code (hash) only the first, whose result all have.
   OPTIONS may be NULL.  False with a sentence if no child can be made, or the clock does not work
   here; what a loop does to its child is no error. */
bool pm_loops_run(struct pm_loop_set *set, const struct pm_loop_options *options,
                  struct pm_error *err);

#endif
