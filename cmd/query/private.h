/* What the files of `pmodel query` share. */
#ifndef PM_CMD_QUERY_PRIVATE_H
#define PM_CMD_QUERY_PRIVATE_H

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/query/query.h"
#include "ask/ask.h"
#include "fit/query/query.h"
#include "fit/warnings/warnings.h"
#include "measure/measure.h"
#include "report/report.h"
#include "sched/sched.h"

/* ---- what was asked (query_options.c) -------------------------------------------------------- */

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
    bool interpolate;
    struct pm_selection_words selection;
    char *range_of; /* parameter that --range names; NULL: there is none */
    struct pm_query_range range;
    struct pm_report_options options;
};

/* Reads the command line and decides what is asked; 0, or the exit status after complaining. */
extern const struct pm_option pm_query_options[];
int pm_read_query_request(const struct pm_command *self, struct pm_query_request *request, int argc,
                          char **argv);
void pm_query_request_free(struct pm_query_request *request); /* what it owns */

/* ---- values of options (values.c) ------------------------------------------------------ */

/* For PM_LIST; TO: struct pm_query_request. */
bool pm_add_query_caches(void *to, char *item, struct pm_error *err); /* 32K 16K:4M 8192blocks */
bool pm_add_hit_ratio(void *to, char *item, struct pm_error *err);    /* 0.99 99.9% */

/* --range NAME=LOW:HIGH[:STEP] or NAME=VALUES, for PM_ADDED; TO: the same. */
bool pm_set_query_range(void *to, char *text, struct pm_error *err);

/* ---- what fits (fits.c) -----------------------------------------------------------------------
 */

/* Prints for each of PARTS and each cache up to which size reuses hit. */
bool pm_print_fits(const struct pm_program *program, const struct pm_query_surface *surface,
                   const struct pm_query_parts *parts, const struct pm_query_caches *on,
                   const struct pm_report_options *options, struct pm_error *err);

#endif
