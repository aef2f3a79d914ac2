/* Dumps: what a pass made, for every routine that is asked for, as lines of text that are easy to
   compare and to search, or as graphs for Graphviz.  Each pass has a file; the list is here.

   A dump shows the structure as it stands when the passes that it needs (pm_dump_needs) have run;
   later passes change nothing of what it shows. */
#include "binlift/dump/dump.h"

#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"

const struct pm_dump_pass pm_lift_passes[] = {
    {"cfg", "instructions, basic blocks, edges"},
    {"loops", "loops with their headers, entries and basic blocks"},
    {"live", "live registers and flags at both ends of basic blocks"},
    {"formulas", "addresses of memory operands, and what loops do to them"},
    {"deps", "dependences within loops, through registers and memory"},
    {"groups", "reference groups with objects, strides and references"},
    {"bounds", "loop nests whose lower bound can be measured, and what their copies do"},
    {"counters", "weights, spanning tree, counters"},
    {0},
};
/* In the same order. */
static const struct pm_dump_kind *const kinds[] = {
    &pm_dump_cfg,  &pm_dump_loops,  &pm_dump_live,   &pm_dump_formulas,
    &pm_dump_deps, &pm_dump_groups, &pm_dump_bounds, &pm_dump_counters,
};
_Static_assert(sizeof kinds / sizeof *kinds + 1 == sizeof pm_lift_passes / sizeof *pm_lift_passes,
               "each pass has its kind");

static const struct pm_dump_kind *kind_of(const struct pm_dump_pass *pass) {
    return kinds[pass - pm_lift_passes];
}

bool pm_dump_format_from_name(const char *name, enum pm_dump_format *format) {
    *format = strcmp(name, "dot") == 0 ? PM_DUMP_DOT : PM_DUMP_TEXT;
    return *format == PM_DUMP_DOT || strcmp(name, "text") == 0;
}

enum pm_lift_end pm_dump_needs(const struct pm_dump_pass *pass) { return kind_of(pass)->needs; }

void pm_dump_release(struct pm_dump *dump) {
    free(dump->first_loop);
    free(dump->loops);
    free(dump->loop_number);
    free(dump->live_in);
    free(dump->live_out);
    pm_bound_plan_free(dump->bounds);
}

bool pm_dump(const struct pm_lifted *lifted, const struct pm_dump_pass *pass,
             enum pm_dump_format format, const char *routine, FILE *out, struct pm_error *err) {
    const struct pm_dump_kind *kind = kind_of(pass);
    const struct pm_structure *structure = lifted->structure;
    struct pm_dump dump = {.lifted = lifted, .structure = structure, .out = out};
    if (format == PM_DUMP_DOT && !kind->dot)
        return pm_fail(err, "%s are no graph, so there is only text of them", pass->name);
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
