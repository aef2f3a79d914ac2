/* What the files of `pmodel query` share. */
#ifndef PM_CMD_QUERY_PRIVATE_H
#define PM_CMD_QUERY_PRIVATE_H

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/profile_at.h"
#include "cmd/query/query.h"
#include "core/machine/machine.h"
#include "fit/query/query.h"
#include "measure/design/design.h"
#include "report/report.h"

/* ---- what was asked (options.c) -------------------------------------------------------------- */

/* One cache of --cache; how many blocks it has is known when the block size is. */
struct pm_query_cache_size {
    double amount; /* bytes, or blocks */
    bool in_blocks;
};

struct pm_query_request {
    const char *store_path;
    enum pm_query_kind kind;
    struct pm_size_design design; /* -P: sizes; without what is solved for */
    PM_ARRAY(struct pm_query_cache_size, caches);
    PM_ARRAY(double, ratios);
    struct pm_machine_list on;
    struct pm_block_sizes blocks; /* none: 64, or the smallest measured one */
    PM_ARRAY(const char *, scopes);
    enum pm_query_level level;
    bool has_level;
    bool without_cold;
    const char *range; /* --range; NULL */
    struct pm_report_options options;
};

/* Reads the command line and decides what is asked; 0, or the exit status after complaining. */
int pm_read_query_request(struct pm_query_request *request, int argc, char **argv);
void pm_query_request_free(struct pm_query_request *request); /* what it owns */

/* ---- values of options (values.c) ------------------------------------------------------ */

/* For PM_OPTION_LIST; TO: struct pm_query_request. */
bool pm_add_query_caches(void *to, char *item, struct pm_error *err); /* 32K 16K:4M 8192blocks */
bool pm_add_hit_ratio(void *to, char *item, struct pm_error *err);    /* 0.99 99.9% */

/* --range NAME=LOW:HIGH[:STEP] or NAME=VALUES.  NAME and the values of RANGE are owned by the
   caller (free). */
bool pm_read_query_range(const char *text, char **name, struct pm_query_range *range,
                         struct pm_error *err);

/* ---- models as functions of one parameter (surface.c) -----------------------------------------
 */

/* Intervals of predictions are of this probability. */
#define PM_QUERY_PROBABILITY 0.8

/* Reads the models of PROGRAM, without which no size can be looked for. */
bool pm_query_needs_models(struct pm_program *program, struct pm_error *err);

/* One end of the intervals: the context of pm_query_predicted_end. */
struct pm_query_end {
    const struct pm_program *program;
    bool high;
};
/* A profile from the models, as struct pm_query_surface wants it. */
struct pm_profile *pm_query_predicted_end(void *context, const struct pm_parameters *at,
                                          struct pm_error *err);

/* The parameter that the models depend on and FIXED does not give: the one that is solved for, in
   SURFACE with a range from its smallest measured value to PM_QUERY_FACTOR times the largest, in
   whole numbers, or RANGE (--range; NULL).  The range's values are owned by the caller (free), also
   after an error; PROGRAM must have its models, and outlive SURFACE.  Errors: there is no such
   parameter, or more than one; --range names another. */
enum { PM_QUERY_FACTOR = 16 };
bool pm_query_find_surface(struct pm_program *program, const struct pm_parameters *fixed,
                           const char *range, struct pm_query_surface *surface,
                           struct pm_error *err);
/* Are there models that are functions of parameter NAME? */
bool pm_query_depends_on(const struct pm_model_set *models, const char *name);
/* Largest measured value of parameter NAME. */
double pm_query_largest_measured(const struct pm_model_set *models, const char *name);

/* ---- caches (surface.c) -----------------------------------------------------------------------
 */

struct pm_level_cache_list {
    PM_ARRAY(struct pm_query_level_cache, caches); /* owned */
};
void pm_free_level_caches(struct pm_level_cache_list *list); /* what it owns */
/* Adds the levels of a machine, whose block sizes PROFILE must have. */
bool pm_add_levels(struct pm_level_cache_list *list, const struct pm_machine *machine,
                   const struct pm_profile *profile, struct pm_error *err);

/* ---- what fits (fits.c) -----------------------------------------------------------------------
 */

/* Prints for each of PARTS and each cache up to which size reuses hit. */
bool pm_print_fits(const struct pm_program *program, const struct pm_query_surface *surface,
                   const struct pm_query_parts *parts, const struct pm_level_cache_list *on,
                   const struct pm_report_options *options, struct pm_error *err);

#endif
