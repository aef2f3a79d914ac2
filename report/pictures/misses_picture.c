/* Misses of each level for each iteration against the size: lines by the models, dashed beyond the
   measured sizes, dots from what was counted. */
#include <math.h>
#include <stdlib.h>

#include "report/pictures/private.h"

enum { WIDTH = 760, HEIGHT = 400 };

static double misses_of(const struct pm_picture_point *point, size_t level) {
    double misses = point->cost.level_misses[level];
    return point->iterations > 0 && misses > 0 ? misses / point->iterations : NAN;
}

/* Far below what anybody would look at, lines are clipped. */
static const double least_drawn = 1e-7;

static const char *const axis_words[] = {
    [PM_PER_RUN] = "misses in a run",
    [PM_PER_CALL] = "misses for each call",
    [PM_PER_ITERATION] = "misses for each iteration",
};

static struct pm_picture_axis find_axis(const struct pm_picture *picture) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < picture->n_points; i++)
        for (size_t level = 0; level < picture->machine->n_levels; level++) {
            double value = misses_of(&picture->points[i], level);
            if (!(value >= least_drawn))
                continue;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    return pm_picture_axis_around(least, most, true, axis_words[pm_picture_unit(picture)]);
}

static void draw_line(const struct pm_panel *panel, const struct pm_picture *picture, size_t level,
                      bool beyond) {
    bool is_open = false, has_begun = false;
    double last_x = NAN, last_y = NAN;
    for (size_t i = 0; i < picture->n_points; i++) {
        const struct pm_picture_point *point = &picture->points[i];
        double value = misses_of(point, level);
        if (point->measured)
            continue;
        bool is_beyond = point->value > picture->measured_high;
        double x = pm_panel_x(panel, point->value),
               y = value >= panel->upwards.low ? pm_panel_y(panel, value) : NAN;
        if (is_beyond == beyond && !isnan(y)) {
            if (!has_begun)
                fprintf(panel->to, "<path class='curve s%zu%s' d='", level % PM_SVG_STYLES,
                        beyond ? " beyond" : "");
            if (!is_open && beyond && !isnan(last_y)) {
                fprintf(panel->to, "M%.1f %.1f", last_x, last_y);
                is_open = true;
            }
            fprintf(panel->to, "%c%.1f %.1f", is_open ? 'L' : 'M', x, y);
            is_open = has_begun = true;
        } else {
            is_open = false;
        }
        last_x = x;
        last_y = y;
    }
    if (has_begun)
        fputs("'/>\n", panel->to);
}

static size_t draw_dots(const struct pm_panel *panel, const struct pm_picture *picture,
                        size_t level) {
    size_t n = 0;
    for (size_t i = 0; i < picture->n_points; i++) {
        double value = misses_of(&picture->points[i], level);
        if (!picture->points[i].measured || !(value >= panel->upwards.low))
            continue;
        fprintf(panel->to, "<circle class='dot s%zu' cx='%.1f' cy='%.1f' r='3'/>\n",
                level % PM_SVG_STYLES, pm_panel_x(panel, picture->points[i].value),
                pm_panel_y(panel, value));
        n++;
    }
    return n;
}

void pm_draw_misses(FILE *to, const struct pm_picture *picture) {
    char *title = pm_sprintf("%s on %s", picture->label, picture->machine->title);
    pm_picture_begin(to, WIDTH, HEIGHT, title,
                     "Misses of each level against the size: lines are predicted, "
                     "dashed beyond the measured sizes, dots are measured");
    struct pm_panel panel =
        pm_panel_of(to, WIDTH, 0, HEIGHT, pm_picture_sizes(picture), find_axis(picture));
    pm_panel_axes(&panel);
    size_t n_dots = 0;
    for (size_t level = 0; level < picture->machine->n_levels; level++) {
        draw_line(&panel, picture, level, false);
        draw_line(&panel, picture, level, true);
        n_dots += draw_dots(&panel, picture, level);
        pm_panel_name(&panel, level % PM_SVG_STYLES, false, picture->machine->levels[level].name);
    }
    if (n_dots)
        fprintf(to, "<text x='%.1f' y='%.1f'>o measured</text>\n", panel.left + panel.width + 10,
                panel.top + PM_PICTURE_LINE * (double)(panel.n_names + 2));
    free(title);
}
