/* The innermost loops of a program, each with the code of its hottest path (path_code.c). */
#include <stdlib.h>
#include <string.h>

#include "machines/probe/loop_runner/private.h"
#include "sched/sched.h"

/* ---- words ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *words;
} refusals[PM_LOOP_N_REFUSALS] = {
    [PM_LOOP_RAN] = {"ran", ""},
    [PM_LOOP_NO_PATH] = {"no_path", "no path back to its header"},
    [PM_LOOP_TOO_LONG] = {"too_long", "too long to be unrolled"},
    [PM_LOOP_CALLS] = {"calls", "calls"},
    [PM_LOOP_INDIRECT_JUMP] = {"indirect_jump", "jumps through a table"},
    [PM_LOOP_STRING] = {"string", "repeated string operation"},
    [PM_LOOP_X87] = {"x87", "x87 or MMX"},
    [PM_LOOP_SYSTEM] = {"system", "system, waiting or random instruction"},
    [PM_LOOP_SEGMENT] = {"segment", "thread-local data"},
    [PM_LOOP_BEYOND_REACH] = {"beyond_reach", "code or data out of reach"},
    [PM_LOOP_NOT_HERE] = {"not_here", "instructions that are not on this processor"},
    [PM_LOOP_PAGES] = {"pages", "more than 8 pages"},
    [PM_LOOP_ADDRESS] = {"address", "addresses that cannot be made up"},
    [PM_LOOP_ALIGNMENT] = {"alignment", "alignment that cannot be made up"},
    [PM_LOOP_BRANCHES] = {"branches", "branches"},
    [PM_LOOP_DIVIDES] = {"divides", "divides by zero, or the quotient is too large"},
    [PM_LOOP_ALIASES] = {"aliases", "loads what it stored because data are made up"},
    [PM_LOOP_UNSTEADY] = {"unsteady", "other pages each time"},
    [PM_LOOP_TIME] = {"time", "took too long"},
    [PM_LOOP_CRASHED] = {"crashed", "ended its process"},
    [PM_LOOP_STOPPED] = {"stopped", "stopped before"},
};

const char *pm_loop_refusal_words(enum pm_loop_refusal why) { return refusals[why].words; }
const char *pm_loop_refusal_name(enum pm_loop_refusal why) { return refusals[why].name; }

/* ---- a path ---------------------------------------------------------------------------------- */

static enum pm_loop_refusal read_path(const struct pm_structure *structure,
                                      const struct pm_path_step *path, size_t n_steps,
                                      struct pm_loop_code *code) {
    for (size_t i = 0; i < n_steps; i++) {
        const struct pm_block *block = &structure->blocks[path[i].block];
        const uint8_t *bytes = pm_image_at(code->image, block->address, block->size_bytes);
        if (!bytes || block->size_bytes == 0)
            return PM_LOOP_BEYOND_REACH;
        enum pm_loop_refusal why =
            pm_loop_code_append(code, bytes, block->size_bytes, block->address);
        if (why)
            return why;
        const struct pm_block *next = &structure->blocks[path[(i + 1) % n_steps].block];
        if (!pm_loop_code_leads_to(code, next->address))
            return PM_LOOP_NO_PATH;
    }
    return PM_LOOP_RAN;
}

/* Appends LOOP with its path by the frequencies. */
static void add_loop(struct pm_loop_set *set, uint32_t loop, const struct pm_structure *structure,
                     const struct pm_path_step *path, size_t n_steps,
                     const struct pm_image *image) {
    struct pm_loop_time *time = PM_PUSH(set, times);
    struct pm_loop_code *code = PM_PUSH(set, codes);
    *time = (struct pm_loop_time){.scope = loop, .cycles = pm_estimate_unknown()};
    code->image = image;
    time->why = n_steps == 0 ? PM_LOOP_NO_PATH : read_path(structure, path, n_steps, code);
    if (time->why)
        pm_loop_code_free(code);
    else
        pm_loop_code_finish(code, time);
}

/* ---- a structure ----------------------------------------------------------------------------- */

struct pm_loop_set *pm_loop_set_empty(void) {
    return pm_alloc(1, sizeof(struct pm_loop_set));
}

void pm_loop_set_free(struct pm_loop_set *set) {
    if (!set)
        return;
    for (size_t i = 0; i < set->n_codes; i++)
        pm_loop_code_free(&set->codes[i]);
    for (size_t i = 0; i < set->n_images; i++) {
        pm_image_release(set->images[i]);
        free(set->images[i]);
    }
    free(set->times);
    free(set->codes);
    free(set->images);
    free(set);
}

static bool read_images(struct pm_loop_set *set, const struct pm_structure *structure,
                        struct pm_error *err) {
    for (size_t m = 0; m < structure->n_modules; m++) {
        struct pm_image *image = pm_alloc(1, sizeof *image);
        if (!pm_read_image(structure->modules[m].path, image, err)) {
            free(image);
            return false;
        }
        *PM_PUSH(set, images) = image;
    }
    return true;
}

/* For each scope whether a loop is in it. */
static bool *scopes_with_loops(const struct pm_structure *structure) {
    bool *with = pm_alloc(structure->n_scopes, sizeof *with);
    for (uint32_t s = (uint32_t)structure->n_scopes; s-- > 1;)
        if (with[s] || structure->scopes[s].kind == PM_SCOPE_LOOP)
            with[structure->scopes[s].parent] = true;
    return with;
}

struct pm_loop_set *pm_loop_set_new(const struct pm_structure *structure, const double *edge_counts,
                                    const bool *routines, struct pm_error *err) {
    struct pm_loop_set *set = pm_loop_set_empty();
    if (!structure->isa || strcmp(structure->isa, "x86-64") != 0) {
        pm_fail(err, "loops are run alone on x86-64 only, and this program is for %s",
                structure->isa ? structure->isa : "another processor");
        pm_loop_set_free(set);
        return NULL;
    }
    if (!read_images(set, structure, err)) {
        pm_loop_set_free(set);
        return NULL;
    }
    double *weights = pm_alloc(structure->n_edges, sizeof *weights);
    uint32_t most_steps = 0;
    for (size_t e = 0; e < structure->n_edges; e++)
        weights[e] = structure->edges[e].weight;
    for (size_t r = 0; r < structure->n_routines; r++)
        if (structure->routines[r].n_blocks > most_steps)
            most_steps = structure->routines[r].n_blocks;
    struct pm_frequencies counted, estimated;
    pm_frequencies_make(structure, weights, &estimated);
    if (edge_counts)
        pm_frequencies_make(structure, edge_counts, &counted);
    struct pm_path_step *path = pm_alloc(most_steps, sizeof *path);
    bool *with_loops = scopes_with_loops(structure);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_scope *scope = &structure->scopes[s];
        if (scope->kind != PM_SCOPE_LOOP || with_loops[s] ||
            (routines && !routines[scope->routine]))
            continue;
        size_t n_steps = edge_counts ? pm_hot_path(&counted, s, path) : 0;
        if (n_steps == 0)
            n_steps = pm_hot_path(&estimated, s, path);
        add_loop(set, s, structure, path, n_steps,
                 set->images[structure->routines[scope->routine].module]);
    }
    free(with_loops);
    free(path);
    if (edge_counts)
        pm_frequencies_free(&counted);
    pm_frequencies_free(&estimated);
    free(weights);
    return set;
}

const uint8_t *pm_loop_set_bytes(const struct pm_loop_set *set, size_t i) {
    return set->codes[i].bytes;
}

void pm_loop_set_add(struct pm_loop_set *set, const uint8_t *bytes, size_t n_bytes,
                     uint64_t address) {
    struct pm_loop_time *time = PM_PUSH(set, times);
    struct pm_loop_code *code = PM_PUSH(set, codes);
    *time = (struct pm_loop_time){.scope = PM_NONE, .cycles = pm_estimate_unknown()};
    time->why = pm_loop_code_append(code, bytes, n_bytes, address);
    if (!time->why && (code->n_insns == 0 || !pm_loop_code_leads_to(code, address)))
        time->why = PM_LOOP_NO_PATH;
    if (time->why)
        pm_loop_code_free(code);
    else
        pm_loop_code_finish(code, time);
}

/* In the middle of what code can reach, so that addresses relative to it lie in the image. */
static const uint64_t BLOCK_ADDRESS = PM_LOOP_IMAGE_BYTES / 2;

void pm_loop_set_add_block(struct pm_loop_set *set, const uint8_t *bytes, size_t n_bytes,
                           enum pm_loop_form form, unsigned counter) {
    struct pm_loop_time *time = PM_PUSH(set, times);
    struct pm_loop_code *code = PM_PUSH(set, codes);
    *time = (struct pm_loop_time){.scope = PM_NONE, .cycles = pm_estimate_unknown()};
    code->form = (uint8_t)form;
    code->counter = (uint8_t)counter;
    time->why = pm_loop_code_append(code, bytes, n_bytes, BLOCK_ADDRESS);
    for (size_t i = 0; i < code->n_insns && !time->why; i++)
        if (code->insns[i].control != PM_LOOP_PLAIN)
            time->why = PM_LOOP_BRANCHES;
    if (!time->why && code->n_insns == 0)
        time->why = PM_LOOP_NO_PATH;
    if (time->why)
        pm_loop_code_free(code);
    else
        pm_loop_code_finish(code, time);
}
