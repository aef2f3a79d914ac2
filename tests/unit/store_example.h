/* A small store, for tests.  After cmocka.h. */
#ifndef PM_TESTS_STORE_EXAMPLE_H
#define PM_TESTS_STORE_EXAMPLE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "core/base/base.h"
#include "core/store/store.h"
#include "core/write_backs/write_backs.h"

static char path[512];

static int set_up(void **state) {
    (void)state;
    const char *folder = getenv("TMP");
    snprintf(path, sizeof path, "%s/store-%d.pmdb", folder ? folder : "/tmp", (int)getpid());
    unlink(path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

/* One routine, one basic block that loops, one group. */
static struct pm_structure *small_structure(uint8_t build) {
    struct pm_structure *s = pm_structure_new();
    s->isa = pm_strdup("x86-64");
    struct pm_module *module = PM_PUSH(s, modules);
    module->path = pm_strdup("./small");
    module->name = pm_strdup("small");
    module->build_id[0] = build;
    module->build_id_bytes = 20;
    struct pm_scope *scope = PM_PUSH(s, scopes);
    scope->kind = PM_SCOPE_MODULE;
    scope->name = pm_strdup("small");
    scope->routine = scope->header = PM_NONE;
    scope->fold = module->scope = 1;
    scope = PM_PUSH(s, scopes);
    scope->kind = PM_SCOPE_ROUTINE;
    scope->parent = 1;
    scope->fold = 2;
    scope->name = pm_strdup("main");
    struct pm_routine *routine = PM_PUSH(s, routines);
    routine->name = pm_strdup("main");
    routine->display_name = pm_strdup("main");
    routine->address = 0x1000;
    routine->size_bytes = 16;
    routine->scope = 2;
    routine->n_blocks = 1;
    routine->n_edges = 3;
    routine->counted = true;
    struct pm_block *block = PM_PUSH(s, blocks);
    block->address = 0x1000;
    block->size_bytes = 16;
    block->n_instructions = 4;
    block->scope = 2;
    block->loop = PM_NONE;
    block->n_references = 1;
    *PM_PUSH(s, edges) = (struct pm_edge){.from = PM_NONE, .counter = 0, .kind = PM_EDGE_ENTRY};
    *PM_PUSH(s, edges) = (struct pm_edge){.counter = 1, .kind = PM_EDGE_TAKEN};
    *PM_PUSH(s, edges) = (struct pm_edge){.to = PM_NONE, .counter = PM_NONE, .kind = PM_EDGE_EXIT};
    s->n_counters = 2;
    *PM_PUSH(s, references) =
        (struct pm_reference){.address = 0x1004, .size_bytes = 8, .access = PM_ACCESS_LOAD};
    struct pm_group *group = PM_PUSH(s, groups);
    group->scope = 2;
    group->object = pm_strdup("a");
    group->n_loads = 1;
    group->n_strides = 1;
    group->strides = pm_alloc(1, sizeof *group->strides);
    group->strides[0] = (struct pm_stride){.kind = PM_STRIDE_CONSTANT, .bytes = 8};
    pm_structure_assign_keys(s);
    return s;
}

static struct pm_profile *small_profile(double n) {
    struct pm_profile *p = pm_alloc(1, sizeof *p);
    p->skipped[PM_SKIPPED_LEFT_OUT] = (struct pm_skipped_accesses){3e9, 7, n};
    assert_true(pm_parameters_set(&p->parameters, "N", n, NULL));
    struct pm_histogram dirty = {.block_bytes = 64,
                                 .cold_stores = n,
                                 .bytes_touched = NAN,
                                 .sample = 1,
                                 .n_bins = 1,
                                 .bins = pm_alloc(1, sizeof *dirty.bins)};
    dirty.bins[0] = (struct pm_bin){.low = 16, .high = 16, .mean = 16, .stores = 5};
    pm_profile_add_dirty(p, 0, &dirty);
    /* Half of the first touches, below, are sequential. */
    *PM_PUSH(p, sequential) = (struct pm_group_histogram){
        0, {.block_bytes = 64, .cold_loads = n / 16, .bytes_touched = NAN, .sample = 1}};
    p->n_edges = 3;
    p->edge_counts = pm_alloc(3, sizeof *p->edge_counts);
    p->edge_counts[0] = 1;
    p->edge_counts[1] = n - 1;
    p->edge_counts[2] = 1;
    p->n_histograms = 1;
    p->histograms = pm_alloc(1, sizeof *p->histograms);
    struct pm_histogram *h = &p->histograms[0].histogram;
    h->block_bytes = 64;
    h->cold_loads = n / 8;
    h->n_bins = 1;
    h->bins = pm_alloc(1, sizeof *h->bins);
    h->bins[0] = (struct pm_bin){.low = 0, .high = 0, .mean = 0, .loads = n - n / 8};
    p->n_block_sizes = 1;
    p->block_sizes = pm_alloc(1, sizeof *p->block_sizes);
    p->block_sizes[0] = 64;
    return p;
}

static void put(struct pm_store *store, double n) {
    struct pm_error err = {0};
    struct pm_profile *profile = small_profile(n);
    char command[] = "./small", settings[] = "command ./small {N}", notes[] = "a note";
    struct pm_run_facts facts = {.command = command,
                                 .wall_seconds = 0.5,
                                 .n_threads = 1,
                                 .n_processes = 1,
                                 .settings = settings,
                                 .notes = notes};
    bool inexact[1] = {n == 64};
    assert_true(pm_store_put_run(store, profile, NULL, &facts, inexact, 1, &err));
    pm_profile_free(profile);
}

static struct pm_store *open_new(void) {
    struct pm_error err = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_CREATE, &err);
    assert_non_null(store);
    struct pm_structure *s = small_structure(1);
    assert_true(pm_store_put_structure(store, s, &err));
    pm_structure_free(s);
    return store;
}

static struct pm_parameters size_of(double n) {
    struct pm_parameters at = {0};
    assert_true(pm_parameters_set(&at, "N", n, NULL));
    return at;
}

static inline void run_sql(const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

#endif
