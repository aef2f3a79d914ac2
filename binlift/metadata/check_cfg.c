/* Does the lifter's control-flow graph equal the compiler's, routine by routine, and if not, why?
   Needs a lift with metadata for the compiler's side; the other side is any lift of the same code
   (the same one, one that ignored the metadata, or that of a stripped copy).

   Both graphs are brought into the form of check_graph.c; there block starts and successor sets
   must be equal.  The cause of a difference is read off the instruction where the two part: behind
   which the one goes on, or elsewhere, and the other does not. */
#include "binlift/metadata/check_graph.h"

#include <stdlib.h>
#include <string.h>

static const char *const cause_names[PM_CHECK_N_CAUSES] = {
    [PM_CHECK_AGREES] = "agrees",
    [PM_CHECK_NOT_LIFTED] = "not lifted",
    [PM_CHECK_TABLE] = "jump table",
    [PM_CHECK_COMPUTED_GOTO] = "computed goto",
    [PM_CHECK_TAIL_CALL] = "tail call",
    [PM_CHECK_COLD] = "cold part",
    [PM_CHECK_NO_RETURN] = "call that never returns",
    [PM_CHECK_CALLEE_STOPS] = "callee found to stop",
    [PM_CHECK_UNREACHABLE] = "unreachable end",
    [PM_CHECK_INDIRECT_ENTRY] = "entered from outside",
    [PM_CHECK_EXTENT] = "extent of the routine",
    [PM_CHECK_OTHER] = "other",
};

const char *pm_check_cause_name(enum pm_check_cause cause) {
    return cause < PM_CHECK_N_CAUSES ? cause_names[cause] : "?";
}

/* One function at hand. */
struct comparison {
    const struct pm_lifted *truth, *lifted;
    const struct pm_contribution *contribution;
    struct pm_check_graph compiler, found;
    struct pm_check_routine *result;
    bool has_successor_difference;
};

/* ---- jump tables ---------------------------------------------------------------------------- */

static size_t make_set(const uint64_t *values, size_t n, uint64_t **set) {
    *set = pm_alloc(n, sizeof **set);
    if (n)
        memcpy(*set, values, n * sizeof **set);
    return pm_make_set(*set, n);
}

static bool same_sets(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b) {
    uint64_t *left, *right;
    size_t n_left = make_set(a, n_a, &left), n_right = make_set(b, n_b, &right);
    bool same =
        n_left == n_right && (n_left == 0 || memcmp(left, right, n_left * sizeof *left) == 0);
    free(left);
    free(right);
    return same;
}

static void compare_tables(struct comparison *c) {
    for (uint32_t n = 0; n < c->compiler.n_nodes; n++) {
        uint32_t last = c->compiler.nodes[n].last_insn;
        const uint64_t *targets;
        size_t n_targets;
        if (last == PM_NONE ||
            !pm_metadata_table(c->truth, c->truth->insns[last].address, &targets, &n_targets))
            continue;
        uint32_t jump = pm_insn_at(c->lifted, c->truth->insns[last].address);
        const struct pm_jump_table *table = jump == PM_NONE ? NULL : pm_table_of(c->lifted, jump);
        c->result->n_tables++;
        if (table && same_sets(targets, n_targets, c->lifted->table_targets + table->first_target,
                               table->n_targets))
            c->result->n_tables_equal++;
        else if (!c->result->table_at)
            c->result->table_at = c->truth->insns[last].address;
    }
}

/* ---- causes --------------------------------------------------------------------------------- */

static void note(struct comparison *c, enum pm_check_cause cause, uint64_t at, bool of_successors) {
    struct pm_check_routine *r = c->result;
    r->n_differences++;
    /* A start that is missing or too much follows from where control goes, if that differs. */
    bool better = r->cause == PM_CHECK_AGREES ||
                  (of_successors && (!c->has_successor_difference || cause == PM_CHECK_OTHER));
    if (better) {
        r->cause = (uint8_t)cause;
        r->at = at;
    }
    c->has_successor_difference |= of_successors;
}

/* Successors of a canonical block as addresses, ascending; EXIT is UINT64_MAX. */
static size_t successors(const struct pm_check_graph *graph, uint32_t head, uint64_t **set) {
    uint32_t tail = graph->nodes[head].tail;
    uint32_t first = graph->first_arc[tail], n = graph->first_arc[tail + 1] - first;
    *set = pm_alloc(n, sizeof **set);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = graph->arcs[first + i].to;
        (*set)[i] = to == PM_CHECK_EXIT ? UINT64_MAX : graph->nodes[to].address;
    }
    PM_SORT(*set, n, pm_compare_u64);
    return n;
}

static bool same_successors(const struct comparison *c, uint32_t a, uint32_t b) {
    uint64_t *left, *right;
    size_t n_left = successors(&c->compiler, a, &left), n_right = successors(&c->found, b, &right);
    bool same =
        n_left == n_right && (n_left == 0 || memcmp(left, right, n_left * sizeof *left) == 0);
    free(left);
    free(right);
    return same;
}

/* Where the straight lines that begin at A and B part: the address of the earlier of their last
   instructions. */
static uint64_t parting(const struct comparison *c, uint32_t a, uint32_t b) {
    uint32_t last_a = c->compiler.nodes[c->compiler.nodes[a].tail].last_insn;
    uint32_t last_b = c->found.nodes[c->found.nodes[b].tail].last_insn;
    uint64_t at_a = last_a == PM_NONE ? UINT64_MAX : c->truth->insns[last_a].address;
    uint64_t at_b = last_b == PM_NONE ? UINT64_MAX : c->lifted->insns[last_b].address;
    uint64_t at = at_a < at_b ? at_a : at_b;
    return at == UINT64_MAX ? c->compiler.nodes[a].address : at;
}

/* Of an address in one of the function's two parts. */
static bool is_in_cold_part(const struct comparison *c, uint64_t address) {
    uint64_t base = c->contribution->base, cold = c->contribution->cold_base;
    return cold && (cold > base ? address >= cold : address < base);
}

/* Does the compiler say that control goes on behind the instruction at AT? */
static size_t compiler_successors_behind(const struct comparison *c, uint64_t at) {
    for (uint32_t n = 0; n < c->compiler.n_nodes; n++) {
        uint32_t last = c->compiler.nodes[n].last_insn;
        if (last != PM_NONE && c->truth->insns[last].address == at)
            return c->compiler.first_arc[n + 1] - c->compiler.first_arc[n];
    }
    return 1; /* within a basic block: it goes on */
}

static enum pm_check_cause cause_at(const struct comparison *c, uint64_t at, bool to_exit) {
    uint32_t k = pm_insn_at(c->truth, at);
    const uint64_t *targets;
    size_t n_targets;
    if (k == PM_NONE)
        return PM_CHECK_OTHER;
    const struct pm_insn *insn = &c->truth->insns[k];
    switch (insn->control) {
    case PM_CONTROL_JUMP_INDIRECT:
        if (pm_metadata_table(c->truth, at, &targets, &n_targets))
            return PM_CHECK_TABLE;
        return to_exit ? PM_CHECK_TAIL_CALL : PM_CHECK_COMPUTED_GOTO;
    case PM_CONTROL_JUMP:
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        if (to_exit)
            return PM_CHECK_TAIL_CALL;
        return is_in_cold_part(c, at) != is_in_cold_part(c, insn->target) ? PM_CHECK_COLD
                                                                          : PM_CHECK_OTHER;
    case PM_CONTROL_CALL:
    case PM_CONTROL_CALL_INDIRECT:
        return compiler_successors_behind(c, at) == 0 ? PM_CHECK_NO_RETURN : PM_CHECK_CALLEE_STOPS;
    case PM_CONTROL_NONE:
        return compiler_successors_behind(c, at) == 0 ? PM_CHECK_UNREACHABLE : PM_CHECK_OTHER;
    default:
        return PM_CHECK_OTHER;
    }
}

static void compare_successors(struct comparison *c, uint32_t a, uint32_t b) {
    if (same_successors(c, a, b))
        return;
    uint64_t *set;
    size_t n = successors(&c->compiler, a, &set);
    bool to_exit = n && set[n - 1] == UINT64_MAX;
    free(set);
    uint64_t at = parting(c, a, b);
    note(c, cause_at(c, at, to_exit), at, true);
}

static bool is_covered(const struct comparison *c, uint64_t address) {
    uint32_t k = pm_insn_at(c->lifted, address);
    uint32_t block = k == PM_NONE ? PM_NONE : c->lifted->insn_block[k];
    return block != PM_NONE &&
           pm_check_node_at(&c->found, c->lifted->structure->blocks[block].address) != PM_NONE;
}

static void note_missing(struct comparison *c, const struct pm_check_node *node) {
    enum pm_check_cause cause = PM_CHECK_OTHER;
    if (!is_covered(c, node->address))
        cause = is_in_cold_part(c, node->address) ? PM_CHECK_COLD : PM_CHECK_EXTENT;
    else if (node->outside)
        cause = PM_CHECK_INDIRECT_ENTRY;
    note(c, cause, node->address, false);
}

static void note_extra(struct comparison *c, const struct pm_check_node *node) {
    enum pm_check_cause cause = node->outside ? PM_CHECK_INDIRECT_ENTRY : PM_CHECK_OTHER;
    if (pm_routine_at(c->truth, node->address) == PM_NONE || c->compiler.n_nodes == 0 ||
        node->address < c->compiler.nodes[0].address)
        cause = PM_CHECK_EXTENT;
    note(c, cause, node->address, false);
}

/* ---- a function ----------------------------------------------------------------------------- */

static uint32_t next_head(const struct pm_check_graph *graph, uint32_t n) {
    while (n < graph->n_nodes && graph->nodes[n].head != n)
        n++;
    return n;
}

static void compare_graphs(struct comparison *c) {
    const struct pm_check_graph *compiler = &c->compiler, *found = &c->found;
    uint32_t a = next_head(compiler, 0), b = next_head(found, 0);
    while (a < compiler->n_nodes || b < found->n_nodes) {
        uint64_t at_a = a < compiler->n_nodes ? compiler->nodes[a].address : UINT64_MAX;
        uint64_t at_b = b < found->n_nodes ? found->nodes[b].address : UINT64_MAX;
        c->result->n_blocks += at_a <= at_b;
        if (at_a == at_b)
            compare_successors(c, a, b);
        else if (at_a < at_b)
            note_missing(c, &compiler->nodes[a]);
        else
            note_extra(c, &found->nodes[b]);
        a = at_a <= at_b ? next_head(compiler, a + 1) : a;
        b = at_b <= at_a ? next_head(found, b + 1) : b;
    }
}

/* The lifter's routines that hold the function's parts. */
static unsigned find_parts(const struct comparison *c, uint32_t routines[2]) {
    const uint64_t bases[2] = {c->contribution->base, c->contribution->cold_base};
    unsigned n = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t r = bases[i] ? pm_routine_at(c->lifted, bases[i]) : PM_NONE;
        if (r != PM_NONE && c->lifted->structure->routines[r].n_blocks &&
            (n == 0 || routines[0] != r))
            routines[n++] = r;
    }
    return n;
}

static void compare_function(struct comparison *c) {
    uint32_t parts[2];
    unsigned n_parts = find_parts(c, parts);
    pm_check_compiler_graph(c->truth->metadata, c->contribution, c->truth, &c->compiler);
    compare_tables(c);
    if (n_parts == 0) {
        note(c, PM_CHECK_NOT_LIFTED, c->contribution->base, true);
        return;
    }
    pm_check_lifted_graph(c->lifted, parts, n_parts, &c->found);
    pm_check_fold_inner(&c->found, &c->compiler, c->lifted);
    pm_check_merge(&c->compiler, c->truth);
    pm_check_merge(&c->found, c->lifted);
    c->result->n_inner = c->found.n_inner;
    compare_graphs(c);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int by_base(const void *a, const void *b) {
    const struct pm_check_routine *x = a, *y = b;
    return PM_COMPARE(x->address, y->address);
}

struct pm_check *pm_check_cfg(const struct pm_lifted *truth, const struct pm_lifted *lifted) {
    struct pm_check *check = pm_alloc(1, sizeof *check);
    const struct pm_metadata *metadata = truth->metadata;
    for (size_t i = 0; metadata && i < metadata->n_contributions; i++) {
        const struct pm_contribution *contribution = &metadata->contributions[i];
        uint32_t routine = contribution->used ? pm_routine_at(truth, contribution->base) : PM_NONE;
        if (routine == PM_NONE || contribution->n_blocks == 0)
            continue;
        struct comparison c = {.truth = truth, .lifted = lifted, .contribution = contribution};
        c.result = PM_PUSH(check, routines);
        c.result->name = truth->structure->routines[routine].display_name;
        c.result->address = contribution->base;
        compare_function(&c);
        check->n_agree += c.result->cause == PM_CHECK_AGREES;
        check->n_tables += c.result->n_tables;
        check->n_tables_equal += c.result->n_tables_equal;
        check->n_by_cause[c.result->cause]++;
        pm_check_graph_release(&c.compiler);
        pm_check_graph_release(&c.found);
    }
    PM_SORT(check->routines, check->n_routines, by_base);
    return check;
}

void pm_check_free(struct pm_check *check) {
    if (!check)
        return;
    free(check->routines);
    free(check);
}
