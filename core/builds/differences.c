/* What the build of a run has otherwise than the store's; see builds.h. */
#include "core/builds/builds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pm_mismatch_text(enum pm_mismatch mismatch) {
    static const char *const texts[PM_N_MISMATCHES] = {
        [PM_MATCHES] = "the same",
        [PM_MISMATCH_ABSENT] = "not there",
        [PM_MISMATCH_FLOW] = "other control flow",
        [PM_MISMATCH_BODY] = "unrolled or vectorised otherwise",
        [PM_MISMATCH_NOT_COUNTED] = "not counted",
        [PM_MISMATCH_REFERENCES] = "other references",
    };
    return (unsigned)mismatch < PM_N_MISMATCHES ? texts[mismatch] : "?";
}

void pm_build_differences_free(struct pm_build_differences *differences) {
    for (size_t i = 0; i < differences->n_rows; i++)
        free(differences->rows[i].place);
    free(differences->rows);
    free(differences->joins);
    free(differences->totals);
    pm_build_work_free(&differences->work);
    *differences = (struct pm_build_differences){0};
}

/* ---- a sentence ----------------------------------------------------------------------------- */

/* "main/2 heat.c:40 (other control flow), …": what the run executed most of. */
static char *name_rows(const struct pm_build_differences *differences, double *accesses) {
    enum { NAMED = 3 };
    size_t n = 0;
    char *names = pm_strdup("");
    *accesses = 0;
    for (size_t i = 0; i < differences->n_rows; i++) {
        const struct pm_build_difference *row = &differences->rows[i];
        if (row->kind == PM_DIFFERENT_STRIDES || !(row->accesses > 0))
            continue;
        *accesses += row->accesses;
        if (n++ < NAMED) {
            pm_append(&names, "%s%s (%s)", n > 1 ? ", " : "", row->place,
                      pm_mismatch_text(row->mismatch));
        }
    }
    if (n > NAMED)
        pm_append(&names, ", …");
    return names;
}

char *pm_build_differences_sentence(const struct pm_build_differences *differences) {
    double differs;
    char *names = name_rows(differences, &differs), *sentence = NULL;
    if (differences->lost > 0)
        sentence =
            pm_sprintf("%.3g%% of the accesses are left out, because no other build has such "
                       "code or data; code differs: %s",
                       100 * differences->lost / differences->accesses, names);
    else if (differs > 0)
        sentence = pm_sprintf("%.3g%% of the accesses are in code that differs from that of the "
                              "other builds, and count by their source: %s",
                              100 * differs / differences->accesses, names);
    free(names);
    return sentence;
}

/* ---- marking --------------------------------------------------------------------------------- */

static bool mark(const struct pm_build_difference *row, struct pm_structure *structure) {
    if (row->index == PM_NONE)
        return true;
    if (row->kind == PM_DIFFERENT_SCOPE) {
        if (row->index >= structure->n_scopes)
            return false;
        structure->scopes[row->index].flags |= PM_SCOPE_UNMATCHED;
        return true;
    }
    if (row->index >= structure->n_groups)
        return false;
    structure->groups[row->index].flags |=
        row->kind == PM_DIFFERENT_GROUP ? PM_GROUP_UNMATCHED : PM_GROUP_STRIDES_VARY;
    return true;
}

static bool fail_to_mark(struct pm_error *err) {
    return pm_fail(err, "differences between builds name what the program does not have: "
                        "measure it again into a new store");
}

bool pm_build_differences_mark(const struct pm_build_differences *differences,
                               struct pm_structure *structure, struct pm_error *err) {
    for (size_t i = 0; i < differences->n_rows; i++)
        if (!mark(&differences->rows[i], structure))
            return fail_to_mark(err);
    for (size_t i = 0; i < differences->n_joins; i++) {
        const struct pm_group_join *join = &differences->joins[i];
        if (join->group >= structure->n_groups || join->with >= structure->n_groups)
            return fail_to_mark(err);
        pm_groups_join(structure, join->group, join->with);
    }
    return true;
}
