/* Strides of a memory operand from the code alone, for what the compiler did not describe; see
   groups.h.  Needs the scope tree.

   Simple induction analysis.  A value is followed back through affine forms within the iteration;
   where that ends, the step of a register in a loop is what one iteration adds to it:
     - No definition in the loop: step 0.
     - Only additions of constants, each in every iteration and in no loop inside: their sum.
     - One definition by an affine form of other registers: the same form of their steps.  This also
       covers a register that is set in the outer loop and counted up in the inner one.
     - Its own value plus invariant registers: an invariant that is known at run time only.
     - One load from an address that moves: the access through the register is indirect.
     - One load from a place in the frame that the loop does not change (a spilled register): 0.
   Everything else is unknown.  A call defines what its callee need not save. */
#include "binlift/groups.h"

#include <stdlib.h>
#include <string.h>

enum { N_GENERAL = 32, MOST_NESTED = 12, MOST_BLOCKS_BACK = 8 };

struct memo {
    bool known;
    struct pm_step step;
};

struct pm_induction {
    const struct pm_lifted *lifted;
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    uint32_t first_scope, n_scopes; /* those of the routine */
    uint32_t first_def[N_GENERAL + 1];
    uint32_t *defs;          /* instructions that define register r: defs[first_def[r]…] */
    struct memo *memo;       /* [loop][register]: step in the loop; NULL until asked */
    struct memo *from_child; /* [child][register]: step in the loop around child, seen from there */
    uint32_t *first_out, *targets; /* successors of the basic blocks; NULL until asked */
    uint32_t *only_predecessor;    /* of each basic block, PM_NONE: none, several, or outside */
    uint8_t *in_every;             /* of each basic block: 0 not asked, 1 no, 2 yes */
    uint32_t frame_registers;
};

static const struct pm_step unknown = {.kind = PM_STRIDE_IS_UNKNOWN};
static const struct pm_step nothing = {.kind = PM_STRIDE_IS_CONSTANT};
static const struct pm_step indirect = {.kind = PM_STRIDE_IS_INDIRECT};
static const struct pm_step invariant = {.kind = PM_STRIDE_IS_SYMBOLIC,
                                         .expression = "a register's value"};

/* ---- definitions --------------------------------------------------------------------------------
 */

static bool is_call(const struct pm_insn *insn) {
    return insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_CALL_INDIRECT;
}

static uint32_t defined_by(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    uint64_t defs = insn->registers->defs.general;
    if (is_call(insn))
        defs |= lifted->isa->all_registers.general & ~lifted->isa->callee_saved.general;
    return (uint32_t)defs;
}

/* The one sum of registers that the instruction gives to a register. */
static bool affine_of(const struct pm_lifted *lifted, uint32_t i, struct pm_definition *form) {
    const struct pm_insn *insn = &lifted->insns[i];
    struct pm_definition all[PM_MOST_DEFINITIONS] = {0};
    unsigned n = is_call(insn) || insn->n_memory
                     ? 0
                     : lifted->isa->define(pm_insn_bytes(lifted, i), insn, all);
    *form = all[0];
    return n > 0 && form->place < N_GENERAL && form->kind == PM_DEFINED_AS_SUM;
}

static bool adds_to_itself(const struct pm_definition *form) {
    return form->n_terms == 1 && form->terms[0].place == form->place && form->terms[0].factor == 1;
}

static void collect_definitions(struct pm_induction *n, const struct pm_routine_code *code) {
    const struct pm_lifted *lifted = n->lifted;
    for (int filling = 0; filling < 2; filling++) {
        for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++)
            for (uint32_t set = defined_by(lifted, &lifted->insns[i]); set; set &= set - 1) {
                int r = __builtin_ctz(set);
                if (filling)
                    n->defs[--n->first_def[r]] = i;
                else
                    n->first_def[r]++;
            }
        for (int r = 1; !filling && r <= N_GENERAL; r++)
            n->first_def[r] += n->first_def[r - 1];
        if (!filling)
            n->defs = pm_alloc(n->first_def[N_GENERAL], sizeof *n->defs);
    }
}

/* A frame pointer is only ever set from the stack pointer, or restored by a pop. */
static bool is_frame_pointer(const struct pm_induction *n, int r) {
    const struct pm_lifted *lifted = n->lifted;
    bool is_set = false;
    for (uint32_t d = n->first_def[r]; d < n->first_def[r + 1]; d++) {
        const struct pm_insn *insn = &lifted->insns[n->defs[d]];
        struct pm_definition form;
        bool restores = insn->n_memory > 0 && insn->memory[0].implicit && !is_call(insn);
        bool sets = affine_of(lifted, n->defs[d], &form) && form.n_terms == 1 &&
                    form.terms[0].place == lifted->isa->stack_pointer && form.terms[0].factor == 1;
        if (!restores && !sets)
            return false;
        is_set |= sets;
    }
    return is_set;
}

struct pm_induction *pm_induction_new(const struct pm_lifted *lifted, uint32_t routine) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_induction *n = pm_alloc(1, sizeof *n);
    n->lifted = lifted;
    n->structure = structure;
    n->routine = &structure->routines[routine];
    n->first_scope = n->routine->scope;
    uint32_t end = n->first_scope;
    while (end < structure->n_scopes && structure->scopes[end].routine == routine)
        end++;
    n->n_scopes = end - n->first_scope;
    n->in_every = pm_alloc(n->routine->n_blocks, 1);
    collect_definitions(n, &lifted->routine_codes[routine]);
    for (int r = 0; r < N_GENERAL; r++)
        if ((lifted->isa->callee_saved.general >> r & 1) && is_frame_pointer(n, r))
            n->frame_registers |= UINT32_C(1) << r;
    n->frame_registers |= UINT32_C(1) << lifted->isa->stack_pointer;
    return n;
}

void pm_induction_free(struct pm_induction *n) {
    if (!n)
        return;
    free(n->defs);
    free(n->memo);
    free(n->from_child);
    free(n->in_every);
    free(n->first_out);
    free(n->only_predecessor);
    free(n->targets);
    free(n);
}

bool pm_is_frame_register(const struct pm_induction *n, uint8_t number) {
    return number < N_GENERAL && (n->frame_registers >> number & 1);
}

/* ---- places -------------------------------------------------------------------------------------
 */

uint32_t pm_loop_around(const struct pm_structure *structure, uint32_t scope) {
    do
        scope = structure->scopes[scope].parent;
    while (scope != PM_NONE && structure->scopes[scope].kind != PM_SCOPE_LOOP);
    return scope;
}

static uint32_t loop_of(const struct pm_induction *n, uint32_t insn) {
    uint32_t block = n->lifted->insn_block[insn];
    return block == PM_NONE ? PM_NONE : n->structure->blocks[block].loop;
}

static bool is_in_loop(const struct pm_induction *n, uint32_t insn, uint32_t loop) {
    uint32_t at = loop_of(n, insn);
    while (at != PM_NONE && at > loop)
        at = pm_loop_around(n->structure, at);
    return at == loop;
}

static bool block_is_in_loop(const struct pm_structure *structure, uint32_t block, uint32_t loop) {
    uint32_t at = structure->blocks[block].loop;
    while (at != PM_NONE && at > loop)
        at = pm_loop_around(structure, at);
    return at == loop;
}

static void collect_successors(struct pm_induction *n) {
    const struct pm_edge *edges = n->structure->edges + n->routine->first_edge;
    uint32_t first = n->routine->first_block;
    n->first_out = pm_alloc(n->routine->n_blocks + 1, sizeof *n->first_out);
    n->targets = pm_alloc(n->routine->n_edges, sizeof *n->targets);
    for (uint32_t e = 0; e < n->routine->n_edges; e++)
        if (edges[e].from != PM_NONE && edges[e].to != PM_NONE)
            n->first_out[edges[e].from - first]++;
    for (uint32_t b = 1; b <= n->routine->n_blocks; b++)
        n->first_out[b] += n->first_out[b - 1];
    for (uint32_t e = 0; e < n->routine->n_edges; e++)
        if (edges[e].from != PM_NONE && edges[e].to != PM_NONE)
            n->targets[--n->first_out[edges[e].from - first]] = edges[e].to - first;
}

static void find_only_predecessors(struct pm_induction *n) {
    const struct pm_edge *edges = n->structure->edges + n->routine->first_edge;
    uint32_t first = n->routine->first_block;
    uint8_t *count = pm_alloc(n->routine->n_blocks, 1);
    n->only_predecessor = pm_alloc(n->routine->n_blocks, sizeof *n->only_predecessor);
    for (uint32_t b = 0; b < n->routine->n_blocks; b++)
        n->only_predecessor[b] = PM_NONE;
    for (uint32_t e = 0; e < n->routine->n_edges; e++) {
        if (edges[e].to == PM_NONE)
            continue;
        uint32_t to = edges[e].to - first;
        n->only_predecessor[to] = count[to] ? PM_NONE : edges[e].from;
        count[to] = 1;
    }
    free(count);
}

/* Whether every way once around LOOP leads through BLOCK: without it no latch is reached. */
static bool search_way_around(struct pm_induction *n, uint32_t loop, uint32_t block) {
    uint32_t first = n->routine->first_block, depth = 0;
    uint32_t header = n->structure->scopes[loop].header - first;
    if (!n->first_out)
        collect_successors(n);
    uint8_t *seen = pm_alloc(n->routine->n_blocks, 1);
    uint32_t *stack = pm_alloc(n->routine->n_blocks, sizeof *stack);
    bool around = false;
    stack[depth++] = header;
    seen[block - first] = 1; /* not to be entered */
    while (depth > 0 && !around) {
        uint32_t from = stack[--depth];
        for (uint32_t e = n->first_out[from]; e < n->first_out[from + 1]; e++) {
            uint32_t to = n->targets[e];
            around |= to == header;
            if (seen[to] || !block_is_in_loop(n->structure, first + to, loop))
                continue;
            seen[to] = 1;
            stack[depth++] = to;
        }
    }
    free(seen);
    free(stack);
    return !around;
}

static bool is_in_every_iteration(struct pm_induction *n, uint32_t loop, uint32_t insn) {
    uint32_t block = n->lifted->insn_block[insn];
    uint8_t *answer = &n->in_every[block - n->routine->first_block];
    if (block == n->structure->scopes[loop].header)
        return true;
    if (*answer == 0)
        *answer = search_way_around(n, loop, block) ? 2 : 1;
    return *answer == 2;
}

/* ---- steps --------------------------------------------------------------------------------------
 */

static struct pm_step add(struct pm_step a, struct pm_step b) {
    if (a.kind == PM_STRIDE_IS_INDIRECT || b.kind == PM_STRIDE_IS_INDIRECT)
        return indirect;
    if (a.kind == PM_STRIDE_IS_UNKNOWN || b.kind == PM_STRIDE_IS_UNKNOWN)
        return unknown;
    if (a.kind == PM_STRIDE_IS_SYMBOLIC || b.kind == PM_STRIDE_IS_SYMBOLIC)
        return invariant;
    a.bytes = (int64_t)((uint64_t)a.bytes + (uint64_t)b.bytes);
    return a;
}

static struct pm_step multiply(struct pm_step a, int64_t factor) {
    a.bytes = (int64_t)((uint64_t)a.bytes * (uint64_t)factor);
    return a;
}

static bool is_zero(struct pm_step step) {
    return step.kind == PM_STRIDE_IS_CONSTANT && step.bytes == 0;
}

static struct pm_step register_step(struct pm_induction *n, uint8_t r, uint32_t loop,
                                    uint32_t child, int depth);
static struct pm_step value_step(struct pm_induction *n, uint8_t r, uint32_t insn, uint32_t loop,
                                 uint32_t child, int depth);

/* INSN is the one definition in each iteration of LOOP, by FORM.  RUNS_ON: a loop inside adds to
   it. */
static struct pm_step affine_step(struct pm_induction *n, uint32_t insn,
                                  const struct pm_definition *form, uint32_t loop, bool runs_on,
                                  int depth) {
    struct pm_step others = nothing;
    int64_t own = 0;
    for (unsigned t = 0; t < form->n_terms; t++) {
        if (form->terms[t].place == form->place)
            own = form->terms[t].factor;
        else
            others = add(others,
                         multiply(value_step(n, form->terms[t].place, insn, loop, PM_NONE, depth),
                                  form->terms[t].factor));
    }
    if (own == 0)
        return others;
    return own == 1 && is_zero(others) && !runs_on ? invariant : unknown;
}

static bool overlap(const struct pm_memory_operand *a, const struct pm_memory_operand *b) {
    return a->displacement < b->displacement + b->size_bytes &&
           b->displacement < a->displacement + a->size_bytes;
}

/* Whether SLOT, a fixed place in the frame, keeps its value in LOOP: nothing there stores to it by
   the same base register, and nothing is called that might know its address. */
static bool is_kept(const struct pm_induction *n, const struct pm_memory_operand *slot,
                    uint32_t loop) {
    const struct pm_routine_code *code =
        &n->lifted->routine_codes[n->routine - n->structure->routines];
    for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++) {
        const struct pm_insn *insn = &n->lifted->insns[i];
        bool changes = is_call(insn);
        for (unsigned k = 0; k < insn->n_memory && !changes; k++)
            changes = (insn->memory[k].access & PM_ACCESS_STORE) && !insn->memory[k].implicit &&
                      insn->memory[k].base == slot->base && overlap(&insn->memory[k], slot);
        if (changes && is_in_loop(n, i, loop))
            return false;
    }
    return true;
}

/* What an access through a register that instruction I loads is. */
static struct pm_step loaded_step(struct pm_induction *n, uint32_t i, uint32_t loop, uint32_t child,
                                  int depth) {
    const struct pm_insn *insn = &n->lifted->insns[i];
    const struct pm_memory_operand *from = &insn->memory[0];
    if (is_call(insn) || insn->n_memory != 1 || from->implicit || !(from->access & PM_ACCESS_LOAD))
        return unknown;
    if (pm_is_frame_register(n, from->base) && from->index == PM_REGISTER_NONE)
        return is_kept(n, from, loop) ? nothing : unknown;
    struct pm_step step = nothing;
    if (from->base < N_GENERAL)
        step = add(step, value_step(n, from->base, i, loop, child, depth));
    if (from->index < N_GENERAL)
        step = add(step, value_step(n, from->index, i, loop, child, depth));
    return is_zero(step) || step.kind == PM_STRIDE_IS_UNKNOWN ? unknown : indirect;
}

/* Step in LOOP of the value that register R has before INSN: through its definitions in the same
   iteration, back to the innermost loop's header or a join, and from there of the register. */
static struct pm_step value_step(struct pm_induction *n, uint8_t r, uint32_t insn, uint32_t loop,
                                 uint32_t child, int depth) {
    const struct pm_lifted *lifted = n->lifted;
    uint32_t block = lifted->insn_block[insn], innermost = loop_of(n, insn), i = insn;
    if (depth >= MOST_NESTED)
        return unknown;
    if (!n->only_predecessor)
        find_only_predecessors(n);
    for (int blocks = 0; blocks < MOST_BLOCKS_BACK; blocks++) {
        while (i-- > lifted->block_codes[block].first_insn) {
            struct pm_definition form;
            if (!(defined_by(lifted, &lifted->insns[i]) >> r & 1))
                continue;
            if (!affine_of(lifted, i, &form))
                return loaded_step(n, i, loop, child, depth + 1);
            struct pm_step step = nothing;
            for (unsigned t = 0; t < form.n_terms; t++)
                step = add(step,
                           multiply(value_step(n, form.terms[t].place, i, loop, child, depth + 1),
                                    form.terms[t].factor));
            return step;
        }
        if (innermost == PM_NONE || block == n->structure->scopes[innermost].header)
            break;
        uint32_t before = n->only_predecessor[block - n->routine->first_block];
        if (before == PM_NONE || n->structure->blocks[before].loop != innermost)
            break;
        block = before;
        i = lifted->block_codes[block].first_insn + lifted->block_codes[block].n_insns;
    }
    return register_step(n, r, loop, child, depth);
}

static struct pm_step find_step(struct pm_induction *n, uint8_t r, uint32_t loop, uint32_t child,
                                int depth) {
    bool in_child = false, irregular = false, only_additions = true;
    uint32_t n_defs = 0, last = 0;
    int64_t sum = 0;
    struct pm_definition form = {0};
    for (uint32_t d = n->first_def[r]; d < n->first_def[r + 1]; d++) {
        uint32_t insn = n->defs[d];
        if (!is_in_loop(n, insn, loop))
            continue;
        if (child != PM_NONE && is_in_loop(n, insn, child)) {
            in_child = true;
            continue;
        }
        n_defs++;
        last = insn;
        irregular |= loop_of(n, insn) != loop || !is_in_every_iteration(n, loop, insn);
        if (affine_of(n->lifted, insn, &form) && adds_to_itself(&form))
            sum = (int64_t)((uint64_t)sum + (uint64_t)form.constant);
        else
            only_additions = false;
    }
    if (n_defs == 0)
        return in_child ? unknown : nothing;
    if (only_additions)
        return in_child || irregular ? unknown : (struct pm_step){PM_STRIDE_IS_CONSTANT, sum, NULL};
    if (n_defs > 1)
        return unknown;
    if (!affine_of(n->lifted, last, &form))
        return loaded_step(n, last, loop, PM_NONE, depth);
    return irregular ? unknown : affine_step(n, last, &form, loop, in_child, depth);
}

static struct pm_step register_step(struct pm_induction *n, uint8_t r, uint32_t loop,
                                    uint32_t child, int depth) {
    if (depth == MOST_NESTED)
        return unknown;
    if (!n->memo) {
        n->memo = pm_alloc((size_t)n->n_scopes * N_GENERAL, sizeof *n->memo);
        n->from_child = pm_alloc((size_t)n->n_scopes * N_GENERAL, sizeof *n->from_child);
    }
    struct memo *memo = child == PM_NONE ? n->memo : n->from_child;
    memo += (size_t)((child == PM_NONE ? loop : child) - n->first_scope) * N_GENERAL + r;
    if (memo->known)
        return memo->step;
    memo->known = true; /* meanwhile, and where it depends on itself */
    memo->step = unknown;
    memo->step = find_step(n, r, loop, child, depth + 1);
    return memo->step;
}

struct pm_step pm_operand_step(struct pm_induction *n, uint32_t insn,
                               const struct pm_memory_operand *operand, uint32_t loop,
                               uint32_t child) {
    if (operand->kind == PM_PROBE_GATHER_K || operand->kind == PM_PROBE_GATHER_V)
        return indirect;
    struct pm_step step = nothing;
    if (operand->base < N_GENERAL)
        step = add(step, value_step(n, operand->base, insn, loop, child, 0));
    if (operand->index < N_GENERAL)
        step = add(step, multiply(value_step(n, operand->index, insn, loop, child, 0),
                                  operand->scale ? operand->scale : 1));
    return step;
}

/* ---- origins ------------------------------------------------------------------------------------
 */

/* Several definitions in the innermost loop that are no additions: the register has several
   meanings there. */
static bool has_many_meanings(const struct pm_induction *n, uint8_t r, uint32_t loop) {
    uint32_t meanings = 0;
    for (uint32_t d = n->first_def[r]; d < n->first_def[r + 1] && meanings < 2; d++) {
        struct pm_definition form;
        if (is_in_loop(n, n->defs[d], loop) &&
            !(affine_of(n->lifted, n->defs[d], &form) && adds_to_itself(&form)))
            meanings++;
    }
    return meanings > 1;
}

/* Where the value of register R at INSN comes from: back through copies and additions within the
   basic block. */
static uint64_t register_origin(const struct pm_induction *n, uint32_t insn, uint8_t r) {
    uint32_t block = n->lifted->insn_block[insn], loop = loop_of(n, insn);
    uint32_t first = n->lifted->block_codes[block].first_insn;
    for (uint32_t i = insn; i-- > first;) {
        struct pm_definition form;
        if (!(defined_by(n->lifted, &n->lifted->insns[i]) >> r & 1))
            continue;
        if (!affine_of(n->lifted, i, &form) || form.n_terms != 1 || form.terms[0].factor != 1)
            return (uint64_t)i << 8 | 0x40;
        r = form.terms[0].place;
    }
    if (loop != PM_NONE && has_many_meanings(n, r, loop))
        return (uint64_t)block << 8 | 0x80 | r;
    return r;
}

uint64_t pm_operand_origin(struct pm_induction *n, uint32_t insn,
                           const struct pm_memory_operand *operand) {
    uint64_t base = operand->base < N_GENERAL ? register_origin(n, insn, operand->base) : 0xff;
    uint64_t index = operand->index < N_GENERAL ? register_origin(n, insn, operand->index) : 0xff;
    return (base * UINT64_C(0x9e3779b97f4a7c15)) ^ (index * UINT64_C(0xc2b2ae3d27d4eb4f)) ^
           ((uint64_t)operand->segment << 60);
}
