/* `pmodel report --as scaling --format svg`: two panels for each machine, as Figures 6 and 7 of
   Marin & Mellor-Crummey (2004): misses of each level, and time with what it consists of, for each
   unit of work, against the size.

   What the models say is lines, dashed beyond the measured sizes; what was measured is dots. Time
   of a clock is drawn where it is of the machine that is described, as far as the names of both
   tell. In the left panel a vertical line stands where one of the heaviest loops falls out of a
   level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels/labels.h"
#include "report/scale/scale.h"
#include "report/writers/writers.h"

enum {
    PANEL_WIDTH = 560,
    PANEL_HEIGHT = 330,
    LEFT = 72,   /* of a panel: figures of the axis and what they are */
    RIGHT = 112, /* names of the lines */
    TOP = 34,    /* title */
    BOTTOM = 48, /* sizes, and the parameter's name */
    HEADING = 40,
    LINE_HEIGHT = 15,
    MOST_STEPS = 6,
};

/* A line of a panel: what it shows of a prediction; NAN: nothing. */
struct series {
    const char *name;
    double (*of)(const struct pm_prediction *prediction, size_t level);
    size_t level;
};

struct panel {
    FILE *to;
    const struct pm_scale *scale;
    size_t machine;
    const char *title, *unit; /* what the vertical axis says */
    double x, y;              /* of the area */
    double first, last, least, most;
    bool is_log; /* the vertical axis */
};

/* ---- what is drawn --------------------------------------------------------------------------- */

static const struct pm_cost_sum *whole(const struct pm_prediction *p) {
    return &p->scopes[0].total;
}
static double misses_of(const struct pm_prediction *p, size_t level) {
    return whole(p)->level_misses[level];
}
static double cost_of(const struct pm_prediction *p, size_t level) {
    return whole(p)->level_cycles[level];
}
static double schedule_of(const struct pm_prediction *p, size_t level) {
    (void)level;
    return whole(p)->schedule_cycles;
}
static double bandwidth_of(const struct pm_prediction *p, size_t level) {
    (void)level;
    return whole(p)->causes[PM_CAUSE_BANDWIDTH];
}
static double cycles_of(const struct pm_prediction *p, size_t level) {
    (void)level;
    return p->seconds * p->clock_hz;
}

static double value_of(const struct panel *panel, const struct pm_scale_point *point,
                       const struct series *series, bool measured) {
    struct pm_prediction *const *of = measured ? point->measured : point->predicted;
    return of ? series->of(of[panel->machine], series->level) / point->unit : NAN;
}

static bool is_of_clock(const struct series *series) { return series->of == cycles_of; }

/* Cycles of the clock's time; NAN: not timed, or elsewhere. */
static double clock_value(const struct panel *panel, const struct pm_scale_point *point) {
    const struct pm_machine *machine = panel->scale->machines[panel->machine];
    if (!point->times ||
        (panel->scale->n_machines > 1 &&
         !(point->times->machine && strstr(machine->title, point->times->machine))))
        return NAN;
    return point->times->plain_seconds * machine->clock_hz / point->unit;
}

/* ---- places ---------------------------------------------------------------------------------- */

static double area_width(void) { return PANEL_WIDTH - LEFT - RIGHT; }
static double area_height(void) { return PANEL_HEIGHT - TOP - BOTTOM; }

static double across(const struct panel *panel, double size) {
    return panel->x + area_width() * (size - panel->first) / (panel->last - panel->first);
}

static double height_of(const struct panel *panel, double value) {
    double share = panel->is_log ? log(value / panel->least) / log(panel->most / panel->least)
                                 : (value - panel->least) / (panel->most - panel->least);
    return panel->y + area_height() * (1 - fmin(fmax(share, 0), 1));
}

static void widen(double value, double *least, double *most) {
    if (value > 0) {
        *least = fmin(*least, value);
        *most = fmax(*most, value);
    }
}

static void find_axes(struct panel *panel, const struct series *series, size_t n_series) {
    const struct pm_scale *scale = panel->scale;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < scale->n_points; i++) {
        for (size_t s = 0; s < n_series; s++)
            for (int measured = 0; measured < 2; measured++)
                widen(value_of(panel, &scale->points[i], &series[s], measured), &least, &most);
        if (!panel->is_log)
            widen(clock_value(panel, &scale->points[i]), &least, &most);
    }
    panel->first = scale->points[0].value;
    panel->last = scale->points[scale->n_points - 1].value;
    if (panel->last <= panel->first) /* one point */
        panel->last = panel->first + 1;
    panel->most = most > 0 ? pm_svg_round_up(most) : 1;
    panel->least = panel->is_log && most > 0 ? pow(10, floor(log10(least))) : 0;
    if (panel->is_log && panel->most <= panel->least)
        panel->most = 10 * panel->least;
    panel->is_log &= most > 0;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void draw_value(const struct panel *panel, double value) {
    double y = height_of(panel, value);
    fprintf(
        panel->to,
        "<path class='grid' d='M%.1f %.1fH%.1f'/><text class='end' x='%.1f' y='%.1f'>%.4g</text>\n",
        panel->x, y, panel->x + area_width(), panel->x - 6, y + 4, value);
}

static void draw_axes(const struct panel *panel) {
    double bottom = panel->y + area_height(), middle = panel->y + area_height() / 2;
    double step = pm_svg_round_up((panel->last - panel->first) / 8);
    for (double size = step * ceil(panel->first / step); size <= panel->last; size += step)
        fprintf(panel->to,
                "<path class='grid' d='M%.1f %.1fV%.1f'/><text class='middle' x='%.1f' "
                "y='%.1f'>%.6g</text>\n",
                across(panel, size), panel->y, bottom, across(panel, size), bottom + LINE_HEIGHT,
                size);
    if (panel->is_log)
        for (double value = panel->least; value <= panel->most * 1.001; value *= 10)
            draw_value(panel, value);
    else
        for (int i = 0; i <= 5; i++)
            draw_value(panel, panel->most * i / 5);
    fprintf(panel->to, "<text class='title' x='%.1f' y='%.1f'>%s</text>\n", panel->x, panel->y - 12,
            panel->title);
    fprintf(panel->to, "<text class='middle' x='%.1f' y='%.1f'>", panel->x + area_width() / 2,
            bottom + 2.2 * LINE_HEIGHT);
    pm_svg_text(panel->to, panel->scale->parameter);
    fprintf(panel->to,
            "</text>\n<text class='middle' transform='translate(%.1f %.1f) rotate(-90)'>",
            panel->x - LEFT + 14, middle);
    pm_svg_text(panel->to, panel->unit);
    fputs("</text>\n", panel->to);
}

/* ---- lines and dots -------------------------------------------------------------------------- */

static bool can_be_drawn(const struct panel *panel, double value) {
    return panel->is_log ? value > 0 : !isnan(value);
}

/* The part of a line within the measured sizes, or that beyond them, which begins at the last point
   within; points without a value interrupt it. */
static void draw_part(const struct panel *panel, const struct series *series, size_t style,
                      bool beyond) {
    const struct pm_scale *scale = panel->scale;
    bool is_open = false, has_begun = false;
    for (size_t i = 0; i < scale->n_points; i++) {
        double size = scale->points[i].value;
        double value = value_of(panel, &scale->points[i], series, false);
        bool is_next_within =
            i + 1 < scale->n_points && scale->points[i + 1].value <= scale->measured_high;
        bool is_in =
            beyond ? size >= scale->measured_high || !is_next_within : size <= scale->measured_high;
        if (!is_in || !can_be_drawn(panel, value)) {
            is_open = false;
            continue;
        }
        if (!has_begun)
            fprintf(panel->to, "<path class='curve s%zu%s' d='", style, beyond ? " beyond" : "");
        fprintf(panel->to, "%c%.1f %.1f", is_open ? 'L' : 'M', across(panel, size),
                height_of(panel, value));
        is_open = has_begun = true;
    }
    if (has_begun)
        fputs("'/>\n", panel->to);
}

/* Between the ends of the predicted time's intervals. */
static void draw_band(const struct panel *panel, size_t style) {
    const struct pm_scale *scale = panel->scale;
    size_t n = scale->n_points;
    bool has_begun = false;
    for (size_t k = 0; k < 2 * n; k++) {
        const struct pm_scale_point *point = &scale->points[k < n ? k : 2 * n - 1 - k];
        const struct pm_prediction *p = point->predicted ? point->predicted[panel->machine] : NULL;
        if (!p)
            continue;
        struct pm_estimate between = pm_prediction_seconds(p);
        double seconds = k < n ? between.high : between.low;
        if (isnan(seconds))
            continue;
        if (!has_begun)
            fprintf(panel->to, "<path class='band s%zu' d='", style);
        fprintf(panel->to, "%c%.1f %.1f", has_begun ? 'L' : 'M', across(panel, point->value),
                height_of(panel, seconds * p->clock_hz / point->unit));
        has_begun = true;
    }
    if (has_begun)
        fputs("Z'/>\n", panel->to);
}

static void draw_dots(const struct panel *panel, const struct series *series, size_t style) {
    const struct pm_scale *scale = panel->scale;
    for (size_t i = 0; i < scale->n_points; i++) {
        double value = is_of_clock(series) ? clock_value(panel, &scale->points[i])
                                           : value_of(panel, &scale->points[i], series, true);
        if (can_be_drawn(panel, value))
            fprintf(panel->to, "<circle class='dot s%zu' cx='%.1f' cy='%.1f' r='3'/>\n", style,
                    across(panel, scale->points[i].value), height_of(panel, value));
    }
}

static void draw_name(const struct panel *panel, const char *name, size_t number) {
    double x = panel->x + area_width() + 8, y = panel->y + LINE_HEIGHT * (double)(number + 1);
    fprintf(panel->to, "<path class='curve s%zu' d='M%.1f %.1fh14'/><text x='%.1f' y='%.1f'>",
            number % PM_SVG_STYLES, x, y - 4, x + 18, y);
    pm_svg_text(panel->to, name);
    fputs("</text>\n", panel->to);
}

static void draw_steps(const struct panel *panel) {
    const struct pm_scale *scale = panel->scale;
    size_t n = 0;
    for (size_t i = 0; i < scale->n_steps && n < MOST_STEPS; i++) {
        const struct pm_scale_step *step = &scale->steps[i];
        if (step->machine != panel->machine || step->share < PM_SCALE_LEAST_SHARE ||
            step->size <= panel->first || step->size >= panel->last)
            continue;
        double x = across(panel, step->size), y = panel->y + 11 * (double)++n;
        fprintf(panel->to, "<path class='cache' d='M%.1f %.1fV%.1f'/><text x='%.1f' y='%.1f'>", x,
                panel->y, panel->y + area_height(), x + 3, y);
        pm_svg_text(panel->to, step->label);
        fputc(' ', panel->to);
        pm_svg_text(panel->to, step->level);
        fputs("</text>\n", panel->to);
    }
}

static void draw_panel(struct panel *panel, const struct series *series, size_t n_series) {
    find_axes(panel, series, n_series);
    draw_axes(panel);
    for (size_t s = 0; s < n_series; s++) {
        size_t style = s % PM_SVG_STYLES;
        if (is_of_clock(&series[s]))
            draw_band(panel, style);
        if (!isnan(panel->scale->measured_high)) {
            draw_part(panel, &series[s], style, false);
            draw_part(panel, &series[s], style, true);
        }
        if (panel->is_log || is_of_clock(&series[s])) /* costs are not measured */
            draw_dots(panel, &series[s], style);
        draw_name(panel, series[s].name, s);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void draw_machine(FILE *to, const struct pm_scale *scale, size_t machine) {
    const struct pm_machine *on = scale->machines[machine];
    struct series misses[PM_MAX_LEVELS], costs[PM_MAX_LEVELS + 3];
    for (size_t level = 0; level < on->n_levels; level++) {
        misses[level] = (struct series){on->levels[level].name, misses_of, level};
        costs[level] = (struct series){on->levels[level].name, cost_of, level};
    }
    costs[on->n_levels] = (struct series){"schedule", schedule_of, 0};
    costs[on->n_levels + 1] = (struct series){"bandwidth", bandwidth_of, 0};
    costs[on->n_levels + 2] = (struct series){"time", cycles_of, 0};
    const char *per = scale->per ? scale->per : "run";
    char *of_misses = pm_sprintf("misses per %s", per),
         *of_cycles = pm_sprintf("cycles per %s", per);
    double y = HEADING + TOP + LINE_HEIGHT + (PANEL_HEIGHT + LINE_HEIGHT) * (double)machine;
    struct panel left = {.to = to,
                         .scale = scale,
                         .machine = machine,
                         .title = "misses",
                         .unit = of_misses,
                         .x = LEFT,
                         .y = y,
                         .is_log = true};
    struct panel right = {.to = to,
                          .scale = scale,
                          .machine = machine,
                          .title = "time",
                          .unit = of_cycles,
                          .x = LEFT + PANEL_WIDTH,
                          .y = y};
    fprintf(to, "<text x='%d' y='%.1f'>", LEFT, y - TOP);
    pm_svg_text(to, on->title);
    fputs("</text>\n", to);
    draw_panel(&left, misses, on->n_levels);
    draw_steps(&left);
    draw_panel(&right, costs, on->n_levels + 2);
    free(of_misses);
    free(of_cycles);
}

void pm_report_scale_svg(FILE *out, const struct pm_scale *scale) {
    pm_svg_begin(out, 2 * PANEL_WIDTH, HEADING + scale->n_machines * (PANEL_HEIGHT + LINE_HEIGHT));
    fprintf(out, "<text class='title' x='%d' y='20'>", LEFT);
    pm_svg_text(out, pm_program_name(scale->structure));
    fputs(": lines are predicted, dashed beyond the measured sizes; dots are measured</text>\n",
          out);
    for (size_t m = 0; m < scale->n_machines; m++)
        draw_machine(out, scale, m);
    fputs("</svg>\n", out);
}
