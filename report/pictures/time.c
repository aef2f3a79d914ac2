/* Cycles of an iteration against the size, one area on the other by cause: what the schedule's
   causes, each level's misses and bandwidth take.  They add up to the predicted time; dots are a
   clock's, where the loop was timed on this machine. */
#include <math.h>
#include <stdlib.h>

#include "report/pictures/private.h"

enum { WIDTH = 760, HEIGHT = 400, MOST_PARTS = PM_N_CAUSES + PM_MAX_LEVELS };

struct part {
    const char *words;
    char *owned;
    size_t offset; /* in pm_cost_sum */
};

static double part_of(const struct pm_picture_point *point, const struct part *part) {
    double cycles = *(const double *)(const void *)((const char *)&point->cost + part->offset);
    return point->iterations > 0 && cycles > 0 ? cycles / point->iterations : 0;
}

/* Points by the models; without models those that were measured. */
static bool is_drawn(const struct pm_picture *picture, const struct pm_picture_point *point) {
    return point->iterations > 0 && point->measured == (bool)isnan(picture->measured_high);
}

/* Those of which anything is seen. */
static size_t find_parts(const struct pm_picture *picture, struct part *parts) {
    size_t n = 0;
    for (size_t i = 0; i < PM_N_CAUSES + picture->machine->n_levels; i++) {
        bool is_cause = i < PM_N_CAUSES;
        size_t level = i - PM_N_CAUSES;
        struct part part = {
            .words = is_cause ? pm_cause_name((enum pm_cause)i) : NULL,
            .offset = is_cause
                          ? offsetof(struct pm_cost_sum, causes) + i * sizeof(double)
                          : offsetof(struct pm_cost_sum, level_cycles) + level * sizeof(double)};
        double least_share = 0.005;
        bool seen = false;
        for (size_t p = 0; p < picture->n_points && !seen; p++)
            seen = is_drawn(picture, &picture->points[p]) &&
                   part_of(&picture->points[p], &part) * picture->points[p].iterations >
                       least_share * picture->points[p].cost.cycles;
        if (!seen)
            continue;
        if (!is_cause)
            part.words = part.owned = pm_sprintf("%s misses", picture->machine->levels[level].name);
        else
            part.words = part.owned = pm_strdup(part.words);
        for (char *c = part.owned; *c; c++)
            if (*c == '_')
                *c = ' ';
        parts[n++] = part;
    }
    return n;
}

static void draw_areas(struct pm_panel *panel, const struct pm_picture *picture,
                       const struct part *parts, size_t n_parts) {
    double *below = pm_alloc(picture->n_points, sizeof *below);
    for (size_t k = 0; k < n_parts; k++) {
        size_t style = k % PM_PICTURE_AREAS;
        bool begun = false;
        for (size_t i = 0; i < picture->n_points; i++) {
            const struct pm_picture_point *point = &picture->points[i];
            if (!is_drawn(picture, point))
                continue;
            if (!begun)
                fprintf(panel->to, "<path class='area s%zu' d='", style);
            fprintf(panel->to, "%c%.1f %.1f", begun ? 'L' : 'M', pm_panel_x(panel, point->value),
                    pm_panel_y(panel, below[i] + part_of(point, &parts[k])));
            begun = true;
        }
        for (size_t i = picture->n_points; i-- > 0;) {
            const struct pm_picture_point *point = &picture->points[i];
            if (!is_drawn(picture, point))
                continue;
            fprintf(panel->to, "L%.1f %.1f", pm_panel_x(panel, point->value),
                    pm_panel_y(panel, below[i]));
            below[i] += part_of(point, &parts[k]);
        }
        if (begun)
            fputs("Z'/>\n", panel->to);
    }
    for (size_t k = n_parts; k-- > 0;)
        pm_panel_name(panel, k % PM_PICTURE_AREAS, true, parts[k].words);
    free(below);
}

static size_t draw_clock(const struct pm_panel *panel, const struct pm_picture *picture) {
    size_t n = 0;
    for (size_t i = 0; i < picture->n_points; i++) {
        const struct pm_picture_point *point = &picture->points[i];
        if (isnan(point->clock_cycles) || !(point->iterations > 0))
            continue;
        fprintf(panel->to, "<circle class='dot s6' cx='%.1f' cy='%.1f' r='3'/>\n",
                pm_panel_x(panel, point->value),
                pm_panel_y(panel, point->clock_cycles / point->iterations));
        n++;
    }
    return n;
}

/* A vertical line where the measured sizes end. */
static void draw_end_of_measured(const struct pm_panel *panel, const struct pm_picture *picture) {
    double x = pm_panel_x(panel, picture->measured_high);
    if (isnan(picture->measured_high) || !(picture->measured_high < panel->across.high))
        return;
    fprintf(panel->to,
            "<path class='cut' d='M%.1f %.1fV%.1f'/><text x='%.1f' y='%.1f'>predicted beyond "
            "here</text>\n",
            x, panel->top - 6, panel->top + panel->height, x + 4, panel->top - 2);
}

static const char *const axis_words[] = {
    [PM_PER_RUN] = "cycles of a run",
    [PM_PER_CALL] = "cycles of a call",
    [PM_PER_ITERATION] = "cycles of an iteration",
};

void pm_draw_time(FILE *to, const struct pm_picture *picture) {
    struct part parts[MOST_PARTS];
    size_t n_parts = find_parts(picture, parts);
    double most = 0;
    for (size_t i = 0; i < picture->n_points; i++) {
        const struct pm_picture_point *point = &picture->points[i];
        if (is_drawn(picture, point))
            most = fmax(most, point->cost.cycles / point->iterations);
        if (!isnan(point->clock_cycles) && point->iterations > 0)
            most = fmax(most, point->clock_cycles / point->iterations);
    }
    char *title = pm_sprintf("%s on %s", picture->label, picture->machine->title);
    pm_picture_begin(to, WIDTH, HEIGHT, title,
                     "Cycles against the size, by cause: areas add up to the "
                     "predicted time; dots are a clock's");
    struct pm_panel panel =
        pm_panel_of(to, WIDTH, 0, HEIGHT, pm_picture_sizes(picture),
                    pm_picture_axis_around(0, most, false, axis_words[pm_picture_unit(picture)]));
    pm_panel_axes(&panel);
    draw_areas(&panel, picture, parts, n_parts);
    draw_end_of_measured(&panel, picture);
    if (draw_clock(&panel, picture))
        fprintf(to, "<text x='%.1f' y='%.1f'>o measured by a clock</text>\n",
                panel.left + panel.width + 10,
                panel.top + PM_PICTURE_LINE * (double)(panel.n_names + 2));
    for (size_t k = 0; k < n_parts; k++)
        free(parts[k].owned);
    free(title);
}
