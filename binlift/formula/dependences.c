/* Dependences through memory between the references of one loop (Marin & Mellor-Crummey 2004,
   section 2.1).  Needs references and reference groups.

   Two references that are directly in a loop, one of them a store, with addresses A and B in an
   iteration and the stride S: in the iteration d later the second is at B + d·S.  The difference of
   the formulas tells.
     - B − A constant, S constant: they touch the same bytes for every d with
       −bytes(B) < B − A + d·S < bytes(A): the same location, d iterations later; for no d:
       independent.
     - B − A = k·S with a symbolic S: the same location, −k iterations later.
     - Else independent where they are different objects with a name, or one is a place in the frame
       that no pointer reaches; where the compiler says so; unknown where nobody knows.
   What push, pop, call, ret, enter and leave move is taken as independent of all else, because its
   place in the frame has no other use; what called routines access is not looked at.  Objects are
   taken not to be overrun.  Gathers, scatters, masked and string accesses are unknown, unless the
   compiler knows. */
#include "binlift/batches.h"
#include "binlift/formula/groups.h"
#include "binlift/metadata/metadata.h"

#include <stdlib.h>

enum {
    MOST_PAIRS = 1 << 15, /* looked at for one loop, else all of its pairs are unknown */
    MOST_UNKNOWN = 1024,  /* listed for one loop */
    MOST_MULTIPLE = 16,   /* of symbolic strides */
};

struct access {
    uint32_t reference, insn, operand;
    struct pm_formula address;
    struct pm_step step;
    struct pm_formula stride; /* if symbolic */
    const char *object;
    bool is_fixed, is_frame, is_slot;
};

struct search {
    struct pm_describer describer;
    const struct pm_structure *structure;
    PM_ARRAY(struct pm_dependence, dependences); /* found */
    PM_ARRAY(struct access, accesses);           /* of the loop at hand, in order of address */
    uint32_t loop;
    size_t n_unknown;
};

/* ---- accesses -------------------------------------------------------------------------------- */

static void add_access(struct search *search, uint32_t insn, uint32_t reference) {
    struct pm_formulas *formulas = search->describer.formulas;
    struct access *access = PM_PUSH(search, accesses);
    struct pm_formula rest;
    int64_t constant;
    access->reference = reference;
    access->insn = insn;
    access->operand = search->structure->references[reference].operand;
    access->address = pm_formula_of_operand(formulas, insn, access->operand);
    access->step = pm_formula_step(formulas, &access->address, search->loop);
    if (access->step.kind == PM_STRIDE_SYMBOLIC)
        pm_formula_split(formulas, &access->address, search->loop, &rest, &access->stride);
    access->is_frame = pm_formula_is_frame(formulas, &access->address, &constant);
    access->is_slot = pm_formula_is_slot(formulas, insn, access->operand);
    access->is_fixed = pm_formula_is_fixed(formulas, &access->address, &constant);
    if (access->is_fixed)
        access->object =
            pm_data_symbol_at(search->describer.lifted->data_symbols, (uint64_t)constant);
}

static bool is_left_out(const struct search *search, const struct pm_reference *reference) {
    return (search->structure->groups[reference->group].flags &
            (PM_GROUP_PUSHED | PM_GROUP_CALLED)) != 0;
}

static const struct pm_reference *reference_of(const struct search *search,
                                               const struct access *access) {
    return &search->structure->references[access->reference];
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void add_dependence(struct search *search, uint32_t from, uint32_t to,
                           enum pm_dependence_kind kind, uint32_t distance) {
    *PM_PUSH(search, dependences) =
        (struct pm_dependence){search->loop, from, to, distance, (uint8_t)kind};
}

static void add_same(struct search *search, const struct access *a, const struct access *b,
                     int64_t distance) {
    bool is_forward = distance > 0 || (distance == 0 && a <= b);
    uint64_t size = distance < 0 ? 0 - (uint64_t)distance : (uint64_t)distance;
    if (size <= UINT32_MAX)
        add_dependence(search, is_forward ? a->reference : b->reference,
                       is_forward ? b->reference : a->reference, PM_DEPENDS_SAME, (uint32_t)size);
}

static int64_t divide_down(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Every d with −size(B) < DIFFERENCE + d·STRIDE < size(A); the nearest ones where there are many.
   DIFFERENCE and STRIDE are below 2^62 in size. */
static void add_overlaps(struct search *search, const struct access *a, const struct access *b,
                         int64_t difference, int64_t stride) {
    int64_t size_a = reference_of(search, a)->size_bytes;
    int64_t size_b = reference_of(search, b)->size_bytes;
    if (stride == 0) {
        if (difference <= -size_b || difference >= size_a)
            return;
        if (a != b)
            add_same(search, a, b, 0);
        add_same(search, b, a, 1); /* and what comes later in one is there in the next */
        return;
    }
    int64_t at_low = divide_down(-size_b - difference, stride);
    int64_t at_high = divide_down(size_a - difference, stride);
    if (at_low > at_high) {
        int64_t swap = at_low;
        at_low = at_high;
        at_high = swap;
    }
    if (at_high - at_low > MOST_MULTIPLE) { /* steps much smaller than the access */
        if (a != b)
            add_same(search, a, b, 0);
        add_same(search, a, b, 1);
        add_same(search, b, a, 1);
        return;
    }
    for (int64_t d = at_low - 1; d <= at_high + 1; d++) {
        int64_t place = difference + d * stride;
        if (place > -size_b && place < size_a && (a != b || d > 0))
            add_same(search, a, b, d);
    }
}

static bool says_compiler(const struct search *search, const struct access *a,
                          const struct access *b) {
    return pm_compiler_says_apart(&search->describer, search->loop, a->insn, a->operand, b->insn,
                                  b->operand);
}

static bool are_plain(const struct search *search, const struct access *a, const struct access *b) {
    return reference_of(search, a)->kind == PM_ACCESS_PLAIN &&
           reference_of(search, b)->kind == PM_ACCESS_PLAIN;
}

static bool are_different_objects(const struct access *a, const struct access *b) {
    if (a->is_fixed && b->is_fixed && a->object && b->object)
        return a->object != b->object;
    /* A slot's formula may begin at a frame pointer that nobody knows more of. */
    bool is_frame_a = a->is_frame || a->is_slot, is_frame_b = b->is_frame || b->is_slot;
    return (is_frame_a && b->is_fixed) || (is_frame_b && a->is_fixed) ||
           (a->is_slot && !is_frame_b) || (b->is_slot && !is_frame_a);
}

static bool is_small(int64_t number) {
    return number > -(INT64_C(1) << 40) && number < INT64_C(1) << 40;
}

/* True: all that is to be said was. */
static bool compare_formulas(struct search *search, const struct access *a,
                             const struct access *b) {
    struct pm_formula difference;
    int64_t bytes;
    if (!pm_formula_subtract(&b->address, &a->address, &difference))
        return false;
    bool is_constant = pm_formula_constant(&difference, &bytes);
    if (is_constant && a->step.kind == PM_STRIDE_CONSTANT && is_small(bytes) &&
        is_small(a->step.bytes)) {
        add_overlaps(search, a, b, bytes, a->step.bytes);
        return true;
    }
    if (a->step.kind != PM_STRIDE_SYMBOLIC || b->step.kind != PM_STRIDE_SYMBOLIC)
        return false;
    /* B − A − k·S = 0.  Strides are taken to be wider than what is accessed. */
    for (int k = -MOST_MULTIPLE; k <= MOST_MULTIPLE; k++) {
        struct pm_formula rest = difference;
        if (pm_formula_add(&rest, &a->stride, -k) && rest.n_terms == 0) {
            add_same(search, a, b, -k);
            return true;
        }
    }
    return false;
}

static void compare(struct search *search, const struct access *a, const struct access *b) {
    const struct pm_reference *one = reference_of(search, a), *other = reference_of(search, b);
    if (!((one->access | other->access) & PM_ACCESS_STORE) ||
        (a == b && one->access != PM_ACCESS_BOTH))
        return;
    if (are_different_objects(a, b))
        return;
    if (are_plain(search, a, b) && compare_formulas(search, a, b))
        return;
    if (says_compiler(search, a, b))
        return;
    if (search->n_unknown++ < MOST_UNKNOWN)
        add_dependence(search, a->reference, b->reference, PM_DEPENDS_UNKNOWN, 0);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void compare_all(struct search *search) {
    size_t first = search->n_dependences, n_stores = 0;
    search->n_unknown = 0;
    for (size_t i = 0; i < search->n_accesses; i++)
        n_stores += (reference_of(search, &search->accesses[i])->access & PM_ACCESS_STORE) != 0;
    bool too_many = n_stores * search->n_accesses > MOST_PAIRS;
    for (size_t i = 0; i < search->n_accesses && !too_many && n_stores; i++)
        for (size_t k = i; k < search->n_accesses; k++)
            compare(search, &search->accesses[i], &search->accesses[k]);
    if (!too_many && search->n_unknown <= MOST_UNKNOWN)
        return;
    /* One record for all that are not listed. */
    size_t kept = first;
    for (size_t i = first; i < search->n_dependences; i++)
        if (search->dependences[i].kind == PM_DEPENDS_SAME)
            search->dependences[kept++] = search->dependences[i];
    search->n_dependences = kept;
    add_dependence(search, PM_NONE, PM_NONE, PM_DEPENDS_UNKNOWN, 0);
}

static void search_loop(struct search *search, const uint32_t *blocks, size_t n_blocks) {
    const struct pm_lifted *lifted = search->describer.lifted;
    size_t n = 0, n_stores = 0;
    for (size_t i = 0; i < n_blocks; i++) {
        const struct pm_block *block = &search->structure->blocks[blocks[i]];
        for (uint32_t r = 0; r < block->n_references; r++) {
            const struct pm_reference *reference =
                &search->structure->references[block->first_reference + r];
            if (is_left_out(search, reference))
                continue;
            n++;
            n_stores += (reference->access & PM_ACCESS_STORE) != 0;
        }
    }
    if (n_stores == 0)
        return;
    search->n_accesses = 0;
    if (n * n_stores > MOST_PAIRS) {
        add_dependence(search, PM_NONE, PM_NONE, PM_DEPENDS_UNKNOWN, 0);
        return;
    }
    for (size_t i = 0; i < n_blocks; i++) {
        const struct pm_block_code *code = &lifted->block_codes[blocks[i]];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            for (uint32_t r = lifted->insn_references[k]; r < lifted->insn_references[k + 1]; r++)
                if (!is_left_out(search, &search->structure->references[r]))
                    add_access(search, k, r);
    }
    compare_all(search);
}

struct member {
    uint32_t loop, block;
};

static int compare_members(const void *left, const void *right) {
    const struct member *a = left, *b = right;
    if (a->loop != b->loop)
        return PM_COMPARE(a->loop, b->loop);
    return PM_COMPARE(a->block, b->block);
}

static void search_routine(struct search *search, uint32_t routine) {
    const struct pm_structure *s = search->structure;
    const struct pm_routine *r = &s->routines[routine];
    struct member *members = pm_alloc(r->n_blocks, sizeof *members);
    uint32_t *blocks = pm_alloc(r->n_blocks, sizeof *blocks);
    size_t n = 0;
    for (uint32_t b = r->first_block; b < r->first_block + r->n_blocks; b++)
        if (s->blocks[b].loop != PM_NONE)
            members[n++] = (struct member){s->blocks[b].loop, b};
    PM_SORT(members, n, compare_members);
    for (size_t i = 0; i < n;) {
        size_t n_blocks = 0;
        for (search->loop = members[i].loop; i < n && members[i].loop == search->loop; i++)
            blocks[n_blocks++] = members[i].block;
        search_loop(search, blocks, n_blocks);
    }
    free(members);
    free(blocks);
}

static void search_batch(struct search *search, const struct pm_batch *routines) {
    for (uint32_t r = routines->first; r < routines->end; r++) {
        if (search->structure->routines[r].n_blocks == 0)
            continue;
        search->describer.formulas = pm_formulas_new(search->describer.lifted, r);
        search_routine(search, r);
        pm_formulas_free(search->describer.formulas);
    }
    free(search->accesses);
}

static int compare_dependences(const void *left, const void *right) {
    const struct pm_dependence *a = left, *b = right;
    const uint32_t of_a[] = {a->scope, a->from, a->to, a->distance, a->kind};
    const uint32_t of_b[] = {b->scope, b->from, b->to, b->distance, b->kind};
    for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

/* Scopes are not in the order of routines: clones stand under the routine they were made of. */
static void sort_dependences(struct pm_structure *structure) {
    bool is_sorted = true;
    for (size_t i = 1; i < structure->n_dependences && is_sorted; i++)
        is_sorted = structure->dependences[i - 1].scope <= structure->dependences[i].scope;
    if (!is_sorted)
        PM_SORT(structure->dependences, structure->n_dependences, compare_dependences);
}

void pm_find_dependences(struct pm_lifted *lifted) {
    struct pm_batches routines = {0};
    pm_divide_routines(lifted, &routines);
    struct search *searches = pm_alloc(routines.n_items, sizeof *searches);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < routines.n_items; i++) {
        searches[i].structure = lifted->structure;
        searches[i].describer = (struct pm_describer){.lifted = lifted};
        search_batch(&searches[i], &routines.items[i]);
    }
    for (size_t i = 0; i < routines.n_items; i++) {
        for (size_t d = 0; d < searches[i].n_dependences; d++)
            *PM_PUSH(lifted->structure, dependences) = searches[i].dependences[d];
        free(searches[i].dependences);
    }
    sort_dependences(lifted->structure);
    free(searches);
    free(routines.items);
}
