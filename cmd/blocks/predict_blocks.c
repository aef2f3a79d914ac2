/* Basic blocks predicted: all of them are assembled into one object, a routine for each block and
   form, which is lifted; then each is a loop with a schedule.  The jump that goes back to a block
   that is unrolled is no part of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "cmd/blocks/blocks.h"
#include "cmd/cmd.h"
#include "cmd/blocks/bare_code.h"
#include "machines/probe/loop_runner/loop_runner.h"
#include "sched/sched.h"

static const char prefix[] = "pmodel_block_";

/* ---- the text -------------------------------------------------------------------------------- */

static void put_routine(FILE *out, const struct pm_given_block *block, size_t number) {
    static const char *const registers[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                              "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                              "r12", "r13", "r14", "r15"};
    fprintf(out,
            "\t.globl %s%zu\n\t.type %s%zu, @function\n\t.p2align 6\n%s%zu:\n\tnop\n\t.p2align 6\n"
            "1:\t.byte ",
            prefix, number, prefix, number, prefix, number);
    for (size_t i = 0; i < block->n_bytes; i++)
        fprintf(out, "%s%u", i ? "," : "", block->bytes[i]);
    if (number % 2)
        fprintf(out, "\n\tdec %%%s\n\tjnz 1b\n\tret\n", registers[block->counter]);
    else
        fputs("\n\tjmp 1b\n", out);
    fprintf(out, "\t.size %s%zu, . - %s%zu\n", prefix, number, prefix, number);
}

static void put_all(FILE *out, void *context) {
    const struct pm_given_blocks *blocks = context;
    fputs("\t.text\n", out);
    for (size_t i = 0; i < blocks->n_blocks; i++)
        for (size_t form = 0; form < 2; form++)
            put_routine(out, &blocks->blocks[i], 2 * i + form);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* The row that LOOP is of; N: none. */
static size_t row_of(const struct pm_structure *structure, uint32_t loop, size_t n) {
    const char *name = structure->routines[structure->scopes[loop].routine].name;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return n;
    size_t number = strtoul(name + sizeof prefix - 1, NULL, 10);
    return number < n ? number : n;
}

/* The loops of one form; an unrolled block is one of even number. */
static void schedule_form(const struct pm_target_machine *target, bool in_loop,
                          struct pm_block_row *rows, size_t n) {
    const uint64_t held = PM_LOOP_BLOCK_VALUE;
    const struct pm_schedule_options options = {.held = &held, .is_unrolled = !in_loop};
    const struct pm_structure *structure = target->structure;
    struct pm_loop_schedules schedules;
    bool *wanted = pm_innermost_loops(structure);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        wanted[s] = wanted[s] && row_of(structure, s, n) < n &&
                    row_of(structure, s, n) % 2 == (in_loop ? 1 : 0);
    pm_schedule_loops(target, NULL, wanted, &options, &schedules);
    for (size_t i = 0; i < schedules.n_items; i++) {
        const struct pm_loop_schedule *item = &schedules.items[i];
        size_t row = row_of(structure, item->scope, n);
        if (!item->n_steps || item->schedule.n_unknown_operations)
            continue;
        rows[row].predicted = item->schedule.cycles;
        rows[row].hold = item->schedule.hold;
    }
    pm_loop_schedules_free(&schedules);
    free(wanted);
}

static void schedule_all(struct pm_structure *structure, const struct pm_machine *machine,
                         struct pm_block_row *rows, size_t n) {
    const struct pm_target_machine target = pm_target_of(structure, machine);
    pm_bare_code_trim_all(structure);
    schedule_form(&target, false, rows, n);
    schedule_form(&target, true, rows, n);
}

bool pm_predict_blocks(const struct pm_given_blocks *blocks, const struct pm_machine *machine,
                       struct pm_block_row *rows, struct pm_error *err) {
    struct pm_bare_code code;
    struct pm_lift_options options = {0};
    struct pm_lifted *lifted = NULL;
    size_t n = 2 * blocks->n_blocks;
    if (pm_bare_code_assemble(put_all, (void *)(uintptr_t)blocks, &code, err) &&
        pm_find_classes(&options, err))
        lifted = pm_lift(code.path, &options, err);
    if (lifted)
        schedule_all(pm_lifted_structure(lifted), machine, rows, n);
    bool good = lifted != NULL;
    pm_lifted_free(lifted);
    pm_bare_code_free(&code);
    return good;
}
