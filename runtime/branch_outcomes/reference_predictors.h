/* Reference predictors of a thread's branches.

   Bimodal: a table of two-bit counters by address (J. E. Smith, "A study of branch prediction
   strategies", ISCA 1981).  Gshare: the same by address exclusive-or the last outcomes (S.
   McFarling, "Combining branch predictors", DEC WRL TN-36, 1993).  TAGE: a bimodal table and tagged
   ones by address and history, each with a longer history, in a geometric series (A. Seznec, P.
   Michaud, "A case for (partially) tagged geometric history length branch prediction", JILP 8,
   2006), with its lengths for eight components; as large as tables of processor cores are today,
   2^11 entries a component, where the paper has 2^10.  Without path history. */
#ifndef PM_RUNTIME_PREDICTORS_H
#define PM_RUNTIME_PREDICTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/raw_file.h"

enum {
    PM_BIMODAL_BITS = 14,
    PM_GSHARE_BITS = 14,
    PM_TAGE_BASE_BITS = 13,
    PM_TAGE_BITS = 11,
    PM_TAGE_TABLES = 7,
    PM_TAGE_LONGEST = 130, /* outcomes */
    PM_HISTORY_SIZE = 256, /* a power of two above it */
};

/* One number for each tagged table, and one that is of none. */
typedef uint16_t pm_tage_lanes __attribute__((vector_size(16)));

struct pm_tage_entry {
    uint16_t tag;
    int8_t counter; /* −4 … 3: taken from 0 on */
    uint8_t useful; /* 0 … 3 */
};

/* Zeroed, then pm_predictors_begin. */
struct pm_predictors {
    uint8_t bimodal[1 << PM_BIMODAL_BITS], gshare[1 << PM_GSHARE_BITS]; /* 0 … 3: taken from 2 on */
    uint8_t base[1 << PM_TAGE_BASE_BITS];
    struct pm_tage_entry tagged[PM_TAGE_TABLES][1 << PM_TAGE_BITS];
    /* The histories of the tables, folded into the bits of an index, of a tag, and of one bit less.
     */
    pm_tage_lanes for_index, for_tag[2];
    uint8_t history[PM_HISTORY_SIZE]; /* a ring; the last outcome is at `last` */
    uint32_t last, recent;            /* RECENT: the last 32 as bits */
    int8_t use_other;                 /* −8 … 7: from 0 on, new entries are not trusted */
    uint32_t random, n_learnt;
};

void pm_predictors_begin(struct pm_predictors *predictors);

/* The branch at ADDRESS was TAKEN: the set of enum pm_branch_predictor that were wrong, as bits;
   all of them learn it. */
unsigned pm_predictors_learn(struct pm_predictors *predictors, uint64_t address, bool taken);

#endif
