/* What a page is made of; private to the folder. */
#ifndef PM_PAGE_PRIVATE_H
#define PM_PAGE_PRIVATE_H

#include <jansson.h>

#include "report/page/page.h"
#include "report/predictions/predictions.h"
#include "report/writers/writers.h"

struct pm_page_bytes {
    PM_ARRAY(uint8_t, bytes); /* owned */
};

/* ---- codes.c: figures as the table writes them, in three bytes ------------------------------- */

/* How a figure is written but for its digits: "13.0 s" is 130 with one decimal and " s". */
struct pm_page_style {
    char mark[2]; /* ">", "<", "~" */
    uint8_t decimals;
    char suffix[8];
};

struct pm_page_codes {
    PM_ARRAY(struct pm_page_style, styles); /* styles[0] is not used: */
    PM_ARRAY(char *, texts);                /* style 0: whole texts; texts[0] is "" */
};

/* STYLE in the upper bits, digits, or the number of a text, in the lower 16. */
uint32_t pm_page_code(struct pm_page_codes *codes, const char *cell);
json_t *pm_page_codes_json(const struct pm_page_codes *codes);
void pm_page_codes_free(struct pm_page_codes *codes);

/* ---- page_figures.c: cells of rows, by size and machine -------------------------------------- */

/* What a prediction says of its rows. */
struct pm_page_cells {
    size_t n_rows;
    uint32_t *scopes; /* that the rows are named after; owned */
    uint32_t *codes;  /* n_rows · fields; owned */
};

struct pm_page_point {
    double value;
    bool measured, is_given;
    json_t *facts;               /* what the page says of the size as a whole; owned */
    struct pm_page_cells *cells; /* one for each machine; owned */
};

struct pm_page_row {
    char *label; /* owned; NULL: no row of this scope was ever executed */
    uint32_t line_first, line_last;
};

struct pm_html_page {
    struct pm_page_subject subject;
    struct pm_fields *fields; /* one list for each machine; owned */
    struct pm_page_codes codes;
    PM_ARRAY(struct pm_page_point, points);
    struct pm_page_row *rows; /* one for each scope */
    json_t *notes;            /* for each machine those of the last size */
    json_t *sources;          /* by file */
    PM_ARRAY(uint64_t, block_sizes);
    struct pm_page_bytes *distances; /* [point][block size]: see page_distances.c; owned */
    size_t n_distances;
};

/* The fields of a row on MACHINE: those of the report's columns, and what pictures need; the last
   ones, floating-point operations and bytes for each of the ROOFS, are no members of a row. */
struct pm_fields pm_page_fields(const struct pm_machine *machine, const struct pm_roofs *roofs);
void pm_page_fields_free(struct pm_fields *fields);
json_t *pm_page_fields_json(const struct pm_fields *fields);
void pm_page_cells_make(struct pm_html_page *page, size_t machine, const struct pm_page_size *size,
                        struct pm_page_cells *cells);
/* Planes of styles and of the digits' upper and lower bytes, by machine, field, row and point.
   SCOPES: those of the page's N rows. */
void pm_page_put_figures(const struct pm_html_page *page, const uint32_t *scopes, size_t n,
                         struct pm_page_bytes *to);

/* ---- page_distances.c: reuse distances of rows ----------------------------------------------- */

enum { PM_PAGE_SLOTS = 256, PM_PAGE_SLOTS_AN_OCTAVE = 4 };
/* Of all scopes at one size, in blocks of BLOCK_BYTES. */
void pm_page_distances_make(const struct pm_structure *structure, const struct pm_profile *profile,
                            uint64_t block_bytes, struct pm_page_bytes *to);
/* By block size, row and point: how many slots, then which, then upper and lower bytes of shares.
 */
void pm_page_put_distances(const struct pm_html_page *page, const uint32_t *scopes, size_t n,
                           struct pm_page_bytes *to);

/* ---- files.S: the page's sources, each with a 0 behind it ------------------------------------ */

extern const char pm_page_html[], pm_page_css[], pm_page_js[];

#endif
