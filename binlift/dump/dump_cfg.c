/* The control-flow graph as text and for Graphviz: basic blocks with their instructions, then the
   edges that leave them.  Needs the CFG. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_instructions(const struct pm_dump *dump, uint32_t block, enum pm_escape escape,
                             const char *before, const char *after) {
    const struct pm_lifted *lifted = dump->lifted;
    const struct pm_block_code *code = &lifted->block_codes[block];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        char *text = pm_insn_text(lifted, k);
        fprintf(dump->out, "%s0x%" PRIx64 " ", before, (uint64_t)lifted->insns[k].address);
        pm_put_escaped(dump->out, text, escape, 0);
        fputs(after, dump->out);
        free(text);
    }
}

static void put_table(const struct pm_dump *dump, uint32_t block) {
    const struct pm_block_code *code = &dump->lifted->block_codes[block];
    if (!code->n_insns)
        return;
    const struct pm_jump_table *table =
        pm_table_of(dump->lifted, code->first_insn + code->n_insns - 1);
    if (!table)
        return;
    if (table->address)
        fprintf(dump->out, " table 0x%" PRIx64 " entries %" PRIu32 "\n", table->address,
                table->n_targets);
    else
        fprintf(dump->out, " targets without a table, %" PRIu32 "\n", table->n_targets);
}

static void put_edges(const struct pm_dump *dump, const struct pm_flow *flow, uint32_t vertex) {
    for (uint32_t i = flow->first_out[vertex]; i < flow->first_out[vertex + 1]; i++) {
        fputs(" edge ", dump->out);
        pm_put_edge(dump, &flow->edges[flow->out[i]]);
        fputc('\n', dump->out);
    }
}

static void text(const struct pm_dump *dump, uint32_t r) {
    const struct pm_routine *routine = &dump->structure->routines[r];
    struct pm_flow *flow = pm_flow_new(dump->structure, r);
    put_edges(dump, flow, flow->entry);
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        uint32_t block = routine->first_block + b;
        const struct pm_block *found = &dump->structure->blocks[block];
        fprintf(dump->out,
                "block b%" PRIu32 " 0x%" PRIx64 " bytes %" PRIu32 " insns %" PRIu32 "%s\n", b,
                found->address, found->size_bytes, found->n_instructions,
                dump->lifted->block_codes[block].indirect_entry ? " indirect-entry" : "");
        put_instructions(dump, block, PM_ESCAPE_TEXT, " insn ", "\n");
        put_table(dump, block);
        put_edges(dump, flow, b);
    }
    pm_flow_free(flow);
}

static void lines(const struct pm_dump *dump, uint32_t block) {
    put_instructions(dump, block, PM_ESCAPE_DOT, "", "\\l");
}

static void dot(const struct pm_dump *dump, uint32_t routine) {
    struct pm_graph graph = {.dump = dump, .routine = routine, .lines = lines};
    pm_put_plain_graph(&graph);
}

const struct pm_dump_kind pm_dump_cfg = {.needs = PM_LIFT_CFG, .text = text, .dot = dot};
