/* Dumps: what a pass made, as lines of text for people (`--dump PASS[:PART]`).

   A stage lists its passes that can be dumped, in the order in which they run.  One that is asked
   for prints what it made in one call, of the part of the program that is asked for.  Each line
   begins with what it tells of, so that dumps are easy to search and to compare. */
#ifndef PM_DUMPS_H
#define PM_DUMPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

/* A line of such a list, which ends with {0}. */
struct pm_dump_pass {
    const char *name, *what; /* "edges", half a sentence */
};

struct pm_dumping {
    const struct pm_dump_pass *passes; /* of the stage */
    bool list;                         /* which passes there are is what was asked for */
    const struct pm_dump_pass *pass;   /* NULL: none was asked for */
    const char *part;                  /* a name, as pm_scopes_named takes it; NULL: all */
    /* From pm_dumping_begin on: */
    const struct pm_structure *structure;
    bool *wanted; /* per scope; owned; NULL: all */
    FILE *out;
};

/* "PASS", "PASS:PART" or "list", which becomes a part of DUMPING: TEXT is changed, and lives as
   long.  False with a sentence that names the passes. */
bool pm_dumping_read(struct pm_dumping *dumping, char *text, struct pm_error *err);
/* A line for each pass. */
void pm_dumping_list(const struct pm_dumping *dumping, FILE *out);

/* Of STRUCTURE, which lives as long.  False with a sentence if PART names nothing in it. */
bool pm_dumping_begin(struct pm_dumping *dumping, const struct pm_structure *structure, FILE *out,
                      struct pm_error *err);
void pm_dumping_end(struct pm_dumping *dumping);

/* Is the pass called NAME to be dumped?  DUMPING: NULL is allowed. */
bool pm_dumps(const struct pm_dumping *dumping, const char *name);
/* … and SCOPE, because it, or what it is in, was named? */
bool pm_dumps_scope(const struct pm_dumping *dumping, uint32_t scope);

/* "step/4 k heat.c:126": the code that SCOPE is in, depth and variable of a loop, its place. */
void pm_dump_scope(const struct pm_dumping *dumping, uint32_t scope);
/* "b3": a basic block, counted in its routine; "ENTRY" or "EXIT" for PM_NONE. */
void pm_dump_block(const struct pm_dumping *dumping, uint32_t block, bool is_from);
/* VALUE as dumps show it: with few digits, and without what is only rounding. */
void pm_dump_value(const struct pm_dumping *dumping, double value);

#endif
