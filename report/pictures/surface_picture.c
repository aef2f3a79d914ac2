/* The surface of reuse distances, as Figure 4 of Marin & Mellor-Crummey (2004): the size to the
   right, accesses by ascending distance to the back, the distance upwards.  Two panels: as measured
   and as modelled.

       across = size · cos 20° + share · cos 40°,   upwards = distance + share · sin 40° − size ·
   sin 20°

   (each as a part of its axis): an axonometric view.  Facets are drawn from the back to the front
   and are darker the longer the distance.  First touches are at the top. */
#include <math.h>
#include <stdlib.h>

#include "report/pictures/private.h"

enum { WIDTH = 1000, HEIGHT = 430, N_SHARES = 40, MOST_SIZES = 30 };

struct view {
    FILE *to;
    double left; /* of the panel */
    struct pm_picture_axis size, distance;
};

struct place {
    double x, y;
};

static double part(const struct pm_picture_axis *axis, double value) {
    return fmin(fmax(log(value / axis->low) / log(axis->high / axis->low), 0), 1);
}

static struct place place_at(const struct view *view, double size, double share, double height) {
    const double size_x = 260, size_y = 60, share_x = 110, share_y = 90, height_y = 220;
    return (struct place){view->left + size_x * size + share_x * share,
                          HEIGHT - 130 + size_y * size - share_y * share - height_y * height};
}

static struct place place_of(const struct view *view, double size, double share, double distance) {
    double height = isinf(distance) ? 1 : part(&view->distance, distance + 1);
    return place_at(view, part(&view->size, size), share, height);
}

/* Points that are measured, or not, at most MOST_SIZES of them. */
static size_t choose(const struct pm_picture *picture, bool measured,
                     const struct pm_picture_point **chosen) {
    size_t n = 0, all = 0, seen = 0;
    for (size_t i = 0; i < picture->n_points; i++)
        all += picture->points[i].measured == measured;
    for (size_t i = 0; i < picture->n_points; i++) {
        if (picture->points[i].measured != measured)
            continue;
        bool wanted = all <= MOST_SIZES || seen * MOST_SIZES / all != (seen + 1) * MOST_SIZES / all;
        seen++;
        if (wanted && n < MOST_SIZES)
            chosen[n++] = &picture->points[i];
    }
    return n;
}

static void draw_facet(const struct view *view, const struct pm_picture_point *a,
                       const struct pm_picture_point *b, size_t block, size_t k) {
    double near = (double)k / N_SHARES, far = (double)(k + 1) / N_SHARES;
    const double inside = 1e-9; /* at a share of 0 and 1 the quantile is that of the ends */
    double d[4] = {pm_histogram_quantile(&a->histograms[block], near + inside),
                   pm_histogram_quantile(&b->histograms[block], near + inside),
                   pm_histogram_quantile(&b->histograms[block], far - inside),
                   pm_histogram_quantile(&a->histograms[block], far - inside)};
    double mean = 0;
    for (int i = 0; i < 4; i++) {
        if (isnan(d[i]))
            return;
        mean += (isinf(d[i]) ? 1 : part(&view->distance, d[i] + 1)) / 4;
    }
    struct place p[4] = {place_of(view, a->value, near, d[0]), place_of(view, b->value, near, d[1]),
                         place_of(view, b->value, far, d[2]), place_of(view, a->value, far, d[3])};
    int light = (int)(245 - 190 * mean);
    fprintf(view->to,
            "<path class='facet' fill='#%02x%02x%02x' d='M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f "
            "%.1fZ'/>\n",
            light, light, light + (255 - light) / 4, p[0].x, p[0].y, p[1].x, p[1].y, p[2].x, p[2].y,
            p[3].x, p[3].y);
}

static void put_text(FILE *to, struct place at, const char *class, const char *text) {
    fprintf(to, "<text class='%s' x='%.1f' y='%.1f'>", class, at.x, at.y);
    pm_svg_text(to, text);
    fputs("</text>\n", to);
}

static void draw_axes(const struct view *view, const char *parameter) {
    struct place o = place_at(view, 0, 0, 0), right = place_at(view, 1, 0, 0),
                 back = place_at(view, 1, 1, 0), top = place_at(view, 0, 0, 1);
    fprintf(view->to, "<path class='edge' d='M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1f'/>\n", top.x,
            top.y, o.x, o.y, right.x, right.y, back.x, back.y);
    for (int i = 0; i <= 3; i++) {
        double size = view->size.low * pow(view->size.high / view->size.low, i / 3.0);
        struct place at = place_at(view, i / 3.0, 0, 0);
        char *text = pm_sprintf("%.3g", size);
        put_text(view->to, (struct place){at.x - 4, at.y + 16}, "end", text);
        free(text);
    }
    for (double value = 1; value <= view->distance.high * 1.001; value *= 100) {
        struct place at = place_at(view, 0, 0, part(&view->distance, value));
        char *text = pm_sprintf("%.3g", value);
        put_text(view->to, (struct place){at.x - 6, at.y + 4}, "end", text);
        free(text);
    }
    put_text(view->to, (struct place){(o.x + right.x) / 2 - 30, (o.y + right.y) / 2 + 42}, "middle",
             parameter);
    put_text(view->to, (struct place){(right.x + back.x) / 2 + 12, (right.y + back.y) / 2 + 14}, "",
             "accesses");
    put_text(view->to, (struct place){back.x + 4, back.y + 4}, "", "100%");
    put_text(view->to, (struct place){top.x, top.y - 10}, "middle", "distance + 1, blocks");
}

/* Where the capacity of a level cuts the surface: for each size the share up to which distances are
   below it.  No line where all are. */
static void draw_cut(const struct view *view, const struct pm_picture_point **points, size_t n,
                     size_t block, const struct pm_level *level) {
    const double nearly_all = 0.999;
    double blocks = pm_level_capacity_blocks(level);
    struct place last = {0};
    size_t n_drawn = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pm_histogram *histogram = &points[i]->histograms[block];
        double share =
            1 - pm_level_distance_misses(level, histogram) / pm_histogram_accesses(histogram);
        if (!(share < nearly_all))
            continue;
        last = place_of(view, points[i]->value, share, blocks);
        fprintf(view->to, "%s%.1f %.1f", n_drawn++ ? "L" : "<path class='curve s1' d='M", last.x,
                last.y);
    }
    if (n_drawn == 0)
        return;
    fputs("'/>\n", view->to);
    put_text(view->to, (struct place){last.x + 6, last.y + 4}, "", level->name);
}

static void draw_panel(const struct view *view, const struct pm_picture *picture, bool measured) {
    const struct pm_picture_point *points[MOST_SIZES];
    size_t n = choose(picture, measured, points);
    char *title = pm_sprintf("%s, blocks of %s", measured ? "measured" : "modelled",
                             pm_bytes_text(picture->block_sizes[0]).text);
    put_text(view->to, (struct place){view->left, 44}, "title", title);
    free(title);
    draw_axes(view, picture->parameter);
    for (size_t k = N_SHARES; k-- > 0;)
        for (size_t i = 0; i + 1 < n; i++)
            draw_facet(view, points[i], points[i + 1], 0, k);
    for (size_t l = 0; n > 1 && l < picture->machine->n_levels; l++)
        if (picture->machine->levels[l].block_bytes == picture->block_sizes[0])
            draw_cut(view, points, n, 0, &picture->machine->levels[l]);
    if (n < 2)
        put_text(view->to, place_at(view, 0.5, 0.3, 0.5), "middle", "fewer than two sizes");
}

void pm_draw_surface(FILE *to, const struct pm_picture *picture) {
    char *title = pm_sprintf("%s: reuse distances over %s; cuts at the levels of %s",
                             picture->label, picture->parameter, picture->machine->title);
    double most = 1;
    for (size_t i = 0; i < picture->n_points; i++) {
        const struct pm_histogram *histogram = &picture->points[i].histograms[0];
        for (size_t b = 0; b < histogram->n_bins; b++)
            most = fmax(most, histogram->bins[b].high);
    }
    pm_picture_begin(to, WIDTH, HEIGHT, title,
                     "The size to the right, accesses by ascending reuse distance to the back, the "
                     "distance upwards; first touches at the top");
    for (int panel = 0; panel < 2; panel++) {
        struct view view = {
            .to = to,
            .left = 70 + panel * WIDTH / 2.0,
            .size = pm_picture_sizes(picture),
            .distance = pm_picture_axis_around(1, 2 * most, true, NULL),
        };
        draw_panel(&view, picture, panel == 0);
    }
    free(title);
}
