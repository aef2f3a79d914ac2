/* A copy is run until all pages that it touches are mapped, and each branch is known to go one way:
   the signals that it causes are handled here. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "machines/probe/loop_runner/private.h"

enum {
    SIGNAL_STACK = 65536,
    MOST_ATTEMPTS = 1024, /* at one count: each changes what is made up */
    MOST_ADJUSTMENTS = 24,
    LEAST_COPIES = 4,
    STEADY_EXECUTIONS = 4, /* that are to do the same before a loop counts as steady */
};

/* What handlers need: there is one loop at a time. */
static struct {
    struct pm_loop_child *child;
    sigjmp_buf back;
    volatile bool maps, runs;
    volatile bool again;
} now;

static void go_back(enum pm_loop_refusal why, bool again) __attribute__((noreturn));
static void go_back(enum pm_loop_refusal why, bool again) {
    now.again = again;
    siglongjmp(now.back, (int)why + 1);
}

/* ---- a fault that no page mends -------------------------------------------------------------- */

uint64_t pm_loop_general_value(const void *at, int name, unsigned *number) {
    const ucontext_t *context = at;
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};
    *number = 16;
    if (ZydisRegisterGetClass((ZydisRegister)name) != ZYDIS_REGCLASS_GPR64)
        return 0;
    *number = (unsigned)ZydisRegisterGetId((ZydisRegister)name);
    return (uint64_t)context->uc_mcontext.gregs[places[*number]];
}

/* Can the address that the operand made be made a better one?  Changes what is made up if so. */
static bool mend_operand(const ucontext_t *context, const ZydisDecodedOperand *operand,
                         bool *misaligned) {
    struct pm_loop_memory *memory = &now.child->memory;
    unsigned base_number, index_number;
    uint64_t base = pm_loop_general_value(context, operand->mem.base, &base_number);
    uint64_t index = pm_loop_general_value(context, operand->mem.index, &index_number);
    bool has_base = base_number < 16;
    if (has_base && pm_loop_memory_patch(memory, base, false))
        return true;
    if (index_number < 16 &&
        pm_loop_memory_patch(memory, index, has_base || operand->mem.scale > 1))
        return true;
    uint64_t address = base + index * operand->mem.scale + (uint64_t)operand->mem.disp.value;
    uint64_t bytes = operand->size / 8;
    if (address >> 47 || bytes < 16 || (bytes & (bytes - 1)) || address % bytes == 0)
        return false;
    *misaligned = true;
    unsigned number = has_base ? base_number : index_number;
    if (number == 16 || memory->n_adjustments == MOST_ADJUSTMENTS)
        return false;
    memory->n_adjustments++;
    memory->adjustments[number] -= (int64_t)(address % bytes);
    return true;
}

static void mend_fault(const ucontext_t *context) __attribute__((noreturn));
static void mend_fault(const ucontext_t *context) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const void *at = (const void *)context->uc_mcontext.gregs[REG_RIP];
    bool misaligned = false;
    if (now.maps && now.child->memory.is_of_block) /* what a block begins with is given */
        go_back(PM_LOOP_ADDRESS, false);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (now.maps && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, at, ZYDIS_MAX_INSTRUCTION_LENGTH,
                                                        &insn, operands)))
        for (unsigned i = 0; i < insn.operand_count; i++)
            if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
                mend_operand(context, &operands[i], &misaligned))
                go_back(PM_LOOP_RAN, true);
    go_back(!now.maps ? PM_LOOP_UNSTEADY : misaligned ? PM_LOOP_ALIGNMENT : PM_LOOP_ADDRESS, false);
}

/* ---- signals --------------------------------------------------------------------------------- */

static bool is_in_copy(const ucontext_t *context) {
    uint64_t at = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    return at >= PM_LOOP_CODE && at - PM_LOOP_CODE < sizeof(struct pm_loop_area);
}

static void on_signal(int signal, siginfo_t *info, void *at) {
    const ucontext_t *context = at;
    if (signal == SIGTRAP && info->si_code == TRAP_TRACE && now.runs) {
        pm_loop_step(at);
        return;
    }
    if (!now.runs || !is_in_copy(context))
        _exit(1); /* our own fault, or one that the copy led to */
    if (signal == SIGFPE)
        go_back(PM_LOOP_DIVIDES, false);
    if (signal == SIGILL)
        go_back(PM_LOOP_NOT_HERE, false);
    if (signal == SIGTRAP)
        go_back(PM_LOOP_CRASHED, false);
    if (info->si_code == SEGV_MAPERR && now.maps) {
        enum pm_loop_refusal why =
            pm_loop_memory_map(&now.child->memory, (uint64_t)(uintptr_t)info->si_addr);
        if (!why)
            return; /* and try again */
        if (why == PM_LOOP_PAGES)
            go_back(why, false);
    }
    mend_fault(context);
}

bool pm_loop_catch_signals(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    stack_t stack = {.ss_sp = pm_alloc(SIGNAL_STACK, 1), .ss_size = SIGNAL_STACK};
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (sigaltstack(&stack, NULL))
        return false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], &action, NULL))
            return false;
    return true;
}

enum pm_loop_refusal pm_loop_guarded(struct pm_loop_child *child, bool maps, void (*run)(void *),
                                     void *context, bool *again) {
    now.child = child;
    now.maps = maps;
    now.again = false;
    int jumped = sigsetjmp(now.back, 0);
    if (!jumped) {
        now.runs = true;
        run(context);
    }
    now.runs = false;
    *again = now.again;
    return jumped ? (enum pm_loop_refusal)(jumped - 1) : PM_LOOP_RAN;
}

/* ---- what a loop needs ----------------------------------------------------------------------- */

struct execution {
    const struct pm_loop_state *state;
    const void *code;
};

static void execute(void *context) {
    const struct execution *execution = context;
    pm_loop_enter(execution->state, execution->code);
}

enum pm_loop_refusal pm_loop_execute(struct pm_loop_child *child, const struct pm_loop_copy *copy) {
    struct execution execution = {&child->state, copy->begin};
    bool again;
    return pm_loop_guarded(child, false, execute, &execution, &again);
}

enum pm_loop_refusal pm_loop_trace(struct pm_loop_child *child, const struct pm_loop_copy *copy) {
    bool again = true;
    enum pm_loop_refusal why = PM_LOOP_RAN;
    for (unsigned i = 0; again && i < MOST_ATTEMPTS; i++) {
        memset(child->area->taken, 0, sizeof child->area->taken);
        pm_loop_memory_fill_state(&child->memory, &child->state);
        struct execution execution = {&child->state, copy->begin};
        why = pm_loop_guarded(child, true, execute, &execution, &again);
        if (again)
            pm_loop_memory_restore(&child->memory);
    }
    return again ? PM_LOOP_ADDRESS : why;
}

/* Do executions one after the other, without pages being restored, touch the same pages and take
   the same branches? */
static bool is_steady(struct pm_loop_child *child, const struct pm_loop_copy *copy,
                      size_t n_branches) {
    uint8_t *taken = pm_alloc(PM_LOOP_MOST_BRANCHES, 1);
    unsigned n_pages = child->memory.n_pages, n_patches = child->memory.n_patches;
    bool steady = true;
    for (unsigned i = 0; steady && i < STEADY_EXECUTIONS; i++) {
        steady = pm_loop_trace(child, copy) == PM_LOOP_RAN && child->memory.n_pages == n_pages &&
                 child->memory.n_patches == n_patches &&
                 (i < 2 || memcmp(taken, child->area->taken, n_branches) == 0);
        memcpy(taken, child->area->taken, n_branches);
    }
    free(taken);
    return steady;
}

void pm_loop_begin_anew(struct pm_loop_memory *memory, const struct pm_loop_code *code,
                        const struct pm_loop_sort *sort, unsigned layout) {
    pm_loop_memory_clear(memory);
    memory->is_of_block = code->form != PM_LOOP_PATH;
    memory->fill = sort->fill;
    memory->small = sort->strides ? (uint16_t)~code->bases : 0;
    memory->indices = code->indices;
    memory->layout = layout;
    memory->n_patches = 0;
    memory->n_adjustments = 0;
    memset(memory->adjustments, 0, sizeof memory->adjustments);
}

/* With one count, sort and layout of made-up data. */
static enum pm_loop_refusal prepare_count(struct pm_loop_child *child,
                                          const struct pm_loop_code *code, unsigned count,
                                          const struct pm_loop_sort *sort, unsigned layout) {
    struct pm_loop_copy copy;
    if (!pm_loop_put_tracing(child->area, code, count, &copy))
        return PM_LOOP_TOO_LONG;
    pm_loop_begin_anew(&child->memory, code, sort, layout);
    enum pm_loop_refusal why = pm_loop_trace(child, &copy);
    if (why)
        return why;
    child->restores = !is_steady(child, &copy, (size_t)count * code->n_branches);
    if (child->restores) {
        pm_loop_begin_anew(&child->memory, code, sort, layout);
        why = pm_loop_trace(child, &copy);
        if (why)
            return why;
    }
    child->counts[1] = count;
    child->counts[0] = count / (code->form == PM_LOOP_BLOCK_IN_LOOP ? 2 : 4);
    for (unsigned which = 0; which < 2; which++)
        if (!pm_loop_put_timed(child->area, which, 0, code, child->counts[which],
                               &child->copies[which]))
            return PM_LOOP_TOO_LONG;
    return PM_LOOP_RAN;
}

/* Blocks are short, so that the counts go by instructions: enough for the window to be full at the
   smaller one, few enough for the caches of code.  Of a loop both counts are larger than what
   predictors of branches remember, so that both exits are predicted wrongly, or, if that takes too
   many pages, both are smaller. */
enum {
    BLOCK_INSTRUCTIONS = 1600,
    MOST_BLOCK_COPIES = 400,
    LOOP_COUNT = 1200,
    REMEMBERED_COUNT = 200
};

static unsigned most_copies(const struct pm_loop_code *code) {
    unsigned count = BLOCK_INSTRUCTIONS / (unsigned)code->n_insns;
    switch (code->form) {
    case PM_LOOP_BLOCK:
        return count < 2 * LEAST_COPIES    ? 2 * LEAST_COPIES
               : count > MOST_BLOCK_COPIES ? MOST_BLOCK_COPIES
                                           : count;
    case PM_LOOP_BLOCK_IN_LOOP:
        return LOOP_COUNT;
    default:
        return PM_LOOP_MOST_COPIES;
    }
}

/* At the largest count that it can be done at. */
static enum pm_loop_refusal prepare_sort(struct pm_loop_child *child,
                                         const struct pm_loop_code *code,
                                         const struct pm_loop_sort *sort, unsigned layout) {
    enum pm_loop_refusal why = PM_LOOP_TOO_LONG;
    for (unsigned count = most_copies(code); count >= LEAST_COPIES;
         count = count == LOOP_COUNT ? REMEMBERED_COUNT : count / 2) {
        why = prepare_count(child, code, count, sort, layout);
        if (why != PM_LOOP_PAGES && why != PM_LOOP_TOO_LONG)
            break;
    }
    return why;
}

enum pm_loop_refusal pm_loop_prepare(struct pm_loop_child *child, const struct pm_loop_code *code) {
    /* In the order in which it is tried. */
    static const struct pm_loop_sort sorts[] = {
        {true, PM_LOOP_FILL_NUMBERS},  {false, PM_LOOP_FILL_NUMBERS},
        {true, PM_LOOP_FILL_INDICES},  {false, PM_LOOP_FILL_INDICES},
        {true, PM_LOOP_FILL_POINTERS}, {false, PM_LOOP_FILL_POINTERS}};
    enum pm_loop_refusal first = PM_LOOP_RAN, why = PM_LOOP_RAN;
    child->memory.image = code->image;
    child->state.width = code->vectors;
    if (code->form != PM_LOOP_PATH)
        return prepare_sort(child, code, &sorts[0], 0);
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        unsigned layout = 0;
        why = prepare_sort(child, code, &sorts[i], layout);
        if (!why) {
            why = pm_loop_choose_layout(child, code, &sorts[i], &layout);
            if (!why)
                why = prepare_sort(child, code, &sorts[i], layout);
        }
        if (!first || why == PM_LOOP_ALIASES)
            first = why;
        if (why != PM_LOOP_ADDRESS && why != PM_LOOP_PAGES && why != PM_LOOP_ALIGNMENT &&
            why != PM_LOOP_ALIASES)
            return why;
    }
    return first;
}
