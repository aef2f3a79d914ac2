/* Figures in a machine file, and which of them are written. */
#include "machines/probe/probe_figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "machines/probe/known_core.h"

bool pm_is_known(struct pm_estimate estimate) { return !isnan(estimate.estimate); }

void pm_write_estimate(FILE *to, const char *before, const char *name, struct pm_estimate estimate,
                       double scale) {
    if (!pm_is_known(estimate))
        return;
    if (isnan(estimate.low) || isnan(estimate.high))
        fprintf(to, "%s%s = %.5g", before, name, estimate.estimate * scale);
    else
        fprintf(to, "%s%s = \"%.5g (%.5g to %.5g)\"", before, name, estimate.estimate * scale,
                estimate.low * scale, estimate.high * scale);
}

void pm_begin_writing(struct pm_probe_writing *w, FILE *to, const struct pm_machine *core) {
    *w = (struct pm_probe_writing){.to = to, .core = core};
    if (core)
        w->figures = pm_machine_figures(core);
}

void pm_end_writing(struct pm_probe_writing *w) {
    if (w->core)
        pm_figures_free(&w->figures);
    free(w->contradictions);
}

/* ---- sections -------------------------------------------------------------------------------- */

static void open_section(struct pm_probe_writing *w) {
    if (!w->is_open && w->section)
        fprintf(w->to, "%s%s%s {", w->section, w->title ? " " : "", w->title ? w->title : "");
    w->is_open = true;
}

void pm_begin_section(struct pm_probe_writing *w, const char *section, const char *title) {
    w->section = section;
    w->title = title;
    w->is_open = false;
}

void pm_end_section(struct pm_probe_writing *w) {
    if (w->is_open && w->section)
        fputs("  source = \"[1]\" }\n", w->to);
    if (w->contradictions)
        fputs(w->contradictions, w->to);
    free(w->contradictions);
    w->contradictions = NULL;
    w->section = w->title = NULL;
    w->is_open = false;
}

static void write_text(struct pm_probe_writing *w, const char *format, va_list arguments) {
    open_section(w);
    vfprintf(w->to, format, arguments);
}

void pm_write_text(struct pm_probe_writing *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_text(w, format, arguments);
    va_end(arguments);
}

void pm_write_of_unknown(struct pm_probe_writing *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!w->core)
        write_text(w, format, arguments);
    va_end(arguments);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Is the figure to be written?  What contradicts the core's is noted. */
static bool is_wanted(struct pm_probe_writing *w, const char *name, struct pm_estimate measured) {
    const char *of = w->title ? w->title : w->section;
    if (!pm_is_known(measured))
        return false;
    if (!w->core)
        return true;
    bool wanted = true;
    char *full = of ? pm_sprintf("%s.%s", of, name) : pm_strdup(name);
    for (size_t i = 0; i < w->figures.n_figures; i++) {
        const struct pm_figure *figure = &w->figures.figures[i];
        if (strcmp(figure->name, full) != 0)
            continue;
        bool contradicts = pm_contradicts(w->core, full, figure->number, measured);
        wanted = figure->unverified || contradicts;
        if (contradicts)
            pm_append(&w->contradictions,
                      measured.estimate < 1e5
                          ? "# %s says %s = %s%s, measured was %.5g (%.5g to %.5g).\n"
                          : "# %s says %s = %s%s, measured was %.0f (%.0f to %.0f).\n",
                      w->core->name, full, figure->value, figure->unverified ? " (unverified)" : "",
                      measured.estimate, measured.low, measured.high);
    }
    free(full);
    return wanted;
}

bool pm_write_figure(struct pm_probe_writing *w, const char *name, struct pm_estimate estimate,
                     double scale) {
    struct pm_estimate scaled = pm_estimate_scaled(estimate, scale);
    if (!is_wanted(w, name, scaled))
        return false;
    open_section(w);
    pm_write_estimate(w->to, w->section ? "  " : "\n", name, scaled, 1);
    return true;
}

bool pm_write_whole(struct pm_probe_writing *w, const char *name, struct pm_estimate estimate) {
    if (!is_wanted(w, name, estimate))
        return false;
    open_section(w);
    fprintf(w->to, "%s%s = \"%.0f (%.0f to %.0f)\"", w->section ? "  " : "\n", name,
            estimate.estimate, floor(estimate.low), ceil(estimate.high));
    return true;
}
