/* `pmodel query`: size, cache and hit ratio: two are given, the third is the answer. */
#include <stdlib.h>

#include "cmd/progress.h"
#include "cmd/query/private.h"

struct query {
    const struct pm_query_request *request;
    struct pm_subject subject;
    struct pm_query_parts parts;
    const struct pm_query_groups **groups; /* of the parts */
    struct pm_query_caches on;
    struct pm_query_asked asked;
    struct pm_query_report report;
    struct pm_warnings warnings; /* of the answers */
};

/* ---- block sizes -----------------------------------------------------------------------------
 */

static bool need_blocks(const struct query *query, const struct pm_profile *profile,
                        uint64_t block_bytes, struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    if (pm_query_check_blocks(profile, block_bytes, err))
        return true;
    char *value = pm_sprintf("%llu", (unsigned long long)block_bytes);
    struct pm_missing_blocks missing = {
        .option = "--block", .value = value, .can_interpolate = request->kind != PM_QUERY_FITS};
    pm_block_sizes_add(&missing.block_sizes, block_bytes);
    pm_advise_measuring(&query->subject, &missing, profile->predicted, err);
    free(missing.block_sizes.bytes);
    free(value);
    return false;
}

/* ---- what is asked about --------------------------------------------------------------------- */

static bool add_caches_of_blocks(struct query *query, const struct pm_profile *profile,
                                 uint64_t block_bytes, struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    if (request->kind == PM_QUERY_CACHE)
        return pm_query_add_any_size(&query->on, block_bytes, profile, err);
    return pm_query_add_caches(&query->on, request->caches, request->n_caches, block_bytes, profile,
                               err);
}

/* Of the blocks of --block, else of 64 bytes, else of the smallest. */
static bool add_caches(struct query *query, const struct pm_profile *profile,
                       struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    if (profile->n_block_sizes == 0)
        return pm_fail(err, "the store has no reuse distances: measure with `pmodel run` without "
                            "--no-memory");
    uint64_t usual = pm_profile_has_block_size(profile, 64) ? 64 : profile->block_sizes[0];
    bool ok = true;
    for (size_t m = 0; m < request->on.n_machines && ok; m++) {
        ok = pm_need_machine_blocks(&query->subject, profile, request->on.machines[m],
                                    request->kind != PM_QUERY_FITS, err);
        if (ok)
            pm_query_add_levels(&query->on, request->on.machines[m]);
    }
    for (size_t b = 0; b < request->blocks.n && ok; b++)
        ok = need_blocks(query, profile, request->blocks.bytes[b], err) &&
             add_caches_of_blocks(query, profile, request->blocks.bytes[b], err);
    if (request->blocks.n == 0 && ok)
        ok = add_caches_of_blocks(query, profile, usual, err);
    return ok;
}

/* Caches, and the parts by their weights at PROFILE; once. */
static bool prepare(struct query *query, const struct pm_profile *profile, struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    if (query->parts.n_parts > 0)
        return true;
    if (!add_caches(query, profile, err) ||
        !pm_query_find_parts(query->subject.program.structure, request->level, request->scopes,
                             request->n_scopes, &query->parts, err))
        return false;
    pm_query_weigh(&query->parts, query->subject.program.structure, profile, &query->on);
    pm_query_keep_shown(&query->parts, &request->options);
    query->groups = pm_query_parts_groups(&query->parts);
    query->asked = (struct pm_query_asked){
        .program = &query->subject.program,
        .parts = query->groups,
        .n_parts = query->parts.n_parts,
        .caches = &query->on,
        .ratios = request->ratios,
        .n_ratios = request->n_ratios,
        .with_cold = !request->without_cold,
    };
    return true;
}

/* At the size of PROFILE, or (NULL) of answers that are sizes. */
static void add_warnings(struct query *query, const struct pm_profile *profile) {
    const struct pm_origin origin = {query->subject.program.structure,
                                     pm_program_known_models(&query->subject.program), profile};
    pm_warn(&origin, &query->warnings);
    for (size_t c = 0; c < query->on.n_caches; c++)
        pm_warn_of_misses(&origin, &query->on.caches[c].cache.block_bytes, 1, &query->warnings);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool answer_point(struct query *query, const struct pm_parameters *size,
                         struct pm_error *err) {
    const struct pm_question question = {.at = size, .without_ends = true};
    struct pm_answer *answer = pm_ask_and_say(&query->subject, &question, err);
    bool ok = answer && prepare(query, answer->profile, err) &&
              pm_query_answer_at(&query->asked, answer->profile, &query->report.answers, err);
    if (ok)
        add_warnings(query, answer->profile);
    pm_answer_free(answer);
    return ok;
}

/* The largest size, or what fits. */
static bool answer_size(struct query *query, const struct pm_parameters *fixed,
                        struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    struct pm_query_surface surface;
    if (!pm_query_find_surface(&query->subject.program, fixed, request->range_of, &request->range,
                               &surface, err))
        return false;
    struct pm_profile *profile = pm_query_profile(&surface, surface.largest_measured, err);
    bool ok = profile && prepare(query, profile, err);
    if (profile)
        pm_profile_free(profile);
    if (ok)
        add_warnings(query, NULL);
    struct pm_report_options options = request->options;
    options.selection = query->subject.selected;
    options.warnings = &query->warnings;
    if (ok && request->kind == PM_QUERY_FITS)
        return pm_print_fits(&query->subject.program, &surface, &query->parts, &query->on, &options,
                             err);
    pm_query_report_range(&query->report, &surface);
    pm_work_begin("looking for the largest size");
    ok = ok && pm_query_answer_size(&query->asked, &surface, &query->report.answers, err);
    pm_work_end();
    return ok;
}

static bool answer_sizes(struct query *query, bool solves, struct pm_error *err) {
    struct pm_parameters *sizes = NULL;
    size_t n = 0;
    bool ok = pm_size_design_expand(&query->request->design, &sizes, &n, err);
    if (ok && query->request->kind == PM_QUERY_FITS && n > 1)
        ok = pm_fail(err, "--fits takes one value of each parameter that -P gives");
    for (size_t i = 0; i < n && ok; i++)
        ok = solves ? answer_size(query, &sizes[i], err) : answer_point(query, &sizes[i], err);
    free(sizes);
    return ok;
}

static bool answer(struct query *query, struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    struct pm_query_report *report = &query->report;
    bool solves = request->kind == PM_QUERY_SIZE || request->kind == PM_QUERY_FITS;
    struct pm_report_options options = request->options;
    bool ok = pm_subject_open(&query->subject, request->store_path, &request->selection, err);
    options.selection = query->subject.selected;
    options.warnings = &query->warnings;
    if (ok && request->interpolate) {
        pm_subject_interpolate(&query->subject, request->on.machines, request->on.n_machines);
        for (size_t b = 0; b < request->blocks.n; b++)
            *PM_PUSH(&query->subject.program, interpolate) = request->blocks.bytes[b];
    }
    ok = ok && (!solves || pm_query_needs_models(&query->subject.program, err)) &&
         answer_sizes(query, solves, err);
    if (ok && request->kind != PM_QUERY_FITS) {
        report->kind = request->kind;
        report->structure = query->subject.program.structure;
        report->parts = &query->parts;
        report->caches = &query->on;
        report->measured_up_to = query->subject.program.measured_up_to;
        report->with_cold = !request->without_cold;
        pm_query_sort_by_part(&report->answers, query->parts.n_parts);
        pm_report_query(stdout, report, &options);
    }
    pm_warnings_free(&query->warnings);
    free(report->answers.rows);
    free(query->groups);
    pm_query_parts_free(&query->parts);
    pm_query_caches_free(&query->on);
    pm_subject_close(&query->subject);
    return ok;
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct pm_query_request request = {0};
    struct pm_error err = {0};
    int status = pm_read_query_request(self, &request, argc, argv);
    if (status == 0) {
        struct query query = {.request = &request};
        status = answer(&query, &err) ? PM_EXIT_OK : pm_complain(&err);
    }
    pm_query_request_free(&request);
    return status;
}

const struct pm_command pm_command_query = {
    .name = "query",
    .purpose = "of size, cache and hit ratio, the one that is not given; which sizes fit a cache",
    .usage = "-P NAME=VALUES --cache SIZES | -m MACHINE [OPTION]... STORE\n"
             "-P NAME=VALUES --hit-ratio R [OPTION]... STORE\n"
             "--cache SIZES | -m MACHINE --hit-ratio R [OPTION]... STORE\n"
             "--fits --cache SIZES | -m MACHINE [OPTION]... STORE",
    .examples = "pmodel query heat.pmdb -P N=256 --hit-ratio 0.95    # the smallest cache for it",
    .options = pm_query_options,
    .run = run,
};
