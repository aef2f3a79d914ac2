/* A machine's signature and its convolution with what a program does (Snavely, Wolter & Carrington
   2001): rates of loads and stores against the working set, by stride, and from them what
   references cost that hit the caches as often as they do. */
#ifndef PM_SIGNATURE_H
#define PM_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/block_profile/block_profile.h"
#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/structure/structure.h"

/* What the curves count: elements of so many bytes. */
enum { PM_WORD_BYTES = 8 };

/* ---- the signature (machine_signature.c, synthesis.c) ---------------------------------------- */

struct pm_signature {
    const struct pm_machine *machine;
    bool is_synthesised; /* nobody measured it: made from the machine's description */
    size_t n_caches;     /* levels of the machine that the curves know hits of */
    /* Bytes a cycle of one thread with pages of the size in use: reads, then writes, by stride,
       random (0) last.  The array is owned; of measured curves their points are the machine's. */
    PM_ARRAY(struct pm_curve, curves);
    double word_cycles; /* of a load of one word that hits the first level, among many */
};

/* False with a sentence: the machine has neither curves nor a cache to make some of.  MACHINE must
   stay.  Freed by pm_signature_free. */
bool pm_signature_make(const struct pm_machine *machine, struct pm_signature *signature,
                       struct pm_error *err);
void pm_signature_free(struct pm_signature *signature); /* what it owns */

/* Does CURVE say how fast stores are?  Else loads. */
bool pm_curve_is_of_writes(const struct pm_curve *curve);
/* The curve that is read for references of a stride; the nearest stride that there is. */
const struct pm_curve *pm_signature_curve(const struct pm_signature *signature, bool stores,
                                          enum pm_stride_bin bin);
/* The median rate at the points that LEVEL, but none before it, holds whole; bytes a cycle; behind
   the last cache it is that of memory.  NAN: no such point. */
double pm_signature_plateau(const struct pm_signature *signature, const struct pm_curve *curve,
                            size_t level);

/* ---- reading a rate (read.c) ------------------------------------------------------------------
 */

/* References of one stride, loads or stores, of a part of a program. */
struct pm_pattern {
    double references;            /* a vector of any width is one, an element of a gather too */
    double words;                 /* 8 bytes each, but no less than the references */
    double misses[PM_MAX_LEVELS]; /* by cache of the signature: neither it nor one before has it */
};

/* What a signature says of a pattern. */
struct pm_read_rate {
    const struct pm_curve *curve;
    double cycles;                      /* a word */
    double hit_cycles;                  /* a word, if all hit the first level */
    double level_cycles[PM_MAX_LEVELS]; /* a word: what misses of each level add; their sum and
                                           hit_cycles are `cycles` */
    double working_set_bytes;           /* the point of the curve that has this rate */
    bool is_beyond;                     /* no point is as slow: that is the last one */
};

/* For a pattern of BIN, which has words. */
void pm_signature_read(const struct pm_signature *signature, bool stores, enum pm_stride_bin bin,
                       const struct pm_pattern *pattern, struct pm_read_rate *rate);

/* ---- what a program does, part by part (patterns.c) -------------------------------------------
 */

enum { PM_PATTERN_LOADS, PM_PATTERN_STORES, PM_N_PATTERN_KINDS };
struct pm_patterns {
    struct pm_pattern of[PM_N_PATTERN_KINDS][PM_N_STRIDE_BINS];
};

/* A basic block of a profile, or the own code of a loop or routine, where misses are from
   histograms. */
struct pm_program_part {
    uint32_t block; /* PM_NONE: the scope's own code */
    uint32_t scope;
    double flops;
    struct pm_patterns patterns;
};
struct pm_program_parts {
    PM_ARRAY(struct pm_program_part, parts); /* that have references */
    double flops_without_references;         /* in no part */
};
void pm_program_parts_free(struct pm_program_parts *parts);

/* The basic blocks of PROFILE, with the hits of MACHINE's caches.  Misses are those of the block:
   each of its references has as many.  False with a sentence: they were not simulated. */
bool pm_parts_of_blocks(const struct pm_structure *structure,
                        const struct pm_block_profile *profile,
                        const struct pm_signature *signature, struct pm_program_parts *parts,
                        struct pm_error *err);

/* Scopes of a profile, measured or from models, with misses from its histograms.  False with a
   sentence: a level's block size was not measured. */
bool pm_parts_of_scopes(const struct pm_structure *structure, const struct pm_profile *profile,
                        const struct pm_signature *signature, struct pm_program_parts *parts,
                        struct pm_error *err);

struct pm_frequencies;  /* sched/sched.h */
struct pm_group_misses; /* sched/schedule.h */
/* For each scope what its own code does, with the misses of GROUPS; the caller frees. */
struct pm_patterns *pm_patterns_of_scopes(const struct pm_frequencies *frequencies,
                                          const struct pm_profile *profile,
                                          const struct pm_group_misses *groups,
                                          const struct pm_signature *signature);

/* ---- time with misses (signature_misses.c) ------------------------------------------------------
 */

/* What misses add to SELF's schedule_cycles: its cycles by level and in all; bandwidth is in them.
 */
void pm_signature_memory_cycles(const struct pm_signature *signature,
                                const struct pm_patterns *patterns, struct pm_cost_sum *self);

/* ---- convolution (convolution.c) ----------------------------------------------------------------
 */

/* The paper's domain: at least one memory operation for so many floating-point ones, and this share
   of the references random. */
extern const double pm_domain_most_flops, pm_domain_least_random;

struct pm_convolved_part {
    const struct pm_program_part *part;
    double references, words, random_share;
    double weight;                   /* share of all words: Wt. BB */
    double intensity;                /* floating-point operations for a word */
    double hit_rates[PM_MAX_LEVELS]; /* cumulative, of references */
    double rate;    /* words a second: Rate BB, the mean of its patterns by their words */
    double seconds; /* the sum over its patterns */
    bool in_domain;
    /* The pattern with most of these seconds, and the point where its rate was read. */
    uint8_t kind, bin;
    double working_set_bytes;
    bool is_beyond;
};

struct pm_convolution {
    const struct pm_signature *signature;
    PM_ARRAY(struct pm_convolved_part, parts); /* the most words first */
    double words, flops;
    double metasim_number;      /* (1), words a second */
    double mean_flops;          /* (2) as it stands, a second: a mean of rates */
    double seconds;             /* the sum of times */
    double flops_rate;          /* flops / seconds */
    double domain_share;        /* of the words, in parts within the paper's domain */
    double share_without_flops; /* of the words */
};

/* PARTS must stay.  False with a sentence: there is no reference at all. */
bool pm_convolve(const struct pm_signature *signature, const struct pm_program_parts *parts,
                 struct pm_convolution *convolution, struct pm_error *err);
void pm_convolution_free(struct pm_convolution *convolution);

/* ---- roofs (roofs.c) --------------------------------------------------------------------------
 */

struct pm_roof {
    char *name;              /* "L1", "memory"; owned */
    double bytes_per_second; /* of reads in order that LEVEL serves */
};
struct pm_roofs {
    double flops_per_second;         /* all units at work; 0: the machine file does not say */
    PM_ARRAY(struct pm_roof, roofs); /* caches from the core outwards, memory */
};
void pm_roofs_of(const struct pm_signature *signature, struct pm_roofs *roofs);
void pm_roofs_free(struct pm_roofs *roofs);

/* A loop, or a routine's own code, under the roofs. */
struct pm_roofline_point {
    uint32_t scope; /* of a report's row: what is folded into it is added up (pm_row_scope) */
    double flops, seconds;
    double bytes[PM_MAX_LEVELS + 1]; /* that each roof's level moves towards the core */
};
struct pm_roofline {
    PM_ARRAY(struct pm_roofline_point, points); /* rows with flops, the slowest first */
};
/* PREDICTION is of the profile's size on the signature's machine. */
bool pm_roofline_of(const struct pm_structure *structure, const struct pm_profile *profile,
                    const struct pm_signature *signature, const struct pm_prediction *prediction,
                    struct pm_roofline *roofline, struct pm_error *err);

#endif
