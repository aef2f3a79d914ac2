/* The plan of lower bounds: nests, why other loops are none, and how the shadow loops access
   memory. Needs dependences. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

static void prepare(struct pm_dump *dump) {
    pm_number_loops(dump);
    dump->bounds = pm_plan_bounds(dump->lifted, &(struct pm_bound_wishes){0});
}

static void put_slot(const struct pm_dump *dump, const struct pm_bound_nest *nest, const char *what,
                     uint32_t slot) {
    if (slot != PM_NONE)
        fprintf(dump->out, " %s slot %" PRIu32 " at %" PRIu32 ", %" PRIu32 " bytes", what,
                slot - nest->first_slot, dump->bounds->slots[slot].offset,
                dump->bounds->slots[slot].size_bytes);
}

/* Of a routine that the nest of ROUTINE calls, with its name. */
static void put_insn_of(const struct pm_dump *dump, uint32_t routine, uint32_t insn) {
    uint32_t own = dump->structure->blocks[dump->lifted->insn_block[insn]].routine;
    if (own != routine) {
        pm_put_escaped(dump->out, dump->structure->routines[own].name, PM_ESCAPE_TEXT, 0);
        fputc(' ', dump->out);
    }
    pm_put_insn(dump, own, insn);
}

static void put_access(const struct pm_dump *dump, uint32_t routine,
                       const struct pm_bound_nest *nest, const struct pm_bound_access *access) {
    const struct pm_reference *reference = &dump->structure->references[access->reference];
    uint32_t insn = pm_insn_at(dump->lifted, reference->address);
    char *text = pm_insn_text(dump->lifted, insn);
    fputs(" access ", dump->out);
    put_insn_of(dump, routine, insn);
    if (reference->operand)
        fprintf(dump->out, ".%u", reference->operand);
    if (access->load_slot == PM_NONE && access->store_slot == PM_NONE) {
        fputs(" kept", dump->out);
    } else if (access->load_slot == access->store_slot) {
        put_slot(dump, nest, "load and store", access->load_slot);
    } else {
        put_slot(dump, nest, "load", access->load_slot);
        put_slot(dump, nest, "store", access->store_slot);
    }
    fputs(": ", dump->out);
    pm_put_escaped(dump->out, text, PM_ESCAPE_TEXT, 0);
    fputc('\n', dump->out);
    free(text);
}

static void put_nest(const struct pm_dump *dump, uint32_t routine,
                     const struct pm_bound_nest *nest) {
    const struct pm_bound_plan *plan = dump->bounds;
    fprintf(dump->out, " nest slots %" PRIu32 " bytes %" PRIu32, nest->n_slots, nest->slot_bytes);
    if (nest->n_unknown || nest->all_unknown)
        fprintf(dump->out, " unknown %s%" PRIu32, nest->all_unknown ? "all and " : "",
                nest->n_unknown);
    if (nest->n_biased)
        fprintf(dump->out, " biased %" PRIu32, nest->n_biased);
    if (nest->n_chased)
        fprintf(dump->out, " chased %" PRIu32, nest->n_chased);
    if (nest->n_routines)
        fprintf(dump->out, " calls %" PRIu32, nest->n_routines);
    if (nest->n_library)
        fprintf(dump->out, " library %" PRIu32, nest->n_library);
    fputc('\n', dump->out);
    for (uint32_t i = 0; i < nest->n_accesses; i++)
        put_access(dump, routine, nest, &plan->accesses[nest->first_access + i]);
    for (uint32_t i = 0; i < nest->n_replayed; i++) {
        fputs(" replayed ", dump->out);
        put_insn_of(dump, routine, plan->replayed[nest->first_replayed + i]);
        fputc('\n', dump->out);
    }
    for (uint32_t i = 0; i < nest->n_saved; i++) {
        const struct pm_bound_saved *saved = &plan->saved[nest->first_saved + i];
        fprintf(dump->out, " saved %s %+" PRId64 ", %" PRIu32 " bytes\n",
                dump->lifted->isa->register_names[saved->base], saved->displacement,
                saved->size_bytes);
    }
}

static const struct pm_bound_nest *nest_of(const struct pm_bound_plan *plan, uint32_t loop) {
    size_t i = PM_LOWER_BOUND(plan->n_nests, k, plan->nests[k].loop < loop);
    return i < plan->n_nests && plan->nests[i].loop == loop ? &plan->nests[i] : NULL;
}

static void text(const struct pm_dump *dump, uint32_t r) {
    for (uint32_t l = dump->first_loop[r]; l < dump->first_loop[r + 1]; l++) {
        uint32_t loop = dump->loops[l], outer = pm_outer_loop(dump->structure, loop);
        const struct pm_bound_nest *nest = nest_of(dump->bounds, loop);
        const struct pm_scope *scope = &dump->structure->scopes[loop];
        fprintf(dump->out, "loop L%" PRIu32, dump->loop_number[loop]);
        if (outer != PM_NONE)
            fprintf(dump->out, " in L%" PRIu32, dump->loop_number[outer]);
        if (scope->line_first)
            fputc(' ', dump->out);
        pm_put_source(dump->out, scope, scope->line_first, PM_ESCAPE_TEXT);
        fputc('\n', dump->out);
        if (nest)
            put_nest(dump, r, nest);
        else if (dump->bounds->refusals[loop])
            fprintf(dump->out, " refused: it %s\n",
                    pm_bound_refusal_text(dump->bounds->refusals[loop]));
        else
            fputs(" of the nest around it\n", dump->out);
    }
}

const struct pm_dump_kind pm_dump_bounds = {
    .needs = PM_LIFT_DEPS, .prepare = prepare, .text = text};
