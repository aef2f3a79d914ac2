/* What a query reads from a store: the structure, the models, profiles at sizes. */
#ifndef PM_QUERY_SESSION_H
#define PM_QUERY_SESSION_H

#include "cmd/cmd.h"
#include "core/machine/machine.h"
#include "core/store/store.h"
#include "fit/query/query.h"
#include "report/report.h"

struct pm_query_session {
    struct pm_store *store;         /* not owned */
    struct pm_structure *structure; /* owned, and so on */
    struct pm_model_set *models;    /* NULL: not fitted */
    struct pm_parameters *runs;
    size_t n_runs;
    char *measured_up_to; /* "N=64" */
};

/* Errors: no run yet; NEEDS_MODELS and there are none. */
bool pm_open_query_session(struct pm_query_session *session, struct pm_store *store,
                           bool needs_models, struct pm_error *err);
void pm_close_query_session(struct pm_query_session *session);

/* Measured at this very size, else from the models; owned by the caller. */
struct pm_profile *pm_session_profile(const struct pm_query_session *session,
                                      const struct pm_parameters *at, struct pm_error *err);
/* Always from the models; CONTEXT is the session (for pm_query_surface). */
struct pm_profile *pm_session_predicted(void *context, const struct pm_parameters *at,
                                        struct pm_error *err);

/* Of predictions: where the models' intervals of probability PM_QUERY_PROBABILITY end, fewer misses
   first (pm_fit_instantiate_end); owned by the caller. */
#define PM_QUERY_PROBABILITY 0.8
bool pm_session_ends(const struct pm_query_session *session, const struct pm_parameters *at,
                     struct pm_profile *ends[2], struct pm_error *err);

struct pm_session_end { /* as the context of pm_session_predicted_end */
    const struct pm_query_session *session;
    bool high;
};
struct pm_profile *pm_session_predicted_end(void *context, const struct pm_parameters *at,
                                            struct pm_error *err);

/* The parameter that the models depend on and FIXED does not give: the one that is solved for, in
   SURFACE with a range from its smallest measured value to PM_QUERY_FACTOR times the largest, in
   whole numbers, or RANGE (--range; NULL).  The range's values are owned by the caller (free), also
   after an error.  Errors: there is no such parameter, or more than one; --range names another. */
enum { PM_QUERY_FACTOR = 16 };
bool pm_session_surface(struct pm_query_session *session, const struct pm_parameters *fixed,
                        const char *range, struct pm_query_surface *surface, struct pm_error *err);
/* Are there models that are functions of parameter NAME? */
bool pm_session_depends_on(const struct pm_query_session *session, const char *name);
/* Largest measured value of parameter NAME. */
double pm_session_largest(const struct pm_query_session *session, const char *name);

/* ---- caches ---------------------------------------------------------------------------------- */

struct pm_level_cache_list {
    PM_ARRAY(struct pm_query_level_cache, caches); /* owned */
};
void pm_free_level_caches(struct pm_level_cache_list *list); /* what it owns */
/* Adds the levels of a machine, whose block sizes PROFILE must have. */
bool pm_add_levels(struct pm_level_cache_list *list, const struct pm_machine *machine,
                   const struct pm_profile *profile, struct pm_error *err);

/* ---- what fits (query_fits.c) ---------------------------------------------------------------- */

/* Prints `pmodel query --fits`: for each part and cache up to which size reuses hit. */
bool pm_print_fits(struct pm_query_session *session, const struct pm_query_surface *surface,
                   const struct pm_query_parts *parts, const struct pm_level_cache_list *on,
                   const struct pm_report_options *options, struct pm_error *err);

/* `pmodel report --fits`: the same for every loop on each machine; of several parameters each in
   turn, the others as AT has them. */
bool pm_report_store_fits(struct pm_store *store, const struct pm_parameters *at,
                          const struct pm_machine_list *on, const struct pm_report_options *options,
                          struct pm_error *err);

#endif
