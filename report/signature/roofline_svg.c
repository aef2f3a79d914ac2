/* `pmodel report --as roofline --format svg`: floating-point operations a second against operations
   for a byte, both logarithmic.  A slanted line for each level and a flat one for the units; a loop
   is a sign for each level, at its intensity there: the filled one is of the level behind the last
   cache. Of two stores the first is drawn hollow. */
#include <math.h>
#include <stdlib.h>

#include "report/signature/private.h"

enum {
    WIDTH = 760,
    HEIGHT = 460,
    LEFT = 70,
    RIGHT = 30,
    TOP = 44,
    BOTTOM = 46,
    LINE_HEIGHT = 15,
    MOST_POINTS = 9, /* of a store; that are numbered */
};

struct axes {
    double least_x, most_x, least_y, most_y;
};

static double across(const struct axes *axes, double x) {
    double share = log(x / axes->least_x) / log(axes->most_x / axes->least_x);
    return LEFT + (WIDTH - LEFT - RIGHT) * fmin(fmax(share, 0), 1);
}

static double up(const struct axes *axes, double y) {
    double share = log(y / axes->least_y) / log(axes->most_y / axes->least_y);
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * fmin(fmax(share, 0), 1);
}

/* ---- axes and roofs ---------------------------------------------------------------------------
 */

static void widen(double value, double *least, double *most) {
    if (!(value > 0) || isinf(value))
        return;
    *least = fmin(*least, pow(10, floor(log10(value))));
    *most = fmax(*most, pow(10, ceil(log10(value))));
}

static struct axes find_axes(const struct pm_roofs *roofs,
                             const struct pm_rooflined_program *programs, size_t n) {
    struct axes axes = {0.01, 10, INFINITY, 0};
    widen(roofs->flops_per_second, &axes.least_y, &axes.most_y);
    for (size_t p = 0; p < n; p++)
        for (size_t i = 0; i < programs[p].roofline.n_points && i < MOST_POINTS; i++) {
            const struct pm_roofline_point *point = &programs[p].roofline.points[i];
            widen(point->flops / point->seconds, &axes.least_y, &axes.most_y);
            for (size_t l = 0; l < roofs->n_roofs; l++)
                widen(fmin(point->flops / point->bytes[l], 1e2), &axes.least_x, &axes.most_x);
        }
    return axes;
}

static void draw_axes(FILE *to, const struct axes *axes) {
    for (double x = axes->least_x; x <= axes->most_x * 1.001; x *= 10)
        fprintf(to,
                "<path class='grid' d='M%.1f %dV%d'/><text class='middle' x='%.1f' "
                "y='%d'>%.4g</text>\n",
                across(axes, x), TOP, HEIGHT - BOTTOM, across(axes, x),
                HEIGHT - BOTTOM + LINE_HEIGHT, x);
    for (double y = axes->least_y; y <= axes->most_y * 1.001; y *= 10)
        fprintf(to,
                "<path class='grid' d='M%d %.1fH%d'/><text class='end' x='%d' "
                "y='%.1f'>%.4g</text>\n",
                LEFT, up(axes, y), WIDTH - RIGHT, LEFT - 6, up(axes, y) + 4, y / 1e9);
    fprintf(to,
            "<text class='middle' x='%d' y='%d'>floating-point operations for a byte that a level "
            "moves</text>\n<text x='%d' y='%d'>GFLOP/s</text>\n",
            (WIDTH + LEFT - RIGHT) / 2, HEIGHT - BOTTOM + 2 * LINE_HEIGHT, LEFT - 50, TOP - 6);
}

static void draw_roof(FILE *to, const struct axes *axes, const struct pm_roofs *roofs, size_t l) {
    double bytes = roofs->roofs[l].bytes_per_second, peak = roofs->flops_per_second;
    double top = peak > 0 ? peak : axes->most_y;
    double from = fmax(axes->least_x, axes->least_y / bytes),
           until = fmin(axes->most_x, top / bytes);
    if (!(bytes > 0) || until <= from)
        return;
    double at = from * pow(until / from, 0.15 + 0.2 * (double)l); /* so that names stay apart */
    fprintf(to, "<path class='curve s%zu' d='M%.1f %.1fL%.1f %.1f'/>", l % PM_SVG_STYLES,
            across(axes, from), up(axes, from * bytes), across(axes, until),
            up(axes, until * bytes));
    fprintf(to, "<text class='end' x='%.1f' y='%.1f'>", across(axes, at) - 6,
            up(axes, at * bytes) - 4);
    pm_svg_text(to, roofs->roofs[l].name);
    fprintf(to, " %.3g GB/s</text>\n", bytes / 1e9);
}

static void draw_roofs(FILE *to, const struct axes *axes, const struct pm_roofs *roofs) {
    for (size_t l = 0; l < roofs->n_roofs; l++)
        draw_roof(to, axes, roofs, l);
    if (roofs->flops_per_second > 0)
        fprintf(to,
                "<path class='cache' d='M%d %.1fH%d'/><text class='end' x='%d' y='%.1f'>units %.4g "
                "GFLOP/s</text>\n",
                LEFT, up(axes, roofs->flops_per_second), WIDTH - RIGHT, WIDTH - RIGHT - 4,
                up(axes, roofs->flops_per_second) - 5, roofs->flops_per_second / 1e9);
}

/* ---- loops ------------------------------------------------------------------------------------
 */

static void draw_point(FILE *to, const struct axes *axes, const struct pm_roofs *roofs,
                       const struct pm_roofline_point *point, size_t number, bool is_hollow) {
    double y = up(axes, point->flops / point->seconds), last = NAN;
    for (size_t l = 0; l < roofs->n_roofs; l++) {
        double intensity = point->flops / point->bytes[l];
        if (!(point->bytes[l] > 0) || intensity > axes->most_x)
            continue;
        last = across(axes, intensity);
        fprintf(to, "<circle class='dot s%zu' cx='%.1f' cy='%.1f' r='4'", l % PM_SVG_STYLES, last,
                y);
        fprintf(to, " style='fill-opacity:%s;fill:currentColor'/>", is_hollow ? "0" : "0.6");
    }
    if (!isnan(last))
        fprintf(to, "<text x='%.1f' y='%.1f'>%zu</text>\n", last + 6, y + 4, number);
}

static size_t count_shown(const struct pm_rooflined_program *program, double min_percent) {
    double all = 0;
    size_t n = 0;
    for (size_t i = 0; i < program->roofline.n_points; i++)
        all += program->roofline.points[i].seconds;
    while (n < program->roofline.n_points && n < MOST_POINTS &&
           100 * program->roofline.points[n].seconds >= min_percent * all)
        n++;
    return n;
}

static void list_point(FILE *to, const struct pm_rooflined_program *program, size_t i,
                       size_t number, size_t line) {
    const struct pm_roofline_point *point = &program->roofline.points[i];
    char *label = pm_part_label(program->structure,
                                &(struct pm_program_part){.block = PM_NONE, .scope = point->scope});
    char *rate = pm_rate_label(point->flops / point->seconds, "FLOP/s");
    fprintf(to, "<text x='%d' y='%zu'>%zu  ", LEFT, HEIGHT + LINE_HEIGHT * (line + 1), number);
    pm_svg_text(to, program->name);
    fputs(": ", to);
    pm_svg_text(to, label);
    fprintf(to, ", %s, %s</text>\n", rate, pm_seconds_text(point->seconds).text);
    free(label);
    free(rate);
}

void pm_report_roofline_svg(FILE *out, const struct pm_signature *signature,
                            const struct pm_roofs *roofs,
                            const struct pm_rooflined_program *programs, size_t n,
                            double min_percent) {
    struct axes axes = find_axes(roofs, programs, n);
    size_t lines = 0, number = 0;
    for (size_t p = 0; p < n; p++)
        lines += count_shown(&programs[p], min_percent);
    pm_svg_begin(out, WIDTH, HEIGHT + LINE_HEIGHT * (lines + 2));
    fprintf(out, "<text class='title' x='%d' y='20'>", LEFT);
    pm_svg_text(out, signature->machine->title);
    fprintf(out, ": roofs%s</text>\n",
            signature->is_synthesised ? ", synthesised from its description" : "");
    fprintf(out,
            "<text class='end' x='%d' y='36'>a loop has a dot for each level, from left to right "
            "as they stand in the table%s</text>\n",
            WIDTH - RIGHT, n > 1 ? "; hollow: before" : "");
    draw_axes(out, &axes);
    draw_roofs(out, &axes, roofs);
    for (size_t p = 0; p < n; p++)
        for (size_t i = 0; i < count_shown(&programs[p], min_percent); i++, number++) {
            draw_point(out, &axes, roofs, &programs[p].roofline.points[i], number + 1,
                       n > 1 && p == 0);
            list_point(out, &programs[p], i, number + 1, number);
        }
    fputs("</svg>\n", out);
}
