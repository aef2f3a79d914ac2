/* What `pmodel query` was asked. */
#ifndef PM_QUERY_REQUEST_H
#define PM_QUERY_REQUEST_H

#include "cmd/cmd.h"
#include "cmd/run_design.h"
#include "report/report.h"

/* One cache of --cache; how many blocks it has is known when the block size is. */
struct pm_query_cache_size {
    double amount; /* bytes, or blocks */
    bool in_blocks;
};

struct pm_query_request {
    const char *store_path;
    enum pm_query_kind kind;
    struct pm_run_design design; /* -P: sizes; without what is solved for */
    PM_ARRAY(struct pm_query_cache_size, caches);
    PM_ARRAY(double, ratios);
    struct pm_machine_list on;
    uint64_t *block_sizes; /* owned; none: 64, or the smallest measured one */
    size_t n_block_sizes;
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

/* ---- values of options (query_values.c) ------------------------------------------------------ */

/* Adds "32K,512K", "16K:4M" (doubling), "8192blocks". */
bool pm_add_query_caches(struct pm_query_request *request, const char *list, struct pm_error *err);
/* Adds "0.99,99.9%". */
bool pm_add_hit_ratios(struct pm_query_request *request, const char *list, struct pm_error *err);

/* --range NAME=LOW:HIGH[:STEP] or NAME=VALUES.  NAME and the values of RANGE are owned by the
   caller (free). */
bool pm_read_query_range(const char *text, char **name, struct pm_query_range *range,
                         struct pm_error *err);

#endif
