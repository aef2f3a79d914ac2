/* `pmodel query`: size, cache and hit ratio: two are given, the third is the answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/query/private.h"

struct query {
    const struct pm_query_request *request;
    struct pm_program program;
    struct pm_query_parts parts;
    struct pm_level_cache_list on; /* PM_QUERY_CACHE: one of each block size, without capacity */
    struct pm_query_report report;
};

/* ---- what is asked about --------------------------------------------------------------------- */

static bool check_blocks(const struct pm_profile *profile, uint64_t block_bytes,
                         struct pm_error *err) {
    if (pm_has_block_size(profile->block_sizes, profile->n_block_sizes, block_bytes))
        return true;
    char *known = pm_strdup("");
    for (size_t i = 0; i < profile->n_block_sizes; i++)
        pm_append(&known, "%s%llu", i ? ", " : "", (unsigned long long)profile->block_sizes[i]);
    pm_fail(err,
            "the store has no reuse distances in blocks of %llu bytes, but in those of %s: measure "
            "with `pmodel run --block`",
            (unsigned long long)block_bytes, *known ? known : "no size");
    free(known);
    return false;
}

static bool add_cache(struct query *query, const struct pm_query_cache_size *size,
                      uint64_t block_bytes, struct pm_error *err) {
    double block = (double)block_bytes,
           bytes = size->in_blocks ? size->amount * block : size->amount;
    char text[40];
    pm_format_value(size->amount, text, sizeof text);
    if (bytes / block != floor(bytes / block))
        return pm_fail(err, "a cache of %s bytes is not a whole number of blocks of %llu bytes",
                       text, (unsigned long long)block_bytes);
    struct pm_query_level_cache *cache = PM_PUSH(&query->on, caches);
    cache->cache = (struct pm_query_cache){block_bytes, bytes / block};
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; unit + 1 < sizeof units / sizeof units[0] && bytes >= 1024 && fmod(bytes, 1024) == 0;
         unit++)
        bytes /= 1024;
    cache->name =
        size->in_blocks ? pm_sprintf("%s blocks", text) : pm_sprintf("%.0f %s", bytes, units[unit]);
    return true;
}

/* Of --block, else 64, else the smallest. */
static bool add_caches_of_blocks(struct query *query, const struct pm_profile *profile,
                                 uint64_t block_bytes, struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    if (!check_blocks(profile, block_bytes, err))
        return false;
    if (request->kind == PM_QUERY_CACHE) {
        struct pm_query_level_cache *cache = PM_PUSH(&query->on, caches);
        cache->cache.block_bytes = block_bytes;
        return true;
    }
    for (size_t i = 0; i < request->n_caches; i++)
        if (!add_cache(query, &request->caches[i], block_bytes, err))
            return false;
    return true;
}

static bool add_caches(struct query *query, const struct pm_profile *profile,
                       struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    if (profile->n_block_sizes == 0)
        return pm_fail(err, "the store has no reuse distances: measure with `pmodel run` without "
                            "--no-memory");
    uint64_t usual = pm_has_block_size(profile->block_sizes, profile->n_block_sizes, 64)
                         ? 64
                         : profile->block_sizes[0];
    bool ok = true;
    for (size_t m = 0; m < request->on.n_machines && ok; m++)
        ok = pm_add_levels(&query->on, request->on.machines[m], profile, err);
    for (size_t b = 0; b < request->blocks.n && ok; b++)
        ok = add_caches_of_blocks(query, profile, request->blocks.bytes[b], err);
    if (request->blocks.n == 0 && ok)
        ok = add_caches_of_blocks(query, profile, usual, err);
    return ok;
}

/* Parts and caches, and the parts' weights at PROFILE. */
static bool prepare(struct query *query, const struct pm_profile *profile, struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    if (!add_caches(query, profile, err) ||
        !pm_query_find_parts(query->program.structure, request->level, request->scopes,
                             request->n_scopes, &query->parts, err))
        return false;
    struct pm_query_cache *caches = pm_alloc(query->on.n_caches, sizeof *caches);
    for (size_t i = 0; i < query->on.n_caches; i++)
        caches[i] = query->on.caches[i].cache;
    pm_query_weigh(&query->parts, profile, caches, query->on.n_caches);
    pm_query_keep_shown(&query->parts, &request->options);
    free(caches);
    return true;
}

static struct pm_query_row *add_row(struct query *query, size_t part,
                                    const struct pm_query_level_cache *cache) {
    struct pm_query_row *row = PM_PUSH(&query->report, rows);
    row->part = part;
    row->cache_name = cache->name;
    row->machine = cache->machine;
    row->cache = cache->cache;
    row->wanted = row->failing_size = row->gap_size = row->low = row->high = NAN;
    return row;
}

/* ---- at given sizes -------------------------------------------------------------------------- */

/* Widens the row's bounds to VALUE. */
static void add_bound(struct pm_query_row *row, double value) {
    row->low = fmin(row->low, value);
    row->high = fmax(row->high, value);
}

/* The row's answer at PROFILE: the cache where HIT RATIO is wanted, else misses. */
static double answer_at(const struct query *query, const struct pm_query_row *row,
                        const struct pm_profile *profile) {
    const struct pm_query_groups *groups = &query->parts.parts[row->part].groups;
    double blocks;
    if (isnan(row->wanted))
        return pm_query_count(profile, groups, &row->cache).misses;
    pm_query_smallest_cache(profile, groups, row->cache.block_bytes, row->wanted,
                            query->report.with_cold, &blocks);
    return blocks;
}

/* ENDS: of the models' intervals; NULL where PROFILE was measured. */
static void add_point(struct query *query, const struct pm_profile *profile,
                      struct pm_profile *const *ends, size_t part,
                      const struct pm_query_level_cache *cache, double wanted) {
    const struct pm_query_groups *groups = &query->parts.parts[part].groups;
    struct pm_query_row *row = add_row(query, part, cache);
    struct pm_query_cache unlimited = {cache->cache.block_bytes, INFINITY};
    row->at = profile->parameters;
    row->wanted = wanted;
    double found = answer_at(query, row, profile);
    if (ends) {
        add_bound(row, found);
        add_bound(row, answer_at(query, row, ends[0]));
        add_bound(row, answer_at(query, row, ends[1]));
    }
    if (!isnan(wanted))
        row->cache.blocks = found;
    row->found = isinf(found) ? PM_QUERY_NONE : PM_QUERY_FOUND;
    row->counts = pm_query_count(profile, groups, &row->cache);
    row->unlimited = pm_query_count(profile, groups, &unlimited);
    row->predicted = profile->predicted;
    row->extrapolation = profile->extrapolation;
    row->relative_error = profile->relative_error;
}

static void add_points(struct query *query, const struct pm_profile *profile,
                       struct pm_profile *const *ends) {
    const struct pm_query_request *request = query->request;
    for (size_t p = 0; p < query->parts.n_parts; p++)
        for (size_t c = 0; c < query->on.n_caches; c++) {
            if (request->n_ratios == 0)
                add_point(query, profile, ends, p, &query->on.caches[c], NAN);
            for (size_t r = 0; r < request->n_ratios; r++)
                add_point(query, profile, ends, p, &query->on.caches[c], request->ratios[r]);
        }
}

/* By part first; a part's rows stay in order. */
static void sort_rows(struct pm_query_report *report, size_t n_parts) {
    if (n_parts < 2)
        return;
    struct pm_query_row *sorted = pm_alloc(report->n_rows, sizeof *sorted);
    size_t *next = pm_alloc(n_parts + 1, sizeof *next); /* where a part's next row goes */
    for (size_t i = 0; i < report->n_rows; i++)
        next[report->rows[i].part + 1]++;
    for (size_t p = 1; p < n_parts; p++)
        next[p] += next[p - 1];
    for (size_t i = 0; i < report->n_rows; i++)
        sorted[next[report->rows[i].part]++] = report->rows[i];
    free(next);
    free(report->rows);
    report->rows = sorted;
    report->cap_rows = report->n_rows;
}

static bool answer_point(struct query *query, const struct pm_parameters *size,
                         struct pm_error *err) {
    struct pm_profile *profile = pm_profile_at(&query->program, size, err), *ends[2];
    bool ok = profile && (query->parts.n_parts > 0 || prepare(query, profile, err));
    if (ok && !profile->predicted) {
        add_points(query, profile, NULL);
    } else if (ok) {
        ok = pm_profile_ends_at(query->program.structure, query->program.models, size,
                                PM_QUERY_PROBABILITY, ends, err);
        if (ok) {
            add_points(query, profile, ends);
            pm_profile_free(ends[0]);
            pm_profile_free(ends[1]);
        }
    }
    if (profile)
        pm_profile_free(profile);
    return ok;
}

static bool answer_points(struct query *query, const struct pm_parameters *sizes, size_t n_sizes,
                          struct pm_error *err) {
    for (size_t i = 0; i < n_sizes; i++)
        if (!answer_point(query, &sizes[i], err))
            return false;
    sort_rows(&query->report, query->parts.n_parts);
    return true;
}

/* ---- the largest size ------------------------------------------------------------------------ */

/* Parts, caches and range; SURFACE is that of the first of the sizes. */
static bool prepare_surface(struct query *query, const struct pm_parameters *fixed,
                            struct pm_query_surface *surface, struct pm_error *err) {
    if (!pm_query_find_surface(&query->program, fixed, query->request->range, surface, err))
        return false;
    double largest = pm_query_largest_measured(query->program.models, surface->name);
    struct pm_profile *profile = pm_query_profile(surface, largest, err);
    bool ok = profile && (query->parts.n_parts > 0 || prepare(query, profile, err));
    if (profile)
        pm_profile_free(profile);
    struct pm_query_report *report = &query->report;
    report->solved = surface->name;
    report->range = surface->range;
    report->most_factor = pm_query_range_value(&surface->range, surface->range.n - 1) / largest;
    return ok;
}

/* The size of an answer as a bound: infinite beyond the range. */
static double bound_of(const struct pm_query_answer *answer) {
    return answer->found == PM_QUERY_NONE     ? -INFINITY
           : answer->found == PM_QUERY_BEYOND ? INFINITY
                                              : answer->size;
}

/* ANSWERS: by the models, and by the two ends of their intervals. */
static void add_answer(struct query *query, const struct pm_query_surface *surface, size_t part,
                       const struct pm_query_level_cache *cache, double wanted,
                       struct pm_query_answer *const answers[3], size_t number) {
    const struct pm_query_answer *answer = &answers[0][number];
    struct pm_query_row *row = add_row(query, part, cache);
    row->at = surface->fixed;
    pm_parameters_set(&row->at, surface->name, answer->size, NULL);
    row->wanted = wanted;
    for (int i = 0; i < 3; i++)
        add_bound(row, bound_of(&answers[i][number]));
    row->found = answer->found;
    row->failing_size = answer->failing_size;
    row->gap_size = answer->gap_size;
    row->counts = answer->counts;
    row->unlimited = answer->unlimited;
    row->predicted = true;
    row->extrapolation = answer->extrapolation;
    row->relative_error = answer->relative_error;
}

static bool answer_size(struct query *query, const struct pm_query_surface *surface,
                        struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    size_t n_caches = query->on.n_caches, n_ratios = request->n_ratios,
           n = query->parts.n_parts * n_caches * n_ratios;
    struct pm_query_question *questions = pm_alloc(n, sizeof *questions);
    struct pm_query_answer *answers[3];
    for (size_t i = 0; i < n; i++)
        questions[i] = (struct pm_query_question){
            .groups = &query->parts.parts[i / n_ratios / n_caches].groups,
            .cache = query->on.caches[i / n_ratios % n_caches].cache,
            .ratio = request->ratios[i % n_ratios],
            .with_cold = query->report.with_cold,
        };
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        struct pm_query_surface at = *surface;
        struct pm_query_end end = {&query->program, i == 2};
        if (i > 0) {
            at.profile_at = pm_query_predicted_end;
            at.context = &end;
        }
        answers[i] = pm_alloc(n, sizeof **answers);
        ok = ok &&
             pm_query_largest_sizes(&at, questions, n, answers[i], &query->report.coarsest, err);
    }
    for (size_t i = 0; i < n && ok; i++)
        add_answer(query, surface, i / n_ratios / n_caches,
                   &query->on.caches[i / n_ratios % n_caches], request->ratios[i % n_ratios],
                   answers, i);
    free(questions);
    for (int i = 0; i < 3; i++)
        free(answers[i]);
    return ok;
}

static bool answer_sizes(struct query *query, const struct pm_parameters *sizes, size_t n_sizes,
                         struct pm_error *err) {
    bool ok = true;
    for (size_t i = 0; i < n_sizes && ok; i++) {
        struct pm_query_surface surface;
        free(query->report.range.values);
        ok = prepare_surface(query, &sizes[i], &surface, err);
        query->report.range = surface.range;
        ok = ok && answer_size(query, &surface, err);
    }
    sort_rows(&query->report, query->parts.n_parts);
    return ok;
}

/* ---- what fits ------------------------------------------------------------------------------- */

static bool answer_fits(struct query *query, const struct pm_parameters *sizes, size_t n_sizes,
                        struct pm_error *err) {
    struct pm_query_surface surface;
    if (n_sizes > 1)
        return pm_fail(err, "--fits takes one value of each parameter that -P gives");
    bool ok = prepare_surface(query, &sizes[0], &surface, err);
    query->report.range = surface.range;
    return ok && pm_print_fits(&query->program, &surface, &query->parts, &query->on,
                               &query->request->options, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool answer(struct query *query, struct pm_store *store, struct pm_error *err) {
    const struct pm_query_request *request = query->request;
    bool solves = request->kind == PM_QUERY_SIZE || request->kind == PM_QUERY_FITS;
    struct pm_parameters *sizes = NULL;
    size_t n_sizes = 0;
    bool ok = pm_program_open(&query->program, store, err) &&
              (!solves || pm_query_needs_models(&query->program, err)) &&
              pm_size_design_expand(&request->design, &sizes, &n_sizes, err);
    query->report.kind = request->kind;
    query->report.structure = query->program.structure;
    query->report.parts = &query->parts;
    query->report.measured_up_to = query->program.measured_up_to;
    query->report.with_cold = !request->without_cold;
    if (ok && request->kind == PM_QUERY_FITS)
        ok = answer_fits(query, sizes, n_sizes, err);
    else if (ok)
        ok = solves ? answer_sizes(query, sizes, n_sizes, err)
                    : answer_points(query, sizes, n_sizes, err);
    if (ok && request->kind != PM_QUERY_FITS)
        pm_report_query(stdout, &query->report, &request->options);
    free(sizes);
    free(query->report.rows);
    free(query->report.range.values);
    pm_query_parts_free(&query->parts);
    pm_free_level_caches(&query->on);
    pm_program_close(&query->program);
    return ok;
}

int pm_cmd_query(int argc, char **argv) {
    struct pm_query_request request = {0};
    struct pm_error err = {0};
    int status = pm_read_query_request(&request, argc, argv);
    if (status == 0) {
        struct query query = {.request = &request};
        struct pm_store *store = pm_store_open(request.store_path, PM_STORE_READ, &err);
        bool ok = store && answer(&query, store, &err);
        pm_store_close(store);
        status = ok ? PM_EXIT_OK : pm_complain(&err);
    }
    pm_query_request_free(&request);
    return status;
}
