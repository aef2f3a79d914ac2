/* What the files of report/signature/ share. */
#ifndef PM_REPORT_SIGNATURE_PRIVATE_H
#define PM_REPORT_SIGNATURE_PRIVATE_H

#include "fit/analysis/analysis.h"
#include "report/signature/signature.h"
#include "report/writers/writers.h"

/* A part of a convolved program, as reports have it (report_parts.c). */
struct pm_part_row {
    struct pm_row_place place;
    const struct pm_convolution *convolution;
    const struct pm_convolved_part *part;
    const char *machine;
    uint32_t number; /* of the table, from 1 */
    double cumulative;
};
extern const struct pm_fields pm_part_fields;
/* One for each of the convolution's parts; the caller frees. */
struct pm_part_row *pm_part_rows(const struct pm_structure *structure,
                                 const struct pm_convolution *convolution);
/* "step/3 k, heat.c:126"; of a basic block with its number.  Owned by the caller. */
char *pm_part_label(const struct pm_structure *structure, const struct pm_program_part *part);
/* "loads, stride 1". */
char *pm_pattern_label(int kind, int bin);
/* 10^6 bytes a second for a byte a cycle. */
double pm_megabytes_a_second(const struct pm_signature *signature);
/* "1.23 GFLOP/s", "4.5 MB/s": RATE a second with UNIT; owned by the caller. */
char *pm_rate_label(double rate, const char *unit);
/* "128 KiB" */
char *pm_working_set_label(double bytes, bool is_beyond);

#endif
