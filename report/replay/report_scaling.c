/* How the parallel time goes with the number of ranks. */
#include <math.h>
#include <stdlib.h>

#include "report/replay/replay.h"
#include "report/writers/writers.h"

struct row {
    const struct pm_rank_scaling_point *point;
    const struct pm_rank_scaling *scaling;
};

static const struct pm_rank_scaling_point *first_of(const struct row *row) {
    return &row->scaling->points[0];
}

static double speedup(const struct row *row) {
    return first_of(row)->seconds / row->point->seconds;
}

/* Strong: of the same work; weak: of work that grows with the ranks. */
static double efficiency(const struct row *row) {
    double ranks = first_of(row)->ranks / row->point->ranks;
    return row->scaling->is_strong ? speedup(row) * ranks : speedup(row);
}

static double share(double seconds, const struct row *row) {
    return row->point->seconds > 0 ? seconds / row->point->seconds : NAN;
}

PM_GETTER(get_at, struct row, pm_text(row->point->at))
PM_GETTER(get_ranks, struct row, pm_number(row->point->ranks))
PM_GETTER(get_seconds, struct row, pm_number(row->point->seconds))
PM_GETTER(get_computation, struct row, pm_number(row->point->computation))
PM_GETTER(get_communication, struct row, pm_number(row->point->communication))
PM_GETTER(get_waiting, struct row, pm_number(row->point->waiting))
PM_GETTER(get_in_mpi, struct row,
          pm_number(share(row->point->communication + row->point->waiting, row)))
PM_GETTER(get_in_mpi_cell, struct row,
          pm_percent_value(share(row->point->communication + row->point->waiting, row)))
PM_GETTER(get_speedup, struct row, pm_number(speedup(row)))
PM_GETTER(get_efficiency, struct row, pm_number(efficiency(row)))
PM_GETTER(get_efficiency_cell, struct row, pm_percent_value(efficiency(row)))
PM_GETTER(get_events, struct row, pm_number(row->point->events))
PM_GETTER(get_engine, struct row, pm_number(row->point->engine_seconds))

static const struct pm_field fields[] = {
    {"size", PM_TEXT, .get = get_at, .header = "SIZE"},
    {"ranks", PM_NUMBER, .get = get_ranks, .header = "RANKS"},
    {"seconds", PM_SECONDS, .get = get_seconds, .header = "TIME"},
    {"speedup", PM_RATE, .get = get_speedup, .header = "SPEED-UP"},
    {"efficiency", PM_NUMBER, .get = get_efficiency, .cell = get_efficiency_cell,
     .header = "EFFICIENCY"},
    {"computation_seconds", PM_SECONDS, .get = get_computation, .header = "COMPUTATION"},
    {"communication_seconds", PM_SECONDS, .get = get_communication, .header = "COMMUNICATION"},
    {"waiting_seconds", PM_SECONDS, .get = get_waiting, .header = "WAITING"},
    {"share_in_mpi", PM_NUMBER, .get = get_in_mpi, .cell = get_in_mpi_cell, .header = "IN MPI"},
    {"events", PM_COUNT, .get = get_events, .header = "EVENTS", .dispensable = 2},
    {"engine_seconds", PM_SECONDS, .get = get_engine, .header = "SIMULATED IN", .dispensable = 1},
};
#define NAMES                                                                                      \
    "size ranks seconds speedup efficiency computation_seconds communication_seconds "             \
    "waiting_seconds share_in_mpi events engine_seconds"

static double in_mpi(const struct pm_rank_scaling_point *point) {
    return (point->communication + point->waiting) / point->seconds;
}

/* The number of ranks at which half of the time is in MPI, between two points on a logarithmic
   axis; NAN: it is not reached. */
static double half_ranks(const struct pm_rank_scaling *scaling) {
    for (size_t i = 1; i < scaling->n_points; i++) {
        const struct pm_rank_scaling_point *a = &scaling->points[i - 1], *b = a + 1;
        double before = in_mpi(a) - 0.5, after = in_mpi(b) - 0.5;
        if (before < 0 && after >= 0)
            return exp(log(a->ranks) + log(b->ranks / a->ranks) * -before / (after - before));
    }
    return NAN;
}

static void print_table(FILE *out, const struct pm_rank_scaling *scaling, const struct row *rows,
                        const struct pm_report_options *options) {
    pm_print_title(out, options, "%s  on %s over %s: %s scaling, simulated", scaling->program,
                   scaling->machine, scaling->platform, scaling->is_strong ? "strong" : "weak");
    struct pm_table_rows table = pm_table_begin(pm_fields_named(PM_FIELDS(fields), NAMES));
    for (size_t i = 0; i < scaling->n_points; i++)
        pm_table_row(&table, &rows[i]);
    pm_table_end(out, &table, NULL, options);
    double half = half_ranks(scaling);
    fputc('\n', out);
    if (isnan(half))
        pm_print_line(out, options, "half of the time in MPI: %s",
                      in_mpi(&scaling->points[0]) >= 0.5 ? "at all of these" : "at none of these");
    else
        pm_print_line(out, options, "half of the time is in MPI from about %.0f ranks on", half);
}

static void print_json(FILE *out, const struct pm_rank_scaling *scaling, const struct row *rows,
                       const struct pm_report_options *options) {
    json_t *document = pm_json_document("rank-scaling");
    json_object_set_new(document, "program", pm_json_text(scaling->program));
    json_object_set_new(document, "machine", pm_json_text(scaling->machine));
    json_object_set_new(document, "platform", pm_json_text(scaling->platform));
    json_object_set_new(document, "scaling", pm_json_text(scaling->is_strong ? "strong" : "weak"));
    json_object_set_new(document, "half_in_mpi_ranks", pm_json_number(half_ranks(scaling)));
    json_object_set_new(document, "points",
                        pm_fields_array(PM_FIELDS(fields), rows, scaling->n_points, sizeof *rows));
    pm_json_set_warnings(document, options);
    pm_json_print(out, document);
}

void pm_report_rank_scaling(FILE *out, const struct pm_rank_scaling *scaling,
                            const struct pm_report_options *options) {
    struct row *rows = pm_alloc(scaling->n_points, sizeof *rows);
    for (size_t i = 0; i < scaling->n_points; i++)
        rows[i] = (struct row){&scaling->points[i], scaling};
    pm_print_warnings(out, options);
    PM_BY_FORMAT(
        options, print_table(out, scaling, rows, options), print_json(out, scaling, rows, options),
        pm_fields_csv(out, PM_FIELDS(fields), NAMES, rows, scaling->n_points, sizeof *rows));
    free(rows);
}

/* ---- the drawing: seconds against ranks, both logarithmic -------------------------------------
 */

enum { WIDTH = 760, HEIGHT = 400, LEFT = 70, RIGHT = 120, TOP = 34, BOTTOM = 46, N_CURVES = 4 };

static double curve_value(const struct pm_rank_scaling_point *point, int curve) {
    return curve == 0   ? point->seconds
           : curve == 1 ? point->computation
           : curve == 2 ? point->communication
                        : point->waiting;
}

struct axes {
    double first, last, least, most;
};

static double across(const struct axes *axes, double ranks) {
    double whole = axes->last > axes->first ? log(axes->last / axes->first) : 1;
    return LEFT + (WIDTH - LEFT - RIGHT) * log(ranks / axes->first) / whole;
}

static double down(const struct axes *axes, double seconds) {
    double share = log(fmax(seconds, axes->least) / axes->least) / log(axes->most / axes->least);
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share;
}

static struct axes axes_of(const struct pm_rank_scaling *scaling) {
    struct axes axes = {INFINITY, 0, INFINITY, 0};
    for (size_t i = 0; i < scaling->n_points; i++) {
        const struct pm_rank_scaling_point *point = &scaling->points[i];
        axes.first = fmin(axes.first, point->ranks);
        axes.last = fmax(axes.last, point->ranks);
        axes.most = fmax(axes.most, point->seconds);
        for (int c = 0; c < N_CURVES; c++)
            if (curve_value(point, c) > 0)
                axes.least = fmin(axes.least, curve_value(point, c));
    }
    axes.most = pm_svg_round_up(axes.most);
    axes.least = pow(10, floor(log10(fmax(axes.least, axes.most * 1e-4))));
    return axes;
}

void pm_report_rank_scaling_svg(FILE *out, const struct pm_rank_scaling *scaling) {
    static const char *const names[N_CURVES] = {"time", "computation", "communication", "waiting"};
    struct axes axes = axes_of(scaling);
    const struct pm_rank_scaling_point *last = &scaling->points[scaling->n_points - 1];
    pm_svg_begin(out, WIDTH, HEIGHT);
    fprintf(out, "<text class='title' x='%d' y='18'>", LEFT);
    pm_svg_text(out, scaling->program);
    fputs(" on ", out);
    pm_svg_text(out, scaling->machine);
    fputs(" over ", out);
    pm_svg_text(out, scaling->platform);
    fputs(": simulated</text>\n", out);
    for (double tick = axes.least; tick <= axes.most * 1.001; tick *= 10)
        fprintf(out,
                "<line class='grid' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/><text class='end' x='%d' "
                "y='%.1f'>%s</text>\n",
                LEFT, WIDTH - RIGHT, down(&axes, tick), down(&axes, tick), LEFT - 6,
                down(&axes, tick) + 4, pm_seconds_text(tick).text);
    for (size_t i = 0; i < scaling->n_points; i++)
        fprintf(out, "<text class='middle' x='%.1f' y='%d'>%.0f</text>\n",
                across(&axes, scaling->points[i].ranks), HEIGHT - BOTTOM + 16,
                scaling->points[i].ranks);
    fprintf(out, "<text class='middle' x='%d' y='%d'>ranks</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 8);
    for (int c = 0; c < N_CURVES; c++) {
        fprintf(out, "<polyline class='curve s%d' points='", c);
        for (size_t i = 0; i < scaling->n_points; i++)
            fprintf(out, "%.1f,%.1f ", across(&axes, scaling->points[i].ranks),
                    down(&axes, curve_value(&scaling->points[i], c)));
        fprintf(out, "'/>\n<text x='%d' y='%.1f'>%s</text>\n", WIDTH - RIGHT + 6,
                down(&axes, curve_value(last, c)) + 4, names[c]);
    }
    fputs("</svg>\n", out);
}
