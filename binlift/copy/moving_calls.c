/* Which calls move with the code around them, so that they return to the new code.  All others stay
   at their old places.

   A call moves if it is certain that nothing depends on its return address but the return:
   - the file's unwinding information is understood to its last byte, the rules at the call hold
     elsewhere too, and so does its exception table, whose landing pads all move;
   - it does not call into its own routine's middle, nor a routine that reads its return address:
     that is a way to get the program counter, or data behind the call;
   - the address behind it is no indirect entry: whoever knows it may compare it;
   - the file has no garbage collector that knows return addresses, no unwinder of its own, nor the
     routine that reads the exception table: how much the latter do depends on the tables, and it is
     measured;
   - its routine is not entered at addresses that are computed;
   - the file is not made for gprof, whose routines take their callers from return addresses.

   Part of the plan.  Fills pm_instrumentation_plan.unwinding and call_moves. */
#include <stdlib.h>
#include <string.h>

#include "binlift/copy/private.h"

struct choice {
    const struct pm_lifted *lifted;
    struct pm_instrumentation_plan *plan;
    bool *reads_return; /* per routine: its own return address */
    bool *can_move;     /* per FDE: code with its rules can be elsewhere */
};

/* ---- what looks at return addresses ---------------------------------------------------------- */

/* An unwinder, or a garbage collector that finds frames by a table of return addresses. */
static bool has_stack_walker(const struct pm_structure *structure) {
    static const char *const names[] = {"_Unwind_RaiseException", "caml_call_gc"};
    for (size_t r = 0; r < structure->n_routines; r++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (strcmp(structure->routines[r].name, names[n]) == 0)
                return true;
    return false;
}

/* Is the address behind the call K known to data or code? */
static bool return_is_known(const struct pm_lifted *lifted, uint32_t k) {
    uint32_t behind = pm_insn_after(lifted, k);
    return behind != PM_NONE && (lifted->insn_marks[behind] & PM_MARK_INDIRECT_ENTRY);
}

static bool is_profiled(const struct pm_lifted *lifted) {
    static const char *const names[] = {"mcount", "_mcount", "__fentry__"};
    for (size_t i = 0; i < lifted->n_relocations; i++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (lifted->relocations[i].symbol && !strcmp(lifted->relocations[i].symbol, names[n]))
                return true;
    return false;
}

/* Does INSN, for which ROW holds, read or write the return address by its address? */
static bool touches_return(const struct pm_lifted *lifted, const struct pm_insn *insn,
                           const struct pm_unwind_row *row) {
    const struct pm_unwind_rule *place = &row->of[PM_UNWIND_REGISTERS - 1];
    if (place->kind != PM_RULE_AT_OFFSET)
        return true; /* nobody knows */
    for (unsigned m = 0; m < insn->n_memory; m++) {
        const struct pm_memory_operand *memory = &insn->memory[m];
        if (memory->implicit || memory->base >= 16 || memory->segment ||
            lifted->isa->dwarf_registers[memory->base] != row->cfa_register)
            continue;
        int64_t low = memory->displacement - row->cfa.number, end = low + memory->size_bytes;
        if (low < place->number + 8 && end > place->number)
            return true;
    }
    return false;
}

/* What starts by taking the return address off the stack. */
static bool pops_return(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    return insn->control == PM_CONTROL_NONE && insn->n_memory && insn->memory[0].implicit &&
           insn->memory[0].access == PM_ACCESS_LOAD &&
           insn->memory[0].base == lifted->isa->stack_pointer;
}

static bool reads_return(const struct choice *choice, uint32_t routine) {
    const struct pm_lifted *lifted = choice->lifted;
    const struct pm_unwinding *unwinding = choice->plan->unwinding;
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    struct pm_unwind_rows rows = {0};
    uint32_t rows_of = PM_NONE;
    bool can_move, reads = false;
    for (uint32_t k = code->first_insn; !reads && k < code->first_insn + code->n_insns; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        uint32_t fde = pm_unwind_fde_at(unwinding, insn->address);
        if (fde == PM_NONE) {
            reads = true;
            break;
        }
        if (fde != rows_of)
            pm_unwind_read_rows(unwinding, &unwinding->fdes[fde], &rows, &can_move);
        rows_of = fde;
        if (insn->n_memory) {
            const struct pm_unwind_row *row = pm_unwind_row_at(&rows, insn->address);
            bool is_whole = row->cfa.kind == PM_RULE_IN_REGISTER;
            reads = (is_whole && touches_return(lifted, insn, row)) ||
                    (is_whole && row->cfa.number == 8 && pops_return(lifted, insn) &&
                     row->cfa_register == lifted->isa->dwarf_registers[lifted->isa->stack_pointer]);
        }
    }
    pm_unwind_rows_release(&rows);
    return reads;
}

static void find_readers(struct choice *choice) {
    size_t n = choice->lifted->structure->n_routines;
    choice->reads_return = pm_alloc(n, sizeof *choice->reads_return);
    for (uint32_t r = 0; r < n; r++)
        choice->reads_return[r] = reads_return(choice, r);
}

/* ---- which rules can be elsewhere ------------------------------------------------------------ */

/* Do all landing pads of FDE's exceptions move? */
static bool landing_pads_move(const struct choice *choice, const struct pm_unwind_fde *fde) {
    struct pm_exception_table table = {0};
    bool move = pm_read_exception_table(&choice->lifted->image, fde, &table);
    for (size_t i = 0; move && i < table.n_sites; i++) {
        uint32_t block = table.sites[i].landing_pad
                             ? pm_block_at(choice->lifted, table.sites[i].landing_pad)
                             : PM_NONE;
        move =
            !table.sites[i].landing_pad || (block != PM_NONE && choice->plan->block_moves[block]);
    }
    pm_exception_table_release(&table);
    return move;
}

/* Is the routine that reads the exception tables of CIE in this file?  Then what it does is
   measured too, and it would find other tables than in the plain program. */
static bool reads_own_tables(const struct pm_lifted *lifted, const struct pm_unwind_cie *cie) {
    uint64_t address = cie->personality;
    if (address && cie->personality_is_indirect && !pm_word_at(lifted, address, &address))
        return true;
    return address && pm_routine_at(lifted, address) != PM_NONE;
}

static void find_movable(struct choice *choice) {
    struct pm_unwinding *unwinding = choice->plan->unwinding;
    for (size_t i = 0; i < unwinding->n_fdes; i++) {
        struct pm_unwind_fde *fde = &unwinding->fdes[i];
        if (fde->lsda && fde->can_move)
            fde->can_move = !reads_own_tables(choice->lifted, &unwinding->cies[fde->cie]) &&
                            landing_pads_move(choice, fde);
    }
}

/* ---- the calls ------------------------------------------------------------------------------- */

static bool moves(const struct choice *choice, uint32_t k) {
    const struct pm_lifted *lifted = choice->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    uint32_t fde = pm_unwind_fde_at(choice->plan->unwinding, insn->address);
    if (fde == PM_NONE || !choice->plan->unwinding->fdes[fde].can_move ||
        insn->address + insn->length > choice->plan->unwinding->fdes[fde].end)
        return false;
    if (return_is_known(lifted, k))
        return false;
    uint32_t callee = insn->target ? pm_routine_at(lifted, insn->target) : PM_NONE;
    if (callee == PM_NONE)
        return true; /* of another file, by the PLT, or not known */
    return lifted->structure->routines[callee].address == insn->target &&
           !choice->reads_return[callee];
}

static void choose_calls(struct choice *choice) {
    const struct pm_lifted *lifted = choice->lifted;
    choice->plan->call_moves = pm_alloc(lifted->n_insns, sizeof *choice->plan->call_moves);
    for (uint32_t b = 0; b < lifted->structure->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        uint32_t routine = lifted->structure->blocks[b].routine;
        if (!choice->plan->block_moves[b] || lifted->routine_codes[routine].entered_by_offset)
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            choice->plan->call_moves[k] = pm_is_call(lifted->insns[k].control) && moves(choice, k);
    }
}

void pm_find_moving_calls(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan) {
    struct choice choice = {.lifted = lifted, .plan = plan};
    if (!lifted->isa->dwarf_registers || is_profiled(lifted) || has_stack_walker(lifted->structure))
        return;
    plan->unwinding = pm_unwinding_read(&lifted->image, NULL);
    if (!plan->unwinding)
        return;
    find_readers(&choice);
    find_movable(&choice);
    choose_calls(&choice);
    free(choice.reads_return);
}
