/* The points of a picture, and which drawing is asked for; see pictures.h. */
#include "report/pictures/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/analysis/analysis.h"
#include "report/labels/labels.h"

static const char *const words[PM_N_PICTURES] = {
#define PM_PICTURE_WORD(id, word, shows) [id] = word,
    PM_PICTURES(PM_PICTURE_WORD)
#undef PM_PICTURE_WORD
};

bool pm_picture_kind_from_word(const char *word, enum pm_picture_kind *kind) {
    for (int k = 0; k < PM_N_PICTURES; k++)
        if (strcmp(words[k], word) == 0) {
            *kind = (enum pm_picture_kind)k;
            return true;
        }
    return false;
}

const char *pm_picture_words(void) {
#define PM_PICTURE_LIST(id, word, shows) ", " word
    return PM_PICTURES(PM_PICTURE_LIST) + 2;
#undef PM_PICTURE_LIST
}

/* ---- what is pictured ------------------------------------------------------------------------ */

char *pm_picture_label(const struct pm_structure *structure, const bool *rows, const char *name) {
    if (!rows)
        return pm_strdup(pm_program_name(structure));
    uint32_t first = PM_NONE;
    size_t n_rows = 0, n_folded = 0; /* of the first row, the loops or routines in it */
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        n_rows += rows[s];
        if (rows[s] && first == PM_NONE)
            first = s;
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        n_folded +=
            structure->scopes[s].kind != PM_SCOPE_INLINED && pm_row_scope(structure, s) == first;
    if (n_rows != 1)
        return pm_sprintf("%s (%zu loops or routines)", name, n_rows);
    return n_folded > 1 ? pm_scope_label_folded(structure, first)
                        : pm_scope_label(structure, first);
}

enum pm_picture_unit pm_picture_unit(const struct pm_picture *picture) {
    if (!picture->rows)
        return PM_PER_RUN;
    for (uint32_t s = 0; s < picture->structure->n_scopes; s++)
        if (picture->rows[s] && picture->structure->scopes[s].kind == PM_SCOPE_LOOP)
            return PM_PER_ITERATION;
    return PM_PER_CALL;
}

/* ---- points ---------------------------------------------------------------------------------- */

static bool is_pictured(const struct pm_picture *picture, uint32_t scope) {
    return !picture->rows || picture->rows[pm_row_scope(picture->structure, scope)];
}

static void add_costs(const struct pm_picture *picture, const struct pm_prediction *prediction,
                      struct pm_picture_point *point) {
    for (uint32_t s = 0; s < picture->structure->n_scopes; s++) {
        if (!is_pictured(picture, s))
            continue;
        pm_cost_sum_add(&point->cost, &prediction->scopes[s].self);
        if (picture->structure->scopes[s].kind != PM_SCOPE_INLINED)
            point->iterations += prediction->scopes[s].iterations;
    }
    if (!picture->rows)
        point->iterations = 1;
}

/* Seconds of a clock are those of the rows if these, and no others, have timers of their own. */
static double clock_cycles(const struct pm_picture *picture, const struct pm_times *times) {
    if (!times || !times->machine || !strstr(picture->machine->title, times->machine))
        return NAN;
    if (!picture->rows)
        return times->plain_seconds * picture->machine->clock_hz;
    uint32_t *owners = pm_times_owners(times, picture->structure);
    double seconds = 0;
    bool own = true, any = false;
    for (uint32_t s = 0; s < picture->structure->n_scopes; s++)
        own &= owners[s] == PM_NONE || is_pictured(picture, s) == is_pictured(picture, owners[s]);
    for (size_t i = 0; i < times->n_scopes; i++)
        if (is_pictured(picture, times->scopes[i].scope)) {
            seconds += times->scopes[i].seconds;
            any = true;
        }
    free(owners);
    return own && any ? seconds * picture->machine->clock_hz : NAN;
}

static void add_histograms(const struct pm_picture *picture, const struct pm_profile *profile,
                           struct pm_picture_point *point) {
    for (size_t b = 0; b < picture->n_block_sizes; b++) {
        struct pm_histogram *sum = PM_PUSH(point, histograms);
        sum->block_bytes = picture->block_sizes[b];
        for (size_t h = 0; h < profile->n_histograms; h++) {
            const struct pm_group_histogram *of = &profile->histograms[h];
            if (of->histogram.block_bytes == sum->block_bytes &&
                is_pictured(picture, picture->structure->groups[of->group].scope))
                pm_histogram_add(sum, &of->histogram);
        }
    }
}

static int compare_points(const void *left, const void *right) {
    const struct pm_picture_point *a = left, *b = right;
    return a->value != b->value ? PM_COMPARE(a->value, b->value)
                                : PM_COMPARE(a->measured, b->measured);
}

void pm_picture_add(struct pm_picture *picture, double value, const struct pm_profile *profile,
                    const struct pm_prediction *prediction, const struct pm_times *times) {
    struct pm_picture_point point = {
        .value = value, .measured = !profile->predicted, .clock_cycles = NAN};
    if (prediction) {
        add_costs(picture, prediction, &point);
        point.clock_cycles = clock_cycles(picture, times);
    }
    add_histograms(picture, profile, &point);
    *PM_PUSH(picture, points) = point;
    PM_SORT(picture->points, picture->n_points, compare_points);
}

void pm_picture_free(struct pm_picture *picture) {
    for (size_t i = 0; i < picture->n_points; i++) {
        for (size_t b = 0; b < picture->points[i].n_histograms; b++)
            pm_histogram_free(&picture->points[i].histograms[b]);
        free(picture->points[i].histograms);
    }
    free(picture->points);
    free(picture->block_sizes);
    free(picture->label);
}

/* ---- drawings -------------------------------------------------------------------------------- */

void pm_picture_draw(FILE *to, const struct pm_picture *picture, enum pm_picture_kind kind,
                     const char *at) {
    switch (kind) {
    case PM_PICTURE_TIME:
        pm_draw_time(to, picture);
        break;
    case PM_PICTURE_MISSES:
        pm_draw_misses(to, picture);
        break;
    case PM_PICTURE_HISTOGRAM:
        pm_draw_histogram(to, picture, at);
        break;
    case PM_PICTURE_SURFACE:
        pm_draw_surface(to, picture);
        break;
    case PM_PICTURE_ROOFLINE:
    case PM_N_PICTURES:
        break;
    }
    fputs("</svg>\n", to);
}
