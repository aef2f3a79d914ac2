/* Live general registers and flags where basic blocks begin and end, as text and for Graphviz.
   Needs the CFG. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

static void prepare(struct pm_dump *dump) {
    const struct pm_structure *structure = dump->structure;
    bool *followed = pm_alloc(structure->n_routines, sizeof *followed);
    for (size_t r = 0; r < structure->n_routines; r++)
        followed[r] =
            structure->routines[r].state != PM_ROUTINE_REFUSED && structure->routines[r].n_blocks;
    dump->live_in = pm_find_liveness(dump->lifted, followed, &dump->live_out);
    free(followed);
}

static void put_set(const struct pm_dump *dump, pm_live_set set) {
    const struct pm_isa *isa = dump->lifted->isa;
    for (unsigned i = 0; i < 64; i++) {
        if (!(set & PM_LIVE_BIT(i)))
            continue;
        if (i < 32 && isa->register_names && i < isa->n_register_names)
            fprintf(dump->out, " %s", isa->register_names[i]);
        else if (i < 32)
            fprintf(dump->out, " r%u", i);
        else if (isa->flag_names && i - 32 < isa->n_flag_names)
            fprintf(dump->out, " %s", isa->flag_names[i - 32]);
        else
            fprintf(dump->out, " flag%u", i - 32);
    }
}

static void put_both(const struct pm_dump *dump, uint32_t block, const char *before,
                     const char *after) {
    const struct pm_block_code *code = &dump->lifted->block_codes[block];
    if (!code->n_insns)
        return;
    fprintf(dump->out, "%sin", before);
    put_set(dump, dump->live_in[code->first_insn]);
    fprintf(dump->out, "%s%sout", after, before);
    put_set(dump, dump->live_out[block]);
    fputs(after, dump->out);
}

static void text(const struct pm_dump *dump, uint32_t r) {
    const struct pm_routine *routine = &dump->structure->routines[r];
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        uint32_t block = routine->first_block + b;
        fprintf(dump->out, "block b%" PRIu32 " 0x%" PRIx64 "\n", b,
                dump->structure->blocks[block].address);
        put_both(dump, block, " ", "\n");
    }
}

static void lines(const struct pm_dump *dump, uint32_t block) { put_both(dump, block, "", "\\l"); }

static void dot(const struct pm_dump *dump, uint32_t routine) {
    struct pm_graph graph = {.dump = dump, .routine = routine, .lines = lines};
    pm_put_plain_graph(&graph);
}

const struct pm_dump_kind pm_dump_live = {
    .needs = PM_LIFT_CFG, .prepare = prepare, .text = text, .dot = dot};
