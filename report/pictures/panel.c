/* A panel with two axes, each linear or logarithmic, names at the right, and lines across. */
#include <math.h>
#include <stdlib.h>

#include "report/pictures/private.h"

/* What pictures have beside the style sheet of all drawings.  Filled areas differ in how dark they
   are and have outlines, so that they can be told apart without colours. */
static const char STYLE[] =
    "<style>\n"
    ".area { stroke: #fff; stroke-width: 0.7; }\n"
    ".area.s0 { fill: #0072b2; } .area.s1 { fill: #d55e00; } .area.s2 { fill: #7fc8b0; }\n"
    ".area.s3 { fill: #cc79a7; } .area.s4 { fill: #e0c060; } .area.s5 { fill: #a6d8f2; }\n"
    ".area.s6 { fill: #777; } .area.s7 { fill: #b9c7e4; } .area.s8 { fill: #8c510a; }\n"
    ".area.s9 { fill: #f0e3b5; } .area.s10 { fill: #1b7a5a; } .area.s11 { fill: #f4b9a0; }\n"
    ".facet { stroke: #444; stroke-width: 0.4; }\n"
    ".s1.curve { stroke-dasharray: 9 3; } .s2.curve { stroke-dasharray: 2 2; }\n"
    ".s3.curve { stroke-dasharray: 9 3 2 3; } .s4.curve { stroke-dasharray: 5 5; }\n"
    ".cut { stroke: #888; stroke-dasharray: 4 3; } .edge { stroke: #666; fill: none; }\n"
    "@media (prefers-color-scheme: dark) { .area { stroke: #181818; } }\n"
    "</style>\n";

void pm_picture_begin(FILE *to, size_t width, size_t height, const char *title,
                      const char *description) {
    pm_svg_begin(to, width, height);
    fputs("<title>", to);
    pm_svg_text(to, title);
    fputs("</title>\n<desc>", to);
    pm_svg_text(to, description);
    fprintf(to, "</desc>\n%s<text class='title' x='%d' y='18'>", STYLE, PM_PICTURE_LEFT);
    pm_svg_text(to, title);
    fputs("</text>\n", to);
}

/* ---- places ---------------------------------------------------------------------------------- */

static double share_of(const struct pm_picture_axis *axis, double value) {
    double share = axis->is_log ? log(value / axis->low) / log(axis->high / axis->low)
                                : (value - axis->low) / (axis->high - axis->low);
    return fmin(fmax(share, 0), 1);
}

double pm_panel_x(const struct pm_panel *panel, double value) {
    return panel->left + panel->width * share_of(&panel->across, value);
}

double pm_panel_y(const struct pm_panel *panel, double value) {
    return panel->top + panel->height * (1 - share_of(&panel->upwards, value));
}

struct pm_picture_axis pm_picture_axis_around(double low, double high, bool is_log,
                                              const char *words) {
    struct pm_picture_axis axis = {.is_log = is_log && high > 0, .words = words};
    if (axis.is_log) {
        axis.low = pow(10, floor(log10(low) + 1e-9));
        axis.high = pow(10, ceil(log10(high) - 1e-9));
        if (axis.high <= axis.low)
            axis.high = 10 * axis.low;
        return axis;
    }
    axis.high = high > 0 ? pm_svg_round_up(high) : 1;
    return axis;
}

struct pm_picture_axis pm_picture_sizes(const struct pm_picture *picture) {
    double low = picture->points[0].value;
    double high = picture->points[picture->n_points - 1].value;
    return (struct pm_picture_axis){low, high > low ? high : 2 * low, true, picture->parameter};
}

/* ---- panels ---------------------------------------------------------------------------------- */

struct pm_panel pm_panel_of(FILE *to, double width, double above, double height,
                            struct pm_picture_axis across, struct pm_picture_axis upwards) {
    return (struct pm_panel){.to = to,
                             .left = PM_PICTURE_LEFT,
                             .top = above + PM_PICTURE_TOP,
                             .width = width - PM_PICTURE_LEFT - PM_PICTURE_RIGHT,
                             .height = height - PM_PICTURE_TOP - PM_PICTURE_BOTTOM,
                             .across = across,
                             .upwards = upwards};
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void draw_across(const struct pm_panel *panel, double value) {
    double x = pm_panel_x(panel, value), bottom = panel->top + panel->height;
    fprintf(panel->to,
            "<path class='grid' d='M%.1f %.1fV%.1f'/><text class='middle' x='%.1f' "
            "y='%.1f'>%.6g</text>\n",
            x, panel->top, bottom, x, bottom + PM_PICTURE_LINE, value);
}

static void draw_upwards(const struct pm_panel *panel, double value) {
    double y = pm_panel_y(panel, value);
    fprintf(panel->to,
            "<path class='grid' d='M%.1f %.1fH%.1f'/><text class='end' x='%.1f' "
            "y='%.1f'>%.4g</text>\n",
            panel->left, y, panel->left + panel->width, panel->left - 6, y + 4, value);
}

/* Values at which an axis has a figure: of a logarithmic one 1, 2, 5, 10 …, or powers of ten where
   those would be too many. */
static void draw_ticks(const struct pm_panel *panel, const struct pm_picture_axis *axis,
                       void (*draw)(const struct pm_panel *panel, double value)) {
    static const double digits[] = {1, 2, 5};
    enum { MOST_DECADES = 3, N_STEPS = 5 };
    bool few = axis->is_log && log10(axis->high / axis->low) <= MOST_DECADES;
    double decades = axis->is_log ? log10(axis->high / axis->low) : 0;
    double skip = pow(10, 1 + floor(decades / 12));
    if (!axis->is_log)
        for (int i = 0; i <= N_STEPS; i++)
            draw(panel, axis->low + (axis->high - axis->low) * i / N_STEPS);
    else
        for (double ten = pow(10, floor(log10(axis->low) + 1e-9)); ten <= axis->high * 1.001;
             ten *= few ? 10 : skip)
            for (size_t i = 0; i < (few ? 3 : 1); i++)
                if (digits[i] * ten >= axis->low * 0.999 && digits[i] * ten <= axis->high * 1.001)
                    draw(panel, digits[i] * ten);
}

void pm_panel_axes(const struct pm_panel *panel) {
    double bottom = panel->top + panel->height, middle = panel->top + panel->height / 2;
    draw_ticks(panel, &panel->across, draw_across);
    draw_ticks(panel, &panel->upwards, draw_upwards);
    fprintf(panel->to, "<text class='middle' x='%.1f' y='%.1f'>", panel->left + panel->width / 2,
            bottom + 2.2 * PM_PICTURE_LINE);
    pm_svg_text(panel->to, panel->across.words);
    fprintf(panel->to,
            "</text>\n<text class='middle' transform='translate(%.1f %.1f) rotate(-90)'>",
            panel->left - PM_PICTURE_LEFT + 14, middle);
    pm_svg_text(panel->to, panel->upwards.words);
    fputs("</text>\n", panel->to);
}

void pm_panel_name(struct pm_panel *panel, size_t style, bool is_filled, const char *name) {
    double x = panel->left + panel->width + 10;
    double y = panel->top + PM_PICTURE_LINE * (double)++panel->n_names;
    fprintf(panel->to,
            is_filled ? "<path class='area s%zu' d='M%.1f %.1fh14v10h-14z'/>"
                      : "<path class='curve s%zu' d='M%.1f %.1fh22'/>",
            style, x, is_filled ? y - 9 : y - 4);
    fprintf(panel->to, "<text x='%.1f' y='%.1f'>", x + 28, y);
    pm_svg_text(panel->to, name);
    fputs("</text>\n", panel->to);
}

void pm_panel_cut(const struct pm_panel *panel, double value, const char *name) {
    double y = pm_panel_y(panel, value);
    fprintf(panel->to, "<path class='cut' d='M%.1f %.1fH%.1f'/><text x='%.1f' y='%.1f'>",
            panel->left, y, panel->left + panel->width, panel->left + panel->width + 10, y + 4);
    pm_svg_text(panel->to, name);
    fputs("</text>\n", panel->to);
}
