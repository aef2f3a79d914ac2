/* The profile store: the structure, whole as a blob and by name as tables for other tools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

static const char *const scope_kind_names[] = {"program", "module", "routine", "loop", "inlined"};

static void bind_text(sqlite3_stmt *statement, int column, const char *text) {
    sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC); /* NULL binds NULL */
}

static bool put_blob(struct pm_store *store, const struct pm_structure *structure,
                     struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO structure (hash, build_id, module, data) VALUES (?,?,?,?)", err);
    if (!s)
        return false;
    void *bytes;
    size_t n_bytes;
    pm_structure_encode(structure, &bytes, &n_bytes);
    sqlite3_bind_int64(s, 1, (int64_t)pm_structure_hash(structure));
    if (structure->n_modules) {
        const struct pm_module *module = &structure->modules[0];
        sqlite3_bind_blob(s, 2, module->build_id, (int)module->build_id_bytes, SQLITE_STATIC);
        bind_text(s, 3, module->name);
    }
    sqlite3_bind_blob64(s, 4, bytes, n_bytes, free);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_scopes(struct pm_store *store, const struct pm_structure *structure,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO scope (id, parent, kind, name, file, line_first, line_last, depth,"
        " key, trip_count) VALUES (?,?,?,?,?,?,?,?,?,?)",
        err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < structure->n_scopes; i++) {
        const struct pm_scope *scope = &structure->scopes[i];
        sqlite3_clear_bindings(s);
        sqlite3_bind_int64(s, 1, (int64_t)i);
        if (scope->parent != PM_NONE)
            sqlite3_bind_int64(s, 2, scope->parent);
        bind_text(s, 3, scope_kind_names[scope->kind]);
        bind_text(s, 4, scope->name);
        bind_text(s, 5, scope->file);
        if (scope->line_first) {
            sqlite3_bind_int64(s, 6, scope->line_first);
            sqlite3_bind_int64(s, 7, scope->line_last);
        }
        sqlite3_bind_int64(s, 8, scope->depth);
        sqlite3_bind_int64(s, 9, (int64_t)scope->key);
        bind_text(s, 10, scope->trip_count);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

/* "8 N*8 ?": bytes an iteration, innermost loop first. */
static char *strides_text(const struct pm_group *group) {
    char *text = pm_strdup("");
    for (uint32_t i = 0; i < group->n_strides; i++) {
        const struct pm_stride *stride = &group->strides[i];
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)stride->bytes);
        const char *one = stride->kind == PM_STRIDE_CONSTANT   ? number
                          : stride->kind == PM_STRIDE_SYMBOLIC ? stride->expression
                          : stride->kind == PM_STRIDE_INDIRECT ? "indirect"
                                                               : "?";
        pm_append(&text, "%s%s", i ? " " : "", one ? one : "?");
    }
    return text;
}

static bool put_groups(struct pm_store *store, const struct pm_structure *structure,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO reference_group (id, scope, object, object_type, flags, loads, stores,"
        " strides) VALUES (?,?,?,?,?,?,?,?)",
        err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < structure->n_groups; i++) {
        const struct pm_group *group = &structure->groups[i];
        sqlite3_bind_int64(s, 1, (int64_t)i);
        sqlite3_bind_int64(s, 2, group->scope);
        bind_text(s, 3, group->object);
        bind_text(s, 4, group->object_type);
        sqlite3_bind_int64(s, 5, group->flags);
        sqlite3_bind_int64(s, 6, group->n_loads);
        sqlite3_bind_int64(s, 7, group->n_stores);
        sqlite3_bind_text(s, 8, strides_text(group), -1, free);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_routines(struct pm_store *store, const struct pm_structure *structure,
                         struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "INSERT INTO routine (id, name, address, size, state, counters, reason)"
                         " VALUES (?,?,?,?,?,?,?)",
                         err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < structure->n_routines; i++) {
        const struct pm_routine *routine = &structure->routines[i];
        sqlite3_bind_int64(s, 1, (int64_t)i);
        bind_text(s, 2, routine->name);
        sqlite3_bind_int64(s, 3, (int64_t)routine->address);
        sqlite3_bind_int64(s, 4, (int64_t)routine->size_bytes);
        sqlite3_bind_int64(s, 5, routine->state);
        sqlite3_bind_int64(s, 6, routine->n_counters);
        bind_text(s, 7, routine->reason);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

/* Hash of the structure that is there; *FOUND false if the store is new. */
static bool stored_hash(struct pm_store *store, bool *found, uint64_t *hash, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT hash FROM structure", err);
    if (!s)
        return false;
    int status = sqlite3_step(s);
    *found = status == SQLITE_ROW;
    if (*found)
        *hash = (uint64_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return status == SQLITE_ROW || status == SQLITE_DONE || pm_store_fail(store, err);
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
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT data FROM structure", err);
    if (!s)
        return NULL;
    struct pm_structure *structure = NULL;
    int status = sqlite3_step(s);
    if (status == SQLITE_ROW) {
        structure =
            pm_structure_decode(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), err);
        if (!structure)
            pm_fail_in(err, "%s", store->path);
    } else if (status == SQLITE_DONE) {
        pm_fail(err, "%s: empty store: measure first with `pmodel run -o %s …`", store->path,
                store->path);
    } else {
        pm_store_fail(store, err);
    }
    sqlite3_finalize(s);
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
        merged.unknowns = structure->unknowns;
        merged.n_unknowns = structure->n_unknowns;
        void *bytes;
        size_t n_bytes;
        pm_structure_encode(&merged, &bytes, &n_bytes);
        sqlite3_stmt *s = pm_store_prepare(store, "UPDATE structure SET data = ?", err);
        if (s)
            sqlite3_bind_blob64(s, 1, bytes, n_bytes, free);
        else
            free(bytes);
        ok = s && pm_store_step(store, s, err);
        sqlite3_finalize(s);
    }
    pm_structure_free(stored);
    return ok;
}

/* ---- the structure of a store that has one --------------------------------------------------- */

bool pm_store_has_structure(struct pm_store *store, bool *has, struct pm_error *err) {
    uint64_t hash;
    return stored_hash(store, has, &hash, err);
}

static bool put_whole(struct pm_store *store, const struct pm_structure *structure,
                      struct pm_error *err) {
    return put_blob(store, structure, err) && put_scopes(store, structure, err) &&
           put_groups(store, structure, err) && put_routines(store, structure, err);
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
    bool ok = pm_store_run_sql(store,
                               "DELETE FROM structure; DELETE FROM scope;"
                               "DELETE FROM reference_group; DELETE FROM routine;",
                               err) &&
              put_whole(store, newest, err);
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
                   "with -o, or build the program and choose libraries (--lib) as then",
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
