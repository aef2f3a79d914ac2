/* How figures are written into a machine file; of this folder only. */
#ifndef PM_PROBE_FIGURES_H
#define PM_PROBE_FIGURES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"
#include "machines/probe/memory/memory.h"
#include "machines/probe/probe.h"

bool pm_is_known(struct pm_estimate estimate);

/* BEFORE NAME = "ESTIMATE (LOW to HIGH)" times SCALE; nothing of one that is not known. */
void pm_write_estimate(FILE *to, const char *before, const char *name, struct pm_estimate estimate,
                       double scale);

/* A machine file that is being written.  Of a core that is known only what contradicts it, or what
   it has as unverified or does not say. */
struct pm_probe_writing {
    FILE *to;
    const struct pm_machine *core; /* NULL: not known */
    struct pm_figures figures;     /* its */
    /* The section under way, "cache L2"; NULL: outside sections.  Its head is written before its
       first figure. */
    const char *section, *title;
    bool is_open;
    char *contradictions; /* comments that follow it; owned */
};

void pm_begin_writing(struct pm_probe_writing *w, FILE *to, const struct pm_machine *core);
void pm_end_writing(struct pm_probe_writing *w);
/* SECTION TITLE { …; TITLE may be NULL. */
void pm_begin_section(struct pm_probe_writing *w, const char *section, const char *title);
void pm_end_section(struct pm_probe_writing *w);
/* A figure of the section times SCALE; false: nothing was written. */
bool pm_write_figure(struct pm_probe_writing *w, const char *name, struct pm_estimate estimate,
                     double scale);
/* The same of a whole number. */
bool pm_write_whole(struct pm_probe_writing *w, const char *name, struct pm_estimate estimate);
/* Text of the section; the same only of a core that is not known. */
void pm_write_text(struct pm_probe_writing *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pm_write_of_unknown(struct pm_probe_writing *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Which caches cores share is what the system says of them. */
void pm_write_probed_memory(struct pm_probe_writing *w, const struct pm_memory_probe *memory,
                            const struct pm_said *said);

#endif
