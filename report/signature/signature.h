/* `pmodel machines --curves`, `pmodel report --as convolution`, `pmodel report --as roofline`:
   signatures of machines, their convolution with programs, and roofs. */
#ifndef PM_REPORT_SIGNATURE_H
#define PM_REPORT_SIGNATURE_H

#include <stddef.h>
#include <stdio.h>

#include "core/machine/machine.h"
#include "core/parameters.h"
#include "core/structure/structure.h"
#include "report/options.h"
#include "sched/signature/signature.h"

/* ---- curves (curves_svg.c) --------------------------------------------------------------------
 */

/* A part of a program on a curve. */
struct pm_curve_mark {
    size_t curve; /* of the drawing's */
    double working_set_bytes, value;
    double weight; /* share of the program's references */
    size_t number;
    const char *label;
};

struct pm_curves_drawing {
    const struct pm_machine *machine;
    const char *title; /* behind the machine's */
    const struct pm_curve *curves;
    size_t n_curves;
    double rate_factor; /* times bytes a cycle, is RATE_UNIT */
    const char *rate_unit;
    bool is_log; /* rates, too */
    const struct pm_curve_mark *marks;
    size_t n_marks;
};
void pm_draw_curves(FILE *to, const struct pm_curves_drawing *drawing);

/* `pmodel machines --svg`: a drawing of all curves of a machine. */
void pm_report_machine_curves(FILE *to, const struct pm_machine *machine);

/* ---- what is shown ----------------------------------------------------------------------------
 */

/* A program at a size, as it was convolved. */
struct pm_convolved_program {
    const struct pm_structure *structure;
    struct pm_parameters at;
    const char *source;      /* "profile" (of basic blocks), "run" or "models" (of scopes) */
    double measured_seconds; /* of a clock at this size; NAN: not timed */
};

/* CONVOLUTIONS: one for each signature, or NULL.  Table: the rate of each level's plateau, by
   stride; JSON: {"format": "pmodel-signature", "version": 1, "machines": [{machine, synthesised,
   clock_hz, "curves": [{of, stride_bytes, points}], parts}]}; CSV: a line for each point. */
void pm_report_signatures(FILE *out, const struct pm_signature *signatures, size_t n,
                          const struct pm_convolved_program *program,
                          const struct pm_convolution *convolutions,
                          const struct pm_report_options *options);
/* Figures 1 and 2 of one machine; with a program, Figure 3. */
void pm_report_signature_svg(FILE *out, const struct pm_signature *signature,
                             const struct pm_convolved_program *program,
                             const struct pm_convolution *convolution);

/* One convolution for each machine.  JSON: {"format": "pmodel-convolution", "version": 1, program,
   parameters, source, measured_seconds, "machines": [{machine, synthesised, metasim_number, ratio,
   …, "parts": [{block, label, …}]}]}.  CSV: a line for each machine and part. */
void pm_report_convolutions(FILE *out, const struct pm_convolved_program *program,
                            const struct pm_convolution *convolutions, size_t n,
                            const struct pm_report_options *options);

/* ---- roofline ---------------------------------------------------------------------------------
 */

struct pm_rooflined_program {
    const struct pm_structure *structure;
    const char *name; /* of the store */
    struct pm_parameters at;
    struct pm_roofline roofline;
};
/* N = 2: before and after.  JSON: {"format": "pmodel-roofline", "version": 1, machine, synthesised,
   flops_per_second, roofs, "programs": [{program, store, parameters, points}]}. */
void pm_report_roofline(FILE *out, const struct pm_signature *signature,
                        const struct pm_roofs *roofs, const struct pm_rooflined_program *programs,
                        size_t n, const struct pm_report_options *options);
void pm_report_roofline_svg(FILE *out, const struct pm_signature *signature,
                            const struct pm_roofs *roofs,
                            const struct pm_rooflined_program *programs, size_t n,
                            double min_percent);

#endif
