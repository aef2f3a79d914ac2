/* Ties what the compiler knew to what the lifter found.  Needs the scope tree and metadata that was
   read; without metadata only folds loops, tells vector bodies, and assigns keys.

   Both sides speak of natural loops of the final CFG, so a loop of ours is the compiler's loop that
   its header's basic block is in.  Where the two CFGs differ (irreducible regions, which the
   compiler does not call loops, or a header that it does not start a basic block at) most of the
   loop's own basic blocks decide; a compiler's loop that is tied to a loop of ours is not tied to
   another inside it. */
#include "binlift/metadata/metadata.h"
#include "binlift/scopes/scopes.h"

#include <stdlib.h>
#include <string.h>

/* For each basic block the compiler's loop, as index in metadata->loops; PM_NONE: none or not
   known. */
static uint32_t *find_block_loops(const struct pm_lifted *lifted) {
    const struct pm_metadata *m = lifted->metadata;
    uint32_t *block_loop = pm_alloc(lifted->structure->n_blocks, sizeof *block_loop);
    memset(block_loop, 0xff, lifted->structure->n_blocks * sizeof *block_loop);
    for (size_t c = 0; c < m->n_contributions; c++) {
        const struct pm_contribution *contribution = &m->contributions[c];
        for (uint32_t i = 0; contribution->used && i < contribution->n_blocks; i++) {
            const struct pm_metadata_block *record = &m->blocks[contribution->first_block + i];
            const struct pm_metadata_loop *loop =
                pm_metadata_find_loop(m, contribution, record->loop);
            uint32_t block = pm_block_at(lifted, record->address);
            if (block != PM_NONE && loop)
                block_loop[block] = (uint32_t)(loop - m->loops);
        }
    }
    return block_loop;
}

/* The compiler's loop of most of each loop's own basic blocks (Boyer & Moore's candidate, which is
   the majority if there is one). */
static uint32_t *find_majorities(const struct pm_structure *structure, const uint32_t *block_loop) {
    uint32_t *candidate = pm_alloc(structure->n_scopes, sizeof *candidate);
    uint32_t *lead = pm_alloc(structure->n_scopes, sizeof *lead);
    uint32_t *agree = pm_alloc(structure->n_scopes, sizeof *agree);
    uint32_t *total = pm_alloc(structure->n_scopes, sizeof *total);
    for (size_t b = 0; b < structure->n_blocks; b++) {
        uint32_t s = structure->blocks[b].loop;
        if (s == PM_NONE)
            continue;
        if (lead[s] == 0)
            candidate[s] = block_loop[b];
        lead[s] += candidate[s] == block_loop[b] ? 1 : -1;
    }
    for (size_t b = 0; b < structure->n_blocks; b++) {
        uint32_t s = structure->blocks[b].loop;
        if (s == PM_NONE)
            continue;
        total[s]++;
        agree[s] += candidate[s] == block_loop[b];
    }
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (2 * agree[s] <= total[s])
            candidate[s] = PM_NONE;
    free(lead);
    free(agree);
    free(total);
    return candidate;
}

static bool is_tied_above(const struct pm_structure *structure, const struct pm_metadata *m,
                          uint32_t scope, uint32_t loop) {
    for (uint32_t s = structure->scopes[scope].parent; s != PM_NONE;
         s = structure->scopes[s].parent)
        if (m->scope_loop[s] == loop)
            return true;
    return false;
}

static void tie_loops(struct pm_lifted *lifted) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_metadata *m = lifted->metadata;
    uint32_t *block_loop = find_block_loops(lifted);
    uint32_t *majority = find_majorities(structure, block_loop);
    m->scope_loop = pm_alloc(structure->n_scopes, sizeof *m->scope_loop);
    for (uint32_t s = 0; s < structure->n_scopes; s++) { /* outer loops first */
        m->scope_loop[s] = PM_NONE;
        if (structure->scopes[s].kind != PM_SCOPE_LOOP)
            continue;
        uint32_t loop = block_loop[structure->scopes[s].header];
        if (loop == PM_NONE || is_tied_above(structure, m, s, loop))
            loop = majority[s];
        if (loop != PM_NONE && !is_tied_above(structure, m, s, loop))
            m->scope_loop[s] = loop;
    }
    free(block_loop);
    free(majority);
}

static void describe_scope(struct pm_scope *scope, const struct pm_metadata_loop *loop) {
    scope->flags |= PM_SCOPE_FROM_COMPILER;
    if (loop->flags & PM_LOOP_VECTORIZED)
        scope->flags |= PM_SCOPE_VECTOR_BODY;
    if (loop->flags & PM_LOOP_REMAINDER)
        scope->flags |= PM_SCOPE_REMAINDER;
    scope->unroll = loop->unroll;
    if (loop->variable) {
        free(scope->name);
        scope->name = pm_strdup(loop->variable);
    }
    if (loop->trip_count) {
        free(scope->trip_count);
        scope->trip_count = pm_strdup(loop->trip_count);
    }
    if (loop->line == 0)
        return;
    scope->line_first = loop->line;
    scope->line_last = loop->line_last > loop->line ? loop->line_last : loop->line;
    /* DWARF's path is the longer one, so it stays if both mean the same file. */
    if (loop->file &&
        (!scope->file || strcmp(pm_base_name(scope->file), pm_base_name(loop->file)) != 0)) {
        free(scope->file);
        scope->file = pm_strdup(loop->file);
    }
}

static void mark_routines(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    const struct pm_metadata *m = lifted->metadata;
    for (size_t c = 0; c < m->n_contributions; c++) {
        const struct pm_contribution *contribution = &m->contributions[c];
        const uint64_t parts[2] = {contribution->base, contribution->cold_base};
        for (int i = 0; i < 2 && contribution->used; i++) {
            uint32_t r = parts[i] ? pm_routine_at(lifted, parts[i]) : PM_NONE;
            if (r == PM_NONE || structure->routines[r].address != parts[i])
                continue;
            structure->routines[r].has_metadata = true;
            structure->modules[structure->routines[r].module].has_metadata = true;
        }
    }
}

bool pm_join_metadata(struct pm_lifted *lifted, struct pm_error *err) {
    struct pm_structure *structure = lifted->structure;
    (void)err; /* what the section says was checked when it was read */
    if (lifted->metadata) {
        mark_routines(lifted);
        tie_loops(lifted);
        for (size_t s = 0; s < structure->n_scopes; s++)
            if (lifted->metadata->scope_loop[s] != PM_NONE)
                describe_scope(&structure->scopes[s],
                               &lifted->metadata->loops[lifted->metadata->scope_loop[s]]);
    }
    pm_fold_loops(structure);
    pm_mark_vector_loops(structure);
    pm_structure_assign_keys(structure);
    return true;
}
