/* The profile store: profiles of basic blocks (core/block_profile/block_profile.h), as plain
   tables. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS profiling (run INTEGER PRIMARY KEY, stride_window INTEGER,"
    " cpu_seconds REAL, notes TEXT);"
    "CREATE TABLE IF NOT EXISTS simulated_level (run INTEGER, level INTEGER, machine TEXT,"
    " name TEXT, size_bytes INTEGER, line_bytes INTEGER, ways INTEGER, replacement TEXT,"
    " PRIMARY KEY (run, level)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS block_profile (run INTEGER, block INTEGER, executions REAL,"
    " memory_references REAL, bytes REAL, flops REAL, masked_flops REAL, stride_0 REAL,"
    " stride_1 REAL, stride_2 REAL, stride_4 REAL, stride_8 REAL, stride_random REAL,"
    " PRIMARY KEY (run, block)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS block_misses (run INTEGER, block INTEGER, level INTEGER,"
    " misses REAL, PRIMARY KEY (run, block, level)) WITHOUT ROWID;";

static const char *const tables[] = {"profiling", "simulated_level", "block_profile",
                                     "block_misses"};

/* ---- writing --------------------------------------------------------------------------------- */

bool pm_store_remove_block_profile(struct pm_store *store, int64_t run, struct pm_error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++)
        ok = pm_store_remove_rows(store, tables[i], run, err);
    return ok;
}

static bool put_whole(struct pm_store *store, int64_t run, const struct pm_block_profile *profile,
                      struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO profiling (run, stride_window, cpu_seconds, notes) VALUES (?,?,?,?)",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, profile->stride_window);
    sqlite3_bind_double(s, 3, profile->cpu_seconds);
    sqlite3_bind_text(s, 4, profile->notes, -1, SQLITE_STATIC);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_levels(struct pm_store *store, int64_t run, const struct pm_block_profile *profile,
                       struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "INSERT INTO simulated_level (run, level, machine, name, size_bytes,"
                         " line_bytes, ways, replacement) VALUES (?,?,?,?,?,?,?,?)",
                         err);
    bool ok = s != NULL;
    for (size_t i = 0; i < profile->n_levels && ok; i++) {
        const struct pm_simulated_level *level = &profile->levels[i];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_text(s, 3, level->machine, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 4, level->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 5, (int64_t)level->size_bytes);
        sqlite3_bind_int64(s, 6, (int64_t)level->line_bytes);
        sqlite3_bind_int64(s, 7, level->ways);
        sqlite3_bind_text(s, 8, pm_replacement_word(level->replacement), -1, SQLITE_STATIC);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_blocks(struct pm_store *store, int64_t run, const struct pm_block_profile *profile,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO block_profile (run, block, executions, memory_references, bytes, flops,"
        " masked_flops, stride_0, stride_1, stride_2, stride_4, stride_8, stride_random)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        err);
    bool ok = s != NULL;
    for (size_t i = 0; i < profile->n_blocks && ok; i++) {
        const struct pm_profiled_block *block = &profile->blocks[i];
        int column = 3;
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, block->block);
        sqlite3_bind_double(s, column++, block->executions);
        sqlite3_bind_double(s, column++, block->references);
        sqlite3_bind_double(s, column++, block->bytes);
        sqlite3_bind_double(s, column++, block->flops);
        sqlite3_bind_double(s, column++, block->masked_flops);
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++)
            sqlite3_bind_double(s, column++, block->strides[bin]);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

/* Those that are not zero. */
static bool put_misses(struct pm_store *store, int64_t run, const struct pm_block_profile *profile,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO block_misses (run, block, level, misses) VALUES (?,?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; i < profile->n_blocks * profile->n_levels && ok; i++) {
        const struct pm_profiled_block *block = &profile->blocks[i / profile->n_levels];
        const size_t level = i % profile->n_levels;
        if (block->misses[level] == 0)
            continue;
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, block->block);
        sqlite3_bind_int64(s, 3, (int64_t)level);
        sqlite3_bind_double(s, 4, block->misses[level]);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_block_profile(struct pm_store *store, const struct pm_parameters *parameters,
                                const struct pm_block_profile *profile, struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run > 0 || (run == 0 && pm_fail(err, "%s: no run of this size", store->path));
    ok = ok && pm_store_run_sql(store, schema, err) &&
         pm_store_remove_block_profile(store, run, err) && put_whole(store, run, profile, err) &&
         put_levels(store, run, profile, err) && put_blocks(store, run, profile, err) &&
         put_misses(store, run, profile, err);
    return pm_store_end(store, ok, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct pm_block_profile *read_whole(struct pm_store *store, int64_t run,
                                           struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT stride_window, cpu_seconds, notes FROM profiling WHERE run = ?", err);
    struct pm_block_profile *profile = NULL;
    bool ok = true;
    if (!s)
        return NULL;
    sqlite3_bind_int64(s, 1, run);
    if (pm_store_next_row(store, s, &ok, err)) {
        profile = pm_alloc(1, sizeof *profile);
        profile->stride_window = (uint32_t)sqlite3_column_int64(s, 0);
        profile->cpu_seconds = sqlite3_column_double(s, 1);
        profile->notes = pm_store_column_text(s, 2);
    }
    sqlite3_finalize(s);
    return profile;
}

static bool read_level(sqlite3_stmt *s, struct pm_block_profile *profile, const char *path,
                       struct pm_error *err) {
    struct pm_simulated_level level = {.size_bytes = (uint64_t)sqlite3_column_int64(s, 2),
                                       .line_bytes = (uint64_t)sqlite3_column_int64(s, 3),
                                       .ways = (uint32_t)sqlite3_column_int64(s, 4)};
    const char *word = (const char *)sqlite3_column_text(s, 5);
    level.machine = pm_store_column_text(s, 0);
    level.name = pm_store_column_text(s, 1);
    *PM_PUSH(profile, levels) = level;
    return (level.machine && level.name && word &&
            pm_replacement_of(word, strlen(word),
                              &profile->levels[profile->n_levels - 1].replacement)) ||
           pm_fail(err, "%s: a simulated cache in it is damaged", path);
}

static bool read_levels(struct pm_store *store, int64_t run, struct pm_block_profile *profile,
                        struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT machine, name, size_bytes, line_bytes, ways,"
                                       " replacement FROM simulated_level WHERE run = ?"
                                       " ORDER BY level",
                                       err);
    bool ok = s != NULL;
    if (s)
        sqlite3_bind_int64(s, 1, run);
    while (ok && pm_store_next_row(store, s, &ok, err))
        ok = read_level(s, profile, store->path, err);
    sqlite3_finalize(s);
    return ok;
}

static uint32_t index_in(sqlite3_stmt *s, int column) {
    int64_t index = sqlite3_column_int64(s, column);
    return index < 0 || index >= PM_NONE ? PM_NONE : (uint32_t)index;
}

static bool read_blocks(struct pm_store *store, int64_t run, struct pm_block_profile *profile,
                        struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "SELECT block, executions, memory_references, bytes, flops, masked_flops, stride_0,"
        " stride_1, stride_2, stride_4, stride_8, stride_random FROM block_profile"
        " WHERE run = ? ORDER BY block",
        err);
    bool ok = s != NULL;
    if (s)
        sqlite3_bind_int64(s, 1, run);
    while (ok && pm_store_next_row(store, s, &ok, err)) {
        struct pm_profiled_block *block = PM_PUSH(profile, blocks);
        *block = (struct pm_profiled_block){
            .block = index_in(s, 0),
            .executions = sqlite3_column_double(s, 1),
            .references = sqlite3_column_double(s, 2),
            .bytes = sqlite3_column_double(s, 3),
            .flops = sqlite3_column_double(s, 4),
            .masked_flops = sqlite3_column_double(s, 5),
            .misses = pm_alloc(profile->n_levels, sizeof *block->misses),
        };
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++)
            block->strides[bin] = sqlite3_column_double(s, 6 + bin);
    }
    sqlite3_finalize(s);
    return ok;
}

/* Blocks and misses both come ascending by block. */
static bool read_misses(struct pm_store *store, int64_t run, struct pm_block_profile *profile,
                        struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT block, level, misses FROM block_misses"
                                       " WHERE run = ? ORDER BY block, level",
                                       err);
    bool ok = s != NULL;
    size_t at = 0;
    if (s)
        sqlite3_bind_int64(s, 1, run);
    while (ok && pm_store_next_row(store, s, &ok, err)) {
        const uint32_t block = index_in(s, 0), level = index_in(s, 1);
        while (at < profile->n_blocks && profile->blocks[at].block < block)
            at++;
        if (at == profile->n_blocks || profile->blocks[at].block != block ||
            level >= profile->n_levels)
            ok = pm_fail(err, "%s: misses of a basic block without a profile", store->path);
        else
            profile->blocks[at].misses[level] = sqlite3_column_double(s, 2);
    }
    sqlite3_finalize(s);
    return ok;
}

struct pm_block_profile *pm_store_block_profile(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "profiling", &has, err) || !has)
        return NULL;
    int64_t run = pm_store_find_whole_run(store, parameters, err);
    struct pm_block_profile *profile = run > 0 ? read_whole(store, run, err) : NULL;
    if (!profile ||
        (read_levels(store, run, profile, err) && read_blocks(store, run, profile, err) &&
         read_misses(store, run, profile, err)))
        return profile;
    pm_block_profile_free(profile);
    return NULL;
}
