/* Answers to questions at given sizes, and for the largest size; see query.h. */
#include <math.h>
#include <stdlib.h>

#include "fit/fit.h"
#include "fit/query/query.h"
#include "fit/sets/sets.h"
#include "fit/warnings/warnings.h"

static struct pm_query_row *add_row(const struct pm_query_asked *asked,
                                    struct pm_query_answers *answers, size_t part, size_t cache) {
    const struct pm_query_level_cache *on = &asked->caches->caches[cache];
    struct pm_query_row *row = PM_PUSH(answers, rows);
    row->part = part;
    row->cache_name = on->name;
    row->machine = on->machine;
    row->cache = on->cache;
    row->sets = &on->sets;
    row->wanted = row->failing_size = row->gap_size = row->low = row->high = NAN;
    row->write_backs = NAN;
    return row;
}

/* Widens the row's bounds to VALUE. */
static void add_bound(struct pm_query_row *row, double value) {
    row->low = fmin(row->low, value);
    row->high = fmax(row->high, value);
}

/* ---- at given sizes -------------------------------------------------------------------------- */

/* A profile, and if misses are asked for, those in each cache, in which its own begin with number
   FIRST. */
struct answering {
    const struct pm_query_asked *asked;
    const struct pm_profile *profile;
    double *const *misses; /* [cache][number of a histogram] */
    size_t first;
};

/* The row's answer, in cache number C: the cache where a hit ratio is wanted, else misses. */
static double answer_in(const struct answering *in, const struct pm_query_row *row, size_t c) {
    const struct pm_query_groups *groups = in->asked->parts[row->part];
    double blocks;
    if (isnan(row->wanted))
        return pm_query_sum_misses(in->asked->program->structure, in->profile, groups,
                                   row->cache.block_bytes, in->misses[c] + in->first);
    pm_query_smallest_cache(in->profile, groups, row->cache.block_bytes, row->wanted,
                            in->asked->with_cold, &blocks);
    return blocks;
}

/* What the row's cache, number C, writes to the next level; see pm_query_row. */
static double write_backs_in(const struct answering *in, const struct pm_query_row *row, size_t c) {
    const struct pm_query_level_cache *level = &in->asked->caches->caches[c];
    struct pm_query_cache keeps = {.block_bytes = row->cache.block_bytes};
    if (!level->writes_through)
        keeps = row->cache;
    return level->is_tlb ? NAN
                         : pm_query_write_backs(in->profile, in->asked->parts[row->part], &keeps);
}

/* Widens the row's bounds, or those that it now gets, by what the sets may be wrong by. */
static void add_spread(struct pm_query_row *row, double spread) {
    double misses = row->counts.misses;
    add_bound(row, fmax(fmin(row->unlimited.misses, misses), fmin(row->low, misses) - spread));
    add_bound(row, fmin(row->counts.accesses, fmax(row->high, misses) + spread));
}

/* THERE[0]: at the size; the others at the ends of the models' intervals, of a profile that was
   measured the same again, since the cache's own ends differ; without profiles: there are none. */
static void add_point(const struct answering there[3], size_t c, struct pm_query_row *row) {
    const struct pm_profile *profile = there[0].profile;
    const struct pm_query_groups *groups = there[0].asked->parts[row->part];
    struct pm_query_cache unlimited = {.block_bytes = row->cache.block_bytes, .blocks = INFINITY};
    row->at = profile->parameters;
    double found = answer_in(&there[0], row, c);
    bool has_ends = there[1].profile && (there[1].profile != profile || row->cache.serves.n_points);
    for (int i = 0; i < 3 && has_ends; i++)
        add_bound(row, answer_in(&there[i], row, c));
    if (!isnan(row->wanted))
        row->cache.blocks = found;
    row->found = isinf(found) ? PM_QUERY_NONE : PM_QUERY_FOUND;
    row->counts = pm_query_count(profile, groups, &row->cache);
    const double fully_associative = row->counts.misses; /* a sum in another order */
    const bool sets_matter = fabs(found - fully_associative) > pm_heuristics.rounding * found;
    if (isnan(row->wanted))
        row->counts.misses = found;
    row->unlimited = pm_query_count(profile, groups, &unlimited);
    if (isnan(row->wanted) && sets_matter)
        add_spread(row, pm_heuristics.set_spread * fabs(found - fully_associative));
    row->write_backs = write_backs_in(&there[0], row, c);
    row->predicted = profile->predicted;
    row->n_threads = profile->n_threads > 1 ? (uint32_t)profile->n_threads : 0;
    row->interpolated_from = pm_profile_interpolated_from(profile, row->cache.block_bytes);
    row->extrapolation = profile->extrapolation;
    row->relative_error = profile->relative_error;
}

static bool any_response(const struct pm_query_caches *caches) {
    bool any = false;
    for (size_t c = 0; c < caches->n_caches; c++)
        any |= caches->caches[c].cache.serves.n_points > 0;
    return any;
}

bool pm_query_answer_at(const struct pm_query_asked *asked, const struct pm_profile *profile,
                        struct pm_query_answers *answers, struct pm_error *err) {
    struct pm_program *program = asked->program;
    struct pm_predicted predicted = {0};
    struct pm_profile *const *ends = predicted.ends;
    size_t n_ratios = asked->n_ratios;
    /* Where nobody knows how much was dropped, nobody knows bounds. */
    const struct pm_model_set *models = pm_program_known_models(program);
    bool bounded = profile->predicted && !(isnan(models->accesses_left_out) &&
                                           pm_is_of_unlike_builds(program->structure));
    if (bounded && !pm_program_predict(program, &profile->parameters, pm_heuristics.interval_level,
                                       &predicted, err))
        return false;
    for (int end = 0; end < 2; end++)
        pm_program_interpolate(program, ends[end]);
    struct pm_profile *const same = (struct pm_profile *)profile;
    struct pm_profile *const between[2] = {bounded ? ends[0] : same, bounded ? ends[1] : same};
    bool has_ends = bounded || (!n_ratios && any_response(asked->caches));
    double **misses = n_ratios ? NULL
                               : pm_query_misses(program->structure, profile,
                                                 has_ends ? between : NULL, asked->caches);
    const size_t n = profile->n_histograms;
    const struct answering there[3] = {
        {asked, profile, misses, 0},
        {asked, has_ends ? between[0] : NULL, misses, n},
        {asked, has_ends ? between[1] : NULL, misses, n + between[0]->n_histograms}};
    for (size_t p = 0; p < asked->n_parts; p++)
        for (size_t c = 0; c < asked->caches->n_caches; c++)
            for (size_t r = 0; r < (n_ratios ? n_ratios : 1); r++) {
                struct pm_query_row *row = add_row(asked, answers, p, c);
                row->wanted = n_ratios ? asked->ratios[r] : NAN;
                add_point(there, c, row);
            }
    if (misses)
        pm_set_misses_free(misses, asked->caches->n_caches);
    pm_predicted_free(&predicted);
    return true;
}

/* ---- the largest size ------------------------------------------------------------------------ */

/* One end of the intervals. */
struct end {
    const struct pm_program *program;
    bool high;
};

static struct pm_profile *predicted_end(void *context, const struct pm_parameters *at,
                                        struct pm_error *err) {
    const struct end *end = context;
    return pm_program_interpolate(
        end->program, pm_fit_instantiate_end(end->program->structure, end->program->models, at,
                                             pm_heuristics.interval_level, end->high, err));
}

/* The size of an answer as a bound: infinite beyond the range. */
static double bound_of(const struct pm_query_answer *answer) {
    return answer->found == PM_QUERY_NONE     ? -INFINITY
           : answer->found == PM_QUERY_BEYOND ? INFINITY
                                              : answer->size;
}

/* FOUND: by the models, and by the two ends of their intervals. */
static void add_size(const struct pm_query_surface *surface, struct pm_query_answer *const found[3],
                     size_t number, struct pm_query_row *row) {
    const struct pm_query_answer *answer = &found[0][number];
    row->at = surface->fixed;
    pm_parameters_set(&row->at, surface->name, answer->size, NULL);
    for (int i = 0; i < 3; i++)
        add_bound(row, bound_of(&found[i][number]));
    row->found = answer->found;
    row->failing_size = answer->failing_size;
    row->gap_size = answer->gap_size;
    row->counts = answer->counts;
    row->unlimited = answer->unlimited;
    row->predicted = true;
    row->extrapolation = answer->extrapolation;
    row->relative_error = answer->relative_error;
}

bool pm_query_answer_size(const struct pm_query_asked *asked,
                          const struct pm_query_surface *surface, struct pm_query_answers *answers,
                          struct pm_error *err) {
    size_t n_caches = asked->caches->n_caches, n_ratios = asked->n_ratios,
           n = asked->n_parts * n_caches * n_ratios;
    struct pm_query_question *questions = pm_alloc(n, sizeof *questions);
    struct pm_query_answer *found[3];
    for (size_t i = 0; i < n; i++)
        questions[i] = (struct pm_query_question){
            .groups = asked->parts[i / n_ratios / n_caches],
            .cache = asked->caches->caches[i / n_ratios % n_caches].cache,
            .ratio = asked->ratios[i % n_ratios],
            .with_cold = asked->with_cold,
        };
    struct pm_profile *profile = pm_query_profile(surface, surface->largest_measured, err);
    bool ok = profile != NULL;
    for (int i = 0; i < 3; i++) {
        struct pm_query_surface at = *surface;
        struct end end = {asked->program, i == 2};
        if (i > 0) {
            at.profile_at = predicted_end;
            at.context = &end;
        }
        found[i] = pm_alloc(n, sizeof **found);
        ok = ok && pm_query_largest_sizes(&at, questions, n, found[i], &answers->coarsest, err);
    }
    for (size_t i = 0; i < n && ok; i++) {
        struct pm_query_row *row =
            add_row(asked, answers, i / n_ratios / n_caches, i / n_ratios % n_caches);
        row->wanted = asked->ratios[i % n_ratios];
        row->interpolated_from = pm_profile_interpolated_from(profile, row->cache.block_bytes);
        add_size(surface, found, i, row);
    }
    if (profile)
        pm_profile_free(profile);
    free(questions);
    for (int i = 0; i < 3; i++)
        free(found[i]);
    return ok;
}

/* ---- in order -------------------------------------------------------------------------------- */

void pm_query_sort_by_part(struct pm_query_answers *answers, size_t n_parts) {
    if (n_parts < 2)
        return;
    struct pm_query_row *sorted = pm_alloc(answers->n_rows, sizeof *sorted);
    size_t *next = pm_alloc(n_parts + 1, sizeof *next); /* where a part's next row goes */
    for (size_t i = 0; i < answers->n_rows; i++)
        next[answers->rows[i].part + 1]++;
    for (size_t p = 1; p < n_parts; p++)
        next[p] += next[p - 1];
    for (size_t i = 0; i < answers->n_rows; i++)
        sorted[next[answers->rows[i].part]++] = answers->rows[i];
    free(next);
    free(answers->rows);
    answers->rows = sorted;
    answers->cap_rows = answers->n_rows;
}
