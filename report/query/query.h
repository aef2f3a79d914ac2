/* `pmodel query`: which parts of the program a query is about, and its answers as a table, JSON and
   CSV.  The mathematics is in fit/query/query.h. */
#ifndef PM_REPORT_QUERY_H
#define PM_REPORT_QUERY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/structure/structure.h"
#include "fit/query/query.h"
#include "report/options.h"

/* ---- parts of the program (query_parts.c) ---------------------------------------------------- */

enum pm_query_level {
    PM_QUERY_PROGRAM = 0, /* the program; of named scopes each with all that is in it */
    PM_QUERY_ROUTINE,     /* each routine with all that is in it */
    PM_QUERY_LOOP,        /* each row of `pmodel report`: a loop without those inside it */
    PM_QUERY_GROUP,       /* each reference group */
};
bool pm_query_level_from_name(const char *name, enum pm_query_level *level);

struct pm_query_part {
    uint32_t scope;       /* that it is, or that the group is in */
    uint32_t group;       /* PM_NONE: not one group */
    char *label, *source; /* owned */
    struct pm_query_groups groups;
    double weight; /* pm_query_weigh: the larger of its shares of all accesses and misses */
};

struct pm_query_parts {
    enum pm_query_level level;
    PM_ARRAY(struct pm_query_part, parts);
    size_t n_left_out; /* by pm_query_keep_shown */
};

/* Parts at LEVEL that have a group, of the whole program or, with N_NAMES above 0, of these scopes:
   a routine's or inlined callee's name, a loop's label ("step/3 i") or the part of it before the
   space, or where it begins ("heat.c:126"); `*` and `?` as in pm_matches.  Error: no scope is
   called so.  Freed by pm_query_parts_free, also after an error. */
bool pm_query_find_parts(const struct pm_structure *structure, enum pm_query_level level,
                         const char *const *names, size_t n_names, struct pm_query_parts *parts,
                         struct pm_error *err);
void pm_query_parts_free(struct pm_query_parts *parts); /* what it owns */

/* Weighs the parts at PROFILE and these caches, and puts the heaviest first. */
void pm_query_weigh(struct pm_query_parts *parts, const struct pm_structure *structure,
                    const struct pm_profile *profile, const struct pm_query_caches *caches);

/* The parts' groups, as pm_query_asked and pm_query_fits want them; the array is owned by the
   caller (free). */
const struct pm_query_groups **pm_query_parts_groups(const struct pm_query_parts *parts);

/* Drops weighed parts that a table with these options does not show; JSON and CSV show all. */
void pm_query_keep_shown(struct pm_query_parts *parts, const struct pm_report_options *options);

/* ---- answers --------------------------------------------------------------------------------- */

enum pm_query_kind {
    PM_QUERY_MISSES = 0, /* size and cache are given */
    PM_QUERY_CACHE,      /* size and hit ratio */
    PM_QUERY_SIZE,       /* cache and hit ratio */
    PM_QUERY_FITS,       /* cache: the largest sizes at which clusters of reuses hit */
};

struct pm_query_report {
    enum pm_query_kind kind;
    const struct pm_structure *structure;
    const struct pm_query_parts *parts;
    const struct pm_query_caches *caches; /* that were asked for */
    const char *measured_up_to;           /* "N=64" */
    bool with_cold;                       /* the wanted hit ratio counts first touches */
    struct pm_query_answers answers;      /* by part, then size, cache and hit ratio */
    /* Where a size is the answer. */
    const char *solved; /* name of the parameter */
    struct pm_query_range range;
    double most_factor; /* the range's largest size by the largest measured one */
    /* PM_QUERY_FITS. */
    const struct pm_model_set *models;
    const struct pm_query_fits *fits; /* [part · n_caches + cache] */
    struct pm_parameters fixed;       /* the other parameters */
};

/* Fills in what is solved for. */
void pm_query_report_range(struct pm_query_report *report, const struct pm_query_surface *surface);

void pm_report_query(FILE *out, const struct pm_query_report *report,
                     const struct pm_report_options *options);

/* Of PM_QUERY_FITS, one part on one machine: its rows alone, and as an array. */
void pm_report_fits_of_one(FILE *out, const struct pm_query_report *report,
                           const struct pm_report_options *options);
json_t *pm_fits_json_of_one(const struct pm_query_report *report);

#endif
