/* `pmodel replay --format svg`: a row for each rank, time from left to right.  A column of a pixel
   has the colour of what the rank did longest in that time. */
#include <math.h>
#include <stdlib.h>

#include "report/replay/replay.h"
#include "report/writers/writers.h"

enum { COLUMNS = 1000, LEFT = 60, TOP = 44, BOTTOM = 30, RIGHT = 20, MOST_ROW = 18, N_SHARES = 3 };
enum { MOST_HEIGHT = 1200 };

static const char *const words[N_SHARES] = {"computation", "communication", "waiting"};
static const char *const colours[N_SHARES] = {"#009e73", "#0072b2", "#d55e00"};

/* What a rank did in each column, in seconds. */
struct columns {
    double seconds[COLUMNS][N_SHARES];
};

static void add_time(struct columns *columns, double whole, unsigned what, double begin,
                     double end) {
    double scale = COLUMNS / whole;
    for (size_t c = (size_t)fmax(begin * scale, 0); c < COLUMNS && (double)c < end * scale; c++) {
        double from = fmax(begin, (double)c / scale), to = fmin(end, (double)(c + 1) / scale);
        if (to > from)
            columns->seconds[c][what] += to - from;
    }
}

static void fill(const struct pm_replay_report *report, size_t rank, struct columns *columns) {
    const struct pm_rank_actions *list = &report->actions->ranks[rank];
    double whole = report->replay->seconds;
    *columns = (struct columns){0};
    for (size_t i = 0; i < list->n_actions; i++) {
        const struct pm_span *span = &report->replay->ranks[rank].spans[i];
        double waited = span->begin + span->waiting;
        if (list->actions[i].kind == PM_ACTION_COMPUTE) {
            add_time(columns, whole, 0, span->begin, span->end);
        } else {
            add_time(columns, whole, 2, span->begin, waited);
            add_time(columns, whole, 1, waited, span->end);
        }
    }
}

/* N_SHARES: nothing. */
static unsigned longest(const double seconds[N_SHARES]) {
    unsigned best = N_SHARES;
    for (unsigned w = 0; w < N_SHARES; w++)
        if (seconds[w] > 0 && (best == N_SHARES || seconds[w] > seconds[best]))
            best = w;
    return best;
}

static void draw_row(FILE *out, const struct columns *columns, double y, double height) {
    for (size_t c = 0, next; c < COLUMNS; c = next) {
        unsigned what = longest(columns->seconds[c]);
        for (next = c + 1; next < COLUMNS && longest(columns->seconds[next]) == what;)
            next++;
        if (what < N_SHARES)
            fprintf(out, "<rect x='%zu' y='%.2f' width='%zu' height='%.2f' fill='%s'/>\n", LEFT + c,
                    y, next - c, height, colours[what]);
    }
}

static void draw_legend(FILE *out, const struct pm_replay_report *report) {
    fprintf(out, "<text class='title' x='%d' y='16'>", LEFT);
    if (report->program) {
        pm_svg_text(out, report->program);
        fputs("  ", out);
        pm_svg_text(out, report->at);
        fputs(" on ", out);
        pm_svg_text(out, report->machine);
    } else {
        fprintf(out, "trace of %zu ranks", report->replay->n_ranks);
    }
    fputs(" over ", out);
    pm_svg_text(out, report->platform);
    fprintf(out, ": simulated %s</text>\n", pm_seconds_text(report->replay->seconds).text);
    for (unsigned w = 0; w < N_SHARES; w++)
        fprintf(out,
                "<rect x='%d' y='24' width='10' height='10' fill='%s'/><text x='%d' y='33'>%s"
                "</text>\n",
                LEFT + 130 * (int)w, colours[w], LEFT + 130 * (int)w + 14, words[w]);
}

void pm_report_replay_svg(FILE *out, const struct pm_replay_report *report) {
    size_t n = report->replay->n_ranks;
    double row = fmin(MOST_ROW, (double)MOST_HEIGHT / (double)n), bottom = TOP + row * (double)n;
    size_t label_every = (size_t)ceil(12 / row);
    struct columns *columns = pm_alloc(1, sizeof *columns);
    pm_svg_begin(out, LEFT + COLUMNS + RIGHT, (size_t)bottom + BOTTOM);
    draw_legend(out, report);
    for (size_t r = 0; r < n; r++) {
        double y = TOP + row * (double)r;
        fill(report, r, columns);
        draw_row(out, columns, y, row > 4 ? row - 2 : row);
        if (r % label_every == 0)
            fprintf(out, "<text class='end' x='%d' y='%.1f'>%zu</text>\n", LEFT - 6,
                    y + row / 2 + 3, r);
    }
    for (int tick = 0; tick <= 4; tick++) {
        double x = LEFT + COLUMNS * tick / 4.0;
        fprintf(out, "<text class='%s' x='%.0f' y='%.0f'>%s</text>\n",
                tick == 4 ? "end"
                : tick    ? "middle"
                          : "",
                x, bottom + 16,
                tick ? pm_seconds_text(report->replay->seconds * tick / 4).text : "0");
    }
    fputs("</svg>\n", out);
    free(columns);
}
