/* Who is right about strides: the compiler (what a lift with metadata says), the code alone (a lift
   that ignores it), or neither?  A trace decides that neither of them made: valgrind's lackey, with
   every instruction and every address.

     check_strides PROGRAM LACKEY_LOG      PROGRAM linked with -no-pie, built with the plugin

   The instructions of the log are followed through the basic blocks, with a stack of calls, so
   that for each access the iteration of each loop around it is known.  The step of a reference in a
   loop is the difference of its addresses in two iterations of one execution of that loop, divided
   by the number of iterations between; for a loop further out, of the accesses in the first
   iterations of the loops in between.  A claim is

     constant     right if all steps are that number of bytes
     symbolic     right if the steps of one execution of the loop are all the same
     indirect     never wrong: steps of such a reference may be anything
     unknown      silent

   A wrong claim is explained, and counted apart, in two cases, both of them about loops that are
   not the source's any more: several      all steps are multiples of the compiler's stride, of its
   sign: jump threading made a loop of which one iteration holds several of the source's irreducible
   the nest holds a region with several entries, which the compiler does not call a loop, so that
   levels of both sides do not correspond

   Left out: string instructions, masked accesses and gathers, whose addresses lackey does not show
   one by one, instructions with two memory operands, and what makes fewer than two steps.
   Prints a line for each claim that is wrong, and counts.  Status 3 if one is not explained. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/lifted.h"
#include "core/probe_abi.h"

enum { MOST_LEVELS = 16 };

/* ---- what was observed ---------------------------------------------------------------------- */

struct level { /* of one reference in one loop around it */
    bool has_last;
    uint64_t execution, last; /* of the loop, and the address in its iteration `iteration` */
    int64_t iteration;
    bool has_step, varies;           /* over all executions */
    int64_t step;                    /* the first one seen */
    bool has_inner_step, is_variant; /* within one execution */
    int64_t inner_step;
    uint64_t n_steps;
    uint64_t divisor; /* greatest common one of all steps */
    bool goes_up, goes_down;
};

struct observed {
    struct level levels[MOST_LEVELS]; /* innermost loop first */
};

/* ---- where the program is ------------------------------------------------------------------- */

struct active_loop {
    uint32_t scope;
    int64_t iteration;
    uint64_t execution;
};

struct frame { /* a call that is under way */
    uint64_t return_address;
    uint32_t routine;
    struct active_loop loops[MOST_LEVELS]; /* outermost first */
    unsigned n_loops;
};

struct run {
    const struct pm_lifted *lifted;
    struct observed *of_reference;
    PM_ARRAY(struct frame, frames);
    uint64_t n_executions;
    uint32_t insn;        /* the one at hand; PM_NONE: of a library */
    uint32_t before;      /* the last one that was lifted */
    bool is_first_access; /* of the instruction at hand */
};

/* Loops around SCOPE, outermost first; false: too many. */
static bool loops_around(const struct pm_structure *structure, uint32_t loop, uint32_t *loops,
                         unsigned *n) {
    unsigned depth = 0;
    for (uint32_t s = loop; s != PM_NONE; s = structure->scopes[s].parent)
        depth += structure->scopes[s].kind == PM_SCOPE_LOOP;
    if (depth > MOST_LEVELS)
        return false;
    *n = depth;
    for (uint32_t s = loop; s != PM_NONE; s = structure->scopes[s].parent)
        if (structure->scopes[s].kind == PM_SCOPE_LOOP)
            loops[--depth] = s;
    return true;
}

/* Control is at the start of BLOCK: which loops go on, begin, or begin another iteration. */
static void enter_block(struct run *run, uint32_t block) {
    const struct pm_structure *structure = run->lifted->structure;
    struct frame *frame = &run->frames[run->n_frames - 1];
    uint32_t loops[MOST_LEVELS];
    unsigned n = 0, same = 0;
    if (frame->routine != structure->blocks[block].routine)
        frame->n_loops = 0; /* a tail call */
    frame->routine = structure->blocks[block].routine;
    if (!loops_around(structure, structure->blocks[block].loop, loops, &n))
        n = 0;
    while (same < n && same < frame->n_loops && frame->loops[same].scope == loops[same])
        same++;
    if (same && same == n && structure->scopes[loops[n - 1]].header == block)
        frame->loops[n - 1].iteration++;
    for (; same < n; same++)
        frame->loops[same] = (struct active_loop){loops[same], 0, ++run->n_executions};
    frame->n_loops = n;
}

static bool is_call(const struct pm_insn *insn) {
    return insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_CALL_INDIRECT;
}

static void execute(struct run *run, uint64_t address) {
    const struct pm_lifted *lifted = run->lifted;
    uint32_t k = address >= lifted->text_low && address < lifted->text_high
                     ? pm_insn_at(lifted, address)
                     : PM_NONE;
    run->insn = k;
    run->is_first_access = true;
    if (k == PM_NONE || lifted->insn_block[k] == PM_NONE) {
        run->insn = PM_NONE;
        return;
    }
    if (run->before != PM_NONE && is_call(&lifted->insns[run->before])) {
        const struct pm_insn *call = &lifted->insns[run->before];
        *PM_PUSH(run, frames) =
            (struct frame){.return_address = call->address + call->length, .routine = PM_NONE};
    }
    run->before = k;
    for (size_t i = run->n_frames; i-- > 1;)
        if (run->frames[i].return_address == address) {
            run->n_frames = i; /* longjmp and exceptions leave several at once */
            break;
        }
    uint32_t block = lifted->insn_block[k];
    if (lifted->block_codes[block].first_insn == k)
        enter_block(run, block);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, int64_t step) {
    uint64_t b = step < 0 ? -(uint64_t)step : (uint64_t)step;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void observe_level(struct level *level, const struct active_loop *loop, uint64_t address) {
    if (level->has_last && level->execution == loop->execution &&
        loop->iteration > level->iteration) {
        int64_t distance = (int64_t)(address - level->last);
        int64_t iterations = loop->iteration - level->iteration, step = distance / iterations;
        bool divides = step * iterations == distance;
        level->varies |= !divides || (level->has_step && step != level->step);
        level->is_variant |= !divides || (level->has_inner_step && step != level->inner_step);
        level->step = level->has_step ? level->step : step;
        level->inner_step = step;
        level->has_step = level->has_inner_step = true;
        level->n_steps++;
        level->divisor = divides ? common_divisor(level->divisor, step) : 1;
        level->goes_up |= step > 0;
        level->goes_down |= step < 0;
    } else if (level->has_last && level->execution == loop->execution) {
        return; /* again in the same iteration */
    } else {
        level->has_inner_step = false;
    }
    level->has_last = true;
    level->execution = loop->execution;
    level->iteration = loop->iteration;
    level->last = address;
}

/* The reference of instruction K, if its address is the first that lackey shows. */
static uint32_t plain_reference(const struct pm_lifted *lifted, uint32_t k) {
    uint32_t first = lifted->insn_references[k];
    if (lifted->insns[k].n_memory != 1 || lifted->insn_references[k + 1] - first != 1 ||
        lifted->structure->references[first].kind != PM_ACCESS_PLAIN)
        return PM_NONE;
    return first;
}

static void observe(struct run *run, uint64_t address) {
    if (run->insn == PM_NONE || !run->is_first_access)
        return;
    run->is_first_access = false;
    uint32_t reference = plain_reference(run->lifted, run->insn);
    const struct frame *frame = &run->frames[run->n_frames - 1];
    if (reference == PM_NONE)
        return;
    struct observed *observed = &run->of_reference[reference];
    for (unsigned level = 0; level < frame->n_loops; level++) {
        const struct active_loop *loop = &frame->loops[frame->n_loops - 1 - level];
        observe_level(&observed->levels[level], loop, address);
        if (loop->iteration > 0)
            break; /* the loops further out see first iterations only */
    }
}

static bool follow_log(struct run *run, const char *path) {
    FILE *log = fopen(path, "r");
    char line[256];
    if (!log)
        return false;
    *PM_PUSH(run, frames) = (struct frame){.routine = PM_NONE};
    run->insn = run->before = PM_NONE;
    while (fgets(line, sizeof line, log)) {
        uint64_t address = strlen(line) > 3 ? strtoull(line + 3, NULL, 16) : 0;
        if (line[0] == 'I' && line[1] == ' ')
            execute(run, address);
        else if (line[0] == ' ' && strchr("LSM", line[1]) && line[2] == ' ')
            observe(run, address);
    }
    fclose(log);
    return true;
}

/* ---- verdicts ------------------------------------------------------------------------------- */

enum verdict { SILENT, RIGHT, WRONG };

static enum verdict judge(const struct pm_stride *claim, const struct level *seen) {
    switch (claim ? claim->kind : PM_STRIDE_UNKNOWN) {
    case PM_STRIDE_CONSTANT:
        return seen->varies || seen->step != claim->bytes ? WRONG : RIGHT;
    case PM_STRIDE_SYMBOLIC:
        return seen->is_variant ? WRONG : RIGHT;
    case PM_STRIDE_INDIRECT:
        return RIGHT;
    default:
        return SILENT;
    }
}

static int by_place(const void *key, const void *item) {
    const struct pm_reference *x = key, *y = item;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->operand > y->operand) - (x->operand < y->operand);
}

/* What LIFTED says of the step of the reference like WANTED in the loop with this HEADER. */
static const struct pm_stride *claim_of(const struct pm_lifted *lifted,
                                        const struct pm_reference *wanted, uint64_t header) {
    const struct pm_structure *structure = lifted->structure;
    const struct pm_reference *found =
        bsearch(wanted, structure->references, structure->n_references, sizeof *found, by_place);
    if (!found || found->group == PM_NONE)
        return NULL;
    const struct pm_group *group = &structure->groups[found->group];
    uint32_t level = 0;
    for (uint32_t s = structure->blocks[found->block].loop;
         s != PM_NONE && level < group->n_strides; s = structure->scopes[s].parent) {
        if (structure->scopes[s].kind != PM_SCOPE_LOOP)
            continue;
        if (structure->blocks[structure->scopes[s].header].address == header)
            return &group->strides[level];
        level++;
    }
    return NULL;
}

static void print_claim(const char *who, const struct pm_stride *claim) {
    static const char *const kinds[] = {"unknown", "constant", "symbolic", "indirect"};
    if (claim && claim->kind == PM_STRIDE_CONSTANT)
        printf(", %s %" PRId64, who, claim->bytes);
    else if (claim && claim->kind == PM_STRIDE_SYMBOLIC && claim->expression)
        printf(", %s %s", who, claim->expression);
    else
        printf(", %s %s", who, kinds[claim ? claim->kind : 0]);
}

/* Why the claim of a wrong step is no mistake in the step; NULL: it is one. */
static const char *explanation(const struct pm_structure *structure, uint32_t innermost,
                               const struct pm_stride *claim, const struct level *seen) {
    for (uint32_t s = innermost; s != PM_NONE; s = structure->scopes[s].parent)
        if (structure->scopes[s].flags & PM_SCOPE_IRREDUCIBLE)
            return "irreducible";
    if (claim && claim->kind == PM_STRIDE_CONSTANT && claim->bytes && seen->varies &&
        !(claim->bytes > 0 ? seen->goes_down : seen->goes_up) &&
        seen->divisor % (uint64_t)llabs(claim->bytes) == 0)
        return "several";
    return NULL;
}

static unsigned verdicts[3][3]; /* compiler, binary */
static unsigned n_explained, n_unexplained;

static void judge_level(const struct pm_lifted *compiler, const struct pm_lifted *binary,
                        uint32_t reference, uint32_t loop, const struct level *seen) {
    const struct pm_structure *structure = compiler->structure;
    const struct pm_reference *wanted = &structure->references[reference];
    const struct pm_scope *scope = &structure->scopes[loop];
    uint64_t header = structure->blocks[scope->header].address;
    const struct pm_stride *left = claim_of(compiler, wanted, header);
    const struct pm_stride *right = claim_of(binary, wanted, header);
    bool told =
        wanted->group != PM_NONE && structure->groups[wanted->group].flags & PM_GROUP_FROM_COMPILER;
    enum verdict a = judge(left, seen), b = judge(right, seen);
    verdicts[a][b]++;
    if (a != WRONG && b != WRONG)
        return;
    printf("  0x%" PRIx64 " in the loop at %s:%u (depth %u): steps ", wanted->address,
           scope->file ? scope->file : "?", scope->line_first, scope->depth);
    if (seen->varies)
        printf("vary%s", seen->is_variant ? "" : " between executions only");
    else
        printf("%" PRId64, seen->step);
    print_claim(told ? "compiler" : "with metadata", left);
    print_claim("binary", right);
    uint32_t innermost = structure->blocks[wanted->block].loop;
    const char *of_compiler = a == WRONG ? explanation(structure, innermost, left, seen) : "";
    const char *of_binary = b == WRONG ? explanation(structure, innermost, right, seen) : "";
    bool explained = of_compiler && of_binary;
    *(explained ? &n_explained : &n_unexplained) += 1;
    printf(" (%s)\n", !explained ? "not explained" : *of_compiler ? of_compiler : of_binary);
}

static void judge_all(const struct run *run, const struct pm_lifted *binary) {
    const struct pm_structure *structure = run->lifted->structure;
    for (uint32_t r = 0; r < structure->n_references; r++) {
        unsigned level = 0;
        for (uint32_t s = structure->blocks[structure->references[r].block].loop; s != PM_NONE;
             s = structure->scopes[s].parent) {
            if (structure->scopes[s].kind != PM_SCOPE_LOOP || level >= MOST_LEVELS)
                continue;
            const struct level *seen = &run->of_reference[r].levels[level++];
            if (seen->n_steps >= 2)
                judge_level(run->lifted, binary, r, s, seen);
        }
    }
}

int main(int argc, char **argv) {
    const struct pm_lift_options ignore = {.ignore_metadata = true};
    struct pm_error err = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: check_strides PROGRAM LACKEY_LOG\n");
        return 2;
    }
    struct pm_lifted *lifted = pm_lift(argv[1], NULL, &err);
    struct pm_lifted *binary = lifted ? pm_lift(argv[1], &ignore, &err) : NULL;
    if (!binary) {
        fprintf(stderr, "check_strides: %s\n", err.text);
        return 2;
    }
    struct run run = {.lifted = lifted,
                      .of_reference =
                          pm_alloc(lifted->structure->n_references + 1, sizeof(struct observed))};
    if (!follow_log(&run, argv[2])) {
        fprintf(stderr, "check_strides: %s cannot be read\n", argv[2]);
        return 1;
    }
    judge_all(&run, binary);
    unsigned all = 0;
    for (unsigned a = 0; a < 3; a++)
        for (unsigned b = 0; b < 3; b++)
            all += verdicts[a][b];
    printf(
        "{\"steps\": %u, \"both_right\": %u, \"only_compiler\": %u, \"only_binary\": %u, "
        "\"both_silent\": %u, \"compiler_wrong\": %u, \"binary_wrong\": %u, \"explained\": %u}\n",
        all, verdicts[RIGHT][RIGHT], verdicts[RIGHT][SILENT], verdicts[SILENT][RIGHT],
        verdicts[SILENT][SILENT], verdicts[WRONG][0] + verdicts[WRONG][1] + verdicts[WRONG][2],
        verdicts[0][WRONG] + verdicts[1][WRONG] + verdicts[2][WRONG], n_explained);
    free(run.of_reference);
    free(run.frames);
    pm_lifted_free(binary);
    pm_lifted_free(lifted);
    return n_unexplained || all == 0 ? 3 : 0;
}
