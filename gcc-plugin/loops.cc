/* Source loops: line range, trip count, what the vectoriser and the unroller made of them, and
   which instructions they hold. */
#include "function_state.h"

int pm_source_loop_number(class loop *loop) {
    if (!loop || !loop_outer(loop))
        return 0;
    auto renamed = pm_state()->renamed_loops.find(loop->num);
    return renamed == pm_state()->renamed_loops.end() ? loop->num : renamed->second;
}

/* ---- loops that change their number ---- */

/* Jump threading may take a loop apart, and GCC finds it again later under a new number.  The
   references in it still carry the old one. */
typedef std::map<int, std::map<int, int>> rename_votes; /* new → old → number of references */

static void vote_by_tag(rename_votes *votes, class loop *loop, location_t location) {
    struct pm_marked_reference *reference = pm_find_reference(pm_tag_of_location(location));
    if (reference && reference->phase == PHASE_OPTIMIZED && reference->source_loop &&
        !pm_state()->source_loops.count(pm_source_loop_number(loop)))
        (*votes)[loop->num][reference->source_loop]++;
}

/* Most references decide, if the loop that they name is no more. */
static void rename_loops(const rename_votes &votes) {
    for (const auto &candidates : votes) {
        std::pair<int, int> best(0, 0);
        for (const auto &candidate : candidates.second)
            if (candidate.second > best.second)
                best = candidate;
        class loop *old = get_loop(cfun, best.first);
        if (!old || !old->header)
            pm_state()->renamed_loops[candidates.first] = best.first;
    }
}

static void find_renamed_loops_in_gimple() {
    rename_votes votes;
    basic_block block;
    FOR_EACH_BB_FN(block, cfun) {
        class loop *loop = block->loop_father;
        if (loop && loop_outer(loop))
            for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
                vote_by_tag(&votes, loop, gimple_location(gsi_stmt(gsi)));
    }
    rename_loops(votes);
}

static void find_renamed_loops_in_rtl() {
    rename_votes votes;
    basic_block block;
    rtx_insn *insn;
    FOR_EACH_BB_FN(block, cfun) {
        class loop *loop = block->loop_father;
        if (!loop || !loop_outer(loop))
            continue;
        FOR_BB_INSNS(block, insn) {
            if (NONDEBUG_INSN_P(insn))
                vote_by_tag(&votes, loop, INSN_LOCATION(insn));
        }
    }
    rename_loops(votes);
}

/* ---- source lines ---- */

/* The BLOCK of the inlined routine whose code is at LOCATION; NULL for the function's own. */
static tree inlined_scope(location_t location) {
    for (tree block = LOCATION_BLOCK(location); block && TREE_CODE(block) == BLOCK;
         block = BLOCK_SUPERCONTEXT(block))
        if (inlined_function_outer_scope_p(block))
            return block;
    return NULL_TREE;
}

/* LOCATION as it looks from SCOPE: of code inlined into SCOPE the place of the call there; 0 for
   code that is not in SCOPE. */
static location_t seen_from(location_t location, tree scope) {
    for (;;) {
        tree own = inlined_scope(location);
        if (own == scope)
            return location;
        if (!own)
            return UNKNOWN_LOCATION;
        location_t call = BLOCK_SOURCE_LOCATION(own);
        location = set_block(LOCATION_LOCUS(call), BLOCK_SUPERCONTEXT(own));
        if (LOCATION_LOCUS(location) == UNKNOWN_LOCATION)
            return UNKNOWN_LOCATION;
    }
}

/* Line of LOCATION if it is in FILE and SCOPE, else 0. */
static int line_seen_from(location_t location, tree scope, const char *file) {
    if (LOCATION_LOCUS(location) <= BUILTINS_LOCATION)
        return 0;
    expanded_location place = expand_location(seen_from(location, scope));
    return place.file && strcmp(place.file, file) == 0 ? place.line : 0;
}

/* How many inlined calls LOCATION is below the function itself. */
static int inlining_depth(location_t location) {
    int depth = 0;
    for (tree block = LOCATION_BLOCK(location); block && TREE_CODE(block) == BLOCK;
         block = BLOCK_SUPERCONTEXT(block))
        depth += inlined_function_outer_scope_p(block);
    return depth;
}

/* Where the loop is: its exit test if that has a location, else the statement that is least deep
   in inlined code. */
static location_t location_of_loop(class loop *loop, basic_block *blocks) {
    location_t best = find_loop_location(loop).get_location_t();
    if (LOCATION_LOCUS(best) > BUILTINS_LOCATION)
        return best;
    best = UNKNOWN_LOCATION;
    for (unsigned i = 0; i < loop->num_nodes; i++)
        for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[i]); !gsi_end_p(gsi); gsi_next(&gsi)) {
            location_t location = gimple_location(gsi_stmt(gsi));
            if (is_gimple_debug(gsi_stmt(gsi)) || LOCATION_LOCUS(location) <= BUILTINS_LOCATION)
                continue;
            if (best == UNKNOWN_LOCATION || inlining_depth(location) < inlining_depth(best))
                best = location;
        }
    return best;
}

/* GCC names a loop by its exit test.  That is the loop's first line in a `for` and a `while`; of a
   `do … while` the first statement is nearer to the beginning. */
static void find_lines(class loop *loop, struct pm_source_loop *record) {
    basic_block *blocks = get_loop_body(loop);
    location_t location = location_of_loop(loop, blocks);
    expanded_location place = expand_location(location);
    if (place.file && LOCATION_LOCUS(location) > BUILTINS_LOCATION) {
        tree scope = inlined_scope(location);
        record->file = place.file;
        record->line = record->last_line = place.line;
        for (unsigned i = 0; i < loop->num_nodes; i++)
            for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[i]); !gsi_end_p(gsi);
                 gsi_next(&gsi)) {
                if (is_gimple_debug(gsi_stmt(gsi)))
                    continue;
                int line = line_seen_from(gimple_location(gsi_stmt(gsi)), scope, place.file);
                if (line && blocks[i] == loop->header)
                    record->line = MIN(record->line, line);
                record->last_line = MAX(record->last_line, line);
            }
    }
    free(blocks);
}

/* ---- trip count ---- */

static std::string trip_count_of(class loop *loop) {
    tree count = number_of_latch_executions(loop);
    if (!count || count == chrec_dont_know)
        return "";
    HOST_WIDE_INT value;
    std::string text = pm_polynomial_text(count, &value);
    return text.empty() ? std::to_string((long long)value) : text;
}

/* ---- induction variable ---- */

static std::string user_name(tree name) {
    return pm_has_user_name(name) ? IDENTIFIER_POINTER(DECL_NAME(SSA_NAME_VAR(name))) : "";
}

/* Of an addition or subtraction, or a conversion, the operand that a counter would be; else NULL.
 */
static tree counted_operand(gimple *definition) {
    if (!is_gimple_assign(definition))
        return NULL_TREE;
    enum tree_code code = gimple_assign_rhs_code(definition);
    bool constant_step =
        gimple_num_ops(definition) > 2 && is_gimple_min_invariant(gimple_assign_rhs2(definition));
    bool passes =
        CONVERT_EXPR_CODE_P(code) || code == SSA_NAME ||
        (constant_step && (code == PLUS_EXPR || code == POINTER_PLUS_EXPR || code == MINUS_EXPR));
    tree operand = passes ? gimple_assign_rhs1(definition) : NULL_TREE;
    return operand && TREE_CODE(operand) == SSA_NAME ? operand : NULL_TREE;
}

/* The join in LOOP's header that VALUE is but a constant away from; NULL. */
static gphi *counter_behind(class loop *loop, tree value) {
    const int max_steps = 8;
    for (int i = 0; i < max_steps && value && TREE_CODE(value) == SSA_NAME; i++) {
        gimple *definition = SSA_NAME_DEF_STMT(value);
        if (!gimple_bb(definition) || !flow_bb_inside_loop_p(loop, gimple_bb(definition)))
            return NULL;
        gphi *phi = dyn_cast<gphi *>(definition);
        if (phi)
            return gimple_bb(phi) == loop->header ? phi : NULL;
        value = counted_operand(definition);
    }
    return NULL;
}

/* Whether the join adds a constant to itself in every iteration. */
static bool is_counter(class loop *loop, gphi *phi) {
    bool counts = false;
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++) {
        if (!flow_bb_inside_loop_p(loop, gimple_phi_arg_edge(phi, i)->src))
            continue;
        tree next = gimple_phi_arg_def(phi, i);
        if (next == gimple_phi_result(phi) || counter_behind(loop, next) != phi)
            return false;
        counts = true;
    }
    return counts;
}

/* The variable that an exit test compares; else the only one of the program's that counts (Fortran
   counts trips in a variable of the compiler's). "" if there is none. */
static std::string variable_of(class loop *loop) {
    basic_block *blocks = get_loop_body(loop);
    std::string tested;
    for (unsigned i = 0; i < loop->num_nodes && tested.empty(); i++) {
        gimple *last = last_stmt(blocks[i]);
        gcond *test = last ? dyn_cast<gcond *>(last) : NULL;
        edge taken, other;
        if (!test || blocks[i]->loop_father != loop)
            continue;
        extract_true_false_edges_from_block(blocks[i], &taken, &other);
        if (flow_bb_inside_loop_p(loop, taken->dest) && flow_bb_inside_loop_p(loop, other->dest))
            continue;
        for (tree side : {gimple_cond_lhs(test), gimple_cond_rhs(test)}) {
            gphi *phi = counter_behind(loop, side);
            if (phi && is_counter(loop, phi) && tested.empty())
                tested = user_name(gimple_phi_result(phi));
        }
    }
    free(blocks);
    if (!tested.empty())
        return tested;
    std::set<std::string> counted;
    for (gphi_iterator psi = gsi_start_phis(loop->header); !gsi_end_p(psi); gsi_next(&psi)) {
        tree result = gimple_phi_result(psi.phi());
        std::string name = user_name(result);
        if (INTEGRAL_TYPE_P(TREE_TYPE(result)) && !name.empty() && is_counter(loop, psi.phi()))
            counted.insert(name);
    }
    return counted.size() == 1 ? *counted.begin() : "";
}

void pm_record_source_loops(enum pm_phase phase) {
    auto &source_loops = pm_state()->source_loops;
    if (!loops_for_fn(cfun))
        return;
    if (phase == PHASE_EXPAND)
        find_renamed_loops_in_gimple();
    bool count = (phase == PHASE_SOURCE || phase == PHASE_OPTIMIZED) && scev_initialized_p() &&
                 loops_state_satisfies_p(LOOPS_HAVE_PREHEADERS);
    for (auto loop : loops_list(cfun, 0)) {
        if (!loop->header || !loop_outer(loop))
            continue;
        struct pm_source_loop record;
        int number = pm_source_loop_number(loop);
        auto before = source_loops.find(number);
        if (before != source_loops.end())
            record = before->second;
        record.number = number;
        record.depth = loop_depth(loop);
        record.parent = pm_source_loop_number(loop_outer(loop));
        if (record.line == 0)
            find_lines(loop, &record);
        if (count && record.trip_count.empty())
            record.trip_count = trip_count_of(loop);
        if (record.variable.empty())
            record.variable = variable_of(loop);
        source_loops[number] = record;
    }
}

/* ---- the vectoriser ---- */

/* In an outer loop an access counts only: a value made into a vector there is for an inner loop. */
static bool is_vector_statement(class loop *loop, gimple *statement) {
    tree result = gimple_get_lhs(statement);
    return result && VECTOR_TYPE_P(TREE_TYPE(result)) && (!loop->inner || gimple_vuse(statement));
}

static bool has_vector_statement(class loop *loop) {
    basic_block *blocks = get_loop_body(loop);
    bool found = false;
    for (unsigned i = 0; i < loop->num_nodes && !found; i++)
        for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[i]); !gsi_end_p(gsi) && !found;
             gsi_next(&gsi))
            found = blocks[i]->loop_father == loop && is_vector_statement(loop, gsi_stmt(gsi));
    free(blocks);
    return found;
}

void pm_before_vectorizer() {
    struct pm_function_state *s = pm_state();
    for (auto loop : loops_list(cfun, 0)) {
        if (!loop_outer(loop))
            continue;
        s->loops_before_vectorizer.insert(loop->num);
        if (has_vector_statement(loop))
            s->vector_loops_before_vectorizer.insert(loop->num);
    }
}

/* A prologue or epilogue runs fewer times than a vector has elements, and the vectoriser notes so;
   the scalar version that stands in when pointers overlap has no such bound. */
static bool has_small_bound(class loop *loop) {
    const int max_elements = 64;
    return loop->any_upper_bound && wi::ltu_p(loop->nb_iterations_upper_bound, max_elements);
}

void pm_after_vectorizer() {
    struct pm_function_state *s = pm_state();
    pm_record_source_loops(PHASE_VECTORIZED);
    std::set<std::pair<std::string, int>> vectorized_places;
    for (auto loop : loops_list(cfun, 0)) {
        if (!loop_outer(loop) || s->vector_loops_before_vectorizer.count(loop->num) ||
            !has_vector_statement(loop))
            continue;
        struct pm_source_loop &record = s->source_loops[loop->num];
        record.flags |= PM_LOOP_VECTORIZED;
        vectorized_places.insert({record.file, record.line});
    }
    for (auto loop : loops_list(cfun, 0)) {
        if (!loop_outer(loop) || s->loops_before_vectorizer.count(loop->num))
            continue;
        struct pm_source_loop &record = s->source_loops[loop->num];
        if (vectorized_places.count({record.file, record.line}) && has_small_bound(loop))
            record.flags |= PM_LOOP_REMAINDER;
    }
}

/* ---- RTL ---- */

void pm_record_instruction_loops() {
    if (!loops_for_fn(cfun) || loops_state_satisfies_p(LOOPS_NEED_FIXUP))
        return;
    find_renamed_loops_in_rtl();
    auto &loop_of_insn = pm_state()->source_loop_of_insn;
    basic_block block;
    rtx_insn *insn;
    FOR_EACH_BB_FN(block, cfun) {
        FOR_BB_INSNS(block, insn) {
            if (INSN_P(insn))
                loop_of_insn.insert({INSN_UID(insn), pm_source_loop_number(block->loop_father)});
        }
    }
}

void pm_record_unroll_factors() {
    if (!loops_for_fn(cfun))
        return;
    auto &source_loops = pm_state()->source_loops;
    for (auto loop : loops_list(cfun, 0)) {
        auto record = source_loops.find(pm_source_loop_number(loop));
        if (record != source_loops.end() && loop->lpt_decision.decision != LPT_NONE)
            record->second.unroll = loop->lpt_decision.times + 1;
    }
}
