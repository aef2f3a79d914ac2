/* `pmodel loops --blocks`: reads, runs, predicts, prints. */
#include <math.h>
#include <stdlib.h>

#include "cmd/blocks/blocks.h"
#include "cmd/cmd.h"
#include "machines/probe/clock/clock.h"
#include "machines/probe/loop_runner/loop_runner.h"

static struct pm_block_row *make_rows(const struct pm_given_blocks *blocks) {
    struct pm_block_row *rows = pm_alloc(2 * blocks->n_blocks, sizeof *rows);
    for (size_t i = 0; i < 2 * blocks->n_blocks; i++) {
        const struct pm_given_block *block = &blocks->blocks[i / 2];
        rows[i] = (struct pm_block_row){.bytes = block->bytes,
                                        .n_bytes = block->n_bytes,
                                        .line = block->line,
                                        .is_in_loop = i % 2,
                                        .cycles = pm_estimate_unknown(),
                                        .predicted = NAN};
    }
    return rows;
}

static bool measure(const struct pm_given_blocks *blocks, struct pm_block_row *rows,
                    struct pm_error *err) {
    struct pm_loop_set *set = pm_loop_set_empty();
    for (size_t i = 0; i < 2 * blocks->n_blocks; i++) {
        const struct pm_given_block *block = &blocks->blocks[i / 2];
        pm_loop_set_add_block(set, block->bytes, block->n_bytes,
                              i % 2 ? PM_LOOP_BLOCK_IN_LOOP : PM_LOOP_BLOCK, block->counter);
    }
    double before = pm_core_share(PM_GAUGE_SECONDS);
    bool good = pm_loops_run(set, NULL, err);
    pm_say_core_share("loops", before, pm_core_share(PM_GAUGE_SECONDS));
    for (size_t i = 0; i < set->n_times && good; i++) {
        const struct pm_loop_time *time = &set->times[i];
        rows[i].was_run = true;
        rows[i].why = time->why;
        rows[i].cycles = time->cycles;
        rows[i].is_disturbed = time->why == PM_LOOP_RAN && !time->undisturbed;
        rows[i].n_instructions = time->n_instructions;
        rows[i].pages = time->pages;
    }
    pm_loop_set_free(set);
    return good;
}

int pm_show_blocks(const char *path, bool measures, const struct pm_machine *machine,
                   const struct pm_report_options *options) {
    struct pm_given_blocks blocks;
    struct pm_error err = {0};
    struct pm_block_row *rows = NULL;
    bool good = pm_given_blocks_read(path, &blocks, &err);
    if (good) {
        rows = make_rows(&blocks);
        good = (!measures || measure(&blocks, rows, &err)) &&
               (!machine || pm_predict_blocks(&blocks, machine, rows, &err));
    }
    if (good)
        pm_report_blocks(stdout, rows, 2 * blocks.n_blocks, machine, options);
    free(rows);
    pm_given_blocks_free(&blocks);
    return good ? PM_EXIT_OK : pm_complain(&err);
}
