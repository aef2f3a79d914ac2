/* Reuse distances at one size, as Figure 5 of Marin & Mellor-Crummey (2004): accesses by ascending
   distance across, the distance in blocks upwards, and the capacities of the levels with blocks of
   this size as cuts: what is left of where the curve meets a cut hits there, if the level is fully
   associative.  One with a response has its cut where it serves half, and the share that it serves
   of all.  A panel for each block size. */
#include <math.h>
#include <stdlib.h>

#include "report/pictures/private.h"

enum { WIDTH = 760, PANEL_HEIGHT = 320 };

double pm_histogram_quantile(const struct pm_histogram *histogram, double share) {
    double accesses = pm_histogram_accesses(histogram), below = 0;
    if (!(accesses > 0))
        return NAN;
    for (size_t b = 0; b < histogram->n_bins; b++) {
        const struct pm_bin *bin = &histogram->bins[b];
        double in = (bin->loads + bin->stores) / accesses;
        if (share <= below + in)
            return in > 0 ? bin->low + (bin->high - bin->low) * (share - below) / in : bin->low;
        below += in;
    }
    return INFINITY;
}

static void draw_bins(const struct pm_panel *panel, const struct pm_histogram *histogram) {
    double accesses = pm_histogram_accesses(histogram), below = 0;
    fprintf(panel->to, "<path class='curve s0' d='");
    for (size_t b = 0; b < histogram->n_bins; b++) {
        const struct pm_bin *bin = &histogram->bins[b];
        double in = (bin->loads + bin->stores) / accesses;
        fprintf(panel->to, "%c%.1f %.1f", b ? 'L' : 'M', pm_panel_x(panel, below),
                pm_panel_y(panel, fmax(bin->low, 1)));
        below += in;
        fprintf(panel->to, "L%.1f %.1f", pm_panel_x(panel, below),
                pm_panel_y(panel, fmax(bin->high, 1)));
    }
    double beyond = pm_histogram_always_missing(histogram);
    if (beyond > 0)
        fprintf(panel->to, "%c%.1f %.1fL%.1f %.1f", histogram->n_bins ? 'L' : 'M',
                pm_panel_x(panel, below), panel->top, panel->left + panel->width, panel->top);
    fputs("'/>\n", panel->to);
}

/* Levels of this block size, and the share of the accesses that are nearer than their capacity. */
static void draw_cuts(const struct pm_panel *panel, const struct pm_picture *picture,
                      const struct pm_histogram *histogram) {
    double accesses = pm_histogram_accesses(histogram);
    for (size_t l = 0; l < picture->machine->n_levels; l++) {
        const struct pm_level *level = &picture->machine->levels[l];
        if (level->block_bytes != histogram->block_bytes)
            continue;
        double hits = 1 - pm_level_distance_misses(level, histogram) / accesses;
        char *name = pm_sprintf("%s: %s%% %s", level->name, pm_percent_text(hits).text,
                                level->serves.n_points ? "served" : "nearer");
        pm_panel_cut(panel, pm_level_capacity_blocks(level), name);
        free(name);
    }
}

static void draw_one(FILE *to, const struct pm_picture *picture,
                     const struct pm_histogram *histogram, size_t number) {
    double most = 1;
    for (size_t b = 0; b < histogram->n_bins; b++)
        most = fmax(most, histogram->bins[b].high);
    for (size_t l = 0; l < picture->machine->n_levels; l++)
        if (picture->machine->levels[l].block_bytes == histogram->block_bytes)
            most = fmax(most, pm_level_capacity_blocks(&picture->machine->levels[l]));
    char *words =
        pm_sprintf("reuse distance, blocks of %s", pm_bytes_text(histogram->block_bytes).text);
    const struct pm_picture_axis across = {0, 1, false, "share of the accesses, nearest first"};
    struct pm_panel panel = pm_panel_of(to, WIDTH, PANEL_HEIGHT * (double)number, PANEL_HEIGHT,
                                        across, pm_picture_axis_around(1, 2 * most, true, words));
    pm_panel_axes(&panel);
    if (pm_histogram_accesses(histogram) > 0) {
        draw_bins(&panel, histogram);
        draw_cuts(&panel, picture, histogram);
    }
    free(words);
}

void pm_draw_histogram(FILE *to, const struct pm_picture *picture, const char *at) {
    const struct pm_picture_point *point = &picture->points[picture->n_points - 1];
    char *title = pm_sprintf("%s  %s on %s%s", picture->label, at, picture->machine->title,
                             point->measured ? ", measured" : ", predicted");
    pm_picture_begin(to, WIDTH, PM_PICTURE_LINE + PANEL_HEIGHT * picture->n_block_sizes, title,
                     "Reuse distances in ascending order, with the levels' capacities as cuts; "
                     "first touches are at the top");
    for (size_t b = 0; b < picture->n_block_sizes; b++)
        draw_one(to, picture, &point->histograms[b], b);
    free(title);
}
