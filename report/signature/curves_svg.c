/* Curves of a machine against the working set, as Figures 1 and 2 of Snavely, Wolter & Carrington
   (2001); with marks where parts of a program lie on them, Figure 3.  A panel for each figure,
   number of threads and page size; in it a line for each stride, with its interval as a band, and
   the sizes of the caches.  Lines have signs of their own, so that they are told apart in grey. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/signature/signature.h"
#include "report/writers/writers.h"

enum {
    COLUMNS = 2,
    PANEL_WIDTH = 520,
    PANEL_HEIGHT = 300,
    LEFT = 56,   /* of a panel: figures of the axis */
    RIGHT = 84,  /* names of the lines */
    TOP = 34,    /* title */
    BOTTOM = 40, /* sizes */
    HEADING = 40,
    LINE_HEIGHT = 15,
    POINTS_A_SIGN = 6,
};

/* A panel: which curves, where it lies, and its axes. */
struct panel {
    const struct pm_curves_drawing *drawing;
    const struct pm_curve *first; /* that has its figure, threads and pages */
    double x, y;                  /* of the area */
    double least_bytes, most_bytes, least, most;
    bool is_log; /* the vertical axis */
};

static bool is_latency(const struct pm_curve *curve) { return strstr(curve->of, "latency"); }

static bool is_in(const struct panel *panel, const struct pm_curve *curve) {
    return strcmp(curve->of, panel->first->of) == 0 && curve->threads == panel->first->threads &&
           curve->page_bytes == panel->first->page_bytes;
}

/* ---- places ---------------------------------------------------------------------------------- */

static double area_width(void) { return PANEL_WIDTH - LEFT - RIGHT; }
static double area_height(void) { return PANEL_HEIGHT - TOP - BOTTOM; }

static double across(const struct panel *panel, double bytes) {
    double share = log(bytes / panel->least_bytes) / log(panel->most_bytes / panel->least_bytes);
    return panel->x + area_width() * share;
}

/* In the unit of the drawing. */
static double shown(const struct panel *panel, double value) {
    return is_latency(panel->first) ? value : value * panel->drawing->rate_factor;
}

static double height_of(const struct panel *panel, double value) {
    double share = panel->is_log ? log(value / panel->least) / log(panel->most / panel->least)
                                 : (value - panel->least) / (panel->most - panel->least);
    return panel->y + area_height() * (1 - fmin(fmax(share, 0), 1));
}

static void find_axes(struct panel *panel) {
    double least = INFINITY, most = 0;
    panel->least_bytes = INFINITY;
    panel->most_bytes = 0;
    for (size_t i = 0; i < panel->drawing->n_curves; i++) {
        const struct pm_curve *curve = &panel->drawing->curves[i];
        for (size_t j = 0; j < curve->n_points && is_in(panel, curve); j++) {
            panel->least_bytes = fmin(panel->least_bytes, curve->working_set_bytes[j]);
            panel->most_bytes = fmax(panel->most_bytes, curve->working_set_bytes[j]);
            least = fmin(least, shown(panel, curve->value[j]));
            most = fmax(most, shown(panel, curve->high ? curve->high[j] : curve->value[j]));
        }
    }
    if (panel->most_bytes <= panel->least_bytes) /* one point */
        panel->most_bytes = 2 * panel->least_bytes;
    panel->is_log = (is_latency(panel->first) || panel->drawing->is_log) && least > 0;
    panel->most = most > 0 ? pm_svg_round_up(most) : 1;
    panel->least = panel->is_log ? pow(10, floor(log10(least))) : 0;
    if (panel->is_log && is_latency(panel->first))
        panel->least = fmin(1, panel->least);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void put_bytes(FILE *to, double bytes) {
    static const char *const units[] = {"", "K", "M", "G", "T"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    fprintf(to, "%.4g%s", bytes, units[unit]);
}

static void draw_sizes(FILE *to, const struct panel *panel) {
    double bottom = panel->y + area_height();
    for (double bytes = exp2(ceil(log2(panel->least_bytes))); bytes <= panel->most_bytes;
         bytes *= 4) {
        double x = across(panel, bytes);
        fprintf(to,
                "<path class='grid' d='M%.1f %.1fV%.1f'/><text class='middle' x='%.1f' y='%.1f'>",
                x, panel->y, bottom, x, bottom + LINE_HEIGHT);
        put_bytes(to, bytes);
        fputs("</text>\n", to);
    }
}

static void draw_value(FILE *to, const struct panel *panel, double value) {
    double y = height_of(panel, value);
    fprintf(
        to,
        "<path class='grid' d='M%.1f %.1fH%.1f'/><text class='end' x='%.1f' y='%.1f'>%.4g</text>\n",
        panel->x, y, panel->x + area_width(), panel->x - 6, y + 4, value);
}

static void draw_values(FILE *to, const struct panel *panel) {
    if (panel->is_log)
        for (double value = panel->least; value <= panel->most * 1.001; value *= 10)
            draw_value(to, panel, value);
    else
        for (int i = 0; i <= 5; i++)
            draw_value(to, panel, panel->most * i / 5);
}

/* The caches that end within the panel. */
static void draw_caches(FILE *to, const struct panel *panel) {
    for (size_t i = 0; i < panel->drawing->machine->n_levels; i++) {
        const struct pm_level *level = &panel->drawing->machine->levels[i];
        double bytes = pm_level_capacity_blocks(level) * (double)level->block_bytes;
        if (level->kind != PM_LEVEL_CACHE || bytes <= panel->least_bytes ||
            bytes >= panel->most_bytes)
            continue;
        double x = across(panel, bytes);
        fprintf(to, "<path class='cache' d='M%.1f %.1fV%.1f'/><text class='end' x='%.1f' y='%.1f'>",
                x, panel->y, panel->y + area_height(), x - 3, panel->y + 11);
        pm_svg_text(to, level->name);
        fputs("</text>\n", to);
    }
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void draw_band(FILE *to, const struct panel *panel, const struct pm_curve *curve,
                      size_t style) {
    fprintf(to, "<path class='band s%zu' d='", style);
    for (size_t i = 0; i < curve->n_points; i++)
        fprintf(to, "%c%.1f %.1f", i ? 'L' : 'M', across(panel, curve->working_set_bytes[i]),
                height_of(panel, shown(panel, curve->high[i])));
    for (size_t i = curve->n_points; i-- > 0;)
        fprintf(to, "L%.1f %.1f", across(panel, curve->working_set_bytes[i]),
                height_of(panel, shown(panel, curve->low[i])));
    fputs("Z'/>\n", to);
}

/* A sign for each style: circle, square, triangle, diamond, cross, upright cross, triangle down. */
static void draw_sign(FILE *to, size_t style, double x, double y) {
    static const char *const paths[PM_SVG_STYLES] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
                                                     "m-3 -3h6v6h-6z",
                                                     "m0 -4l4 7h-8z",
                                                     "m0 -4l4 4l-4 4l-4 -4z",
                                                     "m-3 -3l6 6m0 -6l-6 6",
                                                     "m-4 0h8m-4 -4v8",
                                                     "m0 4l4 -7h-8z"};
    fprintf(to, "<path class='dot s%zu' d='M%.1f %.1f%s'/>", style, x, y, paths[style]);
}

static void draw_signs(FILE *to, const struct panel *panel, const struct pm_curve *curve,
                       size_t number) {
    for (size_t i = number % POINTS_A_SIGN; i < curve->n_points; i += POINTS_A_SIGN)
        draw_sign(to, number % PM_SVG_STYLES, across(panel, curve->working_set_bytes[i]),
                  height_of(panel, shown(panel, curve->value[i])));
    fputc('\n', to);
}

static void draw_curve(FILE *to, const struct panel *panel, const struct pm_curve *curve,
                       size_t number) {
    size_t style = number % PM_SVG_STYLES;
    double x = panel->x + area_width() + 8, y = panel->y + LINE_HEIGHT * (double)(number + 1);
    if (curve->low)
        draw_band(to, panel, curve, style);
    fprintf(to, "<path class='curve s%zu' d='", style);
    for (size_t i = 0; i < curve->n_points; i++)
        fprintf(to, "%c%.1f %.1f", i ? 'L' : 'M', across(panel, curve->working_set_bytes[i]),
                height_of(panel, shown(panel, curve->value[i])));
    fputs("'><title>", to);
    pm_svg_text(to, curve->name);
    fprintf(to, "</title></path>\n<path class='curve s%zu' d='M%.1f %.1fh14'/>", style, x, y - 4);
    draw_signs(to, panel, curve, number);
    draw_sign(to, style, x + 7, y - 4);
    fprintf(to, "<text x='%.1f' y='%.1f'>", x + 18, y);
    if (curve->stride_bytes > 0)
        fprintf(to, "%.0f bytes</text>\n", curve->stride_bytes);
    else
        fputs("random</text>\n", to);
}

/* Where parts of a program lie: a disc by the part's weight, and its number. */
static void draw_marks(FILE *to, const struct panel *panel) {
    const struct pm_curves_drawing *drawing = panel->drawing;
    for (size_t i = 0; i < drawing->n_marks; i++) {
        const struct pm_curve_mark *mark = &drawing->marks[i];
        if (!is_in(panel, &drawing->curves[mark->curve]))
            continue;
        double x = across(panel, fmax(panel->least_bytes, mark->working_set_bytes));
        double y = height_of(panel, shown(panel, mark->value));
        fprintf(to, "<circle class='mark' cx='%.1f' cy='%.1f' r='%.1f'><title>", x, y,
                4 + 10 * sqrt(mark->weight));
        pm_svg_text(to, mark->label);
        fprintf(to, "</title></circle><text class='middle' x='%.1f' y='%.1f'>%zu</text>\n", x,
                y + 4, mark->number);
    }
}

static void draw_panel(FILE *to, const struct pm_curves_drawing *drawing,
                       const struct pm_curve *first, size_t place) {
    struct panel panel = {.drawing = drawing,
                          .first = first,
                          .x = LEFT + PANEL_WIDTH * (double)(place % COLUMNS),
                          .y = HEADING + TOP + PANEL_HEIGHT * (double)(place / COLUMNS)};
    size_t number = 0;
    find_axes(&panel);
    fprintf(to, "<text class='title' x='%.1f' y='%.1f'>", panel.x, panel.y - 12);
    for (const char *c = first->of; *c; c++)
        fputc(*c == '_' ? ' ' : *c, to); /* a name of the file's syntax */
    fprintf(to, ", %s, %u thread%s", is_latency(first) ? "cycles" : drawing->rate_unit,
            first->threads, first->threads == 1 ? "" : "s");
    if (first->page_bytes) {
        fputs(", pages of ", to);
        put_bytes(to, (double)first->page_bytes);
    }
    fputs("</text>\n", to);
    draw_sizes(to, &panel);
    draw_values(to, &panel);
    draw_caches(to, &panel);
    for (size_t i = 0; i < drawing->n_curves; i++)
        if (is_in(&panel, &drawing->curves[i]))
            draw_curve(to, &panel, &drawing->curves[i], number++);
    draw_marks(to, &panel);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Is this the first curve of its panel? */
static bool begins_panel(const struct pm_curves_drawing *drawing, size_t curve) {
    struct panel panel = {.drawing = drawing, .first = &drawing->curves[curve]};
    for (size_t i = 0; i < curve; i++)
        if (is_in(&panel, &drawing->curves[i]))
            return false;
    return true;
}

/* The marks by number. */
static void list_marks(FILE *to, const struct pm_curves_drawing *drawing, size_t top) {
    for (size_t i = 0; i < drawing->n_marks; i++) {
        fprintf(to, "<text x='%d' y='%zu'>%zu  ", LEFT, top + LINE_HEIGHT * (i + 1),
                drawing->marks[i].number);
        pm_svg_text(to, drawing->marks[i].label);
        fputs("</text>\n", to);
    }
}

void pm_draw_curves(FILE *to, const struct pm_curves_drawing *drawing) {
    size_t n_panels = 0;
    for (size_t i = 0; i < drawing->n_curves; i++)
        n_panels += begins_panel(drawing, i);
    size_t width = COLUMNS * PANEL_WIDTH;
    size_t height = HEADING + (n_panels + COLUMNS - 1) / COLUMNS * PANEL_HEIGHT;
    size_t below = drawing->n_marks ? LINE_HEIGHT * (drawing->n_marks + 1) : 0;
    pm_svg_begin(to, width, height + below);
    fprintf(to, "<text class='title' x='%d' y='24'>", LEFT);
    pm_svg_text(to, drawing->machine->title);
    pm_svg_text(to, drawing->title);
    fputs("</text>\n", to);
    size_t place = 0;
    for (size_t i = 0; i < drawing->n_curves; i++)
        if (begins_panel(drawing, i))
            draw_panel(to, drawing, &drawing->curves[i], place++);
    list_marks(to, drawing, height);
    fputs("</svg>\n", to);
}

void pm_report_machine_curves(FILE *to, const struct pm_machine *machine) {
    pm_draw_curves(to, &(struct pm_curves_drawing){.machine = machine,
                                                   .title = ": against the working set, by stride",
                                                   .curves = machine->curves,
                                                   .n_curves = machine->n_curves,
                                                   .rate_factor = 1,
                                                   .rate_unit = "bytes a cycle and thread"});
}
