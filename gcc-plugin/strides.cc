/* The strides of an access: by how many bytes its address moves in one iteration of each loop
   around it.  Scalar evolutions answer first where GCC has them (between the passes `loopinit` and
   `loopdone`); the walk of derivative.cc answers the rest. */
#include "function_state.h"

/* The address as a sum; terms that never move, as the address of a variable, are left out. */
std::vector<pm_address_term> pm_address_of_reference(tree reference) {
    std::vector<pm_address_term> terms;
    tree base = reference;
    if (TREE_CODE(reference) != TARGET_MEM_REF && REFERENCE_CLASS_P(reference)) {
        poly_int64 size, position;
        tree offset;
        machine_mode mode;
        int is_unsigned, reversed, is_volatile;
        base = get_inner_reference(reference, &size, &position, &offset, &mode, &is_unsigned,
                                   &reversed, &is_volatile);
        if (offset)
            terms.push_back({offset, NULL_TREE});
    }
    if (TREE_CODE(base) == TARGET_MEM_REF) {
        terms.push_back({TMR_BASE(base), NULL_TREE});
        if (TMR_INDEX(base))
            terms.push_back({TMR_INDEX(base), TMR_STEP(base)});
        if (TMR_INDEX2(base))
            terms.push_back({TMR_INDEX2(base), NULL_TREE});
    } else if (TREE_CODE(base) == MEM_REF) {
        terms.push_back({TREE_OPERAND(base, 0), NULL_TREE});
    } else if (!DECL_P(base) && !CONSTANT_CLASS_P(base)) {
        terms.push_back({base, NULL_TREE});
    }
    return terms;
}

/* How PART, used in INNERMOST, evolves in LOOP, with what lies below the edge ENTRY taken as a
   symbol; NULL if not known. */
static tree evolution_of_term(edge entry, class loop *innermost, class loop *loop, tree term) {
    if (is_gimple_min_invariant(term))
        return ssize_int(0);
    if (!INTEGRAL_TYPE_P(TREE_TYPE(term)) && !POINTER_TYPE_P(TREE_TYPE(term)))
        return NULL_TREE; /* a vector of offsets */
    tree evolution = analyze_scalar_evolution(innermost, term);
    if (!evolution || evolution == chrec_dont_know)
        return NULL_TREE;
    evolution = instantiate_scev(entry, innermost, evolution);
    if (!evolution || chrec_contains_undetermined(evolution))
        return NULL_TREE;
    while (CONVERT_EXPR_P(evolution))
        evolution = TREE_OPERAND(evolution, 0);
    if (TREE_CODE(evolution) != POLYNOMIAL_CHREC)
        return tree_contains_chrecs(evolution, NULL) ? NULL_TREE : ssize_int(0);
    tree step = evolution_part_in_loop_num(evolution, loop->num);
    if (!step)
        return ssize_int(0);
    if (chrec_contains_undetermined(step) || tree_contains_chrecs(step, NULL))
        return NULL_TREE;
    return step;
}

static tree sum_of_evolutions(const std::vector<pm_address_term> &terms, edge entry,
                              class loop *innermost, class loop *loop) {
    tree total = ssize_int(0);
    for (const pm_address_term &term : terms) {
        tree step = evolution_of_term(entry, innermost, loop, term.value);
        if (!step)
            return NULL_TREE;
        step = pm_as_ssizetype(step);
        if (term.factor)
            step = fold_build2(MULT_EXPR, ssizetype, step, pm_as_ssizetype(term.factor));
        total = fold_build2(PLUS_EXPR, ssizetype, total, step);
    }
    return total;
}

/* Taking as symbols what is known before the outermost loop says most; where that fails, what is
   known before the next inner one. */
static tree stride_by_evolution(const std::vector<pm_address_term> &terms,
                                const std::vector<class loop *> &nest, size_t level) {
    if (!scev_initialized_p() || !loops_state_satisfies_p(LOOPS_HAVE_PREHEADERS))
        return NULL_TREE;
    for (size_t outer = nest.size(); outer-- > level;) {
        tree stride =
            sum_of_evolutions(terms, loop_preheader_edge(nest[outer]), nest[0], nest[level]);
        if (stride)
            return stride;
    }
    return NULL_TREE;
}

static struct pm_derivative stride_by_walk(const std::vector<pm_address_term> &terms,
                                           class loop *loop, class loop *innermost) {
    struct pm_derivative total = {ssize_int(0), false};
    for (const pm_address_term &term : terms) {
        struct pm_derivative change = pm_derivative_of(term.value, loop, innermost);
        total.indirect |= change.indirect;
        if (!total.value || !change.value) {
            total.value = NULL_TREE;
            continue;
        }
        if (term.factor)
            change.value =
                fold_build2(MULT_EXPR, ssizetype, change.value, pm_as_ssizetype(term.factor));
        total.value = fold_build2(PLUS_EXPR, ssizetype, total.value, change.value);
    }
    return total;
}

static struct pm_marked_stride stride_at(const std::vector<pm_address_term> &terms,
                                         const std::vector<class loop *> &nest, size_t level) {
    struct pm_marked_stride stride;
    struct pm_derivative found = {stride_by_evolution(terms, nest, level), false};
    if (!found.value)
        found = stride_by_walk(terms, nest[level], nest[0]);
    if (!found.value) {
        stride.kind = found.indirect ? PM_STRIDE_INDIRECT : PM_STRIDE_UNKNOWN;
    } else if (tree_fits_shwi_p(found.value)) {
        stride.kind = PM_STRIDE_CONSTANT;
        stride.bytes = tree_to_shwi(found.value);
    } else {
        stride.expression = pm_polynomial_text(found.value, &stride.bytes);
        stride.kind = stride.expression.empty() ? PM_STRIDE_CONSTANT : PM_STRIDE_SYMBOLIC;
    }
    return stride;
}

std::vector<pm_level_stride> pm_strides_of_address(const std::vector<pm_address_term> &terms,
                                                   class loop *innermost) {
    std::vector<class loop *> nest;
    for (class loop *loop = innermost; loop && loop_outer(loop); loop = loop_outer(loop))
        nest.push_back(loop);
    std::vector<pm_level_stride> levels;
    /* Folding the sums may find overflows that the program does not have. */
    fold_defer_overflow_warnings();
    for (size_t i = 0; i < nest.size(); i++)
        levels.push_back({pm_source_loop_number(nest[i]), stride_at(terms, nest, i)});
    fold_undefer_and_ignore_overflow_warnings();
    return levels;
}
