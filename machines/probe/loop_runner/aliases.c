/* Loads that get what a store of the loop wrote, only because addresses are made up.

   A few iterations are executed step by step (the processor's trap flag), and each access is noted:
   which loads read what which stores wrote, and how many iterations before.  That is done with two
   layouts of made-up data.  What is so in both follows from the code (a stencil, a spilled value, a
   counter in memory); what is so in one only was made up. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <ucontext.h>

#include <Zydis/Zydis.h>

#include "machines/probe/loop_runner/private.h"

enum { MOST_ACCESSES = 2048, STEPS = 400, MOST_ITERATIONS = 16, TRAP_FLAG = 0x100 };

struct access {
    uint64_t address;
    uint32_t bytes, step;
    bool stores;
};

/* Of the signal handler. */
static struct {
    ZydisDecoder decoder;
    uint64_t begin, end; /* of the copy, without its last jump and what is out of line */
    uint32_t n_steps;
    bool inside;
    size_t n_accesses;
    struct access accesses[MOST_ACCESSES];
} steps;

/* ---- steps ----------------------------------------------------------------------------------- */

static void note_accesses(const ucontext_t *context, const void *at) {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&steps.decoder, at, ZYDIS_MAX_INSTRUCTION_LENGTH,
                                             &insn, operands)))
        return;
    for (unsigned pass = 0; pass < 2; pass++) /* an instruction loads before it stores */
        for (unsigned i = 0; i < insn.operand_count; i++) {
            const ZydisDecodedOperand *operand = &operands[i];
            ZydisOperandActions kind =
                pass ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
            if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
                operand->mem.type != ZYDIS_MEMOP_TYPE_MEM || !(operand->actions & kind) ||
                steps.n_accesses == MOST_ACCESSES)
                continue;
            unsigned number;
            uint64_t base = operand->mem.base == ZYDIS_REGISTER_RIP
                                ? (uint64_t)(uintptr_t)at + insn.length
                                : pm_loop_general_value(context, operand->mem.base, &number);
            uint64_t index = pm_loop_general_value(context, operand->mem.index, &number);
            steps.accesses[steps.n_accesses++] = (struct access){
                .address = base + index * operand->mem.scale + (uint64_t)operand->mem.disp.value,
                .bytes = operand->size / 8,
                .step = steps.n_steps,
                .stores = pass};
        }
}

void pm_loop_step(void *at) {
    ucontext_t *context = at;
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    bool was_inside = steps.inside;
    steps.inside = pc >= PM_LOOP_CODE && pc - PM_LOOP_CODE < sizeof(struct pm_loop_area);
    if (was_inside && !steps.inside) { /* the end */
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    } else if (pc >= steps.begin && pc < steps.end) {
        note_accesses(context, (const void *)pc);
        steps.n_steps++;
    }
}

/* ---- what loads find ------------------------------------------------------------------------- */

/* Instructions of an iteration: LOAD reads what STORE wrote DISTANCE iterations before. */
struct forwarding {
    uint32_t store, load, distance;
};

struct forwardings {
    PM_ARRAY(struct forwarding, items);
};

static bool has(const struct forwardings *list, const struct forwarding *item) {
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].store == item->store && list->items[i].load == item->load &&
            list->items[i].distance == item->distance)
            return true;
    return false;
}

static bool contains(const struct forwardings *all, const struct forwardings *some) {
    for (size_t i = 0; i < some->n_items; i++)
        if (!has(all, &some->items[i]))
            return false;
    return true;
}

static bool overlap(const struct access *a, const struct access *b) {
    return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

static void find_forwardings(size_t n_insns, struct forwardings *found) {
    for (size_t l = 0; l < steps.n_accesses; l++) {
        const struct access *load = &steps.accesses[l];
        if (load->stores)
            continue;
        for (size_t s = l; s-- > 0;) {
            const struct access *store = &steps.accesses[s];
            if (!store->stores || !overlap(store, load))
                continue;
            struct forwarding item = {
                store->step % (uint32_t)n_insns, load->step % (uint32_t)n_insns,
                (load->step / (uint32_t)n_insns) - (store->step / (uint32_t)n_insns)};
            if (!has(found, &item))
                *PM_PUSH(found, items) = item;
            break;
        }
    }
}

/* ---- two layouts ----------------------------------------------------------------------------- */

/* False: with this layout the loop does not run. */
static bool step_through(struct pm_loop_child *child, const struct pm_loop_code *code,
                         const struct pm_loop_sort *sort, unsigned layout,
                         struct forwardings *found) {
    unsigned count = (unsigned)(STEPS / code->n_insns);
    count = count < 2 ? 2 : count > MOST_ITERATIONS ? MOST_ITERATIONS : count;
    struct pm_loop_copy copy;
    if (!pm_loop_put_tracing(child->area, code, count, &copy))
        return false;
    pm_loop_begin_anew(&child->memory, code, sort, layout);
    if (pm_loop_trace(child, &copy))
        return false;
    pm_loop_memory_restore(&child->memory);
    ZydisDecoderInit(&steps.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    steps.begin = (uint64_t)(uintptr_t)copy.begin;
    steps.end = (uint64_t)(uintptr_t)copy.leave;
    steps.n_steps = 0;
    steps.n_accesses = 0;
    steps.inside = false;
    child->state.flags |= TRAP_FLAG;
    enum pm_loop_refusal why = pm_loop_execute(child, &copy);
    child->state.flags &= ~(uint64_t)TRAP_FLAG;
    find_forwardings(code->n_insns, found);
    return !why;
}

enum pm_loop_refusal pm_loop_choose_layout(struct pm_loop_child *child,
                                           const struct pm_loop_code *code,
                                           const struct pm_loop_sort *sort, unsigned *layout) {
    struct forwardings found[2] = {{0}, {0}};
    bool runs[2];
    enum pm_loop_refusal why = PM_LOOP_RAN;
    for (unsigned i = 0; i < 2; i++)
        runs[i] = step_through(child, code, sort, i, &found[i]);
    *layout = 0;
    if (runs[0] && runs[1] && !contains(&found[1], &found[0])) {
        *layout = 1;
        if (!contains(&found[0], &found[1]))
            why = PM_LOOP_ALIASES;
    }
    for (unsigned i = 0; i < 2; i++)
        free(found[i].items);
    return why;
}
