/* What a match left over, listed, and a run's results in the numbers of the other build; see
   matching.h. */
#include "measure/matching/matching.h"

#include <math.h>
#include <stdlib.h>

/* ---- accesses of own code -------------------------------------------------------------------- */

/* By executions of basic blocks: in which scope's own code, and in which group. */
struct executed {
    double *of_scope, *of_group, all;
};

static struct executed count_accesses(const struct pm_structure *s, const double *edge_counts) {
    struct executed executed = {.of_scope = pm_alloc(s->n_scopes, sizeof *executed.of_scope),
                                .of_group = pm_alloc(s->n_groups, sizeof *executed.of_group)};
    double *blocks = pm_block_executions(s, edge_counts);
    for (size_t r = 0; r < s->n_references; r++) {
        const struct pm_reference *reference = &s->references[r];
        double accesses = blocks[reference->block] * pm_reference_accesses(reference);
        executed.of_scope[pm_block_scope(s, reference->block)] += accesses;
        executed.of_group[reference->group] += accesses;
        executed.all += accesses;
    }
    free(blocks);
    return executed;
}

static void free_executed(struct executed *executed) {
    free(executed->of_scope);
    free(executed->of_group);
}

/* ---- listing --------------------------------------------------------------------------------- */

static char *scope_place(const struct pm_structure *s, uint32_t scope) {
    const struct pm_scope *own = &s->scopes[scope];
    const char *routine =
        own->routine < s->n_routines ? s->routines[own->routine].display_name : own->name;
    char *place = pm_strdup(routine ? routine : "?");
    if (own->kind == PM_SCOPE_LOOP)
        pm_append(&place, "/%u", own->depth);
    if (own->file && own->line_first)
        pm_append(&place, " %s:%u", pm_base_name(own->file), own->line_first);
    return place;
}

static char *group_place(const struct pm_structure *s, uint32_t group) {
    char *scope = scope_place(s, s->groups[group].scope);
    char *place =
        pm_sprintf("%s in %s", s->groups[group].object ? s->groups[group].object : "data", scope);
    free(scope);
    return place;
}

static void add(struct pm_build_differences *list, enum pm_difference_kind kind,
                enum pm_mismatch mismatch, uint32_t index, char *place, double accesses) {
    *PM_PUSH(list, rows) = (struct pm_build_difference){
        .kind = kind, .mismatch = mismatch, .index = index, .place = place, .accesses = accesses};
}

/* What was never counted is no difference. */
static bool is_listed(const struct pm_structure *s, uint32_t scope, uint8_t mismatch) {
    return pm_has_own_code(s, scope) && mismatch != PM_MATCHES &&
           s->scopes[scope].routine < s->n_routines &&
           s->routines[s->scopes[scope].routine].counted;
}

static void list_scopes(const struct pm_structure_match *match, const struct executed *executed,
                        struct pm_build_differences *list) {
    const struct pm_structure *a = match->from, *b = match->to;
    double *in_run = pm_alloc(b->n_scopes, sizeof *in_run); /* NAN: not in the run's build */
    for (size_t i = 0; i < b->n_scopes; i++)
        in_run[i] = NAN;
    for (uint32_t i = 0; i < a->n_scopes; i++) {
        uint32_t to = match->scopes[i];
        if (to != PM_NONE)
            in_run[to] = executed->of_scope[i];
        else if (is_listed(a, i, match->own_from[i]) && executed->of_scope[i] > 0)
            add(list, PM_DIFFERENT_SCOPE, match->own_from[i], PM_NONE, scope_place(a, i),
                executed->of_scope[i]);
    }
    for (uint32_t i = 0; i < b->n_scopes; i++)
        if (is_listed(b, i, match->own_to[i]))
            add(list, PM_DIFFERENT_SCOPE, match->own_to[i], i, scope_place(b, i), in_run[i]);
    free(in_run);
}

static void list_groups(const struct pm_structure_match *match, const struct executed *executed,
                        struct pm_build_differences *list) {
    const struct pm_structure *a = match->from, *b = match->to;
    for (uint32_t g = 0; g < a->n_groups; g++) {
        uint32_t own = pm_own_scope(a, a->groups[g].scope);
        if (match->groups[g] == PM_NONE && own != PM_NONE && match->own_from[own] == PM_MATCHES &&
            executed->of_group[g] > 0)
            add(list, PM_DIFFERENT_GROUP, PM_MISMATCH_REFERENCES, PM_NONE, group_place(a, g),
                executed->of_group[g]);
    }
    for (uint32_t g = 0; g < b->n_groups; g++) {
        if (match->group_is_lost[g])
            add(list, PM_DIFFERENT_GROUP, PM_MISMATCH_REFERENCES, g, group_place(b, g), NAN);
        if (match->strides_vary[g])
            add(list, PM_DIFFERENT_STRIDES, PM_MATCHES, g, group_place(b, g), NAN);
    }
}

static int compare_rows(const void *left, const void *right) {
    const struct pm_build_difference *a = left, *b = right;
    double of_a = isnan(a->accesses) ? -1 : a->accesses;
    double of_b = isnan(b->accesses) ? -1 : b->accesses;
    if (of_a != of_b)
        return PM_COMPARE(of_b, of_a);
    if (a->kind != b->kind)
        return PM_COMPARE(a->kind, b->kind);
    if (a->index != b->index)
        return PM_COMPARE(a->index, b->index);
    return strcmp(a->place, b->place);
}

void pm_build_differences_list(const struct pm_structure_match *match, const double *edge_counts,
                               struct pm_build_differences *differences) {
    struct executed executed = count_accesses(match->from, edge_counts);
    *differences = (struct pm_build_differences){.accesses = executed.all};
    list_scopes(match, &executed, differences);
    list_groups(match, &executed, differences);
    PM_SORT(differences->rows, differences->n_rows, compare_rows);
    for (uint32_t g = 0; g < match->from->n_groups; g++)
        differences->lost += match->holders[g] == PM_NONE ? executed.of_group[g] : 0;
    for (size_t i = 0; i < match->n_joins; i++)
        *PM_PUSH(differences, joins) = match->joins[i];
    free_executed(&executed);
}

/* ---- a run's results ------------------------------------------------------------------------- */

/* What the groups that have no counterpart did. */
static void add_skipped(const struct pm_structure_match *match, const double *edge_counts,
                        struct pm_skipped_accesses *skipped) {
    bool *is_lost = pm_alloc(match->from->n_groups, sizeof *is_lost);
    for (size_t g = 0; g < match->from->n_groups; g++)
        is_lost[g] = match->holders[g] == PM_NONE;
    pm_skipped_add_groups(match->from, edge_counts, is_lost, skipped);
    free(is_lost);
}

/* *COUNTS, of the edges of match->from, become those of match->to. */
static void match_counts(const struct pm_structure_match *match, double **counts) {
    double *matched = pm_alloc(match->to->n_edges, sizeof *matched);
    for (size_t e = 0; e < match->from->n_edges; e++)
        if (match->edges[e] != PM_NONE)
            matched[match->edges[e]] += (*counts)[e];
    free(*counts);
    *counts = matched;
}

void pm_match_profile(const struct pm_structure_match *match, struct pm_profile *profile) {
    add_skipped(match, profile->edge_counts, &profile->skipped[PM_SKIPPED_UNMATCHED]);
    match_counts(match, &profile->edge_counts);
    profile->n_edges = match->to->n_edges;
    /* They are by reference, and references of two builds are not matched. */
    pm_run_strides_free(&profile->strides);
}

void pm_match_streams(const struct pm_structure_match *match, struct pm_streams *streams) {
    size_t n = 0;
    for (size_t i = 0; i < streams->n_histograms; i++) {
        struct pm_stream_histogram *histogram = &streams->histograms[i];
        histogram->group = match->holders[histogram->group];
        if (histogram->group == PM_NONE)
            pm_histogram_free(&histogram->histogram);
        else
            streams->histograms[n++] = *histogram;
    }
    streams->n_histograms = n;
    pm_streams_order(streams);
    for (size_t i = 0; i < streams->n_counts; i++)
        match_counts(match, &streams->counts[i].edge_counts);
}

bool *pm_match_inexact(const struct pm_structure_match *match, const bool *inexact) {
    bool *result = pm_alloc(match->to->n_routines, sizeof *result);
    for (size_t i = 0; i < match->from->n_scopes; i++) {
        const struct pm_scope *scope = &match->from->scopes[i];
        if (scope->kind == PM_SCOPE_ROUTINE && match->scopes[i] != PM_NONE &&
            inexact[scope->routine])
            result[match->to->scopes[match->scopes[i]].routine] = true;
    }
    return result;
}
