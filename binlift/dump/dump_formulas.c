/* Symbolic formulas of the addresses of all memory operands, with what each loop around does to
   them, as text.  Needs the scope tree. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "binlift/formula/formula.h"

enum { MOST_LEVELS = 32 };

static void put_formula(FILE *out, struct pm_formulas *formulas, const struct pm_formula *formula) {
    char *text = pm_formula_text(formulas, formula);
    pm_put_escaped(out, text, PM_ESCAPE_TEXT, 0);
    fputc('\n', out);
    free(text);
}

static void put_level(const struct pm_dump *dump, struct pm_formulas *formulas,
                      const struct pm_formula_level *level) {
    FILE *out = dump->out;
    fprintf(out, " in L%" PRIu32 " step ", dump->loop_number[level->loop]);
    if (level->step.kind == PM_STRIDE_CONSTANT)
        fprintf(out, "%" PRId64, level->step.bytes);
    else if (level->step.kind == PM_STRIDE_SYMBOLIC && level->step.expression)
        pm_put_escaped(out, level->step.expression, PM_ESCAPE_TEXT, 0);
    else
        fputs(level->step.kind == PM_STRIDE_INDIRECT ? "indirect" : "?", out);
    fputs(" from ", out);
    put_formula(out, formulas, &level->first);
}

static void put_operand(const struct pm_dump *dump, struct pm_formulas *formulas, uint32_t r,
                        uint32_t block, uint32_t insn, unsigned operand) {
    static const char *const accesses[] = {"?", "load", "store", "load-store"};
    const struct pm_memory_operand *memory = &dump->lifted->insns[insn].memory[operand];
    struct pm_formula_level levels[MOST_LEVELS];
    struct pm_formula address = pm_formula_of_operand(formulas, insn, operand);
    char *text = pm_insn_text(dump->lifted, insn);
    fputs("ref ", dump->out);
    pm_put_block(dump, r, block, false);
    fprintf(dump->out, " 0x%" PRIx64 " %s bytes %u ", (uint64_t)dump->lifted->insns[insn].address,
            memory->access < 4 ? accesses[memory->access] : "?", memory->size_bytes);
    pm_put_escaped(dump->out, text, PM_ESCAPE_TEXT, 0);
    fputs("\n address ", dump->out);
    put_formula(dump->out, formulas, &address);
    uint32_t n = pm_formula_levels(formulas, insn, operand, levels, MOST_LEVELS);
    for (uint32_t i = 0; i < n; i++)
        put_level(dump, formulas, &levels[i]);
    free(text);
}

static void text(const struct pm_dump *dump, uint32_t r) {
    const struct pm_routine *routine = &dump->structure->routines[r];
    if (!routine->n_blocks)
        return;
    struct pm_formulas *formulas = pm_formulas_new(dump->lifted, r);
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block_code *code = &dump->lifted->block_codes[b];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            for (unsigned m = 0; m < dump->lifted->insns[k].n_memory; m++)
                if (!dump->lifted->insns[k].memory[m].implicit)
                    put_operand(dump, formulas, r, b, k, m);
    }
    pm_formulas_free(formulas);
}

const struct pm_dump_kind pm_dump_formulas = {
    .needs = PM_LIFT_SCOPES, .prepare = pm_number_loops, .text = text};
