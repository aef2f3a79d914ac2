/* Calls that do not come back.  Needs instructions, relocations, jump tables, metadata.

   A call breaks the conservation of flow when it leaves by exit, longjmp or an exception.  The
   names below are known; from them two closures over direct calls follow: a routine may not return
   if it calls one that may not, and it never returns if every path from its entry ends in a call
   that never does.  Indirect calls, and routines of other files that are not named here, are taken
   to return. */
#include "binlift/lifted.h"
#include "binlift/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

enum habit { RETURNS, MAY_NOT_RETURN, NEVER_RETURNS, RETURNS_TWICE };

/* A name ending in * stands for all that begin so. */
static const struct {
    const char *name;
    enum habit habit;
} known[] = {
    /* ends of the process or thread */
    {"exit", NEVER_RETURNS},
    {"_exit", NEVER_RETURNS},
    {"_Exit", NEVER_RETURNS},
    {"quick_exit", NEVER_RETURNS},
    {"abort", NEVER_RETURNS},
    {"pthread_exit", NEVER_RETURNS},
    {"thrd_exit", NEVER_RETURNS},
    {"__libc_start_main", NEVER_RETURNS},
    {"execv", MAY_NOT_RETURN},
    {"execve", MAY_NOT_RETURN},
    {"execvp", MAY_NOT_RETURN},
    {"execvpe", MAY_NOT_RETURN},
    {"execl", MAY_NOT_RETURN},
    {"execle", MAY_NOT_RETURN},
    {"execlp", MAY_NOT_RETURN},
    {"fexecve", MAY_NOT_RETURN},
    {"MPI_Abort", MAY_NOT_RETURN},
    {"mpi_abort_", MAY_NOT_RETURN},
    /* messages that end the process */
    {"err", NEVER_RETURNS},
    {"errx", NEVER_RETURNS},
    {"errc", NEVER_RETURNS},
    {"verr", NEVER_RETURNS},
    {"verrx", NEVER_RETURNS},
    {"verrc", NEVER_RETURNS},
    {"error", MAY_NOT_RETURN}, /* with a status of 0 it returns */
    {"error_at_line", MAY_NOT_RETURN},
    {"__assert", NEVER_RETURNS},
    {"__assert_fail", NEVER_RETURNS},
    {"__assert_perror_fail", NEVER_RETURNS},
    {"__stack_chk_fail", NEVER_RETURNS},
    {"__fortify_fail", NEVER_RETURNS},
    {"__chk_fail", NEVER_RETURNS},
    {"g_assertion_message*", NEVER_RETURNS},
    {"g_abort", NEVER_RETURNS},
    /* jumps */
    {"longjmp", NEVER_RETURNS},
    {"_longjmp", NEVER_RETURNS},
    {"siglongjmp", NEVER_RETURNS},
    {"__longjmp_chk", NEVER_RETURNS},
    {"setcontext", MAY_NOT_RETURN},
    /* signals to oneself: the handler may jump, or the process may end */
    {"raise", MAY_NOT_RETURN},
    {"gsignal", MAY_NOT_RETURN},
    {"kill", MAY_NOT_RETURN},
    {"killpg", MAY_NOT_RETURN},
    {"pthread_kill", MAY_NOT_RETURN},
    {"sigqueue", MAY_NOT_RETURN},
    /* C++ exceptions */
    {"__cxa_throw", NEVER_RETURNS},
    {"__cxa_rethrow", NEVER_RETURNS},
    {"__cxa_bad_cast", NEVER_RETURNS},
    {"__cxa_bad_typeid", NEVER_RETURNS},
    {"__cxa_throw_bad_array_new_length", NEVER_RETURNS},
    {"__cxa_throw_bad_array_length", NEVER_RETURNS},
    {"__cxa_pure_virtual", NEVER_RETURNS},
    {"__cxa_deleted_virtual", NEVER_RETURNS},
    {"__cxa_call_unexpected", NEVER_RETURNS},
    {"_Unwind_Resume", NEVER_RETURNS},
    {"_Unwind_RaiseException", MAY_NOT_RETURN},
    {"_Unwind_Resume_or_Rethrow", MAY_NOT_RETURN},
    {"_Unwind_ForcedUnwind", MAY_NOT_RETURN},
    {"_ZSt9terminatev", NEVER_RETURNS},
    {"_ZSt10unexpectedv", NEVER_RETURNS},
    {"_ZSt17rethrow_exception*", NEVER_RETURNS},
    {"_ZSt16__throw_*", NEVER_RETURNS},
    {"_ZSt17__throw_*", NEVER_RETURNS},
    {"_ZSt18__throw_*", NEVER_RETURNS},
    {"_ZSt19__throw_*", NEVER_RETURNS},
    {"_ZSt20__throw_*", NEVER_RETURNS},
    {"_ZSt21__throw_*", NEVER_RETURNS},
    {"_ZSt22__throw_*", NEVER_RETURNS},
    {"_ZSt23__throw_*", NEVER_RETURNS},
    {"_ZSt24__throw_*", NEVER_RETURNS},
    {"_ZSt25__throw_*", NEVER_RETURNS},
    {"_ZSt28__throw_*", NEVER_RETURNS},
    {"_ZSt29__throw_*", NEVER_RETURNS},
    {"_ZSt21__glibcxx_assert_fail*", NEVER_RETURNS},
    /* Fortran */
    {"_gfortran_stop_*", NEVER_RETURNS},
    {"_gfortran_error_stop_*", NEVER_RETURNS},
    {"_gfortran_runtime_error*", NEVER_RETURNS},
    {"_gfortran_os_error*", NEVER_RETURNS},
    {"_gfortran_internal_error*", NEVER_RETURNS},
    {"_gfortran_exit_*", NEVER_RETURNS},
    {"_gfortran_abort", NEVER_RETURNS},
    {"_gfortran_generate_error", MAY_NOT_RETURN},
    /* return a second time */
    {"setjmp", RETURNS_TWICE},
    {"_setjmp", RETURNS_TWICE},
    {"__sigsetjmp", RETURNS_TWICE},
    {"sigsetjmp", RETURNS_TWICE},
    {"savectx", RETURNS_TWICE},
    {"getcontext", RETURNS_TWICE},
    {"vfork", RETURNS_TWICE},
};

static enum habit habit_of_name(const char *name) {
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].name);
        bool is_prefix = known[i].name[length - 1] == '*';
        if (is_prefix ? strncmp(name, known[i].name, length - 1) == 0
                      : strcmp(name, known[i].name) == 0)
            return known[i].habit;
    }
    return RETURNS;
}

struct analysis {
    struct pm_lifted *lifted;
    uint32_t *callee;          /* routine that instruction k calls or jumps to; PM_NONE */
    uint8_t *habits;           /* of the name that instruction k calls, enum habit */
    uint8_t *flows;            /* enum pm_metadata_flow behind instruction k, a call */
    uint8_t *of_routine;       /* enum habit */
    PM_ARRAY(uint32_t, calls); /* instructions of which anything is known, in order */
    uint32_t *first_call;      /* of each routine, and one more */
    uint8_t *seen;             /* scratch, per instruction of one routine, from `first` */
    uint32_t first;
    uint32_t *stack; /* scratch */
};

/* Calls, and jumps that leave routine OF. */
static void find_callee(struct analysis *analysis, uint32_t k, uint32_t of) {
    struct pm_lifted *lifted = analysis->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    uint64_t address;
    const char *name;
    if (insn->control == PM_CONTROL_NONE || !pm_call_target(lifted, insn, &address, &name))
        return;
    uint32_t routine = address ? pm_routine_at(lifted, address) : PM_NONE;
    if (routine == of && !pm_is_call(insn->control))
        return;
    if (routine != PM_NONE) {
        analysis->callee[k] = routine;
        name = name ? name : lifted->structure->routines[routine].name;
    }
    analysis->habits[k] = (uint8_t)habit_of_name(name);
}

/* What is known of the call or jump K now. */
static enum habit habit_of_call(const struct analysis *analysis, uint32_t k) {
    const struct pm_lifted *lifted = analysis->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    enum pm_metadata_flow flow = analysis->flows[k];
    if (flow == PM_FLOW_STOPS || pm_metadata_no_return(lifted, insn->address))
        return NEVER_RETURNS;
    enum habit habit = analysis->habits[k];
    if (habit == RETURNS && analysis->callee[k] != PM_NONE)
        habit = analysis->of_routine[analysis->callee[k]];
    /* The compiler did not see that the callee never returns: what stands behind is its code. */
    return habit == NEVER_RETURNS && flow == PM_FLOW_GOES_ON ? MAY_NOT_RETURN : habit;
}

/* ---- never ---------------------------------------------------------------------------------- */

static void visit(struct analysis *analysis, uint32_t k, uint32_t *depth) {
    if (analysis->seen[k - analysis->first])
        return;
    analysis->seen[k - analysis->first] = 1;
    analysis->stack[(*depth)++] = k;
}

/* Follows instruction K; true: control leaves the routine there, and may come back. */
static bool follow(struct analysis *analysis, uint32_t k, uint32_t routine, uint32_t *depth) {
    const struct pm_lifted *lifted = analysis->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    const struct pm_jump_table *table;
    bool goes_on = true;
    switch (insn->control) {
    case PM_CONTROL_RETURN:
        return true;
    case PM_CONTROL_STOP:
        return false;
    case PM_CONTROL_CALL:
    case PM_CONTROL_CALL_INDIRECT:
        if (habit_of_call(analysis, k) == NEVER_RETURNS)
            return false;
        break;
    case PM_CONTROL_JUMP:
        goes_on = false;
        /* fall through */
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        if (pm_routine_at(lifted, insn->target) == routine)
            visit(analysis, pm_insn_at(lifted, insn->target), depth);
        else if (habit_of_call(analysis, k) != NEVER_RETURNS)
            return true;
        break;
    case PM_CONTROL_JUMP_INDIRECT:
        table = pm_table_of(lifted, k);
        if (!table)
            return habit_of_call(analysis, k) != NEVER_RETURNS;
        for (uint32_t i = 0; i < table->n_targets; i++) {
            uint64_t target = lifted->table_targets[table->first_target + i];
            if (pm_routine_at(lifted, target) != routine)
                return true;
            visit(analysis, pm_insn_at(lifted, target), depth);
        }
        goes_on = false;
        break;
    default:
        break;
    }
    if (!goes_on)
        return false;
    if (lifted->insn_marks[k] & PM_MARK_PART_END)
        return insn->control != PM_CONTROL_CALL;
    visit(analysis, k + 1, depth);
    return false;
}

static bool never_returns(struct analysis *analysis, uint32_t routine) {
    const struct pm_lifted *lifted = analysis->lifted;
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    uint32_t depth = 0;
    if (code->n_insns == 0)
        return false;
    analysis->first = code->first_insn;
    memset(analysis->seen, 0, code->n_insns);
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        if (k == code->first_insn || (lifted->insn_marks[k] & PM_MARK_OUTSIDE))
            visit(analysis, k, &depth);
    while (depth)
        if (follow(analysis, analysis->stack[--depth], routine, &depth))
            return false;
    return true;
}

/* ---- may not -------------------------------------------------------------------------------- */

static enum habit habit_of_routine(struct analysis *analysis, uint32_t routine) {
    bool calls_never = false, calls_may_not = false;
    for (uint32_t c = analysis->first_call[routine]; c < analysis->first_call[routine + 1]; c++) {
        enum habit habit = habit_of_call(analysis, analysis->calls[c]);
        calls_never |= habit == NEVER_RETURNS;
        calls_may_not |= habit == MAY_NOT_RETURN;
    }
    if (calls_never && never_returns(analysis, routine))
        return NEVER_RETURNS;
    return calls_never || calls_may_not ? MAY_NOT_RETURN : RETURNS;
}

static void close_over_calls(struct analysis *analysis) {
    size_t n = analysis->lifted->structure->n_routines;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = n; i-- > 0;) {
            enum habit habit = habit_of_routine(analysis, (uint32_t)i);
            if (analysis->of_routine[i] == NEVER_RETURNS || habit == analysis->of_routine[i])
                continue;
            analysis->of_routine[i] = (uint8_t)habit;
            changed = true;
        }
    }
}

static void mark_calls(struct analysis *analysis) {
    struct pm_lifted *lifted = analysis->lifted;
    for (size_t i = 0; i < lifted->structure->n_routines; i++) {
        struct pm_routine_code *code = &lifted->routine_codes[i];
        code->may_not_return = analysis->of_routine[i] != RETURNS;
        for (uint32_t c = analysis->first_call[i]; c < analysis->first_call[i + 1]; c++) {
            uint32_t k = analysis->calls[c];
            if (!pm_is_call(lifted->insns[k].control))
                continue;
            enum habit habit = habit_of_call(analysis, k);
            if (habit == NEVER_RETURNS)
                lifted->insn_marks[k] |= PM_MARK_NEVER_RETURNS;
            else if (habit == MAY_NOT_RETURN)
                lifted->insn_marks[k] |= PM_MARK_MAY_NOT_RETURN;
            else if (habit == RETURNS_TWICE && !(lifted->insn_marks[k] & PM_MARK_PART_END))
                lifted->insn_marks[k + 1] |=
                    PM_MARK_LEADER | PM_MARK_INDIRECT_ENTRY | PM_MARK_OUTSIDE;
        }
    }
}

void pm_find_no_returns(struct pm_lifted *lifted) {
    size_t n_routines = lifted->structure->n_routines, longest = 0;
    for (size_t i = 0; i < n_routines; i++)
        if (lifted->routine_codes[i].n_insns > longest)
            longest = lifted->routine_codes[i].n_insns;
    struct analysis analysis = {
        .lifted = lifted,
        .callee = pm_alloc(lifted->n_insns, sizeof(uint32_t)),
        .habits = pm_alloc(lifted->n_insns, 1),
        .flows = pm_alloc(lifted->n_insns, 1),
        .of_routine = pm_alloc(n_routines, 1),
        .first_call = pm_alloc(n_routines + 1, sizeof(uint32_t)),
        .seen = pm_alloc(longest, 1),
        .stack = pm_alloc(longest, sizeof(uint32_t)),
    };
    for (size_t i = 0; i < n_routines; i++) {
        const struct pm_routine_code *code = &lifted->routine_codes[i];
        analysis.first_call[i] = (uint32_t)analysis.n_calls;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            analysis.callee[k] = PM_NONE;
            if (lifted->metadata && pm_is_call(lifted->insns[k].control))
                analysis.flows[k] = (uint8_t)pm_metadata_flow(lifted, k);
            find_callee(&analysis, k, (uint32_t)i);
            if (analysis.callee[k] != PM_NONE || habit_of_call(&analysis, k) != RETURNS)
                *PM_PUSH(&analysis, calls) = k;
        }
    }
    analysis.first_call[n_routines] = (uint32_t)analysis.n_calls;
    close_over_calls(&analysis);
    mark_calls(&analysis);
    free(analysis.calls);
    free(analysis.first_call);
    free(analysis.callee);
    free(analysis.habits);
    free(analysis.flows);
    free(analysis.of_routine);
    free(analysis.seen);
    free(analysis.stack);
}
