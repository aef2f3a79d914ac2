/* The control-flow graph as it is emitted: its edges, its natural loops, and which source loop each
   of them is.  Runs just before GCC frees the graph; nothing behind looks at loops any more.

   A final loop is tied to the source loop that most of its instructions belong to; an instruction
   is recognised by its number, or, if it was made after the loop passes, by its tag. */
#include "function_state.h"

static unsigned edge_flags(edge e) {
    unsigned flags = 0;
    if (e->flags & EDGE_FALLTHRU)
        flags |= PM_CFG_FALLTHRU;
    if (e->flags & (EDGE_ABNORMAL | EDGE_ABNORMAL_CALL))
        flags |= PM_CFG_ABNORMAL;
    if (e->flags & EDGE_EH)
        flags |= PM_CFG_EH;
    return flags;
}

static void record_edges() {
    basic_block block;
    edge e;
    edge_iterator iterator;
    FOR_BB_BETWEEN(block, ENTRY_BLOCK_PTR_FOR_FN(cfun), EXIT_BLOCK_PTR_FOR_FN(cfun), next_bb) {
        FOR_EACH_EDGE(e, iterator, block->succs) {
            pm_state()->edges.push_back({block->index, e->dest->index, edge_flags(e)});
        }
    }
}

/* GCC's loop number → ours. */
static std::map<int, int> number_loops() {
    struct pm_function_state *s = pm_state();
    std::map<int, int> numbers;
    s->final_loops.assign(1, pm_final_loop());
    for (auto loop : loops_list(cfun, 0)) { /* parents first */
        if (!loop_outer(loop))
            continue;
        int parent = loop_outer(loop_outer(loop)) ? numbers[loop_outer(loop)->num] : 0;
        numbers[loop->num] = s->final_loops.size();
        unsigned flags = loop->header->flags & BB_IRREDUCIBLE_LOOP ? PM_LOOP_IRREDUCIBLE : 0;
        s->final_loops.push_back({parent, (int)loop_depth(loop), 0, flags});
    }
    return numbers;
}

typedef std::map<int, int> pm_votes; /* source loop → number of instructions */

static int source_loop_of(rtx_insn *insn) {
    struct pm_function_state *s = pm_state();
    auto known = s->source_loop_of_insn.find(INSN_UID(insn));
    if (known != s->source_loop_of_insn.end())
        return known->second;
    struct pm_marked_reference *reference =
        pm_find_reference(pm_tag_of_location(INSN_LOCATION(insn)));
    return reference && reference->phase != PHASE_SOURCE ? reference->source_loop : 0;
}

static std::vector<pm_votes> assign_instructions(std::map<int, int> &numbers) {
    struct pm_function_state *s = pm_state();
    std::vector<pm_votes> votes(s->final_loops.size());
    basic_block block;
    rtx_insn *insn;
    FOR_EACH_BB_FN(block, cfun) {
        class loop *loop = block->loop_father;
        int final_loop = loop && loop_outer(loop) ? numbers[loop->num] : 0;
        s->final_loop_of_block[block->index] = final_loop;
        FOR_BB_INSNS(block, insn) {
            if (!NONDEBUG_INSN_P(insn))
                continue;
            s->final_loop_of_insn[INSN_UID(insn)] = final_loop;
            int source_loop = source_loop_of(insn);
            if (final_loop && source_loop)
                votes[final_loop][source_loop]++;
        }
    }
    return votes;
}

static std::pair<int, int> strongest(const pm_votes &votes) {
    std::pair<int, int> best(0, 0);
    for (const auto &vote : votes)
        if (vote.second > best.second)
            best = vote;
    return best;
}

/* GCC splits a loop into a nest where two loops share a header, or the other way round: of a loop
   and its parent that are tied alike only the one with more votes keeps the tie. */
static void tie_loops(const std::vector<pm_votes> &votes) {
    std::vector<pm_final_loop> &loops = pm_state()->final_loops;
    std::vector<int> strength(loops.size());
    for (size_t i = 1; i < loops.size(); i++) {
        auto best = strongest(votes[i]);
        loops[i].source_loop = best.first;
        strength[i] = best.second;
        for (int outer = loops[i].parent; outer && best.first; outer = loops[outer].parent)
            if (loops[outer].source_loop == best.first)
                loops[strength[outer] >= best.second ? i : (size_t)outer].source_loop = 0;
    }
    /* An outer loop may have no instruction of its own left: it is what its child's parent was. */
    for (size_t i = loops.size(); i-- > 1;) {
        struct pm_final_loop &parent = loops[loops[i].parent];
        auto source = pm_state()->source_loops.find(loops[i].source_loop);
        if (loops[i].parent && !parent.source_loop && votes[loops[i].parent].empty() &&
            source != pm_state()->source_loops.end())
            parent.source_loop = source->second.parent;
    }
    for (struct pm_final_loop &loop : loops)
        if (!loop.source_loop)
            loop.flags |= PM_LOOP_LATE;
}

void pm_record_final_cfg() {
    if (n_basic_blocks_for_fn(cfun) <= NUM_FIXED_BLOCKS)
        return;
    record_edges();
    /* Where the RTL loop passes did not run, the loop tree is still the middle end's. */
    cfun->curr_properties &= ~PROP_loops;
    if (current_loops)
        loop_optimizer_finalize();
    loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
    if (current_loops) {
        mark_irreducible_loops();
        std::map<int, int> numbers = number_loops();
        tie_loops(assign_instructions(numbers));
        loop_optimizer_finalize();
    }
    free_dominance_info(CDI_DOMINATORS);
}
