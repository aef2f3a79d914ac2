/* Dumps: what a pass made, for every routine that is asked for, as lines of text that are easy to
   compare and to search, or as graphs for Graphviz.  Each pass has a file; the list is here.

   A dump shows the structure as it stands when the passes that it needs (pm_dump_needs) have run;
   later passes change nothing of what it shows. */
#include "binlift/dump/dump.h"

#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"

static const struct pm_dump_kind *const kinds[] = {
    [PM_DUMP_CFG] = &pm_dump_cfg,       [PM_DUMP_LOOPS] = &pm_dump_loops,
    [PM_DUMP_LIVE] = &pm_dump_live,     [PM_DUMP_FORMULAS] = &pm_dump_formulas,
    [PM_DUMP_DEPS] = &pm_dump_deps,     [PM_DUMP_GROUPS] = &pm_dump_groups,
    [PM_DUMP_BOUNDS] = &pm_dump_bounds, [PM_DUMP_COUNTERS] = &pm_dump_counters,
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

bool pm_dump_pass_from_name(const char *name, enum pm_dump_pass *pass) {
    for (unsigned i = 0; i < N_KINDS; i++)
        if (strcmp(name, kinds[i]->name) == 0) {
            *pass = (enum pm_dump_pass)i;
            return true;
        }
    return false;
}

char *pm_dump_pass_names(void) {
    char *names = NULL;
    for (unsigned i = 0; i < N_KINDS; i++)
        pm_append(&names, "%s%s", i ? i + 1 == N_KINDS ? " or " : ", " : "", kinds[i]->name);
    return names;
}

bool pm_dump_format_from_name(const char *name, enum pm_dump_format *format) {
    *format = strcmp(name, "dot") == 0 ? PM_DUMP_DOT : PM_DUMP_TEXT;
    return *format == PM_DUMP_DOT || strcmp(name, "text") == 0;
}

enum pm_lift_end pm_dump_needs(enum pm_dump_pass pass) { return kinds[pass]->needs; }

void pm_dump_release(struct pm_dump *dump) {
    free(dump->first_loop);
    free(dump->loops);
    free(dump->loop_number);
    free(dump->live_in);
    free(dump->live_out);
    pm_bound_plan_free(dump->bounds);
}

bool pm_dump(const struct pm_lifted *lifted, enum pm_dump_pass pass, enum pm_dump_format format,
             const char *routine, FILE *out, struct pm_error *err) {
    const struct pm_dump_kind *kind = kinds[pass];
    const struct pm_structure *structure = lifted->structure;
    struct pm_dump dump = {.lifted = lifted, .structure = structure, .out = out};
    if (format == PM_DUMP_DOT && !kind->dot)
        return pm_fail(err, "%s are no graph, so there is only text of them", kind->name);
    uint32_t n_named;
    bool *named = pm_routines_named(structure, routine, &n_named);
    if (routine && n_named == 0) {
        free(named);
        pm_fail(err, "%s: no routine is called \"%s\" (`pmodel loops %s` lists them)",
                lifted->image.path, routine, lifted->image.path);
        return pm_fail_nearest_routine(err, structure, routine);
    }
    if (kind->prepare)
        kind->prepare(&dump);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        if (!named[r])
            continue;
        if (format == PM_DUMP_DOT) {
            kind->dot(&dump, r);
            continue;
        }
        pm_put_routine(&dump, r);
        kind->text(&dump, r);
    }
    pm_dump_release(&dump);
    free(named);
    return true;
}
