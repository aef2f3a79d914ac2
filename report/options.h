/* What every report is told: the format, and how much of it a table shows. */
#ifndef PM_REPORT_OPTIONS_H
#define PM_REPORT_OPTIONS_H

#include <stdbool.h>

struct pm_warnings;

enum pm_report_format { PM_REPORT_TABLE = 0, PM_REPORT_JSON, PM_REPORT_CSV };

bool pm_report_format_from_name(const char *name, enum pm_report_format *format);

struct pm_report_options {
    enum pm_report_format format;
    double min_percent; /* rows below this share of the time are summed up in one "other" row; JSON
                           and CSV always have all rows */
    unsigned max_rows;  /* 0: no limit */
    unsigned width;     /* of the terminal, in columns; 0: as wide as it gets */
    bool wide;          /* tables have all columns and whole names, whatever the width */
    bool color;
    bool all_notes;        /* those too by which no figure changes much */
    const char *fields;    /* NULL: the report's own choice; else columns, `time,%,loop`; with a +
                              before it beside those of the report */
    const char *sort;      /* the field that rows are sorted by; NULL: the report's choice */
    const char *filter;    /* rows of these loops, routines or files only (fnmatch); NULL: all */
    bool tree;             /* loops under the loop or routine that they are in */
    const char *selection; /* what of the runs figures are of, a noun phrase; NULL: all of them */
    const struct pm_warnings *warnings; /* stand before the figures; NULL: none */
};

#endif
