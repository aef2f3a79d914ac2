/* What pictures are drawn with: a panel with two axes; private to the folder. */
#ifndef PM_PICTURES_PRIVATE_H
#define PM_PICTURES_PRIVATE_H

#include "report/pictures/pictures.h"
#include "report/writers/writers.h"

enum {
    PM_PICTURE_LEFT = 72,   /* figures of the axis and what they are */
    PM_PICTURE_RIGHT = 168, /* names of the lines */
    PM_PICTURE_TOP = 44,    /* title */
    PM_PICTURE_BOTTOM = 48, /* figures of the other axis, and what they are */
    PM_PICTURE_LINE = 15,
    PM_PICTURE_AREAS = 12, /* styles of areas, s0 … */
};

struct pm_picture_axis {
    double low, high;
    bool is_log;
    const char *words; /* what it shows, with the unit */
};

struct pm_panel {
    FILE *to;
    double left, top, width, height; /* of the area */
    struct pm_picture_axis across, upwards;
    size_t n_names; /* written at the right so far */
};

/* A panel of a drawing WIDTH wide that has HEIGHT of it, words and title included, from ABOVE on.
 */
struct pm_panel pm_panel_of(FILE *to, double width, double above, double height,
                            struct pm_picture_axis across, struct pm_picture_axis upwards);
double pm_panel_x(const struct pm_panel *panel, double value);
double pm_panel_y(const struct pm_panel *panel, double value);
/* LOW and HIGH become ends of an axis: whole powers of ten, or 0 and a round number. */
struct pm_picture_axis pm_picture_axis_around(double low, double high, bool is_log,
                                              const char *words);
/* Of the sizes of a picture. */
struct pm_picture_axis pm_picture_sizes(const struct pm_picture *picture);
void pm_panel_axes(const struct pm_panel *panel);
/* The next name at the right, with a line or a filled box of STYLE. */
void pm_panel_name(struct pm_panel *panel, size_t style, bool is_filled, const char *name);
/* A horizontal line at VALUE with a NAME: a level's capacity. */
void pm_panel_cut(const struct pm_panel *panel, double value, const char *name);

/* The head of a drawing: TITLE is also what a reader of the screen says; DESCRIPTION its text. */
void pm_picture_begin(FILE *to, size_t width, size_t height, const char *title,
                      const char *description);

/* What figures are divided by. */
enum pm_picture_unit { PM_PER_RUN, PM_PER_CALL, PM_PER_ITERATION };
enum pm_picture_unit pm_picture_unit(const struct pm_picture *picture);

/* The reuse distance, in blocks, that this SHARE of the accesses is not beyond; INFINITY for first
   touches; NAN: no accesses. */
double pm_histogram_quantile(const struct pm_histogram *histogram, double share);

void pm_draw_time(FILE *to, const struct pm_picture *picture);
void pm_draw_misses(FILE *to, const struct pm_picture *picture);
void pm_draw_histogram(FILE *to, const struct pm_picture *picture, const char *at);
void pm_draw_surface(FILE *to, const struct pm_picture *picture);

#endif
