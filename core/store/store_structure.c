/* The profile store: the structure, which all of its runs have in common. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

static bool put_whole(struct pm_store *store, const struct pm_structure *structure,
                      struct pm_error *err) {
    struct pm_structure_row row = {.hash = pm_structure_hash(structure),
                                   .module =
                                       structure->n_modules ? structure->modules[0].name : NULL};
    pm_structure_encode(structure, &row.data.data, &row.data.n);
    bool ok = pm_store_run_sql(store, "DELETE FROM structure; DELETE FROM scope", err) &&
              pm_store_put_rows(store, PM_STRUCTURES, PM_ALL_RUNS, &row, 1, err) &&
              pm_store_put_rows(store, PM_SCOPES, PM_ALL_RUNS, structure->scopes,
                                structure->n_scopes, err);
    free(row.data.data);
    return ok;
}

/* Hash of the structure that is there; *FOUND false if the store is new. */
static bool stored_hash(struct pm_store *store, bool *found, uint64_t *hash, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_STRUCTURES, PM_ALL_RUNS, err);
    const struct pm_structure_row *row = pm_rows_next(&rows);
    *found = row != NULL;
    *hash = row ? row->hash : 0;
    if (row)
        pm_row_free(PM_STRUCTURES, row);
    return pm_rows_end(&rows);
}

static bool same_operations(const struct pm_structure *a, const struct pm_structure *b) {
    bool same = a->n_ops == b->n_ops && a->n_unknowns == b->n_unknowns;
    for (size_t i = 0; i < a->n_ops && same; i++)
        same = memcmp(&a->ops[i], &b->ops[i], sizeof *a->ops) == 0;
    same = same && a->n_mnemonics == b->n_mnemonics;
    for (size_t i = 0; i < a->n_mnemonics && same; i++)
        same = strcmp(a->mnemonics[i], b->mnemonics[i]) == 0;
    for (size_t i = 0; i < a->n_unknowns && same; i++)
        same = a->unknowns[i].block == b->unknowns[i].block &&
               a->unknowns[i].count == b->unknowns[i].count &&
               strcmp(a->unknowns[i].mnemonic, b->unknowns[i].mnemonic) == 0;
    return same;
}

/* Runs of one store count the same routines: where one is counted and another is not, models would
   be made of what was left out. */
static bool counts_the_same(const struct pm_store *store, const struct pm_structure *stored,
                            const struct pm_structure *structure, struct pm_error *err) {
    for (size_t r = 0; r < stored->n_routines && r < structure->n_routines; r++)
        if (stored->routines[r].counted != structure->routines[r].counted)
            return pm_fail(err,
                           "%s: in its runs %s was %s; measure the same routines (--include, "
                           "--exclude), or give a new store with -o",
                           store->path, stored->routines[r].display_name,
                           stored->routines[r].counted ? "counted" : "left out");
    return true;
}

/* Whether STRUCTURE records a reference that was not recorded until now, as the first runs had only
   edge counters.  STORED takes it over: what was recorded stays so. */
static bool take_recorded(struct pm_structure *stored, const struct pm_structure *structure) {
    bool any = false;
    for (size_t i = 0; i < stored->n_references && i < structure->n_references; i++) {
        any |= structure->references[i].recorded && !stored->references[i].recorded;
        stored->references[i].recorded |= structure->references[i].recorded;
    }
    return any;
}

static struct pm_structure *read_structure(struct pm_store *store, struct pm_error *err) {
    struct pm_structure *structure = NULL;
    struct pm_store_rows rows = pm_rows_of(store, PM_STRUCTURES, PM_ALL_RUNS, err);
    const struct pm_structure_row *row = pm_rows_next(&rows);
    if (row) {
        structure = pm_structure_decode(row->data.data, row->data.n, err);
        if (!structure)
            pm_fail_in(err, "%s", store->path);
        pm_row_free(PM_STRUCTURES, row);
    } else if (rows.ok) {
        pm_fail(err, "%s: empty store: measure first with `pmodel run -o %s …`", store->path,
                store->path);
    }
    pm_rows_end(&rows);
    return structure;
}

/* The stored structure of the same build takes over the operations, which depend on the instruction
   classes of the last lift, and what is recorded. */
static bool put_operations(struct pm_store *store, const struct pm_structure *structure,
                           struct pm_error *err) {
    struct pm_structure *stored = read_structure(store, err);
    if (!stored)
        return false;
    bool ok = counts_the_same(store, stored, structure, err);
    bool recorded = ok && take_recorded(stored, structure);
    if (ok && stored->n_blocks == structure->n_blocks &&
        (recorded || !same_operations(stored, structure))) {
        struct pm_structure merged = *stored;
        for (size_t i = 0; i < stored->n_blocks; i++) {
            stored->blocks[i].first_op = structure->blocks[i].first_op;
            stored->blocks[i].n_ops = structure->blocks[i].n_ops;
        }
        merged.ops = structure->ops;
        merged.n_ops = structure->n_ops;
        merged.mnemonics = structure->mnemonics;
        merged.n_mnemonics = structure->n_mnemonics;
        merged.unknowns = structure->unknowns;
        merged.n_unknowns = structure->n_unknowns;
        ok = pm_store_begin(store, err) && pm_store_end(store, put_whole(store, &merged, err), err);
    }
    pm_structure_free(stored);
    return ok;
}

/* ---- the structure of a store that has one --------------------------------------------------- */

bool pm_store_has_structure(struct pm_store *store, bool *has, struct pm_error *err) {
    uint64_t hash;
    return stored_hash(store, has, &hash, err);
}

/* Another build of the same code takes the place of the one that is there: its lines are shown from
   now on.  What the runs recorded stays so. */
static bool replace(struct pm_store *store, const struct pm_structure *stored,
                    const struct pm_structure *structure, struct pm_error *err) {
    void *bytes;
    size_t n_bytes;
    if (!counts_the_same(store, stored, structure, err))
        return false;
    pm_structure_encode(structure, &bytes, &n_bytes);
    struct pm_structure *newest = pm_structure_decode(bytes, n_bytes, err);
    free(bytes);
    if (!newest || !pm_store_begin(store, err)) {
        pm_structure_free(newest);
        return false;
    }
    (void)take_recorded(newest, stored);
    bool ok = put_whole(store, newest, err);
    pm_structure_free(newest);
    return pm_store_end(store, ok, err);
}

static const char *name_of(const struct pm_structure *structure) {
    const char *name = structure->n_modules ? structure->modules[0].name : NULL;
    return name ? name : "a program";
}

/* Is the program's own code the same, without its libraries? */
static bool is_same_code(const struct pm_structure *a, const struct pm_structure *b) {
    return a->n_modules && b->n_modules && a->modules[0].code_hash &&
           a->modules[0].code_hash == b->modules[0].code_hash;
}

/* Why runs of STRUCTURE cannot be put beside those of STORED. */
static bool refuse(const struct pm_store *store, const struct pm_structure *stored,
                   const struct pm_structure *structure, struct pm_error *err) {
    if (is_same_code(stored, structure) && stored->n_modules != structure->n_modules)
        return pm_fail(err,
                       "%s: holds runs of %s with other libraries: choose libraries (--lib) as "
                       "then, or give a new store with -o",
                       store->path, name_of(stored));
    if (is_same_code(stored, structure))
        return pm_fail(err,
                       "%s: holds runs of another build of %s, of the same code with other debug "
                       "information or metadata: build it as then (-g, `pmodel flags`), or give a "
                       "new store with -o",
                       store->path, name_of(stored));
    if (!pm_structures_share_names(stored, structure))
        return pm_fail(err,
                       "%s: holds runs of %s, and %s is another program: give a new store with -o",
                       store->path, name_of(stored), name_of(structure));
    return pm_fail(err,
                   "%s: holds runs of another build of %s, whose code differs: give a new store "
                   "with -o, or build the program and choose libraries (--lib, --no-libm) as then",
                   store->path, name_of(stored));
}

static bool put_other_build(struct pm_store *store, const struct pm_structure *structure,
                            struct pm_error *err) {
    struct pm_structure *stored = read_structure(store, err);
    bool ok = stored &&
              (pm_structures_are_alike(stored, structure) ? replace(store, stored, structure, err)
                                                          : refuse(store, stored, structure, err));
    pm_structure_free(stored);
    return ok;
}

bool pm_store_put_structure(struct pm_store *store, const struct pm_structure *structure,
                            struct pm_error *err) {
    bool found;
    uint64_t hash = 0;
    if (!stored_hash(store, &found, &hash, err))
        return false;
    if (found)
        return hash == pm_structure_hash(structure) ? put_operations(store, structure, err)
                                                    : put_other_build(store, structure, err);
    return pm_store_begin(store, err) && pm_store_end(store, put_whole(store, structure, err), err);
}

struct pm_structure *pm_store_structure(struct pm_store *store, struct pm_error *err) {
    struct pm_structure *structure = read_structure(store, err);
    if (structure && !pm_store_mark_differences(store, structure, err)) {
        pm_structure_free(structure);
        structure = NULL;
    }
    return structure;
}
